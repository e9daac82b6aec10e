"""The packages that a repository's manifests name, and which files of another repository import them. Pure.

A manifest says what a package is called where it is installed, the layout of its files what is imported of
it: the distribution ``Jinja2`` is the module ``jinja2``. Read are the manifests of Python, npm, Go, Cargo,
Maven and Gradle, whose languages' imports are read too.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gitrag.callgraph.facts import Facts
from gitrag.callgraph.general.imports import read_imports
from gitrag.callgraph.general.manifests import MOST_BYTES
from gitrag.callgraph.general.records import unpacked_body
from gitrag.callgraph.general.view import FAMILIES
from gitrag.callgraph.python.facts import unpacked_scope
from gitrag.callgraph.python.records import Import, ImportFrom
from gitrag.words.path_traits import OUTSIDE_THE_PRODUCT, traits

SEPARATORS = {"python": ".", "javascript": "/", "go": "/", "rust": ".", "java": "."}
"""What parts the names of a module, by the family of languages that imports it."""

_NOT_IMPORTED = frozenset(
    "tests test testing docs doc examples example benchmarks benchmark scripts tools tasks setup conftest"
    " noxfile build ci bin".split()
)
"""Python's packages beside a manifest that are not installed, unless the distribution is called so."""

_SOURCE_ROOTS = ("src", "lib", "python")
_JAVA_FILE = re.compile(
    r"(?:^|.*/)(?:src/(?:[a-zA-Z]*[mM]ain)/(?:java|kotlin)|src|java)/((?:\w+/)+)\w+\.(?:java|kt)"
)
_SETUP_NAME = re.compile(r"""\bname\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_CONFIG_NAME = re.compile(r"^\[metadata\][^\[]*?^name\s*=\s*([A-Za-z0-9._-]+)\s*$", re.MULTILINE)
_GO_MODULE = re.compile(r"^\s*module\s+\"?([^\s\"/]+[^\s\"]*)", re.MULTILINE)
_PARENT = re.compile(r"<(parent|dependencies|build|profiles)>.*?</\1>", re.DOTALL)
_ARTIFACT = re.compile(r"<artifactId>\s*([\w.-]+)\s*</artifactId>")
_ROOT_PROJECT = re.compile(r"""rootProject\.name\s*=\s*["']([\w.-]+)["']""")


@dataclass(frozen=True, slots=True)
class Package:
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


def family_of(language: str) -> str:
    """Return the family of languages that one can call and be called by."""
    return FAMILIES.get(language, language)


def packages_of(texts: Mapping[str, bytes], paths: Collection[str]) -> list[Package]:
    """Return the packages of a repository, by manifest; those of its tests, examples and docs are none.

    Args:
        texts: Its manifests' bytes, by path. What cannot be parsed is ignored.
        paths: Its files.
    """
    found: dict[tuple[str, str], Package] = {}
    manifests = {
        (path.rpartition("/")[0], _READERS[path.rpartition("/")[2]][0])
        for path in texts
        if path.rpartition("/")[2] in _READERS
    }
    for path in sorted(texts):
        folder, _, file = path.rpartition("/")
        read = _READERS.get(file)
        if read is None or len(texts[path]) > MOST_BYTES or traits(path) & OUTSIDE_THE_PRODUCT:
            continue
        family, name_of, modules_of = read
        try:
            name = name_of(texts[path].decode("utf-8-sig", "replace"))
        except (ValueError, RecursionError):
            continue
        deeper = {place for place, other in manifests if other == family and _is_below(place, folder)}
        own = {path for path in paths if not deeper or deeper.isdisjoint(_folders(path))}
        modules = modules_of(name, folder, own) if name else frozenset()
        if modules:
            found.setdefault((family, name), Package(name, path, family, modules))
    return list(found.values())


def _is_below(place: str, folder: str) -> bool:
    return place != folder and (not folder or place.startswith(f"{folder}/"))


def _folders(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def importing(
    files: Mapping[str, tuple[str, Facts]],
    packages: Iterable[Package],
    check: Callable[[], None] = lambda: None,
) -> dict[str, frozenset[str]]:
    """Return which files import some packages: the packages' names, by path.

    Args:
        files: Language and facts of each file, by path.
        packages: The packages.
        check: Called now and then; raises to stop.
    """
    by_family: dict[str, list[Package]] = {}
    for each in packages:
        by_family.setdefault(each.family, []).append(each)
    found = {}
    for path, (language, facts) in files.items():
        wanted = by_family.get(family_of(language))
        if wanted and facts.definitions:
            check()
            names = _imported(language, facts, wanted)
            if names:
                found[path] = names
    return found


def _imported(language: str, facts: Facts, wanted: Collection[Package]) -> frozenset[str]:
    family = family_of(language)
    separator = SEPARATORS[family]
    every = list(_python_modules(facts, wanted)) if family == "python" else list(_modules(language, facts))
    return frozenset(
        package.name
        for package in wanted
        for module in package.modules
        if any(each == module or each.startswith(module + separator) for each in every)
    )


def _python_modules(facts: Facts, wanted: Collection[Package]) -> Iterator[str]:
    """Yield the modules that a file imports, of the rows that have a wanted one's name."""
    names = {module.partition(".")[0] for package in wanted for module in package.modules}
    written = re.compile(b'"(?:' + b"|".join(re.escape(name.encode()) for name in sorted(names)) + rb')["\.]')
    for row in facts.read_rows():
        if written.search(row):
            for statement in unpacked_scope(row).body:
                if type(statement) is Import or type(statement) is ImportFrom:
                    yield statement.module


def _modules(language: str, facts: Facts) -> Iterator[str]:
    """Yield the modules that a file in another language imports."""
    for each in read_imports(unpacked_body(facts.read_rows()[0]).imports, language):
        if each.kind == "use" and not each.origin:
            yield each.name or each.alias
        elif each.kind != "local":
            yield each.origin


def _of_toml(*places: tuple[str, ...]) -> Callable[[str], str]:
    def name_of(text: str) -> str:
        data = tomllib.loads(text)
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
    found = _ARTIFACT.search(_PARENT.sub("", text))
    return found[1] if found else ""


def _as_named(name: str, _folder: str, _paths: Collection[str]) -> frozenset[str]:
    return frozenset({name})


def _crate(name: str, folder: str, paths: Collection[str]) -> frozenset[str]:
    library = f"{folder}/src/lib.rs".lstrip("/")
    return frozenset({name.replace("-", "_")}) if library in paths else frozenset()


def _python_package(name: str, folder: str, paths: Collection[str]) -> frozenset[str]:
    """Return the packages and modules beside a manifest, or in its directory of sources."""
    own = name.replace("-", "_").replace(".", "_").casefold()
    for root in (*_SOURCE_ROOTS, ""):
        before = "".join(f"{part}/" for part in (folder, root) if part)
        tops = {
            top
            for path in paths
            if path.startswith(before)
            and (top := _python_top(path[len(before) :]))
            and (root or top not in _NOT_IMPORTED or top == own)
        }
        named = {top for top in tops if top.casefold() == own}
        if root and tops:
            return frozenset(tops)
        if tops:
            return frozenset(named or {top for top in tops if f"{before}{top}.py" not in paths})
    return frozenset()


def _python_top(path: str) -> str:
    """Return the module that a path is, or the package whose ``__init__`` it is; empty if it is neither."""
    top, _, rest = path.partition("/")
    if rest in {"__init__.py", "__init__.pyi"}:
        return top
    return top.removesuffix(".py") if not rest and top.endswith(".py") else ""


def _java_packages(_name: str, folder: str, paths: Collection[str]) -> frozenset[str]:
    before = f"{folder}/" if folder else ""
    return frozenset(
        found[1].rstrip("/").replace("/", ".")
        for path in paths
        if path.startswith(before)
        and not traits(path) & OUTSIDE_THE_PRODUCT
        and (found := _JAVA_FILE.fullmatch(path))
    )


_Modules = Callable[[str, str, Collection[str]], frozenset[str]]
_READERS: dict[str, tuple[str, Callable[[str], str], _Modules]] = {
    "pyproject.toml": ("python", _of_toml(("project", "name"), ("tool", "poetry", "name")), _python_package),
    "setup.cfg": ("python", _of_pattern(_CONFIG_NAME), _python_package),
    "setup.py": ("python", _of_pattern(_SETUP_NAME), _python_package),
    "package.json": ("javascript", _of_json, _as_named),
    "go.mod": ("go", _of_pattern(_GO_MODULE), _as_named),
    "Cargo.toml": ("rust", _of_toml(("lib", "name"), ("package", "name")), _crate),
    "pom.xml": ("java", _of_maven, _java_packages),
    "settings.gradle": ("java", _of_pattern(_ROOT_PROJECT), _java_packages),
    "settings.gradle.kts": ("java", _of_pattern(_ROOT_PROJECT), _java_packages),
}
"""By a manifest's name: who imports, how the package's name is read, and what is imported of it."""

NAMES = tuple(_READERS)
"""Names of the manifests that are read."""
