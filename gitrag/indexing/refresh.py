"""Bring a worktree's view up to date with its tree and its uncommitted changes."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from gitrag.git import BlobError, Change, Repository, Rules, is_rule_file
from gitrag.git.overlay import Overlay as GitOverlay
from gitrag.git.overlay import overlay as git_overlay
from gitrag.git.repository import SUBMODULE_MODE, SYMLINK_MODE
from gitrag.indexing.plan import Plan, plan
from gitrag.indexing.preparation import left_out_record, prepare_all, prepare_paths
from gitrag.model import Head, Skip, TreeEntry
from gitrag.store import content, views
from gitrag.store.connection import Store, StoreMissingError
from gitrag.store.content import ContentRecord, PendingContent
from gitrag.store.views import Overlay, View

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

    from gitrag.store.connection import Connection

_BATCH_BYTES = 4 << 20
"""Source cut between two transactions: a second or two of work, and some 30 MB of rows."""

_POOL_FROM_BYTES = 3 << 20
"""More source than this is shared among processes; less is done before they have started."""

_OVERHEAD_BYTES = 2_000
"""What a content costs beside its bytes, so that ten thousand tiny files are not one batch."""

_GROUP = 16
"""Contents handed to a process at once."""

_FIRST_LINE_BYTES = 256


@dataclass(frozen=True, slots=True)
class Options:
    """What a refresh needs of the configuration.

    Attributes:
        max_bytes: Larger contents are left out.
        exclude: Globs of paths to leave out.
        processes: How many may cut source at once.
    """

    max_bytes: int
    exclude: tuple[str, ...] = ()
    processes: int = 1


@dataclass(frozen=True, slots=True)
class Refreshed:
    """Where a view stands after a refresh.

    Attributes:
        view: The view of HEAD's tree.
        overlay: The uncommitted changes on top of it.
        head: Where HEAD was.
        changed: Paths new or changed in the view since the last refresh.
        removed: Paths gone from the view since then.
        dirty: Paths with uncommitted changes.
        cut: Contents read and cut now.
        waiting: Contents left for later, for want of time.
    """

    view: View
    overlay: Overlay
    head: Head
    changed: int = 0
    removed: int = 0
    dirty: int = 0
    cut: int = 0
    waiting: int = 0


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
        changes: The uncommitted changes on top of it.
        rules_key: Signs what the rules are made of beside HEAD's tree.
        reader: Reads contents of both.
    """

    repo: Repository
    options: Options
    slot: str
    head: Head
    changes: tuple[Change, ...]
    rules_key: str
    reader: _Reader


REVISION = ":revision"
"""The slot of a revision that no worktree stands on; a worktree's id has no colon."""


def look(repo: Repository, options: Options, *, committed_only: bool = False) -> Snapshot:
    """Ask git where a worktree stands.

    Args:
        repo: The repository, at the worktree.
        options: What to leave out, how many processes.
        committed_only: Leave uncommitted changes alone.
    """
    if repo.root is None or committed_only:
        return Snapshot(repo, options, repo.worktree, repo.head(), (), _rules_key(options), _Reader(repo))
    overlay = git_overlay(repo, max_bytes=options.max_bytes)
    return Snapshot(
        repo,
        options,
        repo.worktree,
        overlay.head,
        overlay.changes,
        _rules_key(options, overlay.changes),
        _Reader(repo, overlay),
    )


def look_at(repo: Repository, options: Options, revision: str) -> Snapshot:
    """Ask git for a revision, whatever the worktrees stand on.

    Raises:
        UsageError: There is no such revision.
    """
    head = repo.resolve(revision)
    return Snapshot(repo, options, REVISION, head, (), _rules_key(options), _Reader(repo))


def known(db: Connection, now: Snapshot) -> Refreshed | None:
    """Find the state of a view that needs no writing but for contents to cut; None when something is new."""
    found = _known(db, now)
    return found and replace(found[0], waiting=len(found[1]))


def _known(db: Connection, now: Snapshot) -> tuple[Refreshed, list[PendingContent]] | None:
    view = views.current(db, now.slot)
    if view is None or (view.tree, view.rules) != (now.head.tree, now.rules_key):
        return None
    overlay = Overlay()
    if now.changes:
        changes = _plan(now, now.changes, views.rule_files(db, view))
        found = views.overlay(db, changes.removed, changes.added)
        if found is None:
            return None
        overlay = found
    refreshed = Refreshed(view, overlay, now.head, dirty=len(now.changes))
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
            refreshed = _record(db, now)
            found = refreshed, _waiting(db, refreshed)
    refreshed, waiting = found
    cut = _cut(store, now, waiting, deadline, advance) if waiting else 0
    return replace(refreshed, cut=cut, waiting=len(waiting) - cut)


def lacking(db: Connection, now: Snapshot) -> tuple[list[tuple[int, int]], int]:
    """Say what a snapshot's tree lacks, whether or not a view of it exists; nothing is written.

    Returns:
        Path id (0 for none) and content id of what the tree holds and the store knows, and the number of
        paths whose content it has not read.
    """
    repo = now.repo
    changes = [Change(entry.path, entry) for entry in repo.entries(now.head.tree)]
    difference = _plan(now, changes, _rule_files(repo, changes))
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
    facts = (Rules.build({}, options.exclude).signature, options.max_bytes, dirty)
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def _waiting(db: Connection, refreshed: Refreshed) -> list[PendingContent]:
    own = [content_id for _path_id, content_id in refreshed.overlay.entries]
    return content.pending(db, own, refreshed.view.view_id)


def _plan(now: Snapshot, changes: Sequence[Change], files: Mapping[str, bytes]) -> Plan:
    """Decide what changes, under the rules that HEAD's rule files give."""
    limit = now.options.max_bytes
    return plan(
        changes,
        _rules(files, now),
        now.reader.first_line,
        lambda entry: now.reader.size(entry.blob) > limit,
    )


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
    view = views.current(db, slot)
    changed = removed = 0
    if view is None or (view.tree, view.rules) != (head.tree, now.rules_key):
        twin = views.find(db, head.tree, now.rules_key)
        if twin is not None:
            view = View(twin.view_id, twin.tree, twin.rules, head.commit)
            views.point(db, slot, view)
        else:
            view, difference = _move_view(db, now, view)
            changed, removed = len(difference.added), len(difference.removed)
    overlay = Overlay()
    if now.changes:
        on_top = _plan(now, now.changes, views.rule_files(db, view))
        views.record_paths(db, prepare_paths(_unknown(db, on_top)))
        content.ensure(db, [(entry.blob, entry.language) for entry in on_top.added if not entry.skip])
        found = views.overlay(db, on_top.removed, on_top.added)
        if found is None:
            raise AssertionError("what was just recorded is not there")
        overlay = found
    return Refreshed(view, overlay, head, changed, removed, len(now.changes))


def _move_view(db: Connection, now: Snapshot, view: View | None) -> tuple[View, Plan]:
    """Make the view of HEAD's tree, from the difference with the nearest one where the rules allow."""
    repo, head = now.repo, now.head
    base = view if view and view.rules == now.rules_key else views.nearest(db, now.rules_key)
    if base is not None and not repo.has_object(base.tree):
        base = None  # rewritten and pruned since
    changes = list(repo.diff(base.tree, head.tree)) if base else []
    if base is None or any(is_rule_file(change.path) for change in changes):
        base = None
        changes = [Change(entry.path, entry) for entry in repo.entries(head.tree)]
        files = _rule_files(repo, changes)
        content.retry(db, [Skip.TOO_LARGE, Skip.UNREADABLE])  # the limit, or the clone, may be another
    else:
        files = views.rule_files(db, base)
    difference = _plan(now, changes, files)
    views.record_paths(db, prepare_paths(_unknown(db, difference)))
    moved = views.replace(
        db,
        now.slot,
        base=base,
        tree=head.tree,
        rules=now.rules_key,
        commit=head.commit,
        removed=difference.removed,
        added=difference.added,
        rule_files=files,
    )
    return moved, difference


def _unknown(db: Connection, difference: Plan) -> list[str]:
    return views.unknown_paths(db, [entry.path for entry in difference.added])


def _cut(
    store: Store,
    now: Snapshot,
    waiting: Sequence[PendingContent],
    deadline: float | None,
    advance: Callable[[int, int], None],
) -> int:
    """Cut contents and write them, a batch a transaction; give the number done before the deadline."""
    done = 0
    sizes = {item.content_id: now.reader.size(item.blob) for item in waiting}
    parallel = now.options.processes > 1 and sum(sizes.values()) > _POOL_FROM_BYTES
    with _pool(now.options.processes if parallel else 1) as pool:
        batches = _batches(waiting, sizes)
        batch: list[PendingContent] | None = next(batches)
        running = _start(pool, now, batch) if batch else None
        while running is not None:
            records = running()
            batch = None if deadline and time.monotonic() > deadline else next(batches, None)
            running = _start(pool, now, batch) if batch else None
            with store.write("writing chunks", make=False) as db:
                content.write(db, records)
            done += len(records)
            advance(done, len(waiting))
    return done


def _batches(waiting: Sequence[PendingContent], sizes: Mapping[int, int]) -> Iterator[list[PendingContent]]:
    batch: list[PendingContent] = []
    room = _BATCH_BYTES
    for item in waiting:
        batch.append(item)
        room -= sizes[item.content_id] + _OVERHEAD_BYTES
        if room < 0:
            yield batch
            batch, room = [], _BATCH_BYTES
    if batch:
        yield batch


def _start(
    pool: ProcessPoolExecutor | None,
    now: Snapshot,
    batch: Sequence[PendingContent],
) -> Callable[[], list[ContentRecord]]:
    """Begin to cut a batch; the function that is given back waits for the records."""
    from concurrent.futures.process import BrokenProcessPool  # 20 ms that a search has no need of

    jobs: list[tuple[int, bytes, str | None, int]] = []
    left_out: list[ContentRecord] = []
    for item in batch:
        try:
            data = now.reader.read(item.blob)
            jobs.append((item.content_id, data, item.language, now.options.max_bytes))
        except BlobError:
            if not now.reader.is_dirty(item.blob):  # a file that has just changed again may come back
                left_out.append(left_out_record(item.content_id, Skip.UNREADABLE))
    if pool is None:
        return lambda: [*left_out, *prepare_all(jobs)]
    try:
        with _without_interrupts():
            groups = [pool.submit(prepare_all, jobs[i : i + _GROUP]) for i in range(0, len(jobs), _GROUP)]
    except BrokenProcessPool:
        groups = []

    def wait() -> list[ContentRecord]:
        try:
            records = [record for group in groups for record in group.result()]
        except BrokenProcessPool:  # one of its processes was killed, for want of memory perhaps
            records = []
        return [*left_out, *(records or prepare_all(jobs))]

    return wait


@contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor | None]:
    if processes < 2:
        yield None
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Not forked: the parent's DuckDB and onnxruntime threads would leave their locks behind.
    spawn = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, mp_context=spawn, initializer=_begin_in_pool)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back while processes are started: they inherit that, and are deaf to it from the start."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_in_pool() -> None:
    """Begin as a process of a pool, and end when its parent is gone: one that was killed cannot tell it."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is there: the pool has a process a core
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_outlive, args=[parent.sentinel], daemon=True).start()


def _outlive(parent: int) -> None:
    from multiprocessing.connection import wait

    wait([parent])
    os._exit(1)
