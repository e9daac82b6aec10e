"""Refresh a worktree's view from its tree and its uncommitted changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gitrag.corpus.layout import Module
from gitrag.git import Change
from gitrag.indexing.cutting import Cut, cut_few, cut_waiting, write_cut
from gitrag.indexing.plan import Plan
from gitrag.indexing.planning import Planning, on_top, plan_of, rule_files_of
from gitrag.indexing.snapshot import REVISION, Snapshot
from gitrag.model import Head, Skip
from gitrag.store import content, views
from gitrag.store.connection import Store, StoreMissingError
from gitrag.store.content import PendingContent
from gitrag.store.views import EntryRecord, View, ViewOverlay

if TYPE_CHECKING:
    from gitrag.store.connection import Connection


@dataclass(frozen=True, slots=True)
class Documents:
    """How many indexed documents are new, changed and deleted."""

    added: int = 0
    updated: int = 0
    removed: int = 0


NO_DOCUMENTS = Documents()


@dataclass(frozen=True, slots=True)
class Refreshed:
    """State of a view after a refresh.

    Attributes:
        view: The view of HEAD's tree.
        overlay: The uncommitted changes on top of it.
        head: HEAD at the time.
        documents: What is new, changed and deleted since the last refresh.
        dirty: Paths with uncommitted changes.
        cut: Contents read and cut now.
        waiting: Contents left for later when time ran out.
        recorded: Whether anything had changed and was written.
    """

    view: View
    overlay: ViewOverlay
    head: Head
    documents: Documents = NO_DOCUMENTS
    dirty: int = 0
    cut: int = 0
    waiting: int = 0
    recorded: bool = False


def known(db: Connection, now: Snapshot) -> Refreshed | None:
    """Return the view's state if it needs no writing except cutting contents; None when something is new."""
    found = _known(db, now, Planning(now))
    return found and replace(found[0], waiting=len(found[1]))


def recorded(db: Connection, now: Snapshot, view: View) -> ViewOverlay:
    """Return the part of an overlay that the store already knows."""
    changes = on_top(now, views.rule_files(db, view), _modules_of(db, view))
    return views.overlay(db, changes.removed, changes.added, partly=True) or ViewOverlay()


def _known(
    db: Connection, now: Snapshot, planning: Planning
) -> tuple[Refreshed, list[PendingContent]] | None:
    view = views.current(db, now.slot)
    if view is None or (view.tree, view.rules) != (now.head.tree, now.rules_key):
        return None
    overlay = ViewOverlay()
    if now.changes:
        changes = planning.on_top(views.rule_files(db, view), _modules_of(db, view))
        found = views.overlay(db, changes.removed, changes.added)
        if found is None:
            return None
        overlay = found
    refreshed = Refreshed(view, overlay, now.head, dirty=now.dirty)
    return refreshed, _waiting(db, refreshed)


def refresh(
    store: Store,
    now: Snapshot,
    *,
    budget_s: float | None = None,
    advance: Callable[[int, int], None] = lambda _done, _total: None,
    at_once: Callable[[Connection, Refreshed], None] | None = None,
    start: Start | None = None,
) -> Refreshed:
    """Refresh the worktree's view and cut new contents.

    Nothing is written when nothing has changed.

    Args:
        store: The repository's store.
        now: The git snapshot.
        budget_s: Seconds after which remaining contents are left for later; None for no limit.
        advance: Called with (contents done, total contents) during cutting.
        at_once: Called while the store is locked; contents then pending are left for later.
        start: Where to start from, if just read (``start_of``).
    """
    deadline = None if budget_s is None else time.monotonic() + budget_s
    planning = Planning(now)
    found, done = None, 0
    cut: Cut = {}
    with suppress(StoreMissingError):
        if start is None:
            with store.read() as db:
                found = _known(db, now, planning)
                start = start_of(db, now)
    if found is None:
        found, cut = _prepare(store, now, planning, start or Start(), deadline)
    if found is None or at_once is not None:
        with store.write("updating the view") as db:
            found = _known(db, now, planning)  # another process may have done it meanwhile
            if found is None:
                refreshed = _record(db, now, planning)
                found = refreshed, _waiting(db, refreshed)
            done = write_cut(db, found[1], cut)
            found = found[0], [item for item in found[1] if (item.blob, item.language) not in cut]
            if at_once is not None:
                refreshed = replace(found[0], cut=done, waiting=len(found[1]))
                at_once(db, refreshed)
                return refreshed
    refreshed, waiting = found
    if done:
        advance(done, done + len(waiting))
    more = 0
    if waiting:
        more = cut_waiting(
            store, now, waiting, deadline, lambda now_done, total: advance(done + now_done, done + total)
        )
    return replace(refreshed, cut=done + more, waiting=len(waiting) - more)


@dataclass(frozen=True, slots=True)
class Start:
    """What the store offers as a starting point for a view.

    Attributes:
        view: The view to start from.
        is_of_tree: Whether it is a view of exactly this tree.
        files: The rule files of its tree.
        modules: The modules of its tree.
    """

    view: View | None = None
    is_of_tree: bool = False
    files: Mapping[str, bytes] = field(default_factory=dict)
    modules: tuple[Module, ...] = ()


def start_of(db: Connection, now: Snapshot) -> Start:
    """Find a starting point: a view of the same tree, else the worktree's last, else another worktree's."""
    view = twin = views.find(db, now.head.tree, now.rules_key)
    if view is None:
        view = views.current(db, now.slot)
        if view is None or view.rules != now.rules_key:
            view = views.nearest(db, now.rules_key)
    if view is None:
        return Start()
    return Start(view, twin is not None, views.rule_files(db, view), _modules_of(db, view))


def _prepare(
    store: Store, now: Snapshot, planning: Planning, start: Start, deadline: float | None
) -> tuple[tuple[Refreshed, list[PendingContent]] | None, Cut]:
    """Compute what will be written before taking the lock, so that other processes wait less.

    Returns:
        The known state, where another process has written it meanwhile; else the contents cut, if few.
    """
    files, modules = start.files, start.modules
    added: list[EntryRecord] = []
    if not start.is_of_tree:
        move = planning.move(start.view, files, modules)
        files, modules = move.files, move.modules
        added += move.difference.added
    if now.changes:
        added += planning.on_top(files, modules).added
    paths = list(dict.fromkeys(entry.path for entry in added))
    wanted = list(dict.fromkeys((entry.blob, entry.language) for entry in added if not entry.skip))
    with suppress(StoreMissingError), store.read() as db:
        found = _known(db, now, planning)
        if found is not None:
            return found, {}
        paths, wanted = views.unknown_paths(db, paths), content.unread(db, wanted)
    planning.records(paths)
    return None, cut_few(store, now, wanted, deadline)


def lacking(db: Connection, now: Snapshot) -> tuple[list[tuple[int, int]], int]:
    """Return what the store lacks of a snapshot's tree, whether or not a view of it exists; write nothing.

    Returns:
        Pairs of path id (0 for none) and content id that the store knows, and the number of
        paths whose content has not been read.
    """
    view = views.find(db, now.head.tree, now.rules_key)
    if view is not None:  # a view of the tree, if there is one, need not be computed again
        entries = list(views.held(db, view.view_id).items())
        waiting = {item.content_id for item in content.pending(db, [], view.view_id)}
        return entries, sum(content_id in waiting for _path_id, content_id in entries)
    repo = now.repo
    changes = [Change(entry.path, entry) for entry in repo.entries(now.head.tree)]
    difference = plan_of(now, changes, rule_files_of(repo, changes), ())
    held = [(entry.blob, entry.language) for entry in difference.added if not entry.skip]
    found = content.look_up(db, held)
    unread = set(content.unread(db, held))
    missing = sum(key in unread for key in held)
    paths = views.path_ids(db, [entry.path for entry in difference.added])
    known_entries = [
        (paths.get(entry.path, 0), found[entry.blob, entry.language])
        for entry in difference.added
        if (entry.blob, entry.language) in found and not entry.skip
    ]
    return known_entries, missing


def _waiting(db: Connection, refreshed: Refreshed) -> list[PendingContent]:
    own = [content_id for _path_id, content_id in refreshed.overlay.entries]
    return content.pending(db, own, refreshed.view.view_id)


def _modules_of(db: Connection, view: View) -> tuple[Module, ...]:
    return tuple(Module(name, directory) for name, directory in views.modules(db, view))


def _record(db: Connection, now: Snapshot, planning: Planning) -> Refreshed:
    """Write the view of HEAD's tree and its overlay."""
    slot, head = now.slot, now.head
    views.forget_worktrees(db, [*now.repo.worktrees(), REVISION])
    view = views.current(db, slot)
    moves = view is None or (view.tree, view.rules) != (head.tree, now.rules_key)
    before = views.held(db, view.view_id) if view is not None and moves else {}
    if view is None or moves:
        start = start_of(db, now)
        if start.view is not None and start.is_of_tree:
            view = replace(start.view, commit=head.commit)
            views.point(db, slot, view)
        else:
            view = _move_view(db, now, planning, start)
    documents = _compare(before, views.held(db, view.view_id)) if moves else NO_DOCUMENTS
    overlay = ViewOverlay()
    if now.changes:
        changes = planning.on_top(views.rule_files(db, view), _modules_of(db, view))
        views.record_paths(db, planning.records(_unknown(db, changes)))
        own = [(entry.blob, entry.language) for entry in changes.added if not entry.skip]
        seen = content.look_up(db, own)
        content.ensure(db, own)
        found = views.overlay(db, changes.removed, changes.added)
        if found is None:
            raise AssertionError("what was just recorded is not there")
        overlay = found
        documents = _with_new(documents, overlay, set(seen.values()), views.held(db, view.view_id))
    views.touch(db, view)
    return Refreshed(view, overlay, head, documents, now.dirty, recorded=True)


def _compare(before: Mapping[int, int], after: Mapping[int, int]) -> Documents:
    """Count the differences between two views, given content ids by path id."""
    both = before.keys() & after.keys()
    return Documents(
        len(after) - len(both), sum(before[path] != after[path] for path in both), len(before) - len(both)
    )


def _with_new(
    documents: Documents, overlay: ViewOverlay, seen: set[int], held: Mapping[int, int]
) -> Documents:
    """Add the uncommitted documents whose content was unknown before."""
    new = [path for path, content_id in overlay.entries if content_id not in seen]
    updated = sum(path in held for path in new)
    return Documents(documents.added + len(new) - updated, documents.updated + updated, documents.removed)


def _move_view(db: Connection, now: Snapshot, planning: Planning, start: Start) -> View:
    """Build the view of HEAD's tree."""
    move = planning.move(start.view, start.files, start.modules)
    if move.base is None:
        content.retry(db, [Skip.TOO_LARGE, Skip.UNREADABLE])  # the size limit or the clone may have changed
    elif not now.repo.promised_packs():
        content.retry(db, [Skip.UNREADABLE])  # few, and perhaps repaired; a partial clone lacks thousands
    views.record_paths(db, planning.records(_unknown(db, move.difference)))
    return views.replace(
        db,
        now.slot,
        base=move.base,
        tree=now.head.tree,
        rules=now.rules_key,
        commit=now.head.commit,
        removed=move.difference.removed,
        added=move.difference.added,
        rule_files=move.files,
        modules=[(module.name, module.directory) for module in move.modules],
    )


def _unknown(db: Connection, difference: Plan) -> list[str]:
    return views.unknown_paths(db, [entry.path for entry in difference.added])
