"""Garbage collection: drop what no worktree needs from a repository's index, and shrink its file."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from gitrag.errors import GitragError
from gitrag.indexing import older_commits
from gitrag.indexing.known import known
from gitrag.indexing.snapshot import REVISION
from gitrag.machine.files import write_private
from gitrag.store import garbage
from gitrag.store.connection import StoreMissingError
from gitrag.store.garbage import Garbage, Keep
from gitrag.workspace import Workspace

_EVERY_S = 7 * 24 * 3600.0
"""Interval of the background worker's collections: what is kept for a month need not be checked daily."""

_WORTH_BYTES = 16 << 20
"""The background worker leaves a smaller index alone."""

_WORTH_SHARE = 0.2
"""Share of the index that writing it anew must win: that takes as long as the index is large (two seconds for
100,000 chunks), and what is dropped is room for what comes next in any case."""

_DONE = "gc.done"


def preview(workspace: Workspace) -> Garbage:
    """Return what could be dropped, without writing anything."""
    workspace.require_index()
    keep = _keep(workspace)
    with workspace.store.read() as db:
        found = garbage.mark(db, keep)
    older = older_commits.count_unneeded(workspace.older, workspace.store, keep.since_s)
    return replace(found, commits=found.commits + older)


def collect(workspace: Workspace) -> tuple[Garbage, int]:
    """Drop what no view needs, and rewrite the index where that makes it smaller by `_WORTH_SHARE`.

    Returns:
        What was dropped, and how many bytes were freed on disk.
    """
    workspace.require_index()
    keep = _keep(workspace)
    _keep_older(workspace)
    with workspace.store.read() as db:
        found = garbage.mark(db, keep)
    if found:
        with workspace.store.write("dropping what nothing needs", make=False) as db:
            found = garbage.mark(db, keep)  # others may need some of it by now
            garbage.sweep(db, keep)
            if found.chunks:
                workspace.store.forget_chunks()
    freed = max(workspace.store.compact(_WORTH_SHARE), 0)
    if dropped := older_commits.drop_unneeded(workspace.older, workspace.store, keep.since_s):
        found = replace(found, commits=found.commits + dropped)
        freed += max(workspace.older.compact(_WORTH_SHARE), 0)
    return found, freed


def collect_rarely(workspace: Workspace) -> None:
    """Collect in the background, when the index is large and the last collection was a week ago."""
    done = workspace.store.directory / _DONE
    with suppress(OSError):
        if time.time() - done.stat().st_mtime < _EVERY_S:
            return
    if workspace.store.size_bytes() + workspace.older.size_bytes() < _WORTH_BYTES:
        return
    write_private(done, "")
    if preview(workspace):
        collect(workspace)
        workspace.store.cache_chunks()


def _keep_older(workspace: Workspace) -> None:
    """Move commits that are no more among HEAD's newest to the older ones, before they are dropped."""
    head = workspace.repo.head().commit
    if head is not None and workspace.older.exists():
        with suppress(StoreMissingError):
            workspace.read_history(head)
            older_commits.read_older(workspace.older, workspace.store, workspace.repo, head, from_git=False)


def _keep(workspace: Workspace) -> Keep:
    """Return what to keep: the trees that are checked out in worktrees, and their uncommitted changes."""
    entries: list[tuple[int, int]] = []
    own = workspace.repo.root
    for place in {own, *workspace.repo.worktree_roots()} - {None}:
        with suppress(GitragError):
            there = (
                workspace if place == own else Workspace.open(Path(place or ""), environ=workspace.environ)
            )
            now = there.snapshot()
            with workspace.store.read() as db:
                refreshed = known(db, now)
            if refreshed is not None:
                entries += refreshed.overlay.entries
    since_s = time.time() - workspace.config.gc_keep.total_seconds()
    return Keep(workspace.repo.worktrees(), REVISION, since_s, entries)
