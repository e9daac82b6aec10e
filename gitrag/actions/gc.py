"""What of a repository's index no worktree needs: found, dropped, and its room given back to the disk."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gitrag.errors import GitragError
from gitrag.indexing.refresh import known
from gitrag.indexing.snapshot import REVISION
from gitrag.machine.files import write_private
from gitrag.store import garbage
from gitrag.store.garbage import Garbage, Keep
from gitrag.workspace import App

_EVERY_S = 7 * 24 * 3600.0
"""Between two looks of the background worker: what is kept for a month need not be looked for each day."""

_WORTH_BYTES = 16 << 20
"""The background worker leaves a smaller index alone."""

_DONE = "gc.done"


@dataclass(frozen=True, slots=True)
class Collected:
    """What was dropped, and the bytes that the disk has back."""

    garbage: Garbage
    freed_bytes: int


def preview(app: App) -> Garbage:
    """Say what could be dropped; nothing is written.

    Raises:
        NotSetUpError: There is no index.
    """
    app.require_index()
    with app.store.read() as db:
        return garbage.mark(db, _keep(app))


def collect(app: App) -> Collected:
    """Drop what no view needs, and write the index anew without it.

    Raises:
        NotSetUpError: There is no index.
        StoreError: It cannot be written.
        BusyError: Others held it for too long.
    """
    app.require_index()
    keep = _keep(app)
    with app.store.write("dropping what nothing needs", make=False) as db:
        found = garbage.mark(db, keep)
        if found:
            garbage.sweep(db)
    return Collected(found, max(app.store.compact(), 0))


def collect_rarely(app: App) -> None:
    """Collect in the background, when the index is large and it has not been looked at for a week."""
    done = app.store.directory / _DONE
    with suppress(OSError):
        if time.time() - done.stat().st_mtime < _EVERY_S:
            return
    if app.store.size_bytes() < _WORTH_BYTES:
        return
    write_private(done, "")
    if preview(app):
        collect(app)


def _keep(app: App) -> Keep:
    """Keep what the worktrees stand on, and what is uncommitted in them."""
    entries: list[tuple[int, int]] = []
    own = app.repo.root
    for place in {own, *app.repo.worktree_roots()} - {None}:
        with suppress(GitragError):
            there = app if place == own else App.open(Path(place or ""), environ=app.environ)
            now = there.snapshot()
            with app.store.read() as db:
                refreshed = known(db, now)
            if refreshed is not None:
                entries += refreshed.overlay.entries
    since_s = time.time() - app.config.gc_keep.total_seconds()
    return Keep(app.repo.worktrees(), REVISION, since_s, entries)
