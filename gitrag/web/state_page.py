"""The page of how things stand: what ``status``, ``index status``, ``check --push`` and ``doctor`` say."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from gitrag.actions.doctor import examine
from gitrag.actions.push_check import behind
from gitrag.actions.repositories.chosen import Chosen
from gitrag.actions.repositories.known import Standing, standing_of
from gitrag.actions.status import read_status, table_sizes
from gitrag.errors import GitragError
from gitrag.indexing.coverage import Coverage, read
from gitrag.memory.registry import RegisteredPlace
from gitrag.web.desk import Desk
from gitrag.web.repositories import Repositories
from gitrag.words.numbers import age

MOST_UNREAD = 100
MOST_MOMENTS = 30
"""Rows of the table of vectors over time."""


def state_page(desk: Desk, *, with_checks: bool) -> dict[str, Any]:
    """Return what the template is filled with: how the index stands.

    Checks start programs of the user's agents, so they are asked for.
    """
    with desk.slow_turn() as workspace:
        found = read_status(workspace)
        tables = table_sizes(workspace)
        head = [(found.branch or "HEAD", found.commit)] if found.commit else []
        push = "; ".join(map(str, behind(workspace, head))) or "no commit yet"
        pre_push = workspace.config.pre_push
    checks = tuple(examine(desk.start, desk.environ)) if with_checks else None
    now = time.time()
    view = found.view
    past = tuple(each for each in read(workspace.store.directory, workspace.repo.worktree) if each.at <= now)
    if view is not None and past:
        past = (*past, Coverage(now, view.chunks, view.texts, view.embedded))
    return {
        "found": found,
        "state": "no index of this worktree yet" if view is None and not found.fresh else found.state,
        "since": age(now - found.updated) if found.updated else "",
        "work": found.work,
        "refined": view.embedded / view.texts if view is not None and view.texts else 1.0,
        "left": age(found.refined_in_s) if found.refined_in_s and found.unembedded else "",
        "coverage": past,
        "line": _line(past),
        "tables": tables,
        "push": push,
        "pre_push": pre_push,
        "checks": checks,
        "ages": {each.name: age(now - each.updated) for each in found.collections if each.updated},
    }


def _line(past: Sequence[Coverage]) -> str:
    """Return points, in percent from the left and from above."""
    if not past:
        return ""
    first, whole = past[0].at, max(past[-1].at - past[0].at, 1.0)
    return " ".join(f"{100 * (each.at - first) / whole:.2f},{100 * (1 - each.share):.2f}" for each in past)


BUDGET_S = 10.0
"""Seconds in which repositories are looked at; of those left only the names are shown."""

MOST = 200


class Stands(Struct, frozen=True):
    """How a repository stands.

    Attributes:
        name: Its name; empty for the one that the page was started in.
        state: How fresh its index is, in words, or why that is not known.
        refined: The share of texts with the model's vector, in percent; None where that is not known.
        chunks: Chunks; None where that is not known.
        updated: How long ago its index was brought up to date; empty where that is not known.
    """

    name: str
    shown: str
    path: Path
    state: str
    is_fresh: bool = False
    refined: int | None = None
    chunks: int | None = None
    updated: str = ""


def repositories_page(repositories: Repositories) -> tuple[list[Stands], int, int]:
    """Return how the repositories stand that gitrag knows, in order of names.

    And how many are gone, and how many are there besides.
    """
    end = time.monotonic() + BUDGET_S
    every = [
        (each, standing_of(RegisteredPlace(each.place, each.git_dir)))
        for each in repositories.known().values()
    ]
    there = [each for each in every if each[1] is not Standing.GONE]
    stands = []
    for chosen, standing in there[:MOST]:
        name = "" if repositories.is_here(chosen) else chosen.name
        if standing is Standing.NOT_INDEXED:
            found = Stands(name, chosen.name, chosen.place, "not indexed")
        elif time.monotonic() > end:
            found = Stands(name, chosen.name, chosen.place, "not looked at")
        else:
            found = _looked_at(repositories, name, chosen)
        stands.append(found)
    return stands, len(every) - len(there), len(there) - len(stands)


def _looked_at(repositories: Repositories, name: str, chosen: Chosen) -> Stands:
    shown, path = chosen.name, chosen.place
    try:
        with repositories.looked_at(chosen) as workspace:
            found = read_status(workspace)
    except GitragError as error:
        return Stands(name, shown, path, str(error))
    view = found.view
    if view is None:
        return Stands(name, shown, path, "no index of this worktree yet")
    return Stands(
        name,
        shown,
        path,
        found.state,
        found.fresh,
        int(100 * view.embedded / view.texts) if view.texts else 100,
        view.chunks,
        f"{age(time.time() - found.updated)} ago" if found.updated else "",
    )
