"""Sweeps: of cases that are many for breadth, some a day; with ``--all``, and so every night, all of them.

A parametrised test has the mark ``@pytest.mark.sweep(keep=4)``; one that walks through its cases itself takes
them from the fixture ``some``: ``for case in some(CASES, keep=4)``. A case that has a rule of its own is no
case of a sweep. A day has the same cases on every machine; ``--day`` has those of another. Who names a case
on the command line gets it, and so does ``--lf`` what failed on another day.

Of inputs that Hypothesis draws, a run has as few: ``@examples(keep=150, of=400)``.

``keep=0`` is for what takes many seconds, and what a release needs more than a change: every night, before a
release, and where it is named. No promise of `tests/requirements.toml` is held by such a test alone.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import TypeVar

import pytest
from hypothesis import settings

Case = TypeVar("Case")
Some = Callable[..., list[Case]]
DAY = "SWEEPS_DAY"
"""Which day it was at the start of the run: its workers have the same, also after midnight."""


def some_of(cases: Collection[Case], keep: int, day: int | None, name: str = "") -> list[Case]:
    """Return so many of the cases, in their order: each has its turn before any has its second.

    Args:
        cases: All of them, always in the same order.
        keep: How many a day.
        day: Which day it is; None: all.
        name: Of the sweep: those of one length have theirs in different orders.
    """
    if day is None or len(cases) <= keep:
        return list(cases)
    turns = random.Random(name).sample(range(len(cases)), len(cases))  # neighbours are alike
    chosen = {turns[(day * keep + number) % len(cases)] for number in range(keep)}
    return [case for number, case in enumerate(cases) if number in chosen]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run all cases of sweeps, of which each day has some")
    today = os.environ.setdefault(DAY, str(datetime.now(UTC).toordinal()))
    parser.addoption("--day", type=int, default=int(today), help="which cases; today's by default")


_all = {"are run": False}  # known before any test is imported


def pytest_configure(config: pytest.Config) -> None:
    _all["are run"] = config.getoption("--all")


def examples(keep: int, of: int) -> settings:
    """Return settings of a test with inputs that are drawn: how many a run has, and one with ``--all``."""
    return settings(max_examples=of if _all["are run"] else keep, deadline=None)


def _day(config: pytest.Config) -> int | None:
    return None if config.getoption("--all") or config.getoption("lf", False) else config.getoption("--day")


def _function(case: str) -> str:
    """Return the file's name and the function of a case, whatever the directory it is named from."""
    return case.partition("[")[0].rpartition("/")[2]


def pytest_report_header(config: pytest.Config) -> str:
    return "sweeps: all" if _day(config) is None else f"sweeps: some, --day={_day(config)}; --all has all"


@pytest.hookimpl(trylast=True)  # of what is left by -k and -m
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    sweeps = defaultdict(list)
    for item in items:
        if mark := item.get_closest_marker("sweep"):
            keep = mark.kwargs["keep"]
            named = {_function(each) for each in config.args if ("[" if keep else "::") in each}
            if _function(item.nodeid) not in named:
                sweeps[item.nodeid.partition("[")[0], keep].append(item)
    left = {
        item
        for (name, keep), every in sweeps.items()
        for item in set(every).difference(some_of(every, keep, _day(config), name))
    }
    config.hook.pytest_deselected(items=[item for item in items if item in left])
    items[:] = [item for item in items if item not in left]


@pytest.fixture(scope="session")
def some(pytestconfig: pytest.Config) -> Some[Case]:
    """``some(CASES, keep=4)``: those of the day."""
    return lambda cases, keep: some_of(cases, keep, _day(pytestconfig))
