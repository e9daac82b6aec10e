"""Read the commits that lead to one: what each says, and which files it changes.

A commit is read once. It counts only where it is reachable from the commit that is asked; until the history
of that one is there, questions are answered without it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from gitrag.errors import BusyError, RepositoryError, StoreError
from gitrag.git.commits import Commit, CommitError, Tips, boundary, commit_ids, read_commits
from gitrag.git.repository import Repository
from gitrag.late import late_re, np
from gitrag.store import commit_evidence, commits, histories
from gitrag.store.commits import CommitRecord
from gitrag.store.connection import Store, StoreMissingError
from gitrag.words import commit_message, terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.store.connection import Connection

_PURPOSE = "keeping what commits say"

MOST_COMMITS = 20_000
"""The newest commits that a history has: three seconds of reading, and years of a large project."""

FEW_COMMITS = 500
"""So many new commits are read at once, also before a question is answered: some tenths of a second."""

_FEW_S = 1.0
"""Seconds after which they are left for later all the same: each of them may move a whole source tree."""

_BATCH = 1_000

_TOLD_CHARACTERS = 1_000
"""Of a longer message only the beginning counts: the rest is a list of what was squashed, or a log."""

_NOT_WORDS = late_re(
    r"(?im)^(?:[a-z][a-z-]{1,40}-by|change-id|git-svn-id|cr-original\S{0,40}):.*$|https?://\S+"
    r"|\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b"
)
"""Who, where and which: trailers, addresses and object ids are not about the change."""


def read_history(
    store: Store,
    repo: Repository,
    tips: Tips | str,
    *,
    most_new: int | None = None,
    stop: Callable[[], bool] = lambda: False,
    patience_s: float | None = None,
    older: Store | None = None,
) -> bool:
    """Read a history as far as it has not been read, and return whether it is there; a damaged one is empty.

    Args:
        tips: Where it begins: a commit, or several.
        most_new: Leave it if more commits than these are new; None for any number.
        stop: Asked between batches; what has been read until then is kept, but the history is not there yet.
        older: The index of older commits: what it has is taken from there, as after a checkout of an old
            branch.

    Raises:
        StoreError: The store cannot be written.
        BusyError: Other processes held it for too long.
    """
    tips = Tips.of(tips)
    with store.read() as db:
        if histories.has_history(db, tips.name, boundary(repo)):
            return True
    return _read_missing(store, repo, tips, most_new, stop, patience_s, older)


def _read_missing(
    store: Store,
    repo: Repository,
    tips: Tips,
    most_new: int | None,
    stop: Callable[[], bool],
    patience_s: float | None,
    older: Store | None,
) -> bool:
    end = boundary(repo)
    try:
        ids = commit_ids(repo, tips, MOST_COMMITS)
    except CommitError as error:  # no next attempt would read more
        warn(store, str(error))
        ids = []
    with store.read(may_copy=False) as db:
        known = commits.numbers_of(db, ids)
    new = [each for each in ids if each not in known]
    if most_new is not None and len(new) > most_new:
        return False
    last: list[CommitRecord] = []
    found = set(known)
    for batch in read_new(repo, new, older):
        if last:
            with store.write(_PURPOSE, make=False, patience_s=patience_s) as db:
                draft_added(db, store.model, commits.add(db, last))
            if stop():
                return False
        last = batch
        found |= {record.id for record in last}
    with store.write(_PURPOSE, make=False, patience_s=patience_s) as db:
        histories.set_boundary(db, end)
        draft_added(db, store.model, commits.add(db, last))
        numbers = commits.numbers_of(db, ids)
        if not found <= numbers.keys():  # gc has dropped some meanwhile
            return False
        histories.write_history(db, tips.name, [numbers[each] for each in ids if each in numbers])
    return True


def read_new(repo: Repository, ids: Sequence[str], beside: Store | None) -> Iterator[list[CommitRecord]]:
    """Read commits, batch by batch: those that another index has from there, the others from git."""
    taken: set[str] = set()
    for batch in read_stored(beside, ids) if beside is not None and ids else ():
        taken |= {record.id for record in batch}
        yield batch
    for read in read_commits(repo, [each for each in ids if each not in taken]):
        yield records(read)


def read_stored(beside: Store, ids: Sequence[str]) -> Iterator[list[CommitRecord]]:
    """Read, batch by batch, those commits that another index has; it may go meanwhile."""
    try:
        with beside.read() as db:
            there = list(commits.numbers_of(db, ids))
        for start in range(0, len(there), _BATCH):
            with beside.read() as db:
                batch = commits.records_of(db, there[start : start + _BATCH])
            yield batch
    except StoreMissingError:
        return


def is_read(db: Connection, repo: Repository, commit: str | None) -> bool:
    """Tell whether there is nothing to be read of a commit's history."""
    return commit is None or histories.has_history(db, commit, boundary(repo))


def read_few(store: Store, repo: Repository, commit: str | None, older: Store | None = None) -> None:
    """Read the history of a commit that is not there, if little of it is new; where that fails, leave it."""
    if commit is None:
        return
    try:
        _read_missing(store, repo, Tips.of(commit), FEW_COMMITS, _deadline(), 0.0, older)
    except (RepositoryError, StoreError, BusyError) as error:
        warn(store, f"what commits say was not read: {error}")


def warn(store: Store, said: str) -> None:
    """Write a warning into the log."""
    from gitrag.machine.log import logged

    with logged(store.directory) as log:
        log.warning("%s", said)


def _deadline() -> Callable[[], bool]:
    end = time.monotonic() + _FEW_S
    return lambda: time.monotonic() > end


def records(read: Iterable[Commit]) -> list[CommitRecord]:
    found = list(read)
    if not found:
        return []
    term, frequency, sizes, lengths = terms.count([(_words(each.message), "") for each in found])
    ends = sizes.cumsum().tolist()
    return [
        CommitRecord(
            id=each.id,
            parents=each.parents,
            authored=each.authored,
            committed=each.committed,
            author=each.author,
            message=each.message,
            changed=each.changed,
            changes=each.changes,
            terms=term[end - size : end],
            frequencies=frequency[end - size : end],
            length=int(length),
        )
        for each, end, size, length in zip(found, ends, sizes.tolist(), lengths.tolist(), strict=True)
    ]


def _words(message: str) -> str:
    return _NOT_WORDS.sub(" ", message)[:_TOLD_CHARACTERS]


FEW_UNDRAFTED = 2_000
"""So many are drafted before a question is answered: some tenths of a second."""

_EMBEDDED_CHARACTERS = 300


def draft_added(db: Connection, model: str, added: Sequence[tuple[int, str]]) -> None:
    """Make the drafts of commits, by number and message, in the transaction that adds them."""
    from gitrag.embedding.draft import has_table

    if added and has_table(model):
        commit_evidence.write(db, *_drafted(model, added))


def draft(store: Store, *, most: int | None = None, stop: Callable[[], bool] = lambda: False) -> bool:
    """Make the drafts of commits that have none.

    Args:
        most: Leave it if more have none; None for any number.

    Returns:
        Whether all have one.

    Raises:
        StoreError: The index cannot be written.
        BusyError: Other processes held it for too long.
    """
    from gitrag.embedding.draft import has_table

    if not has_table(store.model) or not store.exists():
        return True
    while True:
        with store.read() as db:
            if most is not None and commit_evidence.count_undrafted(db) > most:
                return False
            rows = commit_evidence.undrafted(db, _BATCH)
        if not rows:
            return True
        drafted = _drafted(store.model, rows)
        with store.write("keeping drafts of what commits say", make=False) as db:
            commit_evidence.write(db, *drafted)
        if stop():
            return False


def _drafted(model: str, commits: Sequence[tuple[int, str]]) -> tuple[list[int], NDArray[np.float32]]:
    """Return the numbers of commits and their drafts, float32 (n, 384)."""
    from gitrag.embedding.draft import drafter

    texts = [text_of(message) for _, message in commits]
    return [number for number, _ in commits], drafter(model).draft(texts)


def text_of(message: str) -> str:
    """Return what is embedded of a message: its subject, without numbers of issues."""
    return commit_message.without_numbers(commit_message.read(message).subject)[:_EMBEDDED_CHARACTERS]
