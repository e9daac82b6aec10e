"""The facts about calls of a view's files: read where they are kept, made and kept where they are not."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from gitrag.callgraph.extraction import LANGUAGES
from gitrag.callgraph.loading import Loaded, load
from gitrag.errors import BusyError, StoreError
from gitrag.git import BlobError
from gitrag.indexing.refresh import Refreshed, Snapshot
from gitrag.store import facts
from gitrag.store.connection import Store


def facts_of(
    store: Store,
    now: Snapshot,
    refreshed: Refreshed,
    collection: str | None = None,
    *,
    missing_only: bool = False,
    check: Callable[[], None] = lambda: None,
) -> Loaded:
    """Give the facts of a view's files.

    Args:
        store: The repository's store.
        now: What git says.
        refreshed: The view of it.
        collection: The only collection; None for all.
        missing_only: Only make what is missing, for a later question.
        check: Called between batches; stops by raising.
    """
    with store.read() as db:
        rows = facts.of_view(
            db,
            refreshed.view.view_id,
            refreshed.overlay,
            sorted(LANGUAGES),
            collection,
            missing_only=missing_only,
        )

    def read(blob: str) -> bytes | None:
        try:
            return now.reader.read(blob)
        except BlobError:
            return None

    def keep(made: Sequence[tuple[int, bytes]]) -> None:
        try:
            with store.write("keeping facts about calls", make=False) as db:
                facts.write(db, made)
        except (StoreError, BusyError) as error:  # a full disk, say: the answer needs no keeping
            logging.getLogger(__name__).warning("facts about calls were not kept: %s", error)

    return load(rows, read, keep, processes=now.options.processes, check=check)
