"""The facts about calls of a view's files: read where they are kept, made and kept where they are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gitrag.callgraph.extraction import LANGUAGES
from gitrag.callgraph.loading import Loaded, load
from gitrag.errors import BusyError, StoreError
from gitrag.git import BlobError
from gitrag.indexing.refresh import Refreshed
from gitrag.indexing.snapshot import Snapshot
from gitrag.store import call_facts
from gitrag.store.call_facts import FileFacts
from gitrag.store.connection import Store

if TYPE_CHECKING:
    from gitrag.store.connection import Connection


def rows_of(
    db: Connection, refreshed: Refreshed, collection: str | None = None, *, missing_only: bool = False
) -> list[FileFacts]:
    """Read which files a view has in known languages, and the facts that are kept of them.

    Args:
        db: An open connection.
        refreshed: The view.
        collection: The only collection; None for all.
        missing_only: Only files whose facts are not kept, to make them for a later question.
    """
    view_id, overlay = refreshed.view.view_id, refreshed.overlay
    return call_facts.of_view(db, view_id, overlay, sorted(LANGUAGES), collection, missing_only=missing_only)


def facts_of(
    store: Store, now: Snapshot, rows: Sequence[FileFacts], *, check: Callable[[], None] = lambda: None
) -> Loaded:
    """Give the facts of a view's files, made and kept where they are not kept.

    Args:
        store: The repository's store.
        now: What git says.
        rows: The files.
        check: Called between batches; stops by raising.
    """

    def read(blob: str) -> bytes | None:
        try:
            return now.reader.read(blob)
        except BlobError:
            return None

    def keep(made: Sequence[tuple[int, bytes]]) -> None:
        try:
            with store.write("keeping facts about calls", make=False) as db:
                call_facts.write(db, made)
        except (StoreError, BusyError) as error:  # a full disk, say: the answer needs no keeping
            from gitrag.machine.log import logged

            with logged(store.directory) as log:
                log.warning("facts about calls were not kept: %s", error)

    return load(rows, read, keep, directory=store.directory, processes=now.options.processes, check=check)
