"""What git reports about a worktree, or a revision, at one moment."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import Struct

from gitrag.chunking import decode, has_outline
from gitrag.chunking.languages import MOST_OUTLINED_BYTES
from gitrag.corpus import issues
from gitrag.corpus.layout import USUAL_PLACES, Places
from gitrag.git import (
    BlobError,
    Change,
    DirtyPath,
    Repository,
    Rules,
    Untracked,
    files_beside,
    is_rule_file,
    working_state,
)
from gitrag.git.overlay import Overlay
from gitrag.git.overlay import overlay as git_overlay
from gitrag.model import Head, TreeEntry
from gitrag.store.content import blob_of

_FIRST_LINE_BYTES = 256


class Options(Struct, frozen=True):
    """The configuration that a refresh needs.

    Attributes:
        places: Where decisions, specifications and modules are.
        model: The user's own; empty for ours.
    """

    max_bytes: int
    exclude: tuple[str, ...] = ()
    places: Places = USUAL_PLACES
    processes: int = 1
    model: str = ""

    def is_too_large(self, path: str, size_bytes: int) -> bool:
        """Tell whether nothing of an uncommitted file is read."""
        return size_bytes > self.max_bytes and not (size_bytes <= MOST_OUTLINED_BYTES and has_outline(path))


class ContentReader:
    """Reads contents: uncommitted changes from the working tree, everything else from git."""

    def __init__(self, repo: Repository, overlay: Overlay | None = None) -> None:
        self._repo = repo
        self._overlay = overlay
        changes = overlay.changes if overlay else ()
        self._dirty = {change.entry.blob: change.entry for change in changes if change.entry is not None}

    def read(self, blob: str) -> bytes:
        """Read a blob, or a content's, from the working tree or from git."""
        blob, _ = blob_of(blob)
        entry = self._dirty.get(blob)
        if entry is None or self._overlay is None:
            return self._repo.read_blob(blob)
        return self._overlay.read(entry)

    def size(self, blob: str) -> int:
        """Return a blob's size in bytes without reading it; 0 if it cannot be found."""
        blob, _ = blob_of(blob)
        entry = self._dirty.get(blob)
        try:
            if entry is None:
                return self._repo.blob_size(blob)
            return os.lstat(Path(self._repo.root or ".") / entry.path).st_size
        except (BlobError, OSError):
            return 0

    def is_dirty(self, blob: str) -> bool:
        """Tell whether a blob belongs to an uncommitted file."""
        return blob_of(blob)[0] in self._dirty

    def first_line(self, entry: TreeEntry) -> str:
        """Read the first line of a file, which may name its interpreter; empty when unreadable."""
        try:
            data = self.read(entry.blob)
        except BlobError:
            return ""
        return decode(data[:_FIRST_LINE_BYTES]).partition("\n")[0]


class Snapshot(Struct, frozen=True):
    """What git reports about a worktree at one moment.

    Attributes:
        slot: Whose view it is: the worktree's id, or ``REVISION``.
        changes: Changes on top of it: uncommitted ones, and issues.
        dirty: How many of them are uncommitted changes.
        rules_key: Hash of the inputs of the rules other than HEAD's tree.
    """

    repo: Repository
    options: Options
    slot: str
    head: Head
    changes: tuple[Change, ...]
    dirty: int
    rules_key: str
    reader: ContentReader

    @property
    def key(self) -> tuple[str, Head, tuple[Change, ...], str]:
        """The snapshot's identity, for comparison with another snapshot."""
        return self.slot, self.head, self.changes, self.rules_key


REVISION = ":revision"
"""Slot of a revision that no worktree has checked out; a worktree's id contains no colon."""


def look(
    repo: Repository,
    options: Options,
    *,
    committed_only: bool = False,
    with_issues: bool = True,
    untracked: Untracked[DirtyPath] | None = None,
) -> Snapshot:
    """Take a snapshot of a worktree.

    Args:
        committed_only: Ignore uncommitted changes and issues.
        with_issues: Look for issues in directories that git ignores.
        untracked: Untracked files found by earlier snapshots, in a process that takes many.
    """
    if repo.root is None or committed_only:
        return Snapshot(
            repo, options, repo.worktree, repo.head(), (), 0, rules_key(repo, options), ContentReader(repo)
        )
    overlay = git_overlay(repo, working_state(repo, untracked=untracked), is_too_large=options.is_too_large)
    dirty = len(overlay.changes)
    if with_issues:
        overlay = replace(overlay, changes=(*overlay.changes, *_issues(repo, options, overlay)))
    return Snapshot(
        repo,
        options,
        repo.worktree,
        overlay.head,
        overlay.changes,
        dirty,
        rules_key(repo, options, overlay.changes),
        ContentReader(repo, overlay),
    )


def look_at(repo: Repository, options: Options, revision: str) -> Snapshot:
    """Take a snapshot of a revision, whatever the worktrees have checked out.

    Raises:
        UsageError: There is no such revision.
    """
    head = repo.resolve(revision)
    return Snapshot(repo, options, REVISION, head, (), 0, rules_key(repo, options), ContentReader(repo))


def _issues(repo: Repository, options: Options, overlay: Overlay) -> Iterator[Change]:
    """Find the issues that `git status` does not list because .sdd/ is ignored."""
    listed = {change.path for change in overlay.changes}
    found = files_beside(repo, issues.DIRECTORY, ".md", most=issues.MOST_ISSUES, max_bytes=options.max_bytes)
    yield from (change for change in found if change.path not in listed)


def rules_key(repo: Repository, options: Options, changes: Sequence[Change] = ()) -> str:
    """Hash what the rules depend on besides HEAD's tree, and what is readable; views are looked up by it.

    An object that a partial clone lacked, such as a rule file, may have been fetched since.
    """
    dirty = sorted(
        f"{change.path}\0{change.entry.blob if change.entry else ''}"
        for change in changes
        if is_rule_file(change.path)
    )
    facts = (
        Rules.build({}, options.exclude).signature,
        options.max_bytes,
        options.places.signature(),
        dirty,
        *repo.promised_packs(),
    )
    return hashlib.sha256(repr(facts).encode()).hexdigest()
