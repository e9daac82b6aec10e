"""Which change is meant, and the files that it changes, untracked ones included."""

from __future__ import annotations

from gitrag.actions.gitignore_entry import IGNORED
from gitrag.git.conversion import as_stored, read_file
from gitrag.git.difference import (
    MOST_BYTES,
    ChangedFile,
    branch_range,
    changed_files,
    ends_of,
    meant_range,
    untracked_files,
)
from gitrag.git.repository import BlobError
from gitrag.workspace import Workspace

_MOST_UNTRACKED = 200


def meant_change(
    workspace: Workspace, span: str | None, notes: list[str]
) -> tuple[str, str, list[ChangedFile]]:
    """Return the range that is meant, also as it is told, and the files that it changes.

    Args:
        span: None for the uncommitted changes, or else what HEAD has that its upstream has not.
        notes: What was not looked at is added here, a sentence each.
    """
    own, meant = meant_range(workspace.repo) if span is None else (span, span)
    files = _files_of(workspace, own, notes)
    if span is None and not files and own == "HEAD":
        own, meant = branch_range(workspace.repo)
        files = _files_of(workspace, own, notes)
    return own, meant, files


def _files_of(workspace: Workspace, span: str, notes: list[str]) -> list[ChangedFile]:
    """Return the files that a range changes, but for what ``gitrag init`` itself writes into `.gitignore`."""
    files = [*changed_files(workspace.repo, span), *_untracked(workspace, span, notes)]
    return [file for file in files if not _is_of_init(file)]


def _is_of_init(file: ChangedFile) -> bool:
    before, after = ((each or b"").split() for each in (file.before, file.after))
    entry = IGNORED.encode()
    return file.path == ".gitignore" and entry not in before and [*before, entry] == after


def _untracked(workspace: Workspace, span: str, notes: list[str]) -> list[ChangedFile]:
    """Return the files that git does not track, where the working tree is one side of the change."""
    root = workspace.repo.root
    if root is None or ends_of(span)[1]:
        return []
    paths = untracked_files(workspace.repo)
    if len(paths) > _MOST_UNTRACKED:
        notes.append(f"Of {len(paths):,} untracked files the first {_MOST_UNTRACKED} were looked at.")
    return [ChangedFile(path, None, current_content(workspace, path)) for path in paths[:_MOST_UNTRACKED]]


def current_content(workspace: Workspace, path: str) -> bytes | None:
    """Return what a file has now; None where it is a link, or not text to compare."""
    try:
        return as_stored(workspace.repo, path, read_file(workspace.repo.root, path, MOST_BYTES))
    except BlobError:
        return None
