"""Read pending contents, cut them into chunks (in several processes when there are many), and write them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from gitrag.git import BlobError
from gitrag.indexing.records import OUTLINE, Job, failed_record, left_out_record, prepare_all
from gitrag.machine.isolation import Reading
from gitrag.model import Skip
from gitrag.store import content
from gitrag.store.connection import Store
from gitrag.store.content import ContentKey, ContentRecord, PendingContent

if TYPE_CHECKING:
    from gitrag.indexing.snapshot import Snapshot
    from gitrag.store.connection import Connection

_BATCH_BYTES = 4 << 20
"""Source bytes per transaction: a second or two of work, and some 30 MB of rows."""

_POOL_FROM_BYTES = 3 << 20
"""Above this much source, a process pool is worth its start-up time."""

_OVERHEAD_BYTES = 2_000
"""Fixed cost of a content, in bytes, so that ten thousand tiny files do not form a single batch."""

_FEW_BYTES = 256 << 10
"""Up to this much source is cut before the view is written: a typical commit, a tenth of a second."""

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
    shared = sum(sizes.values()) > _POOL_FROM_BYTES
    with Reading(store.directory, now.options.processes) as reading:
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
