"""The decisions, specifications and issues that are indexed, whole: for `prime` and MCP's resources."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from gitrag.corpus.layout import CollectionKind
from gitrag.errors import DiskError
from gitrag.indexing.known import recorded
from gitrag.store.source import IndexFile
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from gitrag.corpus.documents import Document


def indexed_documents(
    workspace: Workspace, kinds: Sequence[CollectionKind]
) -> list[tuple[CollectionKind, Document, str]]:
    """Return the indexed documents of some kinds of collection, of all modules, sorted by kind and path.

    What is indexed is first made so by these settings, if others did it last.

    Returns:
        Kind, document and text of each.
    """
    from gitrag.search.sections import read_documents
    from gitrag.store import views

    now = workspace.snapshot()
    for again in (True, False):
        with workspace.store.read() as db:
            view = views.current(db, workspace.repo.worktree)
            if view is None:
                break
            if view.rules == now.rules_key or not again:
                return read_documents(IndexFile(db), view.view_id, recorded(db, now, view), kinds)
        with suppress(DiskError):  # then as it is
            workspace.update()  # a session of other settings was the last to index
    return []
