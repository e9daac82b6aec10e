"""What the index has of a snapshot. Nothing here writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from gitrag.corpus.layout import Module
from gitrag.indexing.difference import (
    NO_DIFFERENCE,
    Differences,
    TreeDifference,
    uncommitted,
    whole_tree,
)
from gitrag.indexing.snapshot import Snapshot
from gitrag.model import Head
from gitrag.store import content, views
from gitrag.store.content import ContentKey, PendingContent
from gitrag.store.views import Difference, EntryRecord, Ids, View, ViewOverlay

if TYPE_CHECKING:
    from gitrag.store.connection import Connection
    from gitrag.store.file_state import FileState


class Refreshed(Struct, frozen=True):
    """State of a view after a refresh.

    Attributes:
        overlay: The uncommitted changes on top of it.
        documents: How many of those indexed are new, changed and deleted since the last refresh.
        dirty: Paths with uncommitted changes.
        cut: Contents read and cut now.
        waiting: Contents left for later when time ran out.
        recorded: Whether anything had changed and was written.
    """

    view: View
    overlay: ViewOverlay
    head: Head
    documents: tuple[int, int, int] = (0, 0, 0)
    dirty: int = 0
    cut: int = 0
    waiting: int = 0
    recorded: bool = False


class Start(Struct, frozen=True):
    """What the index offers as a starting point for a view.

    Attributes:
        is_of_tree: Whether it is a view of exactly this tree.
        files: The rule files of its tree; empty where they are not needed.
        modules: The modules of its tree; empty where they are not needed.
        state: The index's state that this holds for; None where unknown.
    """

    current: View | None = None
    view: View | None = None
    is_of_tree: bool = False
    files: Mapping[str, bytes] = field(default_factory=dict)
    modules: tuple[Module, ...] = ()
    state: FileState | None = None

    @property
    def is_current(self) -> bool:
        """Whether the worktree points to a view of this tree."""
        return self.is_of_tree and self.view == self.current

    def holds_in(self, state: FileState | None) -> bool:
        """Tell whether this is still so when the index is in a state."""
        return state is not None and state == self.state


class Survey(Struct, frozen=True):
    """What a refresh has to write, and which of it the index has.

    Attributes:
        tree: How to build the view of HEAD's tree; None where there is one.
        ids: Of all these paths and contents, those that are recorded.
    """

    start: Start
    tree: TreeDifference | None
    uncommitted: Difference
    ids: Ids

    @property
    def of_tree(self) -> Difference:
        """What HEAD's tree changes of the view to start from."""
        return NO_DIFFERENCE if self.tree is None else self.tree.difference

    @property
    def added(self) -> list[EntryRecord]:
        """Every path that is new or changed."""
        return [*self.of_tree.added, *self.uncommitted.added]

    @property
    def new_paths(self) -> list[str]:
        return [path for path in dict.fromkeys(e.path for e in self.added) if path not in self.ids.paths]

    @property
    def new_contents(self) -> list[ContentKey]:
        wanted = dict.fromkeys(entry.content for entry in self.added if not entry.skip)
        return [key for key in wanted if key not in self.ids.contents]


def start_of(db: Connection, now: Snapshot, state: FileState | None = None) -> Start:
    """Find a starting point: a view of the same tree, else the worktree's last, else another worktree's.

    Args:
        state: The state of the index, so that nothing is asked again while it stays the same.
    """
    current = views.current(db, now.slot)
    view = current if _is_of(current, now) else views.find(db, now.head.tree, now.rules_key)
    is_of_tree = view is not None
    if view is None:
        same_rules = current is not None and current.rules == now.rules_key
        view = current if same_rules else views.nearest(db, now.rules_key)
    if view is None or (is_of_tree and not now.changes):
        return Start(current, view, is_of_tree, state=state)
    return Start(current, view, is_of_tree, views.rule_files(db, view), _modules_of(db, view), state)


def survey(db: Connection, now: Snapshot, differences: Differences, start: Start) -> Survey:
    """Look up what a refresh has to write."""
    tree, own = needed(now, differences, start)
    of_tree = NO_DIFFERENCE if tree is None else tree.difference
    ids = views.ids_of(db, [*of_tree.removed, *own.removed], [*of_tree.added, *own.added])
    return Survey(start, tree, own, ids)


def needed(now: Snapshot, differences: Differences, start: Start) -> tuple[TreeDifference | None, Difference]:
    """Return how to build the view of HEAD's tree, None where there is one, and the changes on top of it."""
    tree, files, modules = None, start.files, start.modules
    if not start.is_of_tree:
        tree = differences.of_tree(start.view, files, modules)
        files, modules = tree.files, tree.modules
    return tree, differences.uncommitted(files, modules) if now.changes else NO_DIFFERENCE


def settled(db: Connection, now: Snapshot, found: Survey) -> tuple[Refreshed, list[PendingContent]] | None:
    """Return the view's state, with the contents to be cut, if nothing else is new; else None."""
    view, changes = found.start.view, found.uncommitted
    if view is None or not found.start.is_current or found.new_contents:
        return None
    if any(entry.path not in found.ids.paths for entry in changes.added if not entry.skip):
        return None
    overlay = views.overlay(found.ids, changes.removed, changes.added)
    refreshed = Refreshed(view, overlay, now.head, dirty=now.dirty)
    return refreshed, waiting_in(db, refreshed)


def known(db: Connection, now: Snapshot) -> Refreshed | None:
    """Return the view's state if it needs no writing except cutting contents; None when something is new."""
    view = views.current(db, now.slot)
    if view is None or not _is_of(view, now):
        return None
    files = views.rule_files(db, view) if now.changes else {}
    modules = _modules_of(db, view) if now.changes else ()
    start = Start(view, view, is_of_tree=True, files=files, modules=modules)
    found = settled(db, now, survey(db, now, Differences(now), start))
    return found and replace(found[0], waiting=len(found[1]))


def recorded(db: Connection, now: Snapshot, view: View) -> ViewOverlay:
    """Return the part of the uncommitted changes that the index already knows."""
    if not now.changes:
        return ViewOverlay()
    changes = uncommitted(now, views.rule_files(db, view), _modules_of(db, view))
    ids = views.ids_of(db, changes.removed, changes.added)
    return views.overlay(ids, changes.removed, changes.added)


def lagging(db: Connection, now: Snapshot) -> Refreshed | None:
    """Return the nearest that can be read of a snapshot without writing; None where nothing of it is indexed.

    It is a view that is there, changed to the files of now as far as the index knows paths and contents; what
    it does not know counts as waiting.
    """
    start = start_of(db, now)
    view = start.view or start.current
    if view is None:
        return None
    found = survey(db, now, Differences(now), start)
    to_read = _unread(db, found.ids)
    last = {entry.path: entry for entry in found.of_tree.added}
    for path in found.uncommitted.removed:
        last.pop(path, None)
    added = [*(last | {entry.path: entry for entry in found.uncommitted.added}).values()]
    missing = sum(
        not each.skip
        and (each.path not in found.ids.paths or found.ids.contents.get(each.content) in to_read)
        for each in added
    )
    overlay = views.overlay(found.ids, [*found.of_tree.removed, *found.uncommitted.removed], added)
    if found.tree is not None and found.tree.base is None:  # by other rules: all that is of now is added
        overlay = replace(overlay, masked=tuple(sorted({*overlay.masked, *views.held(db, view.view_id)})))
    return Refreshed(view, overlay, now.head, dirty=now.dirty, waiting=missing)


def unread(db: Connection, found: Survey) -> list[ContentKey]:
    """List the contents to be written that are new or have not been read yet."""
    to_read = _unread(db, found.ids)
    wanted = dict.fromkeys(entry.content for entry in found.added if not entry.skip)
    return [key for key in wanted if found.ids.contents.get(key) in to_read]


def waiting_in(db: Connection, refreshed: Refreshed) -> list[PendingContent]:
    """List the contents of a view and its overlay that have not been read yet."""
    own = [content_id for _path_id, content_id in refreshed.overlay.entries]
    return content.pending(db, own, refreshed.view.view_id)


def lacking(db: Connection, now: Snapshot) -> tuple[list[tuple[int, int]], int]:
    """Return what the index lacks of a snapshot's tree, whether or not a view of it exists.

    Returns:
        Pairs of path id (0 for none) and content id that the index knows, and the number of
        paths whose content has not been read.
    """
    view = views.find(db, now.head.tree, now.rules_key)
    if view is not None:  # a view of the tree, if there is one, need not be computed again
        entries = list(views.held(db, view.view_id).items())
        waiting = {item.content_id for item in content.pending(db, [], view.view_id)}
        return entries, sum(content_id in waiting for _path_id, content_id in entries)
    held = [entry for entry in whole_tree(now).added if not entry.skip]
    ids = views.ids_of(db, [], held)
    to_read = _unread(db, ids)
    missing = sum(ids.contents.get(entry.content) in to_read for entry in held)
    entries = [
        (ids.paths.get(entry.path, 0), ids.contents[entry.content])
        for entry in held
        if entry.content in ids.contents
    ]
    return entries, missing


def _unread(db: Connection, ids: Ids) -> set[int | None]:
    """Return the ids of those contents that have not been read yet; None stands for one that is new."""
    return {None, *(item.content_id for item in content.pending(db, ids.contents.values(), None))}


def _is_of(view: View | None, now: Snapshot) -> bool:
    return view is not None and (view.tree, view.rules) == (now.head.tree, now.rules_key)


def _modules_of(db: Connection, view: View) -> tuple[Module, ...]:
    return tuple(Module(name, directory) for name, directory in views.modules(db, view))
