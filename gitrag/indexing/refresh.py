"""Refresh a worktree's view from its tree and its uncommitted changes; cut new contents and write them."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from gitrag.chunking import language_in
from gitrag.embedding.version import require_unchanged
from gitrag.git import BlobError
from gitrag.indexing.difference import Differences, TreeDifference
from gitrag.indexing.known import (
    Refreshed,
    Start,
    Survey,
    needed,
    settled,
    start_of,
    survey,
    unread,
    waiting_in,
)
from gitrag.indexing.records import OUTLINE, WORDS_ONLY, Job, failed_record, left_out_record, prepare_all
from gitrag.indexing.snapshot import REVISION, Snapshot
from gitrag.indexing.worker import CUTTING, running
from gitrag.machine.isolation import Reading
from gitrag.model import Skip
from gitrag.store import content, views
from gitrag.store.connection import Store, StoreMissingError
from gitrag.store.content import ContentKey, ContentRecord, PendingContent
from gitrag.store.views import Difference, Ids, View, ViewOverlay

if TYPE_CHECKING:
    from pathlib import Path

    from gitrag.store.connection import Connection

_BATCH_BYTES = 4 << 20
"""Source bytes per transaction: a second or two of work, and some 30 MB of rows."""

_POOL_FROM_BYTES = 3 << 20
"""Above this much source, a process pool is worth its start-up time."""

_HELP_TO_BYTES = 24 << 20
"""Up to so much of it, this process cuts too: to start another one takes longer, 0.7 s of processor time."""

_OVERHEAD_BYTES = 2_000
"""Fixed cost of a content, in bytes, so that ten thousand tiny files do not form a single batch."""

_FEW_BYTES = 256 << 10
"""Up to this much source is cut before the view is written: a typical commit, a tenth of a second."""

_POOL_FROM_S = 2.0
"""Where less time is left, a process pool would hardly have begun to cut before it is over."""

_SOON_BYTES = 1 << 20
"""Up to this much source, half a second's, a question waits for all of it."""

_OTHERS_S = 1.0
"""How long a question waits, of more, for files that hold less than `_SHARE` of it."""

_SHARE = 0.4
"""Of 45 changed files among the first ten hits of 16 questions to spree such files are 41; with 0.5 37."""

_LONG_DATA_BYTES = 64 << 10
"""Longer data take a tenth of a second to cut, and hold most words whatever they are about."""

_SEEN_S = 0.5
"""How long source is looked through for a question's words: 64 MB, of small files on a disk less."""

_MOST_WORDS = 16
_DATA = WORDS_ONLY | {"yaml"}

_LIMITS = {content.WANTED: None, content.OUTLINED: OUTLINE}

Cut: TypeAlias = "dict[ContentKey, ContentRecord]"
"""Contents cut but not written yet."""


def cut_few(store: Store, now: Snapshot, wanted: Sequence[ContentKey], deadline: float | None) -> Cut:
    """Cut contents if they are few, to be written together with their view; else return no records."""
    if not wanted or (deadline is not None and time.monotonic() >= deadline):
        return {}
    room = _FEW_BYTES
    for blob, _said in wanted:
        room -= now.reader.size(blob) + _OVERHEAD_BYTES
        if room < 0:
            return {}
    items = [PendingContent(number, *key) for number, key in enumerate(wanted)]
    with Reading(store.directory, 1) as reading:
        return {
            wanted[record.content_id]: record for record in _start(reading, now, items, {}, shared=False)()
        }


def write_cut(db: Connection, waiting: Sequence[PendingContent], cut: Cut) -> int:
    """Write the pending contents that have already been cut; return how many."""
    records = [replace(cut[item.key], content_id=item.content_id) for item in waiting if item.key in cut]
    if records:
        content.write(db, records)
    return len(records)


def cut_waiting(
    store: Store,
    now: Snapshot,
    waiting: Sequence[PendingContent],
    deadline: float | None,
    advance: Callable[[int, int], None],
    known: Mapping[ContentKey, bytes],
) -> int:
    """Cut contents and write them, one batch per transaction; return how many were done by the deadline.

    Args:
        known: Of contents, the keys of texts that the store has.
    """
    done = 0
    sizes = {item.content_id: now.reader.size(item.blob) for item in waiting}
    size = sum(sizes.values())
    hurries = deadline is not None and deadline - time.monotonic() < _POOL_FROM_S
    shared, helps = size > _POOL_FROM_BYTES and not hurries, size <= _HELP_TO_BYTES
    with Reading(store.directory, now.options.processes, helps=helps, deadline=deadline) as reading:
        batches = _batches(waiting, sizes)
        batch: list[PendingContent] | None = next(batches)
        running = _start(reading, now, batch, known, shared=shared) if batch else None
        while running is not None:
            records = running()
            batch = None if deadline and time.monotonic() > deadline else next(batches, None)
            running = _start(reading, now, batch, known, shared=shared) if batch else None
            with store.write("writing chunks", make=False) as db:
                done += len(records) - content.write(db, records)
            advance(done, len(waiting))
    if shared and done:
        with store.write("sorting what was written", make=False) as db:
            content.merge_postings(db)
        store.cache_vectors()
    return done


def _asked_first(
    directory: Path,
    now: Snapshot,
    waiting: Sequence[PendingContent],
    words: Sequence[str],
    deadline: float | None,
) -> list[tuple[Sequence[PendingContent], float | None]]:
    """Put contents first that hold `_SHARE` of a question, and say until when each part is waited for.

    A word counts the more, the fewer hold it. No more than an order: only bytes are looked at. What the
    background is at is left to it.
    """
    if not words:
        return [(waiting, deadline)]
    sizes = {item.content_id: now.reader.size(item.blob) for item in waiting}
    if sum(sizes.values()) + len(sizes) * _OVERHEAD_BYTES <= _SOON_BYTES:
        return [(waiting, deadline)]
    soon = time.monotonic() + _OTHERS_S
    stems = [word[:-1] if len(word) > 4 and word[-1] in "iy" else word for word in words]  # queries: "quer"
    sought = [word.encode("utf-8", "surrogatepass") for word in stems[:_MOST_WORDS]]
    held: dict[int, list[bytes]] = {}
    until = min(time.monotonic() + _SEEN_S, deadline or math.inf)
    for item in waiting:
        with suppress(BlobError):
            text = now.reader.read(item.blob).lower() if time.monotonic() < until else b""
            held[item.content_id] = [word for word in sought if word in text]
    many = Counter(word for own in held.values() for word in own)
    weights = {word: math.log1p(len(held) / files) for word, files in many.items()}
    says = {number: sum(weights[word] for word in own) for number, own in held.items()}
    least = sum(weights.values()) * _SHARE

    def place(item: PendingContent) -> tuple[bool, float, int]:
        size = sizes[item.content_id]
        is_long = size > _LONG_DATA_BYTES and language_in(item.said, b"") in _DATA
        return is_long, -says.get(item.content_id, 0.0), size

    ordered = sorted(waiting, key=place)
    first = sum(not is_long and -said >= least > 0 for is_long, said, _size in map(place, ordered))
    doing = running(directory)
    others = [] if doing is not None and doing.purpose == CUTTING else ordered[first:]
    return [(ordered[:first], deadline), (others, min(soon, deadline or soon))]


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
    reading: Reading,
    now: Snapshot,
    batch: Sequence[PendingContent],
    known: Mapping[ContentKey, bytes],
    *,
    shared: bool,
) -> Callable[[], list[ContentRecord]]:
    """Start cutting a batch; the returned function waits for the records."""
    jobs: list[tuple[str, Job]] = []
    why: Skip | None = None
    left_out: list[ContentRecord] = []
    for item in batch:
        try:
            data = now.reader.read(item.blob)
            mark = content.blob_of(item.blob)[1]
            most = _LIMITS.get(mark, now.options.max_bytes)
            jobs.append((item.blob, (item.content_id, data, item.said, most, known.get(item.key, b""))))
        except BlobError:
            if not now.reader.is_dirty(item.blob):  # a file that has just changed again may be listed twice
                why = why or (Skip.ABSENT if now.repo.promised_packs() else Skip.UNREADABLE)
                left_out.append(left_out_record(item.content_id, why))
    wait = reading.start(partial(prepare_all, model=now.options.model), jobs, failed_record, shared=shared)
    return lambda: [*left_out, *wait()]


_Found: TypeAlias = tuple[Refreshed, list[PendingContent]]
"""A view's state, and the contents to be cut."""


def refresh(
    store: Store,
    now: Snapshot,
    *,
    budget_s: float | None = None,
    advance: Callable[[int, int], None] = lambda _done, _total: None,
    at_once: Callable[[Connection, Refreshed], None] | None = None,
    start: Start | None = None,
    words: Sequence[str] = (),
    look: Callable[[Connection, Refreshed], None] = lambda _db, _refreshed: None,
) -> Refreshed:
    """Refresh the worktree's view and cut new contents.

    Nothing is written when nothing has changed. The index is asked for what it has before it is locked for
    writing, and again only if another process has changed it meanwhile.

    Args:
        at_once: Called while the store is locked; contents then pending are left for later.
        start: Where to start from, if it has been read (``start_of``).
        words: Those of a question. Where much is to be cut, what holds them comes first, and the rest is left
            after a second.
        look: Called in the transaction that has written all, if there is one.
    """
    require_unchanged(now.options.model)  # the index may be of the new one, which other processes would read
    deadline = None if budget_s is None else time.monotonic() + budget_s
    differences = Differences(now)
    done = 0
    cut: Cut = {}
    had: dict[ContentKey, bytes] = {}
    asked, wanted, found = _ask(store, now, differences, start)
    if found is None:
        differences.records(asked.new_paths)
        cut = cut_few(store, now, wanted, deadline)
    if found is None or at_once is not None:
        with store.write("updating the view") as db:
            if not asked.start.holds_in(store.state):  # another process has written meanwhile
                asked = survey(db, now, differences, start_of(db, now, store.state))
                found = settled(db, now, asked)
            if found is None:
                had = _texts_before(db, asked) if wanted and not cut else {}
                refreshed = _record(db, now, differences, asked)
                found = refreshed, waiting_in(db, refreshed)
            done = write_cut(db, found[1], cut)
            found = found[0], [item for item in found[1] if item.key not in cut]
            if at_once is not None:
                refreshed = replace(found[0], cut=done, waiting=len(found[1]))
                at_once(db, refreshed)
                return refreshed
            if not found[1]:
                look(db, found[0])
    refreshed, waiting = found
    if done:
        advance(done, done + len(waiting))
    total = done + len(waiting)
    for part, end in _asked_first(store.directory, now, waiting, words, deadline):
        if part:
            before = done
            done += cut_waiting(store, now, part, end, lambda own, _: advance(before + own, total), had)  # noqa: B023
    return replace(refreshed, cut=done, waiting=total - done)


def _ask(
    store: Store, now: Snapshot, differences: Differences, start: Start | None
) -> tuple[Survey, list[ContentKey], _Found | None]:
    """Ask the index what has to be written; what git says about that is worked out while it is closed.

    Returns:
        What has to be written, which contents must be read for it, and the state if there is nothing.
    """
    with suppress(StoreMissingError):
        if start is None:
            with store.read() as db:
                start = start_of(db, now, store.state)
                if start.is_current:  # git has only to be asked about uncommitted changes
                    return _asked(db, now, differences, start)
        needed(now, differences, start)
        with store.read() as db:
            if not start.holds_in(store.state):
                start = start_of(db, now, store.state)
            return _asked(db, now, differences, start)
    nothing = Start()
    found = Survey(nothing, *needed(now, differences, nothing), Ids({}, {}))
    return found, found.new_contents, None


def _asked(
    db: Connection, now: Snapshot, differences: Differences, start: Start
) -> tuple[Survey, list[ContentKey], _Found | None]:
    asked = survey(db, now, differences, start)
    found = settled(db, now, asked)
    return asked, [] if found is not None else unread(db, asked), found


def _texts_before(db: Connection, asked: Survey) -> dict[ContentKey, bytes]:
    """Return, by what a path is to hold, the keys of the texts of what it held: most have not changed."""
    if asked.start.view is None:
        return {}
    paths = asked.ids.paths
    before = views.held(db, asked.start.view.view_id, [paths[e.path] for e in asked.added if e.path in paths])
    keys = content.text_keys(db, before.values())
    return {e.content: keys.get(before.get(paths.get(e.path, 0), 0), b"") for e in asked.added}


def _record(db: Connection, now: Snapshot, differences: Differences, asked: Survey) -> Refreshed:
    """Write the view of HEAD's tree and its overlay."""
    start, changes = asked.start, asked.uncommitted
    if asked.tree is not None:
        _retry(db, now, asked.tree)
    before, after = _held(db, asked)
    ids = Ids(
        {**asked.ids.paths, **views.record_paths(db, differences.records(asked.new_paths))},
        {**asked.ids.contents, **content.add(db, asked.new_contents)},
    )
    view = _point(db, now, asked, ids)
    views.forget_worktrees(db, [*now.repo.worktrees(), REVISION])
    overlay, added, updated, removed = ViewOverlay(), 0, 0, 0
    if not start.is_current:
        after = _with_difference(after, asked.of_tree, ids)
        both = before.keys() & after.keys()
        added, removed = len(after) - len(both), len(before) - len(both)
        updated = sum(before[path] != after[path] for path in both)
    if now.changes:
        overlay = views.overlay(ids, changes.removed, changes.added)
        seen = set(asked.ids.contents.values())
        seen |= {ids.contents[entry.content] for entry in asked.of_tree.added if not entry.skip}
        new = [path_id for path_id, content_id in overlay.entries if content_id not in seen]
        held = views.held(db, view.view_id, new) if start.is_current and new else after
        again = sum(path_id in held for path_id in new)
        added, updated = added + len(new) - again, updated + again
    return Refreshed(view, overlay, now.head, (added, updated, removed), now.dirty, recorded=True)


def _retry(db: Connection, now: Snapshot, tree: TreeDifference) -> None:
    """Read contents again that were left out for reasons that may no longer hold."""
    if tree.base is None:
        # The size limit or the clone may have changed.
        content.retry(db, [Skip.TOO_LARGE, Skip.UNREADABLE, Skip.ABSENT])
    elif not now.repo.promised_packs():
        content.retry(db, [Skip.UNREADABLE])  # few, and perhaps repaired; a partial clone lacks thousands


def _point(db: Connection, now: Snapshot, asked: Survey, ids: Ids) -> View:
    """Point the worktree at the view of HEAD's tree, built if there is none."""
    start, tree = asked.start, asked.tree
    if tree is not None:
        before = start.current.view_id if start.current else 0
        return views.replace(
            db,
            now.slot,
            View(before, now.head.tree, now.rules_key, now.head.commit),
            tree.difference,
            ids,
            base=tree.base,
            rule_files=tree.files,
            modules=[(module.name, module.directory) for module in tree.modules],
        )
    if start.view is None:
        raise AssertionError("neither a view of the tree nor how to build one")
    if start.is_current:
        views.touch(db, start.view)
        return start.view
    view = replace(start.view, commit=now.head.commit)
    views.point(db, now.slot, view)
    return view


def _held(db: Connection, asked: Survey) -> tuple[dict[int, int], dict[int, int]]:
    """Read what the worktree's view holds, and what the view to start from holds, by path id."""
    start = asked.start
    if start.is_current:
        return {}, {}
    before = {} if start.current is None else views.held(db, start.current.view_id)
    base = start.view if asked.tree is None else asked.tree.base
    if base is None:
        return before, {}
    return before, before if base == start.current else views.held(db, base.view_id)


def _with_difference(held: Mapping[int, int], difference: Difference, ids: Ids) -> dict[int, int]:
    """Return what a view holds after a difference, by path id."""
    gone = {*difference.removed, *(entry.path for entry in difference.added if entry.skip)}
    new = {ids.paths[entry.path]: ids.contents[entry.content] for entry in difference.added if not entry.skip}
    left = {**held, **new}
    for path in gone:
        left.pop(ids.paths.get(path, 0), None)
    return left
