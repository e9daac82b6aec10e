"""Load the facts of a view's files, extracting those that are missing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from gitrag.callgraph.extraction import Job, extract_all, failed_facts
from gitrag.callgraph.facts import EMPTY, DefinitionFacts, Facts, unpack
from gitrag.machine.isolation import Reading
from gitrag.store.call_facts import FileFacts

_POOL_FROM_BYTES = 3 << 20
"""Above this much source, a process pool is worth its start-up time."""

_BATCH_BYTES = 8 << 20
"""Bytes of source read between two writes."""

MISSING = "its content is missing"
"""Why a file could not be read that a partial clone lacks, or that has changed meanwhile."""


class TimeoutReachedError(Exception):
    """The time limit for a graph is exceeded."""


class Deadline:
    """A moment after which the construction of a graph stops."""

    def __init__(self, timeout_s: float) -> None:
        self._end = time.monotonic() + timeout_s

    def check(self) -> None:
        """Raise if the time is over."""
        if time.monotonic() > self._end:
            raise TimeoutReachedError


Made = list[tuple[int, bytes]]


class Loaded(Struct, frozen=True):
    """The facts of a view.

    Attributes:
        files: Language and facts, by path.
        made: Number of contents whose facts had to be extracted.
        failed: Why a file could not be read, or not in full, by path.
    """

    files: dict[str, tuple[str, Facts]]
    made: int
    failed: dict[str, str]

    def definitions(self, path: str) -> Sequence[DefinitionFacts]:
        return self.files[path][1].definitions if path in self.files else ()


def load(
    rows: Sequence[FileFacts],
    read: Callable[[str], bytes | None],
    keep: Callable[[Made], None],
    *,
    directory: Path | None = None,
    processes: int = 1,
    check: Callable[[], None] = lambda: None,
) -> Loaded:
    """Unpack the facts of files, extracting and storing those that are missing.

    Args:
        rows: The view's files in supported languages.
        read: Returns the bytes of a blob; None if they are missing.
        keep: Stores packed facts; may fail silently.
        directory: Where the files this process is reading are recorded, in case one crashes it; None for
            nowhere.
        processes: How many processes may parse at once.
    """
    facts: dict[int, Facts] = {}
    missing: dict[int, FileFacts] = {}
    for row in rows:
        found = unpack(row.data) if row.data is not None else None
        if found is not None:
            facts[row.content_id] = found
        else:
            missing[row.content_id] = row
    with Reading(directory, processes) as reading:
        for batch in _batches(list(missing.values()), read):
            check()
            shared = sum(len(data) for _, (_, data, _) in batch) >= _POOL_FROM_BYTES
            made = reading.start(extract_all, batch, failed_facts, shared=shared)()
            keep(made)
            facts.update((content_id, unpack(data) or EMPTY) for content_id, data in made)
    files = {row.path: _spoken(row.language, facts.get(row.content_id, EMPTY)) for row in rows}
    no_script = {path for path, (name, each) in files.items() if name == "html" and not each.definitions}
    files = {path: each for path, each in files.items() if path not in no_script or each[1].failure}
    failed = {path: why for path, (_, each) in files.items() if (why := each.failure or each.partly)}
    failed |= {row.path: MISSING for row in rows if row.content_id not in facts}
    return Loaded(files, len(missing), failed)


def _spoken(language: str, facts: Facts) -> tuple[str, Facts]:
    return facts.language or language, facts


def _batches(
    rows: Sequence[FileFacts], read: Callable[[str], bytes | None]
) -> Iterator[list[tuple[str, Job]]]:
    batch: list[tuple[str, Job]] = []
    size = 0
    for row in rows:
        data = read(row.blob)
        if data is None:
            continue
        batch.append((row.blob, (row.content_id, data, row.language)))
        size += len(data)
        if size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
