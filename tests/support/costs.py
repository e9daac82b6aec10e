"""What each test costs: a pytest plugin that writes a line of JSON a test to the file ``--costs`` names.

A line has the test's name, wall and processor seconds of its setup, call and teardown, and for each cause how
often it occurred, and its wall and processor seconds. Causes are processes by what they run ("git commit",
"gitrag search", "gitrag search, forked"), commands in this process ("gitrag search, here"), openings of the
model, and updates of an index in this process.
Processor seconds are this process's, those of the children that it has waited for, and the fork server's;
what works on in the background is in none. What overlaps counts twice: causes say where to look, and do not
add up. ``scripts/bench/test_costs.py`` sums the file up.
"""

from __future__ import annotations

import functools
import json
import os
import resource
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import pytest

_KEY = "costs"
_GIT_OPTIONS_WITH_VALUE = {"-C", "-c", "--git-dir", "--work-tree"}
_seen: dict[str, list[float]] = {}  # since it was last taken: times, wall and processor seconds of each cause


def note(cause: str, wall_s: float, processor_s: float) -> None:
    """Count one occurrence of a cause."""
    counted = _seen.setdefault(cause, [0, 0.0, 0.0])
    counted[0] += 1
    counted[1] = round(counted[1] + wall_s, 4)
    counted[2] = round(counted[2] + processor_s, 4)


@contextmanager
def counted(cause: str) -> Iterator[None]:
    """Count one occurrence of a cause, and what it takes."""
    start, processor_s = time.perf_counter(), _processor_s()
    try:
        yield
    finally:
        note(cause, time.perf_counter() - start, _processor_s() - processor_s)


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


_taken = {"processor_s": 0.0, "children_s": 0.0}
"""Processor seconds when they were last looked at: all, and those of children that were waited for."""


def _processor_s() -> float:
    from tests.support.forked import ForkServer

    forked_s = ForkServer.shared().processor_s() if ForkServer.shared.cache_info().currsize else 0.0
    return _used_s(resource.RUSAGE_SELF) + _used_s(resource.RUSAGE_CHILDREN) + forked_s


def _used_s(who: int) -> float:
    use = resource.getrusage(who)
    return use.ru_utime + use.ru_stime


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
        before_s, _taken["children_s"] = _taken["children_s"], _used_s(resource.RUSAGE_CHILDREN)
        note(cause, time.perf_counter() - start, _taken["children_s"] - before_s)
        ended(self, *args, **options)

    subprocess.Popen.__init__ = init  # type: ignore[method-assign]
    subprocess.Popen._handle_exitstatus = handle_exit_status  # type: ignore[attr-defined]
    sessions._open = _timed("model opened", sessions._open)
    refresh.refresh = _timed("index update, here", refresh.refresh)


def _timed(cause: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def timed(*args: Any, **options: Any) -> Any:
        with counted(cause):
            return function(*args, **options)

    return timed
