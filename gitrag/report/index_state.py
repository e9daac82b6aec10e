"""How an index stands, in words. Pure."""

from __future__ import annotations

from gitrag.actions.status import WorkspaceStatus
from gitrag.indexing.worker import REFINING
from gitrag.words.numbers import age


def state_of(found: WorkspaceStatus) -> str:
    """Return why an index is not up to date."""
    return f"behind {found.behind}" if found.behind else "not complete yet"


def work_of(found: WorkspaceStatus) -> str:
    """Return what the background worker does now, how far it is, and how long that takes."""
    if found.worker is None:
        return "nobody"
    doing = f"{found.worker.purpose} in the background"
    if found.worker.purpose == REFINING and found.view is not None and found.unembedded:
        done = int(100 * found.view.embedded / max(found.view.texts, 1))
        left = f", about {age(found.refined_in_s)} left" if found.refined_in_s is not None else ""
        doing += f", {done} %{left}"
    return f"{doing} (process {found.worker.pid})"
