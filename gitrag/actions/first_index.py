"""Index a repository that never was, for a question that cannot wait for ``gitrag init``."""

from __future__ import annotations

from gitrag.actions.catch_up import start_worker
from gitrag.actions.progress import ShowProgress
from gitrag.machine.prerequisites import check_writable, require
from gitrag.words.numbers import count
from gitrag.workspace import Workspace


def index_first(workspace: Workspace, progress: ShowProgress, *, for_agents: bool = False) -> bool:
    """Index text and drafts if there is no index yet and the setting ``auto_index`` wants it.

    It takes as long as a search may take to catch up; the rest follows in the background. The user is told.

    Args:
        for_agents: Whether an agent asks, which does not run `gitrag init`: ``auto`` then means yes.

    Returns:
        Whether it was indexed now.

    Raises:
        NotSetUpError: The index's directory cannot be written.
    """
    wanted = workspace.config.auto_index
    if workspace.store.exists() or not (wanted == "on" or (for_agents and wanted == "auto")):
        return False
    workspace.require_repository()
    require([check_writable(workspace.store.directory)])
    with progress("Indexing", None) as shown:
        indexed = workspace.update(budget_s=workspace.config.catch_up_s, advance=shown.update)
    if indexed.refreshed.waiting:
        start_worker(workspace)
    workspace.say(
        f"Indexed {count(indexed.counts.chunks, 'chunk')} from {count(indexed.counts.files, 'file')}"
        f" in {indexed.seconds:.1f} s; `gitrag init` installs hooks that keep the index up to date."
    )
    return True
