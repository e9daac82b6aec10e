"""Set a repository up: hooks, .gitignore, first index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from gitrag.actions.embed import EmbeddingStep, embed_waiting
from gitrag.actions.gitignore_entry import ignore_local_files
from gitrag.actions.prime import expect_text
from gitrag.actions.progress import ShowProgress
from gitrag.actions.requests import InitRequest
from gitrag.errors import StoreError
from gitrag.git import Repository
from gitrag.hooking.install import install
from gitrag.hooking.status import HookReport
from gitrag.machine import prerequisites
from gitrag.store.connection import StoreMissingError
from gitrag.workspace import Indexed, Workspace

InitStep = list[HookReport] | bool | StoreError | Indexed | EmbeddingStep | None
"""What was done: the hooks; whether the local copies of issues were added to .gitignore or were in it, or why
that could not be written; the text; the vectors, None where none were computed, on request."""


def initialise(
    open_workspace: Callable[[], Workspace],
    environ: Mapping[str, str],
    progress: ShowProgress,
    asked: InitRequest,
) -> Iterator[InitStep]:
    """Set a repository up; yield each step once it is done, and go on when the next one is asked for.

    Nothing is written before all that is needed is found to be there.

    Args:
        open_workspace: Opens the repository; called when git is there.
    """
    prerequisites.require([prerequisites.check_git(environ), prerequisites.check_packages()])
    workspace = open_workspace()
    prerequisites.require([prerequisites.check_writable(workspace.store.directory)])
    with suppress(StoreMissingError), workspace.store.read():
        pass  # raises for an index of a newer gitrag or a locked one, before anything is written

    if asked.hooks:
        yield _install(workspace.repo)
    if asked.gitignore and workspace.repo.root is not None:
        yield _ignore(workspace.repo, workspace.repo.root)

    workspace.repo.refresh_index()
    with progress("Indexing", None) as shown:
        indexed = workspace.update(advance=shown.update)
    workspace.register()
    expect_text(workspace)
    yield indexed
    entries = indexed.refreshed.overlay.entries
    waiting = indexed.unembedded
    if waiting and asked.skip_embed:
        yield None
    elif waiting:
        yield from embed_waiting(workspace, waiting, progress, foreground=asked.foreground, entries=entries)


def _install(repo: Repository) -> list[HookReport]:
    try:
        return install(repo)
    except StoreError as error:
        if repo.store_directory == repo.own_store_directory:
            raise
        raise StoreError(str(error), "`gitrag index` makes an index in your cache, without hooks.") from error


def _ignore(repo: Repository, root: Path) -> bool | StoreError:
    try:
        return bool(ignore_local_files(repo, root))
    except StoreError as error:
        return error
