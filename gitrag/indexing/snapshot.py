"""What git says of a worktree, or of a revision, at one moment."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

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

_FIRST_LINE_BYTES = 256


@dataclass(frozen=True, slots=True)
class Options:
    """What a refresh needs of the configuration.

    Attributes:
        max_bytes: Larger contents are left out.
        exclude: Globs of paths to leave out.
        places: Where decisions, specifications and modules are.
        processes: How many may cut source at once.
    """

    max_bytes: int
    exclude: tuple[str, ...] = ()
    places: Places = USUAL_PLACES
    processes: int = 1


class ContentReader:
    """Reads contents, from the working tree for uncommitted changes and from git for the rest."""

    def __init__(self, repo: Repository, overlay: Overlay | None = None) -> None:
        self._repo = repo
        self._overlay = overlay
        changes = overlay.changes if overlay else ()
        self._dirty = {change.entry.blob: change.entry for change in changes if change.entry is not None}

    def read(self, blob: str) -> bytes:
        """Read a blob, wherever it is."""
        entry = self._dirty.get(blob)
        if entry is None or self._overlay is None:
            return self._repo.read_blob(blob)
        return self._overlay.read(entry)

    def size(self, blob: str) -> int:
        """Measure a blob in bytes without reading it; one that cannot be found has no size."""
        entry = self._dirty.get(blob)
        try:
            if entry is None:
                return self._repo.blob_size(blob)
            return os.lstat(Path(self._repo.root or ".") / entry.path).st_size
        except (BlobError, OSError):
            return 0

    def is_dirty(self, blob: str) -> bool:
        """Tell whether a blob is an uncommitted file's."""
        return blob in self._dirty

    def first_line(self, entry: TreeEntry) -> str:
        """Read the first line of a file, which may name its interpreter; empty when it cannot be read."""
        try:
            data = self.read(entry.blob)
        except BlobError:
            return ""
        return data[:_FIRST_LINE_BYTES].partition(b"\n")[0].decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What git says of a worktree at one moment.

    Attributes:
        repo: The repository, at the worktree.
        options: What to leave out, how many processes.
        slot: Whose view it is: the worktree's id, or ``REVISION``.
        head: Where HEAD, or the revision, is.
        changes: What is on top of it: uncommitted changes, and issues.
        dirty: How many of them are uncommitted changes.
        rules_key: Signs what the rules are made of beside HEAD's tree.
        reader: Reads contents of both.
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
        """What it says, without the means to read it."""
        return self.slot, self.head, self.changes, self.rules_key


REVISION = ":revision"
"""The slot of a revision that no worktree stands on; a worktree's id has no colon."""


def look(
    repo: Repository,
    options: Options,
    *,
    committed_only: bool = False,
    with_issues: bool = True,
    untracked: Untracked[DirtyPath] | None = None,
) -> Snapshot:
    """Ask git where a worktree stands.

    Args:
        repo: The repository, at the worktree.
        options: What to leave out, how many processes.
        committed_only: Leave uncommitted changes alone, and issues too.
        with_issues: Look for issues, which git ignores.
        untracked: What earlier looks found untracked, of a process that looks often.
    """
    if repo.root is None or committed_only:
        return Snapshot(
            repo, options, repo.worktree, repo.head(), (), 0, _rules_key(repo, options), ContentReader(repo)
        )
    overlay = git_overlay(repo, working_state(repo, untracked=untracked), max_bytes=options.max_bytes)
    dirty = len(overlay.changes)
    if with_issues:
        overlay = replace(overlay, changes=(*overlay.changes, *_issues(repo.root, options, overlay)))
    return Snapshot(
        repo,
        options,
        repo.worktree,
        overlay.head,
        overlay.changes,
        dirty,
        _rules_key(repo, options, overlay.changes),
        ContentReader(repo, overlay),
    )


def look_at(repo: Repository, options: Options, revision: str) -> Snapshot:
    """Ask git for a revision, whatever the worktrees stand on.

    Raises:
        UsageError: There is no such revision.
    """
    head = repo.resolve(revision)
    return Snapshot(repo, options, REVISION, head, (), 0, _rules_key(repo, options), ContentReader(repo))


def _issues(root: Path, options: Options, overlay: Overlay) -> Iterator[Change]:
    """Find the issues that `git status` does not list, which it does where .sdd/ is not ignored."""
    listed = {change.path for change in overlay.changes}
    found = files_beside(root, issues.DIRECTORY, ".md", most=issues.MOST_ISSUES, max_bytes=options.max_bytes)
    yield from (change for change in found if change.path not in listed)


def _rules_key(repo: Repository, options: Options, changes: Sequence[Change] = ()) -> str:
    """Sign what the rules depend on, and what can be read, beside HEAD's tree, by which a view is known.

    What a partial clone lacked, a rule file perhaps, may be in a pack that has come since.
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
