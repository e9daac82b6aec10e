"""Commits, each stored once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gitrag.late import np
from gitrag.store.columns import decode_path, encode_path, integers, next_id, objects, run

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray


class CommitRecord(Struct, frozen=True):
    """A commit to be stored.

    Attributes:
        changed: How many paths it changes.
        changes: Path, status and, where it was moved, the old path.
        terms: uint64, the distinct hashed terms of its message.
        frequencies: uint16, how often each occurs, weighted.
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


def numbers_of(db: DuckDBPyConnection, ids: Sequence[str]) -> dict[str, int]:
    """Return the numbers of those commits that are stored."""
    columns = [objects(map(bytes.fromhex, ids))]
    rows = run(
        db, columns, "SELECT id, commit_number FROM commits SEMI JOIN columns ON id = column0"
    ).fetchall()
    return {bytes(commit).hex(): number for commit, number in rows}


def add(db: DuckDBPyConnection, records: Sequence[CommitRecord]) -> list[tuple[int, str]]:
    """Store commits, and return number and message of each; those that are stored already are left alone."""
    there = numbers_of(db, [record.id for record in records])
    new = list({record.id: record for record in records if record.id not in there}.values())
    if not new:
        return []
    first = next_id(db, "commits", "commit_number")
    numbers = np.arange(first, first + len(new), dtype=np.int32)
    added = list(zip(numbers.tolist(), (record.message for record in new), strict=True))
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
        return added
    both = (path for _, new, _, old in rows for path in (new, old) if path)
    paths = _record_paths(db, list(dict.fromkeys(both)))
    columns = [
        integers(number for number, *_ in rows),
        integers(paths[path] for _, path, *_ in rows),
        integers(status for _, _, status, _ in rows),
        integers(paths.get(old, 0) for *_, old in rows),
    ]
    run(db, columns, "INSERT INTO commit_paths SELECT * FROM columns")
    return added


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
        run(
            db,
            columns,
            "INSERT INTO changed_paths SELECT column0, column1, coalesce(path_id, 0) FROM columns"
            " LEFT JOIN paths ON path = column1 ORDER BY column0",
        )
        found |= {path: first + place for place, path in enumerate(new)}
    return found


def records_of(db: DuckDBPyConnection, ids: Sequence[str]) -> list[CommitRecord]:
    """Return those commits that are stored, to be stored elsewhere; in the order of the ids."""
    known = numbers_of(db, ids)
    numbers = integers(known.values())
    changes: dict[int, list[tuple[str, str, str]]] = {}
    for number, path, status, old in run(
        db,
        [numbers],
        "SELECT commit_number, new.path, status, old.path FROM commit_paths"
        " SEMI JOIN columns ON commit_number = column0 JOIN changed_paths AS new USING (changed_path)"
        " LEFT JOIN changed_paths AS old ON old.changed_path = moved_from ORDER BY ALL",
    ).fetchall():
        change = (decode_path(path), chr(status), "" if old is None else decode_path(old))
        changes.setdefault(number, []).append(change)
    words = run(
        db,
        [numbers],
        "SELECT commit_number, term, tf FROM message_postings SEMI JOIN columns ON commit_number = column0"
        " ORDER BY commit_number, term",
    ).fetchnumpy()
    begin, end = (np.searchsorted(words["commit_number"], numbers, side) for side in ("left", "right"))
    of = dict(zip(numbers.tolist(), zip(begin.tolist(), end.tolist(), strict=True), strict=True))
    rows = run(
        db,
        [numbers],
        "SELECT commit_number, id, parents, authored, committed, author, message, changed, length"
        " FROM commits SEMI JOIN columns ON commit_number = column0",
    ).fetchall()
    found: dict[str, CommitRecord] = {}
    for number, own, parents, authored, committed, author, message, changed, length in rows:
        said = slice(*of[number])
        found[bytes(own).hex()] = CommitRecord(
            id=bytes(own).hex(),
            parents=parents,
            authored=authored,
            committed=committed,
            author=author,
            message=message,
            changed=changed,
            changes=changes.get(number, []),
            terms=words["term"][said],
            frequencies=words["tf"][said],
            length=length,
        )
    return [found[each] for each in ids if each in found]


class StoredCommit(Struct, frozen=True):
    """A commit as it is stored.

    Attributes:
        id: Its object id.
        author: The author's name.
        authored: When it was written, Unix seconds.
        changed: How many paths it changes.
        paths: Those; of a commit of very many not all.
    """

    id: str
    author: str
    authored: int
    message: str
    changed: int
    paths: tuple[str, ...]


def read_stored(db: DuckDBPyConnection, numbers: Sequence[int]) -> dict[int, StoredCommit]:
    columns = [integers(numbers)]
    paths: dict[int, list[str]] = {}
    changed = run(
        db,
        columns,
        "SELECT commit_number, path FROM commit_paths SEMI JOIN columns ON commit_number = column0"
        " JOIN changed_paths USING (changed_path) ORDER BY ALL",
    ).fetchall()
    for number, path in changed:
        paths.setdefault(number, []).append(decode_path(path))
    rows = run(
        db,
        columns,
        "SELECT commit_number, id, author, authored, message, changed FROM commits"
        " SEMI JOIN columns ON commit_number = column0",
    ).fetchall()
    return {
        number: StoredCommit(bytes(own).hex(), who, wrote, text, many, tuple(paths.get(number, ())))
        for number, own, who, wrote, text, many in rows
    }


def by_author(db: DuckDBPyConnection, part: str) -> NDArray[np.int32]:
    """Return the numbers of the commits whose author's name has a part, in any case."""
    sql = "SELECT commit_number FROM commits WHERE contains(lower(author), lower(?))"
    found: NDArray[np.int32] = run(db, [], sql, [part]).fetchnumpy()["commit_number"]
    return found


def all_paths(db: DuckDBPyConnection) -> list[str]:
    return [decode_path(path) for (path,) in db.execute("SELECT path FROM changed_paths").fetchall()]


def changing(db: DuckDBPyConnection, paths: Sequence[str]) -> NDArray[np.int32]:
    """Return the numbers of the commits that change one of some paths."""
    rows = run(
        db,
        [objects(encode_path(path) for path in paths)],
        "SELECT DISTINCT commit_number FROM changed_paths SEMI JOIN columns ON path = column0"
        " JOIN commit_paths USING (changed_path)",
    ).fetchnumpy()
    found: NDArray[np.int32] = rows["commit_number"]
    return found
