"""What a map of the repository shows of each file: size, language, vectors, commits."""

from __future__ import annotations

from contextlib import suppress

from gitrag.indexing.known import recorded
from gitrag.store.connection import StoreMissingError
from gitrag.store.inspection import MappedFile
from gitrag.workspace import Workspace


def map_files(workspace: Workspace) -> tuple[MappedFile, ...]:
    """Return what is known of each indexed file, uncommitted ones included, without updating the index."""
    from gitrag.store import inspection, views

    now = workspace.snapshot()
    with suppress(StoreMissingError), workspace.store.read() as db:
        view = views.current(db, workspace.repo.worktree)
        if view is not None:
            return tuple(inspection.mapped(db, view, recorded(db, now, view)))
    return ()
