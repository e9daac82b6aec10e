"""The tests that bear on a change, as arguments for the program that runs them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from posixpath import basename, dirname, splitext

from msgspec import Struct

from gitrag.actions.governance.change_impact import BearingTest
from gitrag.words.control_characters import sanitise_line

PATHS = "paths"
_SCRIPTS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
_SPLIT = re.compile(r"[\s\"'\\\ud800-\udfff]")
"""What `xargs`, or a shell, splits a word at or changes in it, and what is not UTF-8."""
_PATTERN = re.compile(r"[][(){}+*?^$|]")
"""What has a meaning in a regular expression, which is what jest takes: ``app/[id]/page.test.tsx``."""


class TestsToRun(Struct, frozen=True):
    """The tests that bear on a change, as arguments of a program.

    Attributes:
        program: pytest, go, cargo or jest.
        arguments: The arguments, the likeliest first.
    """

    program: str
    arguments: tuple[str, ...]


def _of_cargo(path: str) -> str:
    """Return the target of Cargo that a file is of: one of its integration tests, or the library."""
    folder, name = dirname(path), splitext(basename(path))[0]
    if name in {"main", "mod"} and basename(dirname(folder)) == "tests":
        return f"--test={basename(folder)}"
    return f"--test={name}" if basename(folder) == "tests" else "--lib"


RUNNERS: Mapping[str, tuple[tuple[str, ...], Callable[[str], str]]] = {
    PATHS: (("",), str),
    "pytest": ((".py",), lambda path: "" if "[" in path or "::" in path else path),  # a test's name
    "go": (("_test.go",), lambda path: f"./{dirname(path)}"),
    "cargo": ((".rs",), _of_cargo),
    "jest": (_SCRIPTS, lambda path: _PATTERN.sub(".", path)),
}
"""By program: what its files of tests end with, and what one is called among its arguments, if it can be."""


def arguments(tests: Iterable[str], program: str) -> tuple[str, ...]:
    """Return files of tests as arguments of a program, each once; none that a shell would split."""
    endings, argument = RUNNERS[program]
    found = (argument(path) for path in tests if path.endswith(endings) and basename(path) != "conftest.py")
    safe = (each for each in found if each and not _SPLIT.search(each) and sanitise_line(each) == each)
    plain = (f"./{each}" if each[0] in "-@" and program not in {"cargo", "go"} else each for each in safe)
    return tuple(dict.fromkeys(plain))


def tests_to_run(tests: Iterable[BearingTest]) -> tuple[TestsToRun, ...]:
    """Return files of tests as arguments of each program that runs any of them."""
    paths = [each.path for each in tests]
    found = (TestsToRun(program, arguments(paths, program)) for program in RUNNERS if program != PATHS)
    return tuple(each for each in found if each.arguments)
