"""Set a repository up: hooks, .gitignore, first index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from gitrag.actions.embed import EmbeddingStep, embed_waiting
from gitrag.actions.gitignore_entry import ignore_local_files
from gitrag.actions.prime import expect_text
from gitrag.actions.progress import ShowProgress
from gitrag.actions.requests import InitRequest
from gitrag.errors import StoreError
from gitrag.git import Repository
from gitrag.hooking.install import install
from gitrag.hooking.status import HookReport, HookState
from gitrag.machine import prerequisites
from gitrag.store.connection import StoreMissingError
from gitrag.workspace import Indexed, Workspace


class HooksInstalled(Struct, frozen=True):
    """The git hooks were installed.

    Attributes:
        foreign: How many are not gitrag's to change.
    """

    names: tuple[str, ...]
    foreign: int


class LocalFilesIgnored(Struct, frozen=True):
    """git ignores the local copies of issues.

    Attributes:
        added: Whether the entry was added to .gitignore; False if it was there.
        failure: Why .gitignore could not be written; None if it could.
    """

    added: bool = False
    failure: StoreError | None = None


InitStep = HooksInstalled | LocalFilesIgnored | Indexed | EmbeddingStep | None
"""What was done; None where no vectors were computed, on request."""


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
        reports = _install(workspace.repo)
        installed = tuple(report.name for report in reports if report.state is HookState.INSTALLED)
        yield HooksInstalled(installed, len(reports) - len(installed))
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


def _ignore(repo: Repository, root: Path) -> LocalFilesIgnored:
    try:
        return LocalFilesIgnored(added=bool(ignore_local_files(repo, root)))
    except StoreError as error:
        return LocalFilesIgnored(failure=error)
