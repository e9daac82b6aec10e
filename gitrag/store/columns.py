"""Columns for bulk loads, and joins of columns; paths, which are bytes in the store as in git.

A Python list of one-dimensional NumPy arrays can be registered as a table with DuckDB (``SELECT * FROM
columns``), with columns ``column0``, ``column1``, …: a million integer rows take under 0.1 s, strings 0.2 s
for 50,000, against 2,000 rows/s of ``executemany``. DuckDB could also find it as a Python variable by name,
but only where it may read any file (`gitrag.store.engine`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from gitrag.late import np
from gitrag.words.control_characters import in_whole_characters

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray


def decode_path(path: bytes) -> str:
    """Return gitrag's str form of a path (``surrogateescape``)."""
    return path.decode("utf-8", "surrogateescape")


def encode_path(path: str) -> bytes:
    """Return git's bytes of a path; of one with half of a character, bytes that no path has."""
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogatepass")


_NAME = "columns"
_TYPES = {
    ("i", 4): "INTEGER",
    ("i", 8): "BIGINT",
    ("u", 1): "UTINYINT",
    ("u", 2): "USMALLINT",
    ("u", 8): "UBIGINT",
}
_TYPES_OF_OBJECTS: dict[type, str] = {str: "VARCHAR", bytes: "BLOB"}
_WITH = "WITH "
_QUERIES = ("SELECT", "FROM", _WITH)
_STATEMENTS = (*_QUERIES, "INSERT", "UPDATE", "DELETE")
"""What can follow the table as a common table expression."""
_FEW = 1000
"""More rows are slower as parameters than as a table: with 5,000 numbers, twice the time."""
_FEW_OBJECTS = 64
"""With 100 rows of three long texts, a statement takes as long either way."""


def integers(values: Iterable[int]) -> NDArray[np.int32]:
    return np.fromiter(values, dtype=np.int32)


def pairs(entries: Iterable[tuple[int, int]]) -> list[NDArray[Any]]:
    """Make the two INTEGER columns of pairs, such as the path id and content id of a view's entries."""
    given = list(entries)
    return [integers(first for first, _ in given), integers(second for _, second in given)]


def hashes(values: Sequence[int]) -> NDArray[np.uint64]:
    return np.array(values, dtype=np.uint64)


def objects(values: Iterable[str | bytes | None]) -> NDArray[Any]:
    """Make a VARCHAR or BLOB column; None is NULL."""
    items = [value if value is None or value.isascii() else _storable(value) for value in values]
    column = np.empty(len(items), dtype=object)
    column[:] = items
    return column


def _storable(value: object) -> object:
    """Return a value as DuckDB accepts it: what somebody asks for may have bytes that are not UTF-8."""
    return in_whole_characters(value) if isinstance(value, str) else value


def run(
    db: DuckDBPyConnection,
    columns: Sequence[NDArray[Any]],
    sql: str,
    parameters: Sequence[object] = (),
) -> DuckDBPyConnection:
    """Execute a statement that reads a table called ``columns``.

    Args:
        columns: The table; kept in memory until the next call if the statement is a query.
    """
    parameters = [*map(_storable, parameters)]
    if not columns:  # DuckDB registers no table without a column
        db.complete()
        return db.execute(sql, parameters)
    sql = sql.lstrip()
    types = [_type_of(column) for column in columns] if sql.startswith(_STATEMENTS) else [None]
    if all(types):
        return _with_parameters(db, columns, types, sql, parameters)
    db.complete()  # else nothing can be registered
    db.register(_NAME, list(columns))
    result = db.execute(sql, parameters)
    if not sql.startswith(_QUERIES):
        db.complete()
        db.unregister(_NAME)
    return result


def _type_of(column: NDArray[Any]) -> str | None:
    """Return the type of a column that a statement can have as a parameter; None where it cannot."""
    if column.dtype != object:
        return _TYPES.get((column.dtype.kind, column.dtype.itemsize)) if len(column) <= _FEW else None
    kinds = {type(value) for value in column if value is not None} if len(column) <= _FEW_OBJECTS else set()
    return _TYPES_OF_OBJECTS.get(kinds.pop()) if len(kinds) == 1 else None


def _with_parameters(
    db: DuckDBPyConnection,
    columns: Sequence[NDArray[Any]],
    types: Sequence[str | None],
    sql: str,
    parameters: Sequence[object],
) -> DuckDBPyConnection:
    """Execute a statement whose table is part of it: to register one takes longer than most statements."""
    chosen = [f"unnest(?::{kind}[]) AS column{i}" for i, kind in enumerate(types)]
    table = f"{_WITH}{_NAME} AS (SELECT {', '.join(chosen)})"
    rest = f", {sql.removeprefix(_WITH)}" if sql.startswith(_WITH) else f" {sql}"
    return db.execute(table + rest, [*(column.tolist() for column in columns), *parameters])


def next_id(db: DuckDBPyConnection, table: str, column: str) -> int:
    """Return the first free id of a table; the caller must be the only writer."""
    row = db.execute(f"SELECT coalesce(max({column}), 0) + 1 FROM {table}").fetchone()
    return int(row[0]) if row else 1


def matches(keys: NDArray[Any], wanted: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Join: return each pair of indices in ``wanted`` and in ``keys`` (ids, ascending) with equal values."""
    return joined_at(ends(keys), wanted)


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct values, ascending: of a million in a hundredth of the time of ``np.unique``."""
    found = np.sort(values)
    return found[np.append(True, found[1:] != found[:-1])] if len(found) else found


def ends(keys: NDArray[Any]) -> NDArray[np.int32]:
    """Return for each id up to the last one where its run in ``keys`` (ids, ascending) ends."""
    return np.cumsum(np.bincount(keys), dtype=np.int32)


def joined_at(last: NDArray[np.int32], wanted: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Join ids with a column of which it is known where the runs end."""
    known = (wanted > 0) & (wanted < len(last))
    if not known.all():
        rows = np.flatnonzero(known)
        row, place = joined_at(last, wanted[rows])
        return rows[row], place
    first = last[wanted - 1]
    found = last[wanted] - first
    if found.max(initial=0) <= 1:
        rows = np.flatnonzero(found)
        return rows, first[rows].astype(np.intp)
    return np.repeat(np.arange(len(wanted)), found), runs(first, found)


def runs(first: NDArray[Any], lengths: NDArray[Any]) -> NDArray[np.intp]:
    """Return the indices of runs that begin at given indices, one run after the other."""
    places: NDArray[np.intp] = np.arange(lengths.sum()) + np.repeat(
        first - np.cumsum(lengths) + lengths, lengths
    )
    return places
