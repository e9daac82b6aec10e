"""Read the commits beyond the newest, which only `gitrag history` asks.

It is done in the background, newest first. What has been read is kept wherever it stops, and not read again.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from gitrag.embedding.version import DRAFT_VERSION
from gitrag.git.commits import CommitError, Tips, all_tips, boundary, commit_ids, shallow_ends
from gitrag.git.repository import Repository
from gitrag.indexing.history import MOST_COMMITS, read_new, read_stored, warn
from gitrag.store import commits, histories
from gitrag.store.connection import Store, StoreMissingError
from gitrag.store.schema import TABLES_VERSION
from gitrag.words.terms import TERMS_VERSION

OLDER = "older"
"""The directory of their index, in that of the repository's."""

RECIPE = f"terms {TERMS_VERSION}, drafts {DRAFT_VERSION}, tables {TABLES_VERSION}"
"""Whatever else of an index is made in another way, they are not read again."""

MOST_KNOWN = 250_000
"""The newest commits that `gitrag history` asks: 102,395 take 25 MB."""

ALL_REFS = "all"
"""Stands for the history of all refs where a commit's id stands for its own."""

_PURPOSE = "keeping what older commits say"
_NOTED_EVERY = 10
"""Batches after which those that have been read can be asked, before all have."""


class Base(Struct, frozen=True):
    """A commit in a history whose older commits have been read, all or some.

    Attributes:
        known: How many are stored of those that it leads to.
        listed: How many there are to be read; the same where that is done.
        is_complete: Whether, with the newest commits of both, the history has no gap.
    """

    commit: str
    known: int
    listed: int
    is_complete: bool


def base_of(older: Store, newest: Store, repo: Repository, tips: Tips | str) -> Base | None:
    """Return the commit by which the older commits of a history are known; None where none have been read.

    That is where it begins itself, or else a commit in it that was the newest when they were read. What lies
    between is among the newest commits of one of the two, unless a merge has brought commits that are older.
    """
    tips = Tips.of(tips)
    try:
        base = _nearest(older, newest, tips.name)
        if base is None:
            return None
        with newest.read() as db:
            is_whole = histories.has_history(db, base)
        with older.read() as db:
            known, listed = histories.progress(db, base)
    except StoreMissingError:  # another process has moved it aside, or removed it
        return None
    is_whole = is_whole and known == listed
    is_whole = is_whole and (base == tips.name or _are_newest(newest, repo, base, tips))
    return Base(base, known, listed, is_whole)


def _nearest(older: Store, newest: Store, commit: str) -> str | None:
    """Return the commit of a base, without looking for gaps; None where there is none.

    Raises:
        StoreMissingError: Another process has moved the index aside, or removed it.
    """
    if not older.exists():
        return None
    with older.read() as db:
        known = histories.known_from(db)
    with newest.read() as db:
        within = set(histories.leads_to(db, commit, known)) | {commit}
    return next((each for each in known if each in within), None)


def _are_newest(newest: Store, repo: Repository, base: str, tips: Tips) -> bool:
    """Tell whether all that a history has, and its base does not, is among the newest commits."""
    try:
        between = commit_ids(repo, tips, MOST_COMMITS + 1, beyond=base)
    except CommitError:  # the next reading says why
        return False
    with newest.read() as db:
        return len(histories.leads_to(db, tips.name, between)) == len(between)


def read_older(
    older: Store,
    newest: Store,
    repo: Repository,
    tips: Tips | str,
    *,
    from_git: bool = True,
    stop: Callable[[], bool] = lambda: False,
) -> bool:
    """Read the commits of a history beyond its newest, as far as they have not been read.

    Args:
        older: The index of older commits; made where there are any.
        from_git: Otherwise only what the repository's index has is taken over, before it drops that: also
            where they are known by a commit before this one.

    Returns:
        Whether all that can be read have been.
    """
    tips = Tips.of(tips)
    with newest.read() as db:
        if histories.size_of_history(db, tips.name) + len(shallow_ends(repo)) < MOST_COMMITS:
            return True
    base = base_of(older, newest, repo, tips)
    end = boundary(repo)
    is_known = base is not None and base.is_complete and (from_git or base.commit == tips.name)
    if base is not None and is_known and _ends_at(older, base.commit, end):
        return True
    try:
        late = set(commit_ids(repo, tips, MOST_COMMITS))
        ids = [each for each in commit_ids(repo, tips, MOST_KNOWN) if each not in late]
    except CommitError as error:  # no next attempt would read more
        warn(newest, str(error))
        _note_unlisted(newest, tips.name)
        return True
    _note_unlisted(newest, "")
    with older.write(_PURPOSE) as db:
        histories.set_boundary(db, end)
        known = commits.numbers_of(db, ids)
        histories.write_reached(db, tips.name, ids, is_all=False)
    missing = [each for each in ids if each not in known]
    expected = len(known) if from_git else len(ids)
    reading = read_new(repo, missing, newest) if from_git else read_stored(newest, missing)
    for number, batch in enumerate(reading, 1):
        expected += len(batch) if from_git else 0
        with older.write(_PURPOSE, make=False) as db:
            commits.add(db, batch)
            if number % _NOTED_EVERY == 0:
                histories.write_reached(db, tips.name, ids, is_all=False)
        if stop():
            return False
    with older.write(_PURPOSE, make=False) as db:
        is_all = len(commits.numbers_of(db, ids)) >= expected  # else gc has dropped some meanwhile
        histories.write_reached(db, tips.name, ids, is_all=is_all)
    return is_all


def _note_unlisted(newest: Store, commit: str) -> None:
    with newest.read() as db:
        if histories.unlisted(db) == commit:
            return
    with newest.write(_PURPOSE, make=False) as db:
        histories.note_unlisted(db, commit)


def tips_of(repo: Repository, own: str) -> Tips | None:
    """Return where a wanted history begins; None where its commit is gone, or refs are damaged."""
    if own != ALL_REFS:
        return Tips.of(own) if repo.has_object(own) else None
    try:
        return all_tips(repo)
    except CommitError:  # `gitrag history --all` says so
        return None


def wanted(older: Store) -> list[str]:
    """Return the histories whose older commits were asked for and have not been read; HEAD's is not there."""
    if not older.exists():
        return []
    try:
        with older.read() as db:
            return histories.wanted(db)
    except StoreMissingError:
        return []


def want(older: Store, own: str) -> None:
    """Have the background read the older commits of a commit that is not HEAD, or of all refs.

    Raises:
        StoreError: The index cannot be written.
        BusyError: Other processes held it for too long.
    """
    if own in wanted(older):
        return
    with older.write("noting which older commits to read") as db:
        histories.set_wanted(db, [*histories.wanted(db), own])


def unwant(older: Store, own: str) -> None:
    """Forget that the older commits of a history are to be read."""
    with older.write("noting which older commits to read", make=False) as db:
        histories.set_wanted(db, [each for each in histories.wanted(db) if each != own])


def count_unneeded(older: Store, newest: Store, since_s: float) -> int:
    """Count the commits that ``drop_unneeded`` would drop."""
    if not older.exists():
        return 0
    kept = _bases(older, newest, since_s)
    try:
        with older.read() as db:
            return histories.count_unneeded(db, since_s, kept)
    except StoreMissingError:
        return 0


def drop_unneeded(older: Store, newest: Store, since_s: float) -> int:
    """Drop the older commits that no history has which the repository's index keeps.

    Args:
        since_s: What was read since then, Unix seconds, is kept too.

    Returns:
        How many were dropped.
    """
    many = count_unneeded(older, newest, since_s)
    if many:
        kept = _bases(older, newest, since_s)
        with older.write("dropping commits that nothing needs", make=False) as db:
            histories.drop_unneeded(db, since_s, kept)
    return many


def _bases(older: Store, newest: Store, since_s: float) -> list[str]:
    """Return the commits by which the older commits of all histories are known that are kept."""
    with newest.read() as db:
        heads = histories.kept_histories(db, since_s)
    try:
        bases = [_nearest(older, newest, head) for head in heads]
    except StoreMissingError:
        return []
    return [base for base in bases if base is not None]


def _ends_at(older: Store, commit: str, end: str) -> bool:
    with older.read() as db:
        return histories.has_history(db, commit, end)
