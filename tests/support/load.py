"""Many processes at once: some search worktrees while others commit in them; each answer is checked."""

from __future__ import annotations

import multiprocessing
import os
import statistics
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gitrag.actions.search import SearchOptions, search
from gitrag.hooking.install import install
from gitrag.machine.locks import StoreLock
from gitrag.store.scopes import Filters
from gitrag.workspace import Workspace
from tests.support.repository import GitRepository

PAUSE_S = 1.0
"""Between two commits in a worktree: each starts a process of some tenths of a second."""

_PATIENCE_S = 300.0

STAMP = "stamp.py"
"""Says in its text at which commit of its worktree it is."""


@dataclass
class Load:
    """What came of it.

    Attributes:
        waits_s: How long each answer took.
        locked_s: How long of that it waited for others to be done with the index: the rest is work, and
            waiting for a processor, of which there are fewer than processes.
        late: How many answers had changed contents left out, for want of time.
        commits: How many commits were made.
        wrong: What was wrong, or failed.
    """

    waits_s: list[float] = field(default_factory=list)
    locked_s: list[float] = field(default_factory=list)
    late: int = 0
    commits: int = 0
    wrong: list[str] = field(default_factory=list)


def at(share: float, seconds: Sequence[float]) -> float:
    """The seconds that this share of them does not exceed."""
    return statistics.quantiles(seconds, n=100, method="inclusive")[round(share * 100) - 1]


def stamp(number: int) -> str:
    return f"def stamp():\n    return {number}\n"


def launcher(space: Path) -> str:
    """Make the command that hooks call: this gitrag, in this Python."""
    script = space / "gitrag"
    script.write_text(f"#!/bin/sh\nexec '{sys.executable}' -P -m gitrag \"$@\"\n")
    script.chmod(0o755)
    return str(script)


def run(repo: GitRepository, space: Path, *, seconds: float, searchers: int, committers: int) -> Load:
    """Let processes work on a repository and its worktrees, with hooks, for some time."""
    repo.commit({STAMP: stamp(0)} | {f"src/m{n}.py": f"def act_{n}(): return {n}\n" for n in range(200)})
    workspace = Workspace.open(repo.path, environ=repo.environment)
    workspace.update()
    install(workspace.repo, launcher(space))
    trees = [repo, *(repo.worktree(space / f"tree{n}", "--detach") for n in range(1, committers))]
    places = [tree.path for tree in trees]
    context = multiprocessing.get_context("spawn")
    results: Any = context.Queue()
    begin: Any = context.Barrier(committers + searchers)  # a busy machine takes its time to start them
    processes = [
        context.Process(target=_commit, args=(place, repo.environment, seconds, begin, results))
        for place in places
    ] + [
        context.Process(target=_search, args=(n, places, repo.environment, seconds, begin, results))
        for n in range(searchers)
    ]
    for process in processes:
        process.start()
    found = Load()
    for _ in processes:
        one = results.get(timeout=seconds + _PATIENCE_S)
        found.waits_s += one.waits_s
        found.locked_s += one.locked_s
        found.late += one.late
        found.commits += one.commits
        found.wrong += one.wrong
    for process in processes:
        process.join()
    return found


def _commit(place: Path, environment: dict[str, str], seconds: float, begin: Any, results: Any) -> None:
    os.setsid()  # as in terminals of their own, between which Linux shares processors out
    found = Load()
    tree = GitRepository(place, environment)
    begin.wait(_PATIENCE_S)
    end = time.time() + seconds
    try:
        while time.time() < end:
            found.commits += 1
            number = found.commits
            tree.commit({STAMP: stamp(number), f"src/n{number % 20}.py": f"def new(): return {number}\n"})
            time.sleep(PAUSE_S)
    except Exception:  # noqa: BLE001 - reported
        found.wrong.append(traceback.format_exc(limit=-1))
    results.put(found)


def _search(
    number: int,
    places: Sequence[Path],
    environment: dict[str, str],
    seconds: float,
    begin: Any,
    results: Any,
) -> None:
    """Ask of one worktree after the other; every second process keeps the index in memory."""
    os.setsid()
    found = Load()
    apps = [Workspace.open(place, environ=environment, resident=number % 2 == 1) for place in places]
    waits = _watch_lock()
    begin.wait(_PATIENCE_S)
    end = time.time() + seconds
    asked = 0
    while time.time() < end:
        asked += 1
        workspace = apps[(number + asked) % len(apps)]
        committed = asked % 3 != 0
        waits.clear()
        try:
            wait = _ask(
                workspace,
                GitRepository(workspace.repo.root or places[0], environment),
                found,
                committed=committed,
            )
            found.waits_s.append(wait)
            found.locked_s.append(sum(waits))
        except Exception:  # noqa: BLE001 - reported
            found.wrong.append(traceback.format_exc(limit=-1))
    results.put(found)


def _watch_lock() -> list[float]:
    """Note how long this process waits for the index's lock, each time."""
    waits: list[float] = []
    wait = StoreLock._wait

    def watched(*args: Any, **kwargs: Any) -> None:
        begin = time.monotonic()
        try:
            wait(*args, **kwargs)
        finally:
            waits.append(time.monotonic() - begin)

    StoreLock._wait = watched  # type: ignore[method-assign]
    return waits


def _ask(workspace: Workspace, tree: GitRepository, found: Load, *, committed: bool) -> float:
    options = SearchOptions(filters=Filters(globs=(STAMP,)), min_score=0.0, committed_only=committed)
    begin = time.monotonic()
    answer = search(workspace, "stamp", options)
    wait = time.monotonic() - begin
    found.late += bool(answer.waiting)
    said = int(tree.git("show", f"{answer.commit}:{STAMP}").split()[-1])
    right = {stamp(said), stamp(said + 1)} if not committed else {stamp(said)}
    texts = {hit.chunk.text + "\n" for hit in answer.hits}
    if not (texts and texts <= right) and not answer.waiting:
        found.wrong.append(f"{tree.path.name} at {answer.commit}, stamp {said}: {sorted(texts)}")
    return wait
