"""What each test costs: a pytest plugin that writes a line of JSON a test to the file ``--costs`` names.

A line has the test's name, wall and processor seconds of its setup, call and teardown, and for each cause how
often it occurred and the wall seconds it took. Causes are processes by what they run ("git commit",
"gitrag search", "gitrag search, forked"), openings of the model, and updates of an index in this process.
Processor seconds are this process's and those of the children that it has waited for. What overlaps counts
twice: causes say where to look, and do not add up. ``scripts/bench/test_costs.py`` sums the file up.
"""

from __future__ import annotations

import functools
import json
import os
import resource
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

import pytest

_KEY = "costs"
_GIT_OPTIONS_WITH_VALUE = {"-C", "-c", "--git-dir", "--work-tree"}
_seen: dict[str, list[float]] = {}  # since it was last taken: times and wall seconds of each cause
_forked_s = 0.0  # processor seconds of forked commands, which are no children of this process


def note(cause: str, wall_s: float, processor_s: float = 0.0) -> None:
    """Count one occurrence of a cause."""
    global _forked_s  # noqa: PLW0603 - this process's clock of what it cannot wait for
    counted = _seen.setdefault(cause, [0, 0.0])
    counted[0] += 1
    counted[1] = round(counted[1] + wall_s, 4)
    _forked_s += processor_s


def command_name(args: Any) -> str:
    """Name what a command line runs: its program, and for git and gitrag the subcommand."""
    words = (
        [os.fsdecode(args)] if isinstance(args, str | bytes | Path) else [os.fsdecode(each) for each in args]
    )
    program = Path(words[0]).name
    if program.startswith("python") and words[1:2] == ["-m"]:
        program, words = words[2], words[2:]
    if program not in {"git", "gitrag"}:
        return program
    rest = iter(words[1:])
    for word in rest:
        if word in _GIT_OPTIONS_WITH_VALUE:
            next(rest, None)
        elif not word.startswith("-"):
            return f"{program} {word}"
    return program


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--costs", type=Path, metavar="FILE", help="write what each test costs to FILE")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--costs") is None:
        return
    if not hasattr(config, "workerinput"):  # pytest-xdist's workers hand their figures to its controller
        config.pluginmanager.register(_Written(config.getoption("--costs").open("w")))
    _watch()


class _Written:
    """The file, in the process that hears of every test."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._tests: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        found = dict(report.user_properties).get(_KEY)
        if found is None:
            return
        test = self._tests.setdefault(report.nodeid, {"test": report.nodeid})
        test[report.when] = found
        if report.when == "teardown":
            self._file.write(json.dumps(self._tests.pop(report.nodeid)) + "\n")

    def pytest_unconfigure(self) -> None:
        self._file.close()


def pytest_collection_finish() -> None:
    _taken["processor_s"] = _processor_s()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report: pytest.TestReport = yield  # type: ignore[assignment]
    if item.config.getoption("--costs") is not None:
        processor_s, _taken["processor_s"] = _processor_s() - _taken["processor_s"], _processor_s()
        found = {
            "wall_s": round(call.duration, 4),
            "processor_s": round(processor_s, 4),
            "outcome": report.outcome,
            "causes": dict(_seen),
        }
        _seen.clear()
        report.user_properties = [*((k, v) for k, v in report.user_properties if k != _KEY), (_KEY, found)]
    return report  # type: ignore[return-value]


_taken = {"processor_s": 0.0}


def _processor_s() -> float:
    uses = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in uses) + _forked_s


def _watch() -> None:
    """Have processes, openings of the model and updates of an index counted in this process."""
    from gitrag.embedding import sessions
    from gitrag.indexing import refresh

    started = subprocess.Popen.__init__
    ended = subprocess.Popen._handle_exitstatus  # type: ignore[attr-defined]

    def init(self: Any, args: Any, *rest: Any, **options: Any) -> None:
        self.costs = (command_name(args), time.perf_counter())
        started(self, args, *rest, **options)

    def handle_exit_status(self: Any, *args: Any, **options: Any) -> None:
        cause, start = self.costs
        note(cause, time.perf_counter() - start)
        ended(self, *args, **options)

    subprocess.Popen.__init__ = init  # type: ignore[method-assign]
    subprocess.Popen._handle_exitstatus = handle_exit_status  # type: ignore[attr-defined]
    sessions._open = _timed("model opened", sessions._open)
    refresh.refresh = _timed("index update, here", refresh.refresh)


def _timed(cause: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def timed(*args: Any, **options: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*args, **options)
        finally:
            note(cause, time.perf_counter() - start)

    return timed
