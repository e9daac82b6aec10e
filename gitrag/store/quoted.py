"""What the texts of chunks say word for word: quotations, values of names, re-exports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitrag.late import np
from gitrag.store.columns import integers, run
from gitrag.store.content import kept_chunks
from gitrag.store.memo import Memo
from gitrag.words.declarations import BEGINS, LANGUAGES, handed_on

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

_MATCHING = """
    WITH few AS MATERIALIZED (
        SELECT chunk_id, kind, text FROM chunks SEMI JOIN columns ON chunk_id = column0
        WHERE kind IN ('module', 'class')
    )
    SELECT chunk_id, regexp_matches(text, ?) AS given, kind = 'class' AND regexp_matches(text, ?) AS member
    FROM few WHERE given OR member
"""
"""Materialized, because DuckDB would otherwise match every text of the index first."""


def texts_of(
    db: DuckDBPyConnection, chunk_ids: NDArray[np.int32], memo: Memo | None = None
) -> dict[int, str]:
    """Read the texts of chunks."""
    found = {own: chunk.text for own, chunk in kept_chunks(db, chunk_ids, memo).items()}
    if len(found) < len(chunk_ids):
        columns = [integers(each for each in chunk_ids.tolist() if each not in found)]
        sql = "SELECT chunk_id, text FROM chunks SEMI JOIN columns ON chunk_id = column0"
        found.update(run(db, columns, sql).fetchall())
    return found


def giving_a_value(
    db: DuckDBPyConnection, chunk_ids: NDArray[np.int32], given: str, member: str
) -> list[tuple[int, bool, bool]]:
    """Find the modules and classes among some chunks whose texts match; ``member`` counts in classes only.

    Args:
        chunk_ids: int32, the chunks.
        given: An expression (RE2) for a name that is given a value.
        member: One for a member of a class.
    """
    return run(db, [chunk_ids], _MATCHING, [given, member]).fetchall()


def reexporting(db: DuckDBPyConnection, names: Sequence[str], memo: Memo | None = None) -> list[int]:
    """Find the chunks that re-export one of some names, matching case."""
    every = (memo or Memo()).get("reexports", lambda: _reexports(db))
    return [chunk for name in names for chunk in every.get(name, ())]


def _reexports(db: DuckDBPyConnection) -> dict[str, list[int]]:
    """Read which chunks re-export each name: 30 ms for an index of 29,000 chunks."""
    rows = db.execute(
        # Materialized, because DuckDB would otherwise match the texts of all languages first.
        "WITH few AS MATERIALIZED (SELECT chunk_id, text FROM chunks SEMI JOIN"
        " (FROM contents WHERE language IN (SELECT unnest(?))) USING (content_id) WHERE kind = 'module')"
        " FROM few WHERE regexp_matches(text, ?)",
        [sorted(LANGUAGES), BEGINS],
    ).fetchall()
    found: dict[str, list[int]] = {}
    for chunk_id, text in rows:
        for name in handed_on(text):
            found.setdefault(name, []).append(chunk_id)
    return found
