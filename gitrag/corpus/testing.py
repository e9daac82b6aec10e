"""What tests are called and how they are run, as far as the repository's own files say so. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from posixpath import basename, commonpath, dirname, join, splitext

from msgspec import Struct

from gitrag.chunking.languages import is_code, language_of
from gitrag.corpus.entry_points import Read
from gitrag.corpus.manifests import MANIFEST_BYTES
from gitrag.errors import ConfigError
from gitrag.words import bounded_toml
from gitrag.words.bounded_yaml import parse_mapping
from gitrag.words.path_traits import Trait, traits

_WORKFLOW = re.compile(r"\.github/workflows/[^/]+\.ya?ml")
_WORKFLOW_BYTES = 200_000
"""Of all pipelines read; a second of YAML. The largest of those looked at have 20,000."""

_LONGEST_LINE = 300
"""Characters of a command that are looked at."""

_RUNNER = re.compile(
    r"""(?x)
    (?: ^ | [\s/"'=] )
    (?: pytest | py\.test | tox | nox | rspec | phpunit | ctest | jest | vitest | bats | test-complete
    | (?: cargo | \$CARGO | go | npm | pnpm | yarn | bun | deno | dotnet | swift | mix | make | just | task
        | rake | rails | zig\ build | stack | cabal | flutter | dart | composer | hatch | sbt | bazel )
      (?: \ run )? \ (?: tests? | spec ) (?: [:-][\w:-]+ )?
    | make \ check
    | (?: mvnw? | gradlew? ) \b .* \b (?: test | verify | check )
    | manage\.py\ test | -m\ unittest | xcodebuild\b.*\ test
    | scripts?/tests? | run[-_]tests?(?:\.\w+)? | tests?/run
    ) (?= $ | [\s"';&|)] )
    """
)
"""A command that runs tests."""

_READ_WHOLE = re.compile(r"mvn|gradle|xcodebuild|CARGO|\\[xuU]")
"""What is any distance from the word for tests, stands in an expression, or may be any letter."""

_NO_TESTS = re.compile(
    r"\b(?:install|upgrade|cache|echo)\b|--version|-e \S*(?:flake8|lint|style|mypy|types?|check|docs|cov)\b"
)

_EXPRESSION = re.compile(r"\$\{\{\s*(?:\w+\.)*([\w-]+)[^}]*\}\}")
"""GitHub's ``${{ env.CARGO }}``."""

_TARGET = re.compile(r"^(test|tests|check|unit-?tests?)\s*:(?!=)", re.MULTILINE)
"""A target of a Makefile or a justfile that tests."""

_SCRIPT = re.compile(r"(?:(?:scripts?|bin|ci|tools)/)?(?:run[-_])?tests?(?:\.(?:sh|py|rb|ps1|bat))?")
"""A script that runs the tests, by its place and name."""

_LOCKS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}

_NAMES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(test_).+(\.\w+)"), r"\1*\2"),
    (re.compile(r".+([._-](?:test|spec|cy)\.\w+)"), r"*\1"),
    (re.compile(r"(?:.*[a-z0-9])((?:Tests?|Spec|IT)\.\w+)"), r"*\1"),
    (re.compile(r"(Tests?)[A-Z].*(\.\w+)"), r"\1*\2"),
    (re.compile(r".+(\.bats|\.t)"), r"*\1"),
)
"""How files of tests are named, and the pattern to show for it."""

_FEW = 3

_OF_TESTS = re.compile(
    r"^(?:tests?|spec)[_.-]+|[_.-]+(?:tests?|specs?|cy)$|(?<=[a-z0-9])(?:Tests?|Spec|IT)$|^Tests?(?=[A-Z])"
)
"""What a file of tests has before or after the name of what it tests."""

_MAIN = frozenset({"index", "mod", "main", "lib", "__init__"})
_TOPS = frozenset({"", "src", "lib", "source", "test", "tests", "__tests__", "spec"})
"""What the main file of a directory is called, and directories whose names say as little."""


class FilesOfTests(Struct, frozen=True):
    """Files of tests named alike.

    Attributes:
        pattern: ``test_*.py``.
        files: How many.
        directory: The directory that has all of them; empty for the top.
    """

    pattern: str
    files: int
    directory: str


class CommandForTests(Struct, frozen=True):
    """How tests are run.

    Attributes:
        command: A command line.
        source: The file that says so.
    """

    command: str
    source: str


def files_of_tests(paths: Iterable[str]) -> tuple[FilesOfTests, ...]:
    """Return how the files of tests are named, the most frequent pattern first."""
    groups: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    for path in paths:
        if is_code(language_of(path) or "") and traits(path, Trait.TEST):
            for named, shown in _NAMES:
                if found := named.fullmatch(basename(path)):
                    groups.setdefault(found.expand(shown), []).append(dirname(path))
                    break
            else:
                others.setdefault(f"*{splitext(path)[1]}", []).append(dirname(path))
    if sum(map(len, groups.values())) < _FEW:  # named by their directory alone
        groups |= others
    counted = (
        FilesOfTests(pattern, len(places), commonpath(places) if all(places) else "")
        for pattern, places in groups.items()
    )
    return tuple(sorted(counted, key=lambda each: (-each.files, each.pattern)))


def name_of_source(path: str) -> str:
    """Return what a file's tests are called after: its name, or its directory's, if that says more."""
    return _telling(path, basename(path).partition(".")[0])


def subject_of_test(path: str) -> str:
    """Return the name of what a file of tests is named after: its own, without what says that it tests."""
    name = basename(path)
    while "." in name.lstrip("."):
        name = splitext(name)[0]
        if (told := _OF_TESTS.sub("", name)) != name:
            return _telling(path, told.partition(".")[0])
    return name_of_source(path)


def _telling(path: str, name: str) -> str:
    folder = basename(dirname(path))
    return plain_name(folder if name.lower() in _MAIN and folder.lower() not in _TOPS else name)


def plain_name(name: str) -> str:
    """Return a name as it is compared: in lower case, without what joins its words."""
    return name.replace("_", "").replace("-", "").lower()


def go_modules(tests: Iterable[str], paths: Collection[str]) -> dict[str, str]:
    """Return the directory of the module that each of Go's tests is in; of a workspace, the top."""
    top = "go.work" in paths
    own = (path for path in tests if path.endswith("_test.go"))
    return {path: "" if top else _nearest(path, "go.mod", paths) for path in own}


def cargo_arguments(tests: Iterable[str], paths: Collection[str], read: Read) -> dict[str, tuple[str, ...]]:
    """Return the arguments by which Cargo runs the tests of each of Rust's files; none if it is of no target.

    A package and its targets: ``--package=core --test=api``. A shared module below ``tests`` is no target.
    """
    manifests: dict[str, tuple[tuple[str, ...], Mapping[str, str], bool, bool]] = {}
    found = {}
    for path in tests:
        if not path.endswith(".rs"):
            continue
        folder = _nearest(path, "Cargo.toml", paths)
        if folder not in manifests:
            manifests[folder] = _cargo_targets(join(folder, "Cargo.toml"), read)
        package, declared, has_library, has_programs = manifests[folder]
        own = path[len(folder) + 1 :] if folder else path
        first, *rest = own.split("/")
        if own in declared:
            targets = [f"--test={declared[own]}"]
        elif first == "tests" and rest:
            is_target = len(rest) == 1 or join(folder, first, rest[0], "main.rs") in paths
            targets = [f"--test={splitext(rest[0])[0]}"] if is_target else []
        else:
            of_program = own == "src/main.rs" or own.startswith("src/bin/")
            has_library |= join(folder, "src/lib.rs") in paths
            has_programs |= join(folder, "src/main.rs") in paths
            targets = ["--lib"] * (has_library and not of_program)
            targets += ["--bins"] * (of_program or (has_programs and own != "src/lib.rs"))
        found[path] = (*package, *targets) if targets else ()
    return found


def _nearest(path: str, manifest: str, paths: Collection[str]) -> str:
    """Return the nearest directory above a file with a manifest; the top if there is none."""
    folder = dirname(path)
    while folder and join(folder, manifest) not in paths:
        folder = dirname(folder)
    return folder


def _cargo_targets(path: str, read: Read) -> tuple[tuple[str, ...], Mapping[str, str], bool, bool]:
    """Return a package's argument, its tests by path, and if its manifest names a library, programs."""
    try:
        told = bounded_toml.parse((read(path) or b"").decode())
        tests = {
            each["path"]: str(each["name"])
            for each in told.get("test", ())
            if {"path", "name"} <= each.keys()
        }
        package = (f"--package={told['package']['name']}",)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return (), {}, False, False
    return package, tests, "lib" in told, "bin" in told


def commands_for_tests(paths: Collection[str], read: Read) -> tuple[CommandForTests, ...]:
    """Return the commands by which a repository says that its tests are run, its own before those of CI."""
    there = frozenset(paths)
    found: list[CommandForTests] = []
    for name, reader in _SOURCES.items():
        data = read(name) if name in there else None
        if data is not None and len(data) <= MANIFEST_BYTES:
            found += [CommandForTests(command, name) for command in _said_by(partial(reader, data, there))]
    found += [CommandForTests(f"./{path}", path) for path in sorted(there) if _SCRIPT.fullmatch(path)]
    workflows = [path for path in sorted(there) if _WORKFLOW.fullmatch(path)]
    left = _WORKFLOW_BYTES
    for path in [*workflows, *({".gitlab-ci.yml"} & there)]:
        data = read(path) or b""
        left -= len(data)
        if data and left >= 0:
            found += [CommandForTests(command, path) for command in _said_by(partial(_pipeline, data, path))]
    first: dict[str, CommandForTests] = {}
    for run in found:
        first.setdefault(_key(run.command), run)
    return tuple(first.values())


def _key(command: str) -> str:
    """Return what runs of the same tests have in common: the words before the first option."""
    words = [word for word in command.replace("python -m ", "").split() if not word.startswith("$")]
    told = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    return " ".join(words[:told]) or command


def _said_by(read: Callable[[], Iterator[str]]) -> list[str]:
    """Return what a file says; nothing where it is malformed: what reads it for its purpose says so."""
    try:
        return [" ".join(each.split()) for each in read()]
    except (ValueError, TypeError, AttributeError, RecursionError, ConfigError):
        return []


def _package(data: bytes, there: frozenset[str]) -> Iterator[str]:
    package = json.loads(data)
    scripts = package.get("scripts") if isinstance(package, dict) else None
    manager = next((each for lock, each in _LOCKS.items() if lock in there), "npm")
    for name in scripts if isinstance(scripts, dict) else ():
        if name == "test":
            yield f"{manager} test"
        elif name.startswith(("test:", "test-")) and "watch" not in name:
            yield f"{manager} run {name}"


def _composer(data: bytes, _there: frozenset[str]) -> Iterator[str]:
    scripts = json.loads(data).get("scripts")
    yield from (f"composer {name}" for name in scripts or () if name == "test")


def _makefile(data: bytes, _there: frozenset[str]) -> Iterator[str]:
    yield from (f"make {found[1]}" for found in _TARGET.finditer(data.decode("utf-8", "replace")))


def _justfile(data: bytes, _there: frozenset[str]) -> Iterator[str]:
    yield from (f"just {found[1]}" for found in _TARGET.finditer(data.decode("utf-8", "replace")))


def _pyproject(data: bytes, _there: frozenset[str]) -> Iterator[str]:
    tool = bounded_toml.parse(data.decode()).get("tool", {})
    if isinstance(tool, dict) and "pytest" in tool:
        yield "pytest"


def _setup_cfg(data: bytes, _there: frozenset[str]) -> Iterator[str]:
    if b"[tool:pytest]" in data:
        yield "pytest"


def _word(command: str) -> Callable[[bytes, frozenset[str]], Iterator[str]]:
    return lambda _data, _there: iter([command])


def _pipeline(data: bytes, name: str) -> Iterator[str]:
    """Yield the lines of a pipeline's scripts that run tests."""
    raw = re.sub(r"\\\n\s*", "", data.decode("utf-8", "replace")).replace("\\n", " ")
    if not _READ_WHOLE.search(raw) and not _RUNNER.search(" ".join(raw.split())):
        return  # to parse it takes a hundred times as long
    for text in _scripts_of(parse_mapping(data, name, MANIFEST_BYTES)):
        for line in re.sub(r"\\\n\s*", "", text).splitlines():
            command = _EXPRESSION.sub(lambda found: f"${found[1]}", line[:_LONGEST_LINE]).strip()
            if _RUNNER.search(command) and not _NO_TESTS.search(command):
                yield command


def _scripts_of(value: object, key: str = "") -> Iterator[str]:
    """Yield the texts under ``run`` or ``script``, at any depth."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _scripts_of(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _scripts_of(inner, key)
    elif isinstance(value, str) and key in {"run", "script"}:
        yield value


_SOURCES: dict[str, Callable[[bytes, frozenset[str]], Iterator[str]]] = {
    "package.json": _package,
    "composer.json": _composer,
    "Makefile": _makefile,
    "GNUmakefile": _makefile,
    "justfile": _justfile,
    "tox.ini": _word("tox"),
    "noxfile.py": _word("nox"),
    "pyproject.toml": _pyproject,
    "pytest.ini": _word("pytest"),
    "setup.cfg": _setup_cfg,
    "phpunit.xml": _word("phpunit"),
    "phpunit.xml.dist": _word("phpunit"),
    ".rspec": _word("rspec"),
}
"""Files of the top level, and what each says."""
