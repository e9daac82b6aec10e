"""Files that a partial clone has not fetched: no question finds them, so an answer without them says so."""

from __future__ import annotations

from contextlib import suppress

from gitrag.errors import BusyError, StoreError
from gitrag.indexing.notices import absent_line
from gitrag.indexing.snapshot import REVISION
from gitrag.model import Skip
from gitrag.workspace import Workspace


def tell_absent(workspace: Workspace, revision: str | None = None) -> None:
    """Say how many files this clone lacks of the worktree's commit, or of a revision that was just asked."""
    if not workspace.repo.promised_packs():
        return
    from gitrag.store import inspection, views

    with suppress(StoreError, BusyError), workspace.store.read() as db:
        view = views.current(db, workspace.repo.worktree if revision is None else REVISION)
        files = inspection.count_left_out(db, view.view_id, Skip.ABSENT) if view is not None else 0
        if files:
            workspace.say(absent_line(files))
