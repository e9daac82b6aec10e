"""Fetch the model: here, showing the progress, or in the background, where a failure is remembered."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from gitrag.actions.progress import ShowProgress
from gitrag.embedding.local_model import ModelFetch
from gitrag.errors import GitragError
from gitrag.machine.files import write_private
from gitrag.workspace import Workspace

_FETCH_AGAIN_S = 3600.0
"""Pause of the background worker after it failed to fetch the model."""


def fetch_model(
    directory: Path, progress: ShowProgress, model: str = "", *, keep_weights: bool = False
) -> ModelFetch:
    """Fetch the model unless it is there.

    Args:
        model: The user's own in place of ours, which is only tried.
        keep_weights: Leave the published weights there too.
    """
    from gitrag.embedding import fetching

    with progress("Fetching the model", None) as shown:

        def report(what: str, done: int, total: int | None) -> None:
            shown.status(what)
            shown.update(done, total)

        return fetching.fetch(directory, progress=report, keep_weights=keep_weights, model=model)


def fetch_in_background(workspace: Workspace) -> bool:
    """Fetch the model unless it is there; return False if that failed within the last hour."""
    if workspace.model_is_there(thorough=True):
        return True
    failed = _record(workspace)
    if failed.exists() and time.time() - failed.stat().st_mtime < _FETCH_AGAIN_S:
        return False
    from gitrag.embedding import fetching

    try:
        fetching.fetch(workspace.model_dir, model=workspace.model)
    except GitragError as error:
        write_private(failed, str(error))
        raise
    forget_fetch_failure(workspace)
    return True


def fetch_failure(workspace: Workspace) -> str:
    """Return why fetching the model in the background failed; empty if it did not, or was not tried."""
    try:
        return _record(workspace).read_text("utf-8")
    except (OSError, ValueError):
        return ""


def forget_fetch_failure(workspace: Workspace) -> None:
    """Let the background worker try to fetch the model again at once."""
    with suppress(OSError):
        _record(workspace).unlink(missing_ok=True)


def _record(workspace: Workspace) -> Path:
    return workspace.store.directory / "model.failed"
