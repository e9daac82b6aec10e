"""Call facts for a view's files: read where stored, otherwise extracted and stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from gitrag.callgraph.extraction import LANGUAGES
from gitrag.callgraph.general.manifests import NAMES
from gitrag.callgraph.loading import Loaded, load
from gitrag.errors import BusyError, StoreError
from gitrag.git import BlobError
from gitrag.indexing.snapshot import Snapshot
from gitrag.store import call_facts
from gitrag.store.call_facts import FileFacts
from gitrag.store.connection import Store
from gitrag.store.views import ViewOverlay

if TYPE_CHECKING:
    from gitrag.store.connection import Connection


def rows_of(
    db: Connection,
    view_id: int,
    overlay: ViewOverlay,
    collection: str | None = None,
    *,
    missing_only: bool = False,
) -> list[FileFacts]:
    """Read which files of a view are in supported languages, with their stored facts.

    Args:
        missing_only: Only files without stored facts, to extract them ahead of a later question.
    """
    return call_facts.of_view(db, view_id, overlay, sorted(LANGUAGES), collection, missing_only=missing_only)


def not_in_graph(
    db: Connection, view_id: int, overlay: ViewOverlay, collection: str | None = None
) -> list[tuple[str, str, str]]:
    """Read which files of a view `rows_of` leaves out: path, language, and state or why it is left out."""
    return call_facts.not_in_view(db, view_id, overlay, sorted(LANGUAGES), collection)


def manifests_of(
    db: Connection, view_id: int, overlay: ViewOverlay, names: Sequence[str] = NAMES
) -> list[tuple[str, str]]:
    """Read which files of a view say where its packages are: path and blob."""
    return call_facts.of_names(db, view_id, overlay, names)


def texts_of(now: Snapshot, rows: Sequence[tuple[str, str]]) -> dict[str, bytes]:
    """Return the contents of blobs by path; those that a partial clone lacks are left out."""
    found: dict[str, bytes] = {}
    for path, blob in rows:
        with suppress(BlobError):
            found[path] = now.reader.read(blob)
    return found


def facts_of(
    store: Store, now: Snapshot, rows: Sequence[FileFacts], *, check: Callable[[], None] = lambda: None
) -> Loaded:
    """Return the call facts of a view's files, extracting and storing those that are missing."""

    def read(blob: str) -> bytes | None:
        try:
            return now.reader.read(blob)
        except BlobError:
            return None

    def keep(made: Sequence[tuple[int, bytes]]) -> None:
        try:
            with store.write("keeping facts about calls", make=False) as db:
                call_facts.write(db, made)
        except (StoreError, BusyError) as error:  # e.g. a full disk: the answer needs no storing
            from gitrag.machine.log import logged

            with logged(store.directory) as log:
                log.warning("facts about calls were not kept: %s", error)

    return load(rows, read, keep, directory=store.directory, processes=now.options.processes, check=check)
