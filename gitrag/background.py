"""What the one background worker of a repository does: text, vectors and facts brought up to date."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from gitrag.app import App
from gitrag.indexing import worker
from gitrag.indexing.refresh import refresh
from gitrag.indexing.snapshot import REVISION, look_at

_FEW_TEXTS = 256
"""Texts that are embedded before it is read who calls whom: a commit's, a second or two. A whole repository's
call graph comes before its vectors: it is sooner done."""


def run_worker(app: App, settled: Callable[[], None] = lambda: None) -> bool:
    """Be the background worker: bring text and vectors up to date, for all worktrees that ask meanwhile.

    Args:
        app: At the worktree that asks.
        settled: Called when this process is the worker.

    Returns:
        Whether this process did the work; False when another one was at it and has been told.
    """
    worker.lower_priority()
    worker.end_on_request()

    def work(place: Path, asked: Callable[[], bool]) -> None:
        at = app if place == app.place else App.open(place, environ=app.environ, say=app.say)
        catch_up(at, asked)

    return worker.Worker(app.store.directory).run(app.place, work, settled)


def catch_up(app: App, asked: Callable[[], bool]) -> None:
    """Bring a worktree's text, facts and vectors up to date.

    Args:
        app: At the worktree.
        asked: Tells whether somebody has asked meanwhile: fresh text goes before old vectors.
    """
    from gitrag.indexing.facts import facts_of, rows_of

    app.in_background = True
    app.store.while_locked(worker.in_turn)
    now = app.snapshot()
    refreshed = refresh(app.store, now)
    _finish_revision(app)
    own = refreshed.overlay.entries
    few = app.count_unembedded(own) <= _FEW_TEXTS
    if few:
        _embed_waiting(app, own, asked)
    with app.store.read() as db:
        rows = rows_of(db, refreshed, missing_only=True)
    facts_of(app.store, now, rows)  # no question has to wait for them then
    if not few:
        _embed_waiting(app, own, asked)


def _embed_waiting(app: App, entries: Sequence[tuple[int, int]], asked: Callable[[], bool]) -> None:
    if app.count_unembedded(entries) and not asked() and app.have_model():
        app.embed(entries=entries, stop=asked)


def _finish_revision(app: App) -> None:
    """Cut what a search of a revision had no time for."""
    from gitrag.store import views

    with app.store.read() as db:
        view = views.current(db, REVISION)
    if view is not None and app.repo.has_object(view.tree):
        refresh(app.store, look_at(app.repo, app.options, view.commit or view.tree))
