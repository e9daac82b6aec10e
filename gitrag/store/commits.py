"""Commits: each is stored once; a history says which of them are reachable from one, the newest ones.

A question is asked of one commit, and only commits in its history count, whatever else has been read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gitrag.store.candidates import SearchScope, runs, with_terms
from gitrag.store.columns import integers, next_id, objects, run
from gitrag.store.memo import Memo
from gitrag.store.paths import encode_path

if TYPE_CHECKING:
    import numpy as np
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

_SWEEPING = 50
"""A commit of more paths is a reformat or an import: its message says nothing about a single one."""

_GONE = ord("D")
_KEPT_BESIDE = 32
"""Histories kept beside those of views: of branches that one returns to."""

_OF_VIEWS = "lower(hex(id)) IN (SELECT commit_id FROM views WHERE commit_id IS NOT NULL)"
_KEPT = f"made >= to_timestamp(?) OR {_OF_VIEWS}"


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """A commit to be stored.

    Attributes:
        id: Its object id.
        parents: Number of its parents.
        authored: When it was written, Unix seconds.
        committed: When it was committed, Unix seconds.
        author: The author's name.
        message: Its message.
        changed: How many paths it changes.
        changes: Path, status and, where it was moved, the old path.
        terms: uint64, the distinct hashed terms of its message.
        frequencies: uint16, how often each occurs, weighted.
        length: Sum of the frequencies.
    """

    id: str
    parents: int
    authored: int
    committed: int
    author: str
    message: str
    changed: int
    changes: Sequence[tuple[str, str, str]]
    terms: NDArray[np.uint64]
    frequencies: NDArray[np.uint16]
    length: int


@dataclass(frozen=True, slots=True)
class Messages:
    """What the messages of a history say about the files of a scope.

    Attributes:
        age_s: int64 (c,), how much older each commit is than the one that was asked, at least 0.
        changed: int32 (c,), how many paths each commit changes.
        length: int32 (c,), the length of each message, weighted.
        first: int64 (c,), where each commit's files begin in ``file``.
        files: int64 (c,), how many there are.
        file: int32 (p,), numbers of the files in the scope.
        term: int32 (q,), index of a term in the question.
        commit: int32 (q,), index of the commit whose message has it.
        frequency: int32 (q,), weighted.
    """

    age_s: NDArray[np.int64]
    changed: NDArray[np.int32]
    length: NDArray[np.int32]
    first: NDArray[np.int64]
    files: NDArray[np.int64]
    file: NDArray[np.int32]
    term: NDArray[np.int32]
    commit: NDArray[np.int32]
    frequency: NDArray[np.int32]


def numbers_of(db: DuckDBPyConnection, ids: Sequence[str]) -> dict[str, int]:
    """Return the numbers of those commits that are stored."""
    columns = [objects(map(bytes.fromhex, ids))]
    rows = run(
        db, columns, "SELECT id, commit_number FROM commits SEMI JOIN columns ON id = column0"
    ).fetchall()
    return {bytes(commit).hex(): number for commit, number in rows}


def has_history(db: DuckDBPyConnection, commit: str) -> bool:
    """Tell whether the history of a commit has been read."""
    row = db.execute("SELECT 1 FROM histories WHERE id = ?", [bytes.fromhex(commit)]).fetchone()
    return row is not None


def add(db: DuckDBPyConnection, records: Sequence[CommitRecord]) -> None:
    """Store commits; those that are stored already are left alone."""
    import numpy as np

    there = numbers_of(db, [record.id for record in records])
    new = list({record.id: record for record in records if record.id not in there}.values())
    if not new:
        return
    first = next_id(db, "commits", "commit_number")
    numbers = np.arange(first, first + len(new), dtype=np.int32)
    columns: list[NDArray[Any]] = [
        numbers,
        objects(bytes.fromhex(record.id) for record in new),
        integers(min(record.parents, 65_535) for record in new),
        np.array([record.authored for record in new], dtype=np.int64),
        np.array([record.committed for record in new], dtype=np.int64),
        objects(record.author for record in new),
        objects(record.message for record in new),
        integers(record.changed for record in new),
        integers(record.length for record in new),
    ]
    run(db, columns, "INSERT INTO commits SELECT * FROM columns ORDER BY column0")
    sizes = [len(record.terms) for record in new]
    if any(sizes):
        columns = [
            np.concatenate([record.terms for record in new]),
            np.repeat(numbers, sizes),
            np.concatenate([record.frequencies for record in new]).astype(np.int32),
        ]
        run(db, columns, "INSERT INTO message_postings SELECT * FROM columns ORDER BY column0, column1")
    rows = [
        (number, encode_path(path), ord(status), encode_path(old))
        for number, record in zip(numbers.tolist(), new, strict=True)
        for path, status, old in record.changes
    ]
    if not rows:
        return
    both = (path for _, new, _, old in rows for path in (new, old) if path)
    paths = _record_paths(db, list(dict.fromkeys(both)))
    columns = [
        integers(number for number, *_ in rows),
        integers(paths[path] for _, path, *_ in rows),
        integers(status for _, _, status, _ in rows),
        integers(paths.get(old, 0) for *_, old in rows),
    ]
    run(db, columns, "INSERT INTO commit_paths SELECT * FROM columns")


def _record_paths(db: DuckDBPyConnection, paths: Sequence[bytes]) -> dict[bytes, int]:
    """Return the numbers of changed paths, recording those that are new."""
    rows = run(
        db,
        [objects(paths)],
        "SELECT path, changed_path FROM changed_paths SEMI JOIN columns ON path = column0",
    ).fetchall()
    found = {bytes(path): number for path, number in rows}
    new = [path for path in paths if path not in found]
    if new:
        first = next_id(db, "changed_paths", "changed_path")
        columns = [integers(range(first, first + len(new))), objects(new)]
        run(db, columns, "INSERT INTO changed_paths SELECT * FROM columns ORDER BY column0")
        found |= {path: first + place for place, path in enumerate(new)}
    return found


def write_history(db: DuckDBPyConnection, commit: str, ids: Sequence[str]) -> None:
    """Store which commits are reachable from a commit, newest first, as far as they are stored."""
    import numpy as np

    known = numbers_of(db, ids)
    order = [known[each] for each in ids if each in known]
    moved = _moved(db, order)
    numbers = np.unique(np.array(order, dtype=np.int32))
    begins = np.flatnonzero(np.diff(numbers, prepend=-1) != 1)
    sizes = np.diff(begins, append=len(numbers))
    values = [
        bytes.fromhex(commit),
        np.stack([numbers[begins], sizes], axis=1).astype("<i4").tobytes(),
        np.array(list(moved.items()), dtype="<i4").tobytes(),
    ]
    db.execute("DELETE FROM histories WHERE id = ?", [values[0]])
    db.execute("INSERT INTO histories VALUES (?, ?, ?, now())", values)
    db.execute(
        f"DELETE FROM histories WHERE NOT ({_OF_VIEWS})"
        f" AND id NOT IN (SELECT id FROM histories ORDER BY made DESC, id LIMIT {_KEPT_BESIDE})"
    )


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


def messages(
    db: DuckDBPyConnection, scope: SearchScope, commit: str, terms: Sequence[int], memo: Memo | None = None
) -> Messages | None:
    """Find what the messages of a commit's history say about a question's terms and a scope's files.

    Returns:
        None where the history has not been read.
    """
    import numpy as np

    memo = memo or Memo()
    read = memo.get(("history", commit), lambda: _read_history(db, commit))
    if read is None:
        return None
    numbers, age_s, changed, length, pair_commit, pair_path, moved = read
    known, path_ids = memo.get("changed_paths", lambda: _files_of(db))
    own = scope.files.path_id
    place = np.minimum(np.searchsorted(own, path_ids), max(len(own) - 1, 0))
    file_of = np.full(
        1 + max(int(known.max(initial=0)), int(pair_path.max(initial=0)), int(moved.max(initial=0))), -1
    )
    file_of[known] = np.where(own[place] == path_ids, place, -1) if len(own) else -1
    lost = file_of[moved[:, 0]] < 0
    file_of[moved[lost, 0]] = file_of[moved[lost, 1]]
    file = file_of[pair_path]
    there = file >= 0
    file, pair_commit = file[there], pair_commit[there]
    files = np.bincount(pair_commit, minlength=len(numbers))
    found = with_terms(db, "message_postings", terms, memo)
    at = np.searchsorted(numbers, found["commit_number"])
    at = np.minimum(at, max(len(numbers) - 1, 0))
    ours = numbers[at] == found["commit_number"] if len(numbers) else np.zeros(len(at), dtype=bool)
    ours &= files[at] > 0 if len(numbers) else ours
    return Messages(
        age_s=age_s,
        changed=changed,
        length=length,
        first=np.cumsum(files) - files,
        files=files,
        file=file.astype(np.int32),
        term=found["place"][ours],
        commit=at[ours].astype(np.int32),
        frequency=found["tf"][ours].astype(np.int32),
    )


def _read_history(db: DuckDBPyConnection, commit: str) -> tuple[NDArray[Any], ...] | None:
    """Read the commits of a history that say something about single files, and the paths they change.

    Returns:
        Numbers, ages, numbers of changed paths and lengths of the commits; of each path that one of them
        changes the index of the commit, and the path; pairs of an old path and its last one.
    """
    import numpy as np

    row = db.execute("SELECT commits, moved FROM histories WHERE id = ?", [bytes.fromhex(commit)]).fetchone()
    if row is None:
        return None
    reached = np.frombuffer(row[0], dtype="<i4").reshape(-1, 2)
    every = db.execute(
        "SELECT commit_number, committed, changed, length FROM commits"
        " WHERE changed BETWEEN 1 AND ? ORDER BY commit_number",
        [_SWEEPING],
    ).fetchnumpy()
    kept = _among(reached, every["commit_number"])
    numbers, committed, changed, length = (every[name][kept] for name in every)
    asked = db.execute("SELECT committed FROM commits WHERE id = ?", [bytes.fromhex(commit)]).fetchone()
    latest = int(asked[0]) if asked else int(committed.max(initial=0))
    pairs = db.execute(
        "SELECT commit_number, changed_path FROM commit_paths WHERE status <> ?", [_GONE]
    ).fetchnumpy()
    order = np.argsort(pairs["commit_number"], kind="stable")
    pair_number, pair_path = pairs["commit_number"][order], pairs["changed_path"][order]
    first = np.searchsorted(pair_number, numbers, "left")
    many = np.searchsorted(pair_number, numbers, "right") - first
    return (
        numbers,
        np.maximum(latest - committed, 0),
        changed,
        length,
        np.repeat(np.arange(len(numbers)), many),
        pair_path[runs(first, many)],
        np.frombuffer(row[1], dtype="<i4").reshape(-1, 2),
    )


def _among(reached: NDArray[np.int32], numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Tell which numbers are in runs, given the begin and the size of each, ascending."""
    import numpy as np

    if not len(reached):
        return np.zeros(len(numbers), dtype=bool)
    place = np.searchsorted(reached[:, 0], numbers, "right") - 1
    found: NDArray[np.bool_] = (place >= 0) & (numbers < reached[place].sum(axis=1))
    return found


def _files_of(db: DuckDBPyConnection) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Read which changed paths are paths of files: their numbers, and the paths' ids."""
    rows = db.execute(
        "SELECT changed_path, path_id FROM changed_paths JOIN paths USING (path) ORDER BY changed_path"
    ).fetchnumpy()
    return rows["changed_path"], rows["path_id"]


def count_unneeded(db: DuckDBPyConnection, since_s: float) -> int:
    """Count the commits that ``drop_unneeded`` would drop."""
    return int((~_needed(db, since_s)[1]).sum())


def drop_unneeded(db: DuckDBPyConnection, since_s: float) -> None:
    """Drop the histories that no view has, unless read since then, and the commits in none.

    Args:
        db: An open connection, writing.
        since_s: Unix seconds.
    """
    numbers, needed = _needed(db, since_s)
    db.execute(f"DELETE FROM histories WHERE NOT ({_KEPT})", [since_s])
    if needed.all():
        return
    columns = [numbers[~needed]]
    for table in ("commits", "message_postings", "commit_paths"):
        run(db, columns, f"DELETE FROM {table} WHERE commit_number IN (SELECT column0 FROM columns)")
    db.execute(
        "DELETE FROM changed_paths WHERE changed_path NOT IN"
        " (SELECT changed_path FROM commit_paths UNION ALL SELECT moved_from FROM commit_paths)"
    )


def _needed(db: DuckDBPyConnection, since_s: float) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Read the numbers of all commits, and tell which of them a history has that is kept."""
    import numpy as np

    rows = db.execute("SELECT commit_number FROM commits ORDER BY commit_number").fetchnumpy()
    numbers = rows["commit_number"]
    needed = np.zeros(len(numbers), dtype=bool)
    for (reached,) in db.execute(f"SELECT commits FROM histories WHERE {_KEPT}", [since_s]).fetchall():
        needed |= _among(np.frombuffer(reached, dtype="<i4").reshape(-1, 2), numbers)
    return numbers, needed
