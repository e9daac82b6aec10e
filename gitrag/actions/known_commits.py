"""The commits that a history has, as far as they have been read: the newest, and older ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.errors import BusyError, StoreError
from gitrag.late import np
from gitrag.store.connection import StoreMissingError
from gitrag.words.numbers import count
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.git.commits import Tips
    from gitrag.indexing.older_commits import Base
    from gitrag.store.commits import StoredCommit
    from gitrag.store.connection import Connection
    from gitrag.store.histories import Reachable

_UNLISTED = "commits were not looked at: git could not list them when the background tried"


class KnownCommits(Struct, frozen=True):
    """The commits that a history has, as far as they have been read.

    Attributes:
        reached: They, and which of them have the terms of a question; older ones have `store.histories.OLDER`
            added to their numbers.
    """

    workspace: Workspace
    reached: Reachable
    has_older: bool
    notes: tuple[str, ...]

    @contextmanager
    def _indexes(self) -> Iterator[list[tuple[Connection, int]]]:
        """Open the indexes that they are in, each with what is added to its numbers."""
        from gitrag.store.histories import OLDER

        with self.workspace.store.read() as db:
            if not self.has_older:
                yield [(db, 0)]
                return
            with self.workspace.older.read() as beside:
                yield [(db, 0), (beside, OLDER)]

    def numbers_of(self, ids: Sequence[str]) -> list[int]:
        from gitrag.store import commits

        with self._indexes() as indexes:
            return [own + added for db, added in indexes for own in commits.numbers_of(db, ids).values()]

    def by_author(self, part: str) -> NDArray[np.int32]:
        """Return the numbers of the commits whose author's name has a part, in any case."""
        from gitrag.store import commits

        with self._indexes() as indexes:
            return np.concatenate([commits.by_author(db, part) + np.int32(added) for db, added in indexes])

    def changing(self, meant: Callable[[Sequence[str]], Sequence[str]]) -> NDArray[np.int32]:
        """Return the numbers of the commits that change a path that is meant, given all that any changes."""
        from gitrag.store import commits

        with self._indexes() as indexes:
            paths = meant(list(dict.fromkeys(path for db, _ in indexes for path in commits.all_paths(db))))
            return np.concatenate([commits.changing(db, paths) + np.int32(added) for db, added in indexes])

    def nearest(
        self, numbers: NDArray[np.int32], asked: NDArray[np.float32], most: int
    ) -> tuple[NDArray[np.int32], int]:
        """Return the numbers of the commits nearest in meaning to a question, and how many have no draft.

        Args:
            numbers: int32 (n,), ascending: the commits that may be found.
            asked: float32 (384,), the question's vector.
        """
        from gitrag.store import commit_drafts

        with self._indexes() as indexes:
            return commit_drafts.nearest(
                [commit_drafts.read(db, added) for db, added in indexes], numbers, np.asarray(asked), most
            )

    def stored(self, numbers: Sequence[int]) -> list[StoredCommit]:
        from gitrag.store import commits

        found: dict[int, StoredCommit] = {}
        with self._indexes() as indexes:
            for db, added in reversed(indexes):
                own = [each - added for each in numbers if each >= added and each not in found]
                found |= {each + added: commit for each, commit in commits.read_stored(db, own).items()}
        return [found[each] for each in numbers]


def known_commits(workspace: Workspace, tips: Tips, terms: Sequence[int]) -> KnownCommits | None:
    """Return the commits of a history; None where the newest have not been read.

    A few missing drafts are made first. Where older commits have not all been read, the background goes on.
    """
    from gitrag.actions.catch_up import start_worker
    from gitrag.indexing.draft_commits import FEW_UNDRAFTED, draft
    from gitrag.indexing.history import MOST_COMMITS
    from gitrag.indexing.older_commits import MOST_KNOWN, base_of
    from gitrag.store import histories, older_commits

    base = base_of(workspace.older, workspace.store, workspace.repo, tips)
    is_drafted = True
    for index in (workspace.store, workspace.older):
        try:
            is_drafted &= draft(index, most=FEW_UNDRAFTED)
        except (StoreError, BusyError):  # it can be read, and the answer says how many have none
            is_drafted = False
    with workspace.store.read() as db:
        ancestor = base.commit if base is not None else None
        newest = histories.reachable(db, workspace.store.memo, tips.name, terms, ancestor)
        is_long = histories.size_of_history(db, tips.name) >= MOST_COMMITS
        is_unlisted = older_commits.unlisted(db) == tips.name
    if newest is None:
        return None
    older = None
    if base is not None:
        try:
            with workspace.older.read() as db:
                older = histories.reachable(db, workspace.older.memo, base.commit, terms)
        except StoreMissingError:
            base = None
    reached = newest if older is None else histories.joined(newest, older)
    notes = list(_gaps(base, is_long))
    if notes and is_unlisted:
        notes = [f"{'Older' if base is None else 'Some older'} {_UNLISTED}; look at: git fsck."]
    elif notes:
        notes = _wanted(workspace, tips, notes)
    if notes or not is_drafted:
        start_worker(workspace)
    if len(reached.number) >= MOST_KNOWN:
        notes.append(f"Only the newest {MOST_KNOWN:,} commits were looked at.")
    return KnownCommits(workspace, reached, older is not None, tuple(notes))


def _wanted(workspace: Workspace, tips: Tips, notes: list[str]) -> list[str]:
    """Have the background read the older commits of a history that is not HEAD's; return what to say."""
    from gitrag.indexing.older_commits import ALL_REFS, want

    if tips.name != workspace.repo.head().commit:
        try:
            want(workspace.older, tips.name if tips.name in tips.commits else ALL_REFS)
        except (StoreError, BusyError) as error:
            return [f"Older commits have not all been read: {error}"]
    return notes


def _gaps(base: Base | None, is_long: bool) -> Iterator[str]:
    """Say which older commits have not been read yet."""
    from gitrag.indexing.history import MOST_COMMITS

    if base is None:
        if is_long:
            yield "Older commits have not been read yet: the background does it."
    elif base.progress.known < base.progress.listed:
        known = f"{base.progress.known:,} of {count(base.progress.listed, 'older commit')}"
        yield f"{known} have been read yet; the background goes on."
    elif not base.is_complete:
        newest = f"the newest {MOST_COMMITS:,}"
        yield f"Commits older than {newest} may be missing until the background has read them."
