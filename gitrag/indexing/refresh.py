"""Bring a worktree's view up to date with its tree and its uncommitted changes."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gitrag.git import BlobError, Change, Repository, Rules, is_rule_file
from gitrag.git.overlay import Overlay as GitOverlay
from gitrag.git.overlay import overlay as git_overlay
from gitrag.indexing.plan import Plan, plan
from gitrag.indexing.preparation import left_out_record, prepare_all, prepare_path
from gitrag.model import Head, Skip, TreeEntry
from gitrag.store import content, views
from gitrag.store.connection import Store, StoreMissingError
from gitrag.store.content import ContentRecord, PendingContent
from gitrag.store.views import Overlay, View

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

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

    @property
    def overlay_contents(self) -> tuple[int, ...]:
        """The content ids of the uncommitted changes."""
        return tuple(content_id for _path, content_id in self.overlay.entries)


@dataclass(frozen=True, slots=True)
class _State:
    """What git says: HEAD, the uncommitted changes, and what the rules are made of beside HEAD's tree."""

    head: Head
    changes: tuple[Change, ...]
    rules_key: str


class _Reader:
    """Reads contents, from the working tree for uncommitted changes and from git for the rest."""

    def __init__(self, repo: Repository, overlay: GitOverlay | None) -> None:
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
        """Measure a blob in bytes without reading it; uncommitted ones are small or already left out."""
        return 0 if blob in self._dirty else self._repo.blob_size(blob)

    def first_line(self, entry: TreeEntry) -> str:
        """Read the first line of a file, which may name its interpreter; empty when it cannot be read."""
        try:
            data = self.read(entry.blob)
        except BlobError:
            return ""
        return data[:_FIRST_LINE_BYTES].partition(b"\n")[0].decode("utf-8", "replace")


def refresh(
    repo: Repository,
    store: Store,
    options: Options,
    *,
    committed_only: bool = False,
    budget_s: float | None = None,
    advance: Callable[[int, int], None] = lambda _done, _total: None,
) -> Refreshed:
    """Bring the worktree's view up to date and cut what is new.

    Nothing is written when nothing has changed.

    Args:
        repo: The repository, at the worktree.
        store: Its store.
        options: What to leave out, how many processes.
        committed_only: Leave uncommitted changes alone.
        budget_s: Seconds after which contents are left for later; None for no limit.
        advance: Called with (contents done, contents in all) while they are cut.
    """
    deadline = None if budget_s is None else time.monotonic() + budget_s
    overlay = None
    if repo.root is not None and not committed_only:
        overlay = git_overlay(repo, max_bytes=options.max_bytes)
    changes = overlay.changes if overlay else ()
    state = _State(overlay.head if overlay else repo.head(), changes, _rules_key(options, changes))
    reader = _Reader(repo, overlay)
    try:
        with store.read() as db:
            refreshed = _known(db, repo, state, reader, options)
            waiting = _waiting(db, refreshed) if refreshed else []
    except StoreMissingError:
        refreshed = None
    if refreshed is None:
        with store.write("updating the view") as db:
            refreshed = _record(db, repo, state, reader, options)
            waiting = _waiting(db, refreshed)
    cut = 0
    if waiting:
        cut = _cut(store, reader, waiting, options, deadline, advance)
    return replace(refreshed, cut=cut, waiting=len(waiting) - cut)


def _rules_key(options: Options, changes: Sequence[Change]) -> str:
    """Sign what the rules depend on beside HEAD's tree, by which a view is known anyway."""
    dirty = sorted(
        f"{change.path}\0{change.entry.blob if change.entry else ''}"
        for change in changes
        if is_rule_file(change.path)
    )
    return Rules.build(
        {}, (*options.exclude, f"#{options.max_bytes}", *(f"#{line}" for line in dirty))
    ).signature


def _waiting(db: DuckDBPyConnection, refreshed: Refreshed) -> list[PendingContent]:
    return content.pending(db, refreshed.overlay_contents, refreshed.view.view_id)


def _known(
    db: DuckDBPyConnection, repo: Repository, state: _State, reader: _Reader, options: Options
) -> Refreshed | None:
    """Find the state of a view that needs no writing; None when something is new."""
    view = views.current(db, repo.worktree)
    if view is None or (view.tree, view.rules) != (state.head.tree, state.rules_key):
        return None
    if not state.changes:
        return Refreshed(view, Overlay(), state.head)
    rules = _rules(views.rule_files(db, view), state, reader, options)
    changes = plan(state.changes, rules, reader.first_line)
    overlay = views.overlay(db, changes.removed, changes.added)
    return None if overlay is None else Refreshed(view, overlay, state.head, dirty=len(state.changes))


def _rules(files: Mapping[str, bytes], state: _State, reader: _Reader, options: Options) -> Rules:
    """Build the rules from HEAD's rule files with the uncommitted ones on top."""
    current = dict(files)
    for change in state.changes:
        if is_rule_file(change.path):
            current.pop(change.path, None)
            if change.entry is not None:
                current[change.path] = reader.read(change.entry.blob)
    return Rules.build(current, options.exclude)


def _record(
    db: DuckDBPyConnection, repo: Repository, state: _State, reader: _Reader, options: Options
) -> Refreshed:
    """Write the view of HEAD's tree and what lies on top of it."""
    head = state.head
    view = views.current(db, repo.worktree)
    changed = removed = 0
    if view is None or (view.tree, view.rules) != (head.tree, state.rules_key):
        twin = views.find(db, head.tree, state.rules_key)
        if twin is not None:
            view = View(twin.view_id, twin.tree, twin.rules, head.commit)
            views.point(db, repo.worktree, view)
        else:
            view, changes = _move_view(db, repo, view, state, reader, options)
            changed, removed = len(changes.added), len(changes.removed)
    overlay: Overlay | None = Overlay()
    if state.changes:
        rules = _rules(views.rule_files(db, view), state, reader, options)
        on_top = plan(state.changes, rules, reader.first_line)
        views.record_paths(db, [prepare_path(path) for path in _unknown(db, on_top)])
        content.ensure(db, [(entry.blob, entry.language) for entry in on_top.added if not entry.skip])
        overlay = views.overlay(db, on_top.removed, on_top.added)
    return Refreshed(view, overlay or Overlay(), head, changed, removed, len(state.changes))


def _move_view(
    db: DuckDBPyConnection,
    repo: Repository,
    view: View | None,
    state: _State,
    reader: _Reader,
    options: Options,
) -> tuple[View, Plan]:
    """Make the view of HEAD's tree, from the difference with the nearest one where the rules allow."""
    head = state.head
    base = view if view and view.rules == state.rules_key else views.nearest(db, state.rules_key)
    if base is not None and not repo.has_object(base.tree):
        base = None  # rewritten and pruned since
    changes = list(repo.diff(base.tree, head.tree)) if base else []
    if base is None or any(is_rule_file(change.path) for change in changes):
        base = None
        changes = [Change(entry.path, entry) for entry in repo.entries(head.tree)]
        files = {
            change.path: repo.read_blob(change.entry.blob)
            for change in changes
            if change.entry and is_rule_file(change.path)
        }
        content.retry_states(db, [Skip.TOO_LARGE])  # the limit may have changed
    else:
        files = views.rule_files(db, base)
    difference = plan(changes, _rules(files, state, reader, options), reader.first_line)
    views.record_paths(db, [prepare_path(path) for path in _unknown(db, difference)])
    moved = views.replace(
        db,
        repo.worktree,
        base=base,
        tree=head.tree,
        rules=state.rules_key,
        commit=head.commit,
        removed=difference.removed,
        added=difference.added,
        rule_files=files,
    )
    return moved, difference


def _unknown(db: DuckDBPyConnection, difference: Plan) -> list[str]:
    return views.unknown_paths(db, [entry.path for entry in difference.added])


def _cut(
    store: Store,
    reader: _Reader,
    waiting: Sequence[PendingContent],
    options: Options,
    deadline: float | None,
    advance: Callable[[int, int], None],
) -> int:
    """Cut contents and write them, a batch a transaction; give the number done before the deadline."""
    done = 0
    sizes = {item.content_id: _size(reader, item.blob) for item in waiting}
    parallel = options.processes > 1 and sum(sizes.values()) > _POOL_FROM_BYTES
    with _pool(options.processes if parallel else 1) as pool:
        batches = _batches(waiting, sizes)
        running = _start(pool, reader, next(batches), sizes, options)
        while running is not None:
            records = running()
            following = None if deadline and time.monotonic() > deadline else next(batches, None)
            running = _start(pool, reader, following, sizes, options) if following else None
            with store.write("writing chunks") as db:
                content.write(db, records)
            done += len(records)
            advance(done, len(waiting))
    return done


def _size(reader: _Reader, blob: str) -> int:
    try:
        return reader.size(blob)
    except BlobError:
        return 0


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
    reader: _Reader,
    batch: Sequence[PendingContent],
    sizes: Mapping[int, int],
    options: Options,
) -> Callable[[], list[ContentRecord]]:
    """Begin to cut a batch; the function that is given back waits for the records."""
    jobs: list[tuple[int, bytes, str | None, str, int]] = []
    left_out: list[ContentRecord] = []
    for item in batch:
        try:
            if sizes[item.content_id] > options.max_bytes:
                left_out.append(left_out_record(item.content_id, Skip.TOO_LARGE))
            else:
                data = reader.read(item.blob)
                jobs.append((item.content_id, data, item.language, item.path, options.max_bytes))
        except BlobError:
            left_out.append(left_out_record(item.content_id, Skip.UNREADABLE))
    if pool is None:
        return lambda: [*left_out, *prepare_all(jobs)]
    groups = [pool.submit(prepare_all, jobs[i : i + _GROUP]) for i in range(0, len(jobs), _GROUP)]
    return lambda: [*left_out, *(record for group in groups for record in group.result())]


@contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor | None]:
    if processes < 2:
        yield None
        return
    # Not forked: the parent's DuckDB and onnxruntime threads would leave their locks behind.
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool
