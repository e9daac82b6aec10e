"""The packages that a repository's manifests name, and which files of another repository import them. Pure.

A manifest says what a package is called where it is installed, the layout of its files what is imported of
it: the distribution ``Jinja2`` is the module ``jinja2``. Read are the manifests of Python, npm, Go, Cargo,
Maven and Gradle, whose languages' imports are read too.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from gitrag.callgraph.facts import Facts
from gitrag.callgraph.general.imports import read_imports
from gitrag.callgraph.general.manifests import GO_MODULE, MOST_BYTES
from gitrag.callgraph.general.records import unpacked_body
from gitrag.callgraph.general.traits import family_of
from gitrag.callgraph.python.modules import unpacked_scope
from gitrag.callgraph.python.records import Import, ImportFrom
from gitrag.words import bounded_toml
from gitrag.words.path_traits import OUTSIDE_THE_PRODUCT, traits

SEPARATORS = {"python": ".", "javascript": "/", "go": "/", "rust": ".", "java": "."}
"""What parts the names of a module, by the family of languages that imports it."""

_NOT_IMPORTED = frozenset(
    "tests test testing docs doc examples example benchmarks benchmark scripts tools tasks setup conftest"
    " noxfile build ci bin".split()
)
"""Python's packages beside a manifest that are not installed, unless the distribution is called so."""

_SOURCE_ROOTS = ("src", "lib", "python")
"""Directories beside a manifest that Python's packages may be in."""

_DEEPEST = 6
"""Folders without an ``__init__`` of their own (PEP 420) around a package, at most."""

_JAVA_FILE = re.compile(
    r"(?:^|.*/)(?:src/(?:[a-zA-Z]*[mM]ain)/(?:java|kotlin)|src|java)/((?:\w+/){1,30})\w+\.(?:java|kt)"
)
_SETUP_NAME = re.compile(r"""\bname\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_CONFIG_NAME = re.compile(r"^\[metadata\][^\[]*?^name\s*=\s*([A-Za-z0-9._-]+)\s*$", re.MULTILINE)
_INNER = re.compile(r"<(parent|dependencies|build|profiles)>")
"""Elements of a pom.xml that name other artifacts."""

_ARTIFACT = re.compile(r"<artifactId>\s*([\w.-]+)\s*</artifactId>")
_ROOT_PROJECT = re.compile(r"""rootProject\.name\s*=\s*["']([\w.-]+)["']""")


class PublishedPackage(Struct, frozen=True):
    """A package that others may import.

    Attributes:
        name: As its manifest says.
        manifest: The manifest's path.
        family: The family of languages that imports it.
        modules: What is imported of it: these modules, and those inside of them.
    """

    name: str
    manifest: str
    family: str
    modules: frozenset[str]


def packages_of(
    texts: Mapping[str, bytes],
    paths: Collection[str],
    families: Collection[str] | None = None,
    check: Callable[[], None] = lambda: None,
) -> list[PublishedPackage]:
    """Return the packages of a repository, by manifest; those of its tests, examples and docs are none.

    Args:
        texts: Its manifests' bytes, by path. What cannot be parsed is ignored.
        families: Families of languages that import them; None for all.
    """
    found: dict[tuple[str, str], PublishedPackage] = {}
    manifests = [
        (path, path.rpartition("/")[0], reader)
        for path in sorted(texts)
        if (reader := _READERS.get(path.rpartition("/")[2])) and (families is None or reader[0] in families)
    ]
    own = _by_nearest({(reader[0], folder) for _, folder, reader in manifests}, paths, check)
    for path, folder, (family, name_of, modules_of) in manifests:
        check()
        if len(texts[path]) > MOST_BYTES or traits(path) & OUTSIDE_THE_PRODUCT:
            continue
        try:
            name = name_of(texts[path].decode("utf-8-sig", "replace"))
        except (ValueError, RecursionError):
            continue
        modules = modules_of(name, folder, own[family, folder]) if name else frozenset()
        if modules:
            found.setdefault((family, name), PublishedPackage(name, path, family, modules))
    return list(found.values())


def _by_nearest(
    places: Collection[tuple[str, str]], paths: Iterable[str], check: Callable[[], None]
) -> Mapping[tuple[str, str], list[str]]:
    """Return the files below each family's manifests that have no other one of it nearer, by its folder."""
    families = {family for family, _ in places} - _BY_NAME
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path in paths:
        check()
        for family in families:
            place = next(((family, each) for each in _folders(path) if (family, each) in places), None)
            if place is not None:
                found[place].append(path)
    return found


def _folders(path: str) -> Iterator[str]:
    """Yield the folders that a path is in, the innermost first."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def importing(
    files: Mapping[str, tuple[str, Facts]],
    packages: Iterable[PublishedPackage],
    check: Callable[[], None] = lambda: None,
) -> dict[str, frozenset[str]]:
    """Return which files import some packages: the packages' names, by path."""
    by_family: dict[str, dict[str, set[str]]] = {}
    for each in packages:
        names_of = by_family.setdefault(each.family, defaultdict(set))
        for module in each.modules:
            names_of[module].add(each.name)
    found = {}
    for path, (language, facts) in files.items():
        names_by_module = by_family.get(family_of(language))
        if names_by_module and facts.definitions:
            check()
            names = _imported(language, facts, names_by_module)
            if names:
                found[path] = names
    return found


def _imported(language: str, facts: Facts, wanted: Mapping[str, Collection[str]]) -> frozenset[str]:
    """Return the names of the packages that a file imports, of some by their modules."""
    family = family_of(language)
    separator = SEPARATORS[family]
    deepest = max(module.count(separator) for module in wanted) + 1
    every = _python_modules(facts, wanted) if family == "python" else _modules(language, facts)
    found: set[str] = set()
    for module in set(every):
        parts = module.split(separator, deepest)[:deepest]
        for end in range(1, len(parts) + 1):
            found.update(wanted.get(separator.join(parts[:end]), ()))
    return frozenset(found)


def _python_modules(facts: Facts, wanted: Iterable[str]) -> Iterator[str]:
    """Yield what a file imports, modules and names of them, of the rows that have a wanted one's name."""
    names = {module.partition(".")[0] for module in wanted}
    written = re.compile(b'"(?:' + b"|".join(re.escape(name.encode()) for name in sorted(names)) + rb')["\.]')
    for row in facts.read_rows():
        if written.search(row):
            for statement in unpacked_scope(row).body:
                if type(statement) is Import:
                    yield statement.module
                elif type(statement) is ImportFrom:
                    yield f"{statement.module}.{statement.imported}"  # it may be a module, too


def _modules(language: str, facts: Facts) -> Iterator[str]:
    for each in read_imports(unpacked_body(facts.read_rows()[0]).imports, language):
        if each.kind == "use" and not each.origin:
            yield each.name or each.alias
        elif each.kind != "local":
            yield each.origin


def _of_toml(*places: tuple[str, ...]) -> Callable[[str], str]:
    def name_of(text: str) -> str:
        data = bounded_toml.parse(text)
        for place in places:
            found: Any = data
            for key in place:
                found = found.get(key) if isinstance(found, dict) else None
            if isinstance(found, str) and found:
                return found
        return ""

    return name_of


def _of_json(text: str) -> str:
    data = json.loads(text)
    name = data.get("name") if isinstance(data, dict) else None
    return name if isinstance(name, str) else ""


def _of_pattern(pattern: re.Pattern[str]) -> Callable[[str], str]:
    def name_of(text: str) -> str:
        found = pattern.search(text)
        return found[1] if found else ""

    return name_of


def _of_maven(text: str) -> str:
    own = []
    at = 0
    while inner := _INNER.search(text, at):
        own.append(text[at : inner.start()])
        end = f"</{inner[1]}>"
        at = text.find(end, inner.end()) + len(end)
        if at < inner.end():
            return ""  # it never ends, so this is no XML
    found = _ARTIFACT.search("".join([*own, text[at:]]))
    return found[1] if found else ""


def _as_named(name: str, _folder: str, _paths: Sequence[str]) -> frozenset[str]:
    return frozenset({name})


def _crate(name: str, folder: str, paths: Sequence[str]) -> frozenset[str]:
    library = f"{folder}/src/lib.rs".lstrip("/")
    return frozenset({name.replace("-", "_")}) if library in paths else frozenset()


def _python_package(name: str, folder: str, paths: Sequence[str]) -> frozenset[str]:
    """Return the packages and modules beside a manifest, or in its directories of sources.

    Beside it, one with the distribution's name stands for all, if it is there; a directory of sources with
    such a one counts in full. Where nothing has the name, ``src`` goes before other places.
    """
    own = _normal(name)
    base = f"{folder}/" if folder else ""
    inside = [path[len(base) :] for path in paths]
    named: set[str] = set()
    others: list[set[str]] = []
    single: set[str] = set()
    for root in (*_SOURCE_ROOTS, ""):
        before = f"{root}/" if root else ""
        below = [path[len(before) :] for path in inside if path.startswith(before)]
        packages = {path.rpartition("/")[0] for path in below if path.endswith(_INITS)}
        modules = {module for path in below if (module := _python_module(path, packages))}
        called = {each for each in modules if any(_normal(part) == own for part in _prefixes(each))}
        if called:
            named |= modules if root else called
        plain = {
            each
            for each in modules
            if each.replace(".", "/") in packages
            and (root or ("." not in each and each not in _NOT_IMPORTED))
        }
        others.append(modules if root == "src" and plain else plain)
        single |= modules if root else set()
    src, *rest = others
    return frozenset(named or src or set().union(*rest) or single)


_INITS = ("/__init__.py", "/__init__.pyi")


def _normal(name: str) -> str:
    return name.replace("-", "_").replace(".", "_").casefold()


def _prefixes(module: str) -> Iterator[str]:
    parts = module.split(".")
    return (".".join(parts[:end]) for end in range(1, len(parts) + 1))


def _python_module(path: str, packages: Collection[str]) -> str:
    """Return the outermost package that a path is in, else the module that it is; empty if it is none.

    Around both there may be folders without an ``__init__`` (PEP 420), which other distributions share.
    """
    *folders, file = path.split("/", _DEEPEST + 1)
    for depth in range(1, len(folders) + 1):
        if "/".join(folders[:depth]) in packages:
            return _dotted(folders[:depth])
    module = file.removesuffix(".py")
    return "" if module in {file, "__init__"} else _dotted([*folders, module])


def _dotted(parts: Sequence[str]) -> str:
    return ".".join(parts) if all(map(str.isidentifier, parts)) else ""


def _java_packages(_name: str, folder: str, paths: Sequence[str]) -> frozenset[str]:
    before = f"{folder}/" if folder else ""
    return frozenset(
        found[1].rstrip("/").replace("/", ".")
        for path in paths
        if path.endswith((".java", ".kt"))
        and path.startswith(before)
        and not traits(path) & OUTSIDE_THE_PRODUCT
        and (found := _JAVA_FILE.fullmatch(path))
    )


_Modules = Callable[[str, str, Sequence[str]], frozenset[str]]
_READERS: dict[str, tuple[str, Callable[[str], str], _Modules]] = {
    "pyproject.toml": ("python", _of_toml(("project", "name"), ("tool", "poetry", "name")), _python_package),
    "setup.cfg": ("python", _of_pattern(_CONFIG_NAME), _python_package),
    "setup.py": ("python", _of_pattern(_SETUP_NAME), _python_package),
    "package.json": ("javascript", _of_json, _as_named),
    "go.mod": ("go", _of_pattern(GO_MODULE), _as_named),
    "Cargo.toml": ("rust", _of_toml(("lib", "name"), ("package", "name")), _crate),
    "pom.xml": ("java", _of_maven, _java_packages),
    "settings.gradle": ("java", _of_pattern(_ROOT_PROJECT), _java_packages),
    "settings.gradle.kts": ("java", _of_pattern(_ROOT_PROJECT), _java_packages),
}
"""By a manifest's name: who imports, how the package's name is read, and what is imported of it."""

_BY_NAME = frozenset({"javascript", "go"})
"""Families whose packages are imported by their names, whatever their files are."""

NAMES = tuple(_READERS)
"""Names of the manifests that are read."""
