"""Bring a worktree's view up to date with its tree and its uncommitted changes."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from gitrag.corpus import issues
from gitrag.corpus.layout import USUAL_PLACES, Layout, Module, Places, configured
from gitrag.corpus.workspaces import Workspace, detect, is_manifest
from gitrag.git import (
    BlobError,
    Change,
    DirtyPath,
    Repository,
    Rules,
    Untracked,
    files_beside,
    is_rule_file,
    working_state,
)
from gitrag.git.overlay import Overlay as GitOverlay
from gitrag.git.overlay import overlay as git_overlay
from gitrag.git.repository import SUBMODULE_MODE, SYMLINK_MODE
from gitrag.indexing.cutting import cut_waiting
from gitrag.indexing.plan import Plan, plan
from gitrag.indexing.preparation import prepare_paths
from gitrag.model import Head, Skip, TreeEntry
from gitrag.store import content, views
from gitrag.store.connection import Store, StoreMissingError
from gitrag.store.content import PendingContent
from gitrag.store.views import Overlay, View

if TYPE_CHECKING:
    from gitrag.store.connection import Connection

_FIRST_LINE_BYTES = 256


@dataclass(frozen=True, slots=True)
class Options:
    """What a refresh needs of the configuration.

    Attributes:
        max_bytes: Larger contents are left out.
        exclude: Globs of paths to leave out.
        places: Where decisions, specifications and modules are.
        processes: How many may cut source at once.
    """

    max_bytes: int
    exclude: tuple[str, ...] = ()
    places: Places = USUAL_PLACES
    processes: int = 1


@dataclass(frozen=True, slots=True)
class Documents:
    """How many indexed documents are new, have another content, and are gone."""

    added: int = 0
    updated: int = 0
    removed: int = 0


NO_DOCUMENTS = Documents()


@dataclass(frozen=True, slots=True)
class Refreshed:
    """Where a view stands after a refresh.

    Attributes:
        view: The view of HEAD's tree.
        overlay: The uncommitted changes on top of it.
        head: Where HEAD was.
        documents: What is new, changed and gone since the last refresh.
        dirty: Paths with uncommitted changes.
        cut: Contents read and cut now.
        waiting: Contents left for later, for want of time.
        recorded: Whether something had changed, so that it was written down.
    """

    view: View
    overlay: Overlay
    head: Head
    documents: Documents = NO_DOCUMENTS
    dirty: int = 0
    cut: int = 0
    waiting: int = 0
    recorded: bool = False


class _Reader:
    """Reads contents, from the working tree for uncommitted changes and from git for the rest."""

    def __init__(self, repo: Repository, overlay: GitOverlay | None = None) -> None:
        self._repo = repo
        self._overlay = overlay
        changes = overlay.changes if overlay else ()
        self._dirty = {change.entry.blob: change.entry for change in changes if change.entry is not None}

    def read(self, blob: str) -> bytes:
        """Read a blob, wherever it is."""
        entry = self._dirty.get(blob)
        if entry is None or self._overlay is None:
            return self._repo.read_blob(blob)
        return self._overlay.read(entry)

    def size(self, blob: str) -> int:
        """Measure a blob in bytes without reading it; one that cannot be found has no size."""
        entry = self._dirty.get(blob)
        try:
            if entry is None:
                return self._repo.blob_size(blob)
            return os.lstat(Path(self._repo.root or ".") / entry.path).st_size
        except (BlobError, OSError):
            return 0

    def is_dirty(self, blob: str) -> bool:
        """Tell whether a blob is an uncommitted file's."""
        return blob in self._dirty

    def first_line(self, entry: TreeEntry) -> str:
        """Read the first line of a file, which may name its interpreter; empty when it cannot be read."""
        try:
            data = self.read(entry.blob)
        except BlobError:
            return ""
        return data[:_FIRST_LINE_BYTES].partition(b"\n")[0].decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What git says of a worktree at one moment.

    Attributes:
        repo: The repository, at the worktree.
        options: What to leave out, how many processes.
        slot: Whose view it is: the worktree's id, or ``REVISION``.
        head: Where HEAD, or the revision, is.
        changes: What is on top of it: uncommitted changes, and issues.
        dirty: How many of them are uncommitted changes.
        rules_key: Signs what the rules are made of beside HEAD's tree.
        reader: Reads contents of both.
    """

    repo: Repository
    options: Options
    slot: str
    head: Head
    changes: tuple[Change, ...]
    dirty: int
    rules_key: str
    reader: _Reader

    @property
    def key(self) -> tuple[str, Head, tuple[Change, ...], str]:
        """What it says, without the means to read it."""
        return self.slot, self.head, self.changes, self.rules_key


REVISION = ":revision"
"""The slot of a revision that no worktree stands on; a worktree's id has no colon."""


def look(
    repo: Repository,
    options: Options,
    *,
    committed_only: bool = False,
    with_issues: bool = True,
    untracked: Untracked[DirtyPath] | None = None,
) -> Snapshot:
    """Ask git where a worktree stands.

    Args:
        repo: The repository, at the worktree.
        options: What to leave out, how many processes.
        committed_only: Leave uncommitted changes alone, and issues too.
        with_issues: Look for issues, which git ignores.
        untracked: What earlier looks found untracked, of a process that looks often.
    """
    if repo.root is None or committed_only:
        return Snapshot(repo, options, repo.worktree, repo.head(), (), 0, _rules_key(options), _Reader(repo))
    overlay = git_overlay(repo, working_state(repo, untracked=untracked), max_bytes=options.max_bytes)
    dirty = len(overlay.changes)
    if with_issues:
        overlay = replace(overlay, changes=(*overlay.changes, *_issues(repo.root, options, overlay)))
    return Snapshot(
        repo,
        options,
        repo.worktree,
        overlay.head,
        overlay.changes,
        dirty,
        _rules_key(options, overlay.changes),
        _Reader(repo, overlay),
    )


def look_at(repo: Repository, options: Options, revision: str) -> Snapshot:
    """Ask git for a revision, whatever the worktrees stand on.

    Raises:
        UsageError: There is no such revision.
    """
    head = repo.resolve(revision)
    return Snapshot(repo, options, REVISION, head, (), 0, _rules_key(options), _Reader(repo))


def _issues(root: Path, options: Options, overlay: GitOverlay) -> Iterator[Change]:
    """Find the issues that `git status` does not list, which it does where .sdd/ is not ignored."""
    listed = {change.path for change in overlay.changes}
    found = files_beside(root, issues.DIRECTORY, ".md", most=issues.MOST_ISSUES, max_bytes=options.max_bytes)
    yield from (change for change in found if change.path not in listed)


def known(db: Connection, now: Snapshot) -> Refreshed | None:
    """Find the state of a view that needs no writing but for contents to cut; None when something is new."""
    found = _known(db, now)
    return found and replace(found[0], waiting=len(found[1]))


def recorded(db: Connection, now: Snapshot, view: View) -> Overlay:
    """Give what lies on top of a view, as far as the store knows it."""
    changes = _plan(now, now.changes, views.rule_files(db, view), _modules_of(db, view))
    return views.overlay(db, changes.removed, changes.added, partly=True) or Overlay()


def _known(db: Connection, now: Snapshot) -> tuple[Refreshed, list[PendingContent]] | None:
    view = views.current(db, now.slot)
    if view is None or (view.tree, view.rules) != (now.head.tree, now.rules_key):
        return None
    overlay = Overlay()
    if now.changes:
        changes = _plan(now, now.changes, views.rule_files(db, view), _modules_of(db, view))
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
) -> Refreshed:
    """Bring the worktree's view up to date and cut what is new.

    Nothing is written when nothing has changed.

    Args:
        store: The repository's store.
        now: What git says.
        budget_s: Seconds after which contents are left for later; None for no limit.
        advance: Called with (contents done, contents in all) while they are cut.
    """
    deadline = None if budget_s is None else time.monotonic() + budget_s
    found = None
    with suppress(StoreMissingError), store.read() as db:
        found = _known(db, now)
    if found is None:
        with store.write("updating the view") as db:
            found = _known(db, now)  # another process may have done it while this one waited
            if found is None:
                refreshed = _record(db, now)
                found = refreshed, _waiting(db, refreshed)
    refreshed, waiting = found
    cut = cut_waiting(store, now, waiting, deadline, advance) if waiting else 0
    return replace(refreshed, cut=cut, waiting=len(waiting) - cut)


def lacking(db: Connection, now: Snapshot) -> tuple[list[tuple[int, int]], int]:
    """Say what a snapshot's tree lacks, whether or not a view of it exists; nothing is written.

    Returns:
        Path id (0 for none) and content id of what the tree holds and the store knows, and the number of
        paths whose content it has not read.
    """
    repo = now.repo
    changes = [Change(entry.path, entry) for entry in repo.entries(now.head.tree)]
    difference = _plan(now, changes, _rule_files(repo, changes), ())
    held = [(entry.blob, entry.language) for entry in difference.added if not entry.skip]
    found = content.look_up(db, held)
    unread = {item.content_id for item in content.pending(db, found.values(), None)}
    missing = sum(1 for key in held if found.get(key, -1) in unread or key not in found)
    paths = views.path_ids(db, [entry.path for entry in difference.added])
    known_entries = [
        (paths.get(entry.path, 0), found[entry.blob, entry.language])
        for entry in difference.added
        if (entry.blob, entry.language) in found and not entry.skip
    ]
    return known_entries, missing


def _rule_files(repo: Repository, changes: Sequence[Change]) -> dict[str, bytes]:
    files = {}
    for change in changes:
        if is_rule_file(change.path) and _is_regular(change.entry):
            with suppress(BlobError):  # a partial clone may lack it
                files[change.path] = repo.read_blob(change.entry.blob)
    return files


def _is_regular(entry: TreeEntry | None) -> TypeGuard[TreeEntry]:
    """Tell whether a path holds a file with content; git follows no link to a rule file either."""
    return entry is not None and bool(entry.blob) and entry.mode not in (SYMLINK_MODE, SUBMODULE_MODE)


def _rules_key(options: Options, changes: Sequence[Change] = ()) -> str:
    """Sign what the rules depend on beside HEAD's tree, by which a view is known anyway."""
    dirty = sorted(
        f"{change.path}\0{change.entry.blob if change.entry else ''}"
        for change in changes
        if is_rule_file(change.path)
    )
    facts = (
        Rules.build({}, options.exclude).signature,
        options.max_bytes,
        options.places.signature(),
        dirty,
    )
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def _waiting(db: Connection, refreshed: Refreshed) -> list[PendingContent]:
    own = [content_id for _path_id, content_id in refreshed.overlay.entries]
    return content.pending(db, own, refreshed.view.view_id)


def _plan(
    now: Snapshot, changes: Sequence[Change], files: Mapping[str, bytes], modules: tuple[Module, ...]
) -> Plan:
    """Decide what changes, under the rules that HEAD's rule files give and with the modules of its tree."""
    limit = now.options.max_bytes
    return plan(
        changes,
        _rules(files, now),
        now.reader.first_line,
        lambda entry: now.reader.size(entry.blob) > limit,
        Layout(now.options.places, modules).collection,
    )


def workspace(repo: Repository, options: Options, tree: str) -> Workspace:
    """Find the modules of a tree: those configured, else those that its manifests name."""
    return _workspace(repo, options, list(repo.entries(tree)))


def _workspace(repo: Repository, options: Options, entries: Sequence[TreeEntry]) -> Workspace:
    if options.places.modules:
        return Workspace(configured(options.places.modules))
    manifests = {entry.path: entry for entry in entries if is_manifest(entry.path) and _is_regular(entry)}

    def read(path: str) -> bytes | None:
        try:
            return repo.read_blob(manifests[path].blob)
        except BlobError:
            return None

    return detect(manifests, read)


def _modules_of(db: Connection, view: View) -> tuple[Module, ...]:
    return tuple(Module(name, directory) for name, directory in views.modules(db, view))


def _rules(files: Mapping[str, bytes], now: Snapshot) -> Rules:
    """Build the rules from HEAD's rule files with the uncommitted ones on top."""
    current = dict(files)
    for change in now.changes:
        if is_rule_file(change.path):
            current.pop(change.path, None)
            if _is_regular(change.entry):
                current[change.path] = now.reader.read(change.entry.blob)
    return Rules.build(current, now.options.exclude)


def _record(db: Connection, now: Snapshot) -> Refreshed:
    """Write the view of HEAD's tree and what lies on top of it."""
    slot, head = now.slot, now.head
    views.forget_worktrees(db, [*now.repo.worktrees(), REVISION])
    view = views.current(db, slot)
    moves = view is None or (view.tree, view.rules) != (head.tree, now.rules_key)
    before = views.held(db, view.view_id) if view is not None and moves else {}
    if view is None or moves:
        twin = views.find(db, head.tree, now.rules_key)
        if twin is not None:
            view = View(twin.view_id, twin.tree, twin.rules, head.commit)
            views.point(db, slot, view)
        else:
            view = _move_view(db, now, view)
    documents = _compare(before, views.held(db, view.view_id)) if moves else NO_DOCUMENTS
    overlay = Overlay()
    if now.changes:
        on_top = _plan(now, now.changes, views.rule_files(db, view), _modules_of(db, view))
        views.record_paths(db, prepare_paths(_unknown(db, on_top)))
        own = [(entry.blob, entry.language) for entry in on_top.added if not entry.skip]
        seen = content.look_up(db, own)
        content.ensure(db, own)
        found = views.overlay(db, on_top.removed, on_top.added)
        if found is None:
            raise AssertionError("what was just recorded is not there")
        overlay = found
        documents = _with_new(documents, overlay, set(seen.values()), views.held(db, view.view_id))
    views.touch(db, view)
    return Refreshed(view, overlay, head, documents, now.dirty, recorded=True)


def _compare(before: Mapping[int, int], after: Mapping[int, int]) -> Documents:
    """Count what differs between what two views hold, content ids by path ids."""
    both = before.keys() & after.keys()
    return Documents(
        len(after) - len(both), sum(before[path] != after[path] for path in both), len(before) - len(both)
    )


def _with_new(documents: Documents, overlay: Overlay, seen: set[int], held: Mapping[int, int]) -> Documents:
    """Add the uncommitted documents whose content was not known before."""
    new = [path for path, content_id in overlay.entries if content_id not in seen]
    updated = sum(path in held for path in new)
    return Documents(documents.added + len(new) - updated, documents.updated + updated, documents.removed)


def _move_view(db: Connection, now: Snapshot, view: View | None) -> View:
    """Make the view of HEAD's tree, from the difference with the nearest one where the rules allow."""
    repo, head = now.repo, now.head
    base = view if view and view.rules == now.rules_key else views.nearest(db, now.rules_key)
    if base is not None and not repo.has_object(base.tree):
        base = None  # rewritten and pruned since
    changes = list(repo.diff(base.tree, head.tree)) if base else []
    modules = _modules_of(db, base) if base else ()
    if base is None or any(is_manifest(change.path) for change in changes):
        found = workspace(repo, now.options, head.tree).modules
        if found != modules:  # another layout: every path may be in another collection
            base, modules = None, found
    if base is None or any(is_rule_file(change.path) for change in changes):
        base = None
        changes = [Change(entry.path, entry) for entry in repo.entries(head.tree)]
        files = _rule_files(repo, changes)
        content.retry(db, [Skip.TOO_LARGE, Skip.UNREADABLE])  # the limit, or the clone, may be another
    else:
        files = views.rule_files(db, base)
    difference = _plan(now, changes, files, modules)
    views.record_paths(db, prepare_paths(_unknown(db, difference)))
    return views.replace(
        db,
        now.slot,
        base=base,
        tree=head.tree,
        rules=now.rules_key,
        commit=head.commit,
        removed=difference.removed,
        added=difference.added,
        rule_files=files,
        modules=[(module.name, module.directory) for module in modules],
    )


def _unknown(db: Connection, difference: Plan) -> list[str]:
    return views.unknown_paths(db, [entry.path for entry in difference.added])
