"""How the repositories stand that gitrag knows: the part of the state page that takes a moment."""

from __future__ import annotations

import time
from pathlib import Path

from msgspec import Struct

from gitrag.actions.repositories.chosen import Chosen
from gitrag.actions.repositories.known import Standing, standing_of
from gitrag.actions.status import read_status
from gitrag.errors import GitragError
from gitrag.memory.registry import Entry
from gitrag.report.index_state import state_of
from gitrag.web.repositories import Repositories
from gitrag.words.numbers import age

BUDGET_S = 10.0
"""Seconds in which repositories are looked at; of those left only the names are shown."""

MOST = 200


class Stands(Struct, frozen=True):
    """How a repository stands.

    Attributes:
        name: Its name; empty for the one that the page was started in.
        shown: The name that is shown.
        path: Where it is.
        state: How fresh its index is, in words, or why that is not known.
        is_fresh: Whether it is up to date.
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


class RepositoriesPage(Struct, frozen=True):
    """How the repositories stand.

    Attributes:
        stands: Those that are there, in order of names.
        gone: How many are not there any more.
        more: How many are not listed.
        problem: Why no other one is known; empty where that is no failure.
    """

    stands: tuple[Stands, ...]
    gone: int
    more: int
    problem: str


def repositories_page(repositories: Repositories) -> RepositoriesPage:
    """Return how the repositories stand that gitrag knows."""
    end = time.monotonic() + BUDGET_S
    every = [(each, standing_of(Entry(each.place, each.git_dir))) for each in repositories.known().values()]
    there = [each for each in every if each[1] is not Standing.GONE]
    stands = []
    for chosen, standing in there[:MOST]:
        name = "" if repositories.is_here(chosen) else chosen.name
        if standing is Standing.NOT_INDEXED:
            found = Stands(name, chosen.name, chosen.place, "not indexed")
        elif time.monotonic() > end:
            found = Stands(name, chosen.name, chosen.place, "not looked at")
        else:
            found = _read(repositories, name, chosen)
        stands.append(found)
    gone, more = len(every) - len(there), len(there) - len(stands)
    return RepositoriesPage(tuple(stands), gone, more, repositories.problem)


def _read(repositories: Repositories, name: str, chosen: Chosen) -> Stands:
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
        "up to date" if found.fresh else state_of(found),
        found.fresh,
        int(100 * view.embedded / view.texts) if view.texts else 100,
        view.chunks,
        f"{age(time.time() - found.updated)} ago" if found.updated else "",
    )
