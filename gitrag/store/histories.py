"""A history says which of the stored commits are reachable from one: the newest ones.

A question is asked of one commit, and only commits in its history count, whatever else has been read.

Those that are older than those whose messages a search of files reads are in an index file of their own, so
that no search of files opens, copies or waits for it. Its tables are those of any index
(`gitrag/store/schema.py`); used are those about commits. A row of ``histories`` says which of them a commit
leads to; ``telling`` is how many there are to be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gitrag.late import np
from gitrag.store import schema
from gitrag.store.candidates import with_terms
from gitrag.store.columns import decode_path, encode_path, integers, objects, run
from gitrag.store.commits import StoredCommit, numbers_of, read_stored
from gitrag.store.memo import Memo

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

_BOUNDARY = "boundary of histories"

_SWEEPING = 50
"""A commit of more paths is a reformat or an import: its message tells nothing of a single one."""

TELLING = f"changed BETWEEN 1 AND {_SWEEPING}"

_KEPT_BESIDE = 32
"""How many histories are kept beside those of views, for branches that are returned to."""

_OF_VIEWS = "lower(hex(id)) IN (SELECT commit_id FROM views WHERE commit_id IS NOT NULL)"
_KEPT = f"made >= to_timestamp(?) OR {_OF_VIEWS} OR lower(hex(id)) IN (SELECT unnest(?::VARCHAR[]))"


def has_history(db: DuckDBPyConnection, commit: str, boundary: str | None = None) -> bool:
    """Tell whether the history of a commit has been read; up to this boundary, unless it is None."""
    row = db.execute("SELECT 1 FROM histories WHERE id = ?", [bytes.fromhex(commit)]).fetchone()
    return row is not None and boundary in (None, schema.get(db, _BOUNDARY))


def size_of_history(db: DuckDBPyConnection, commit: str) -> int:
    """Return how many commits the history of a commit has, as far as it has been read."""
    history = read_history(db, commit)
    return 0 if history is None else int(history.reached[:, 1].sum())


def leads_to(db: DuckDBPyConnection, commit: str, ids: Sequence[str]) -> list[str]:
    """Return those of some commits that are in the history of one, as far as it has been read."""
    history = read_history(db, commit)
    known = numbers_of(db, ids)
    if history is None:
        return []
    own = among(history.reached, integers(known.values()))
    return [each for each, is_own in zip(known, own.tolist(), strict=True) if is_own]


def set_boundary(db: DuckDBPyConnection, boundary: str) -> None:
    """Drop the histories that were read when the clone ended elsewhere.

    Args:
        boundary: Identifies where the clone ends; empty if it is whole.
    """
    if schema.get(db, _BOUNDARY) != boundary:
        db.execute("DELETE FROM histories")
        schema.put(db, _BOUNDARY, boundary)


def write_history(db: DuckDBPyConnection, commit: str, order: Sequence[int]) -> None:
    """Store the numbers of the commits that are reachable from a commit, newest first."""
    moved = _moved(db, order)
    paths, lengths, telling, mean_length = _lengths(db, order)
    row = db.execute("SELECT committed FROM commits WHERE commit_number = ?", order[:1] or [0]).fetchone()
    latest = int(row[0]) if row else 0
    values = [
        bytes.fromhex(commit),
        runs_of(order),
        np.array(list(moved.items()), dtype="<i4").tobytes(),
        paths.astype("<i4").tobytes(),
        lengths.astype("<f4").tobytes(),
        telling,
        mean_length,
        latest,
    ]
    db.execute("DELETE FROM histories WHERE id = ?", [values[0]])
    db.execute("INSERT INTO histories VALUES (?, ?, ?, ?, ?, ?, ?, ?, now())", values)
    db.execute(
        f"DELETE FROM histories WHERE NOT ({_OF_VIEWS})"
        f" AND id NOT IN (SELECT id FROM histories ORDER BY made DESC, id LIMIT {_KEPT_BESIDE})"
    )


def runs_of(numbers: Sequence[int]) -> bytes:
    """Pack numbers as runs: the begin and the size of each, ascending."""
    ascending = np.unique(np.array(numbers, dtype=np.int32))
    begins = np.flatnonzero(np.diff(ascending, prepend=-1) != 1)
    sizes = np.diff(begins, append=len(ascending))
    return np.stack([ascending[begins], sizes], axis=1).astype("<i4").tobytes()


def _moved(db: DuckDBPyConnection, newest_first: Sequence[int]) -> dict[int, int]:
    """Return the last path that each old path was moved to."""
    rows = run(
        db,
        [integers(newest_first)],
        "SELECT commit_number, moved_from, changed_path FROM commit_paths"
        " SEMI JOIN columns ON commit_number = column0 WHERE moved_from <> 0",
    ).fetchall()
    place = {number: i for i, number in enumerate(newest_first)}
    moved: dict[int, int] = {}
    for _number, old, new in sorted(rows, key=lambda row: (place[row[0]], row[1:])):
        last = moved.get(new, new)
        if last != old:
            moved.setdefault(old, last)
    return moved


def _lengths(
    db: DuckDBPyConnection, numbers: Sequence[int]
) -> tuple[NDArray[np.int32], NDArray[np.float32], int, float]:
    """Return paths, the length of the messages about each, how many commits there are, their mean length."""
    columns = [integers(numbers)]
    of = f"FROM commits SEMI JOIN columns ON commit_number = column0 WHERE {TELLING}"
    row = run(db, columns, f"SELECT count(*), coalesce(avg(length), 0) {of}").fetchone()
    found = run(
        db,
        columns,
        f"SELECT changed_path, sum(length / sqrt(changed)) AS length FROM (SELECT * {of})"
        " JOIN commit_paths USING (commit_number) GROUP BY changed_path ORDER BY changed_path",
    ).fetchnumpy()
    return found["changed_path"], found["length"], *(row or (0, 0.0))


class Reachable(Struct, frozen=True):
    """The commits of a history, and which of them have terms of a question.

    Attributes:
        number: int32 (c,), ascending.
        committed: int64 (c,), Unix seconds.
        length: int32 (c,), length of each message in terms.
        term: int32 (q,), index of a term in the question.
        commit: int64 (q,), place of the commit whose message has it.
        frequency: int32 (q,), how often.
    """

    number: NDArray[np.int32]
    committed: NDArray[np.int64]
    length: NDArray[np.int32]
    term: NDArray[np.int32]
    commit: NDArray[np.int64]
    frequency: NDArray[np.int32]


def reachable(
    db: DuckDBPyConnection, memo: Memo, commit: str, terms: Sequence[int], ancestor: str | None = None
) -> Reachable | None:
    """Return the commits that a commit leads to, itself included; None where that has not been read.

    Args:
        ancestor: A commit that it leads to, whose history counts too as far as it has been read.
    """
    histories = [read_history(db, each) for each in dict.fromkeys([commit, ancestor or commit])]
    reached = [history.reached for history in histories if history is not None]
    if histories[0] is None:
        return None

    def ours_of(numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
        ours = [among(each, numbers) for each in reached]
        return ours[0] | ours[-1]

    every = by_commit(db.execute("SELECT commit_number, committed, length FROM commits").fetchnumpy())
    ours = ours_of(every["commit_number"])
    number = every["commit_number"][ours]
    found = with_terms(db, "message_postings", terms, memo)
    own = ours_of(found["commit_number"])
    return Reachable(
        number=number,
        committed=every["committed"][ours],
        length=every["length"][ours],
        term=found["place"][own],
        commit=np.searchsorted(number, found["commit_number"][own]),
        frequency=found["tf"][own].astype(np.int32),
    )


OLDER = 1 << 30
"""Added to the numbers of older commits, which are in an index of their own."""


def joined(newest: Reachable, older: Reachable) -> Reachable:
    """Return the commits of two indexes; those of the second have `OLDER` added to their numbers."""
    return Reachable(
        number=np.concatenate([newest.number, older.number + np.int32(OLDER)]),
        committed=np.concatenate([newest.committed, older.committed]),
        length=np.concatenate([newest.length, older.length]),
        term=np.concatenate([newest.term, older.term]),
        commit=np.concatenate([newest.commit, older.commit + len(newest.number)]),
        frequency=np.concatenate([newest.frequency, older.frequency]),
    )


def latest_changing(
    db: DuckDBPyConnection, commit: str, paths: Sequence[str]
) -> dict[str, tuple[int, StoredCommit]]:
    """Return for each of some paths how many commits of a history changed it, and the newest one.

    Merges do not count, nor does what a path was called before. A path is missing that none changed, or where
    the history has not been read.
    """
    history = read_history(db, commit)
    if history is None:
        return {}
    rows = run(
        db,
        [objects(encode_path(path) for path in paths)],
        "SELECT path, commit_number, committed FROM changed_paths SEMI JOIN columns ON path = column0"
        " JOIN commit_paths USING (changed_path) JOIN commits USING (commit_number)"
        " WHERE parents < 2 ORDER BY committed DESC, commit_number",
    ).fetchall()
    ours = among(history.reached, np.array([number for _, number, _ in rows], dtype=np.int32))
    found: dict[str, list[int]] = {}
    for path, number, _ in (row for row, own in zip(rows, ours.tolist(), strict=True) if own):
        found.setdefault(decode_path(path), []).append(number)
    stored = read_stored(db, [numbers[0] for numbers in found.values()])
    return {path: (len(numbers), stored[numbers[0]]) for path, numbers in found.items()}


class PastChanges(Struct, frozen=True):
    """The commits that changed some paths, and what else they changed; a row for each commit and path.

    Attributes:
        age: int64 (r,), how many commits of the history are newer than the row's; ascending.
        path: int32 (r,), place of the path in ``paths``.
    """

    age: NDArray[np.int64]
    path: NDArray[np.int32]
    paths: Sequence[str]
    searched: int


def changes_with(
    db: DuckDBPyConnection, commit: str, paths: Sequence[str], without: Sequence[str] = ()
) -> PastChanges | None:
    """Return the commits of a history that changed some paths, and what else they changed.

    Merges do not count, since what they bring has commits of its own; nor do commits of very many paths. A
    path that was moved has its last name.

    Returns:
        None where the history has not been read.
    """
    history = read_history(db, commit)
    if history is None:
        return None
    every = db.execute(
        f"SELECT commit_number, committed FROM commits WHERE parents < 2 AND {TELLING}"
    ).fetchnumpy()
    number = every["commit_number"]
    left_out = list(numbers_of(db, without).values())
    ours = among(history.reached, number) & ~np.isin(number, left_out)
    newest_first = np.lexsort((-number[ours], -every["committed"][ours]))
    number = number[ours][newest_first]
    known = run(
        db,
        [objects(encode_path(path) for path in paths)],
        "SELECT changed_path FROM changed_paths SEMI JOIN columns ON path = column0",
    ).fetchnumpy()["changed_path"]
    old, new = history.moved.T
    seeds = np.union1d(known, old[np.isin(new, known)])
    rows = run(
        db,
        [seeds.astype(np.int32)],
        "SELECT commit_number, changed_path FROM commit_paths WHERE commit_number IN"
        " (SELECT commit_number FROM commit_paths SEMI JOIN columns ON changed_path = column0)",
    ).fetchnumpy()
    order = np.argsort(number)
    at = np.minimum(np.searchsorted(number, rows["commit_number"], sorter=order), max(len(number) - 1, 0))
    kept = number[order[at]] == rows["commit_number"] if len(number) else np.zeros(len(at), dtype=bool)
    moved = ~np.isin(old, known)  # what was moved away and is there again is a path of its own
    age, path = order[at[kept]], _last_names(rows["changed_path"][kept], old[moved], new[moved])
    once = np.unique(np.stack([age, path]), axis=1)
    names, place = np.unique(once[1], return_inverse=True)
    texts = dict(
        run(
            db,
            [names.astype(np.int32)],
            "SELECT changed_path, path FROM changed_paths SEMI JOIN columns ON changed_path = column0",
        ).fetchall()
    )
    return PastChanges(
        age=once[0].astype(np.int64),
        path=place.reshape(-1).astype(np.int32),
        paths=[decode_path(texts[name]) for name in names.tolist()],
        searched=len(number),
    )


def _last_names(
    paths: NDArray[np.int32], old: NDArray[np.int32], new: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return the number of the path that each was moved to; its own where it was not."""
    if not len(old):
        return paths
    order = np.argsort(old)
    place = np.minimum(np.searchsorted(old, paths, sorter=order), len(old) - 1)
    return np.where(old[order[place]] == paths, new[order[place]], paths)


class History(Struct, frozen=True):
    """A row of ``histories``."""

    reached: NDArray[np.int32]
    moved: NDArray[np.int32]
    paths: NDArray[np.int32]
    lengths: NDArray[np.float32]
    telling: int
    mean_length: float
    latest: int


def read_history(db: DuckDBPyConnection, commit: str) -> History | None:
    row = db.execute(
        "SELECT commits, moved, paths, lengths, telling, mean_length, latest FROM histories WHERE id = ?",
        [bytes.fromhex(commit)],
    ).fetchone()
    if row is None:
        return None
    return History(
        np.frombuffer(row[0], dtype="<i4").reshape(-1, 2),
        np.frombuffer(row[1], dtype="<i4").reshape(-1, 2),
        np.frombuffer(row[2], dtype="<i4"),
        np.frombuffer(row[3], dtype="<f4"),
        *row[4:],
    )


def by_commit(rows: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Sort rows by commit, as they nearly always are: a millisecond less than where the database does it."""
    number = rows["commit_number"]
    if (number[1:] >= number[:-1]).all():
        return rows
    order = np.argsort(number, kind="stable")
    return {name: column[order] for name, column in rows.items()}


def among(reached: NDArray[np.int32], numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Tell which numbers are in runs, given the begin and the size of each, ascending."""
    if not len(reached):
        return np.zeros(len(numbers), dtype=bool)
    place = np.searchsorted(reached[:, 0], numbers, "right") - 1
    found: NDArray[np.bool_] = (place >= 0) & (numbers < reached[place].sum(axis=1))
    return found


def kept_histories(db: DuckDBPyConnection, since_s: float) -> list[str]:
    """Return the commits whose histories ``drop_unneeded`` keeps."""
    rows = db.execute(f"SELECT id FROM histories WHERE {_KEPT}", [since_s, []]).fetchall()
    return [bytes(own).hex() for (own,) in rows]


def count_unneeded(db: DuckDBPyConnection, since_s: float, kept: Sequence[str] = ()) -> int:
    """Count the commits that ``drop_unneeded`` would drop."""
    return int((~_needed(db, since_s, kept)[1]).sum())


def drop_unneeded(db: DuckDBPyConnection, since_s: float, kept: Sequence[str] = ()) -> None:
    """Drop the histories that no view has, unless read since then, and the commits in none.

    Args:
        since_s: Unix seconds.
    """
    numbers, needed = _needed(db, since_s, kept)
    db.execute(f"DELETE FROM histories WHERE NOT ({_KEPT})", [since_s, list(kept)])
    if needed.all():
        return
    columns = [numbers[~needed]]
    for table in ("commits", "message_postings", "commit_paths", "commit_drafts"):
        run(db, columns, f"DELETE FROM {table} WHERE commit_number IN (SELECT column0 FROM columns)")
    db.execute(
        "DELETE FROM changed_paths WHERE changed_path NOT IN"
        " (SELECT changed_path FROM commit_paths UNION ALL SELECT moved_from FROM commit_paths)"
    )


def _needed(
    db: DuckDBPyConnection, since_s: float, kept: Sequence[str]
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Read the numbers of all commits, and tell which of them a history has that is kept."""
    rows = db.execute("SELECT commit_number FROM commits ORDER BY commit_number").fetchnumpy()
    numbers = rows["commit_number"]
    needed = np.zeros(len(numbers), dtype=bool)
    sql = f"SELECT commits FROM histories WHERE {_KEPT}"
    for (reached,) in db.execute(sql, [since_s, list(kept)]).fetchall():
        needed |= among(np.frombuffer(reached, dtype="<i4").reshape(-1, 2), numbers)
    return numbers, needed


_UNLISTED = "older commits not listed"
_WANTED = "wanted commits"
_MOST_WANTED = 8
"""Histories whose older commits are still to be read: those asked last."""

_KEPT_OLDER = 32
"""Commits whose older ones are known: the newest of branches that one returns to."""


def write_reached(db: DuckDBPyConnection, commit: str, ids: Sequence[str], *, is_all: bool) -> None:
    """Store which older commits a commit leads to, as far as they are stored."""
    known = numbers_of(db, ids)
    own = bytes.fromhex(commit)
    db.execute("DELETE FROM histories WHERE id = ?", [own])
    db.execute(
        "INSERT INTO histories VALUES (?, ?, '', '', '', ?, 0, 0, now())",
        [own, runs_of([*known.values()]), len(known) if is_all else len(ids)],
    )
    db.execute(
        "DELETE FROM histories WHERE id NOT IN"
        f" (SELECT id FROM histories ORDER BY made DESC, id LIMIT {_KEPT_OLDER})"
    )


def known_from(db: DuckDBPyConnection) -> list[str]:
    """Return the commits whose older ones are known, the one that was read last first."""
    rows = db.execute("SELECT id FROM histories ORDER BY made DESC, id").fetchall()
    return [bytes(own).hex() for (own,) in rows]


def progress(db: DuckDBPyConnection, commit: str) -> tuple[int, int]:
    """Return how many older commits are stored of those that a commit leads to, and how many there are."""
    row = db.execute("SELECT telling FROM histories WHERE id = ?", [bytes.fromhex(commit)]).fetchone()
    return size_of_history(db, commit), int(row[0]) if row else 0


def note_unlisted(db: DuckDBPyConnection, commit: str) -> None:
    """Store the commit whose older commits git could not list; an empty one where it could."""
    schema.put(db, _UNLISTED, commit)


def unlisted(db: DuckDBPyConnection) -> str:
    """Return the commit whose older commits git could not list when this was last tried; else empty."""
    return schema.get(db, _UNLISTED)


def wanted(db: DuckDBPyConnection) -> list[str]:
    """Return the histories whose older commits are to be read though they are of no worktree's HEAD."""
    return schema.get(db, _WANTED).split()


def set_wanted(db: DuckDBPyConnection, ids: Sequence[str]) -> None:
    """Store the commits whose older ones are to be read; of more than eight the last ones."""
    schema.put(db, _WANTED, " ".join(ids[-_MOST_WANTED:]))
