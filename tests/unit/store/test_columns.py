"""Columns reach a statement whole, as its parameters where they are few, else as a registered table."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from gitrag.store.columns import hashes, integers, objects, run

COLUMNS = {
    "INTEGER": integers([-(2**31), 2**31 - 1, 0]),
    "BIGINT": np.array([-(2**63), 2**63 - 1, 0], dtype=np.int64),
    "UBIGINT": hashes([2**64 - 1, 2**63, 0]),
    "USMALLINT": np.array([2**16 - 1, 1, 0], dtype=np.uint16),
    "UTINYINT": np.array([255, 1, 0], dtype=np.uint8),
    "VARCHAR": objects(["a\0b", None, "\N{SNOWMAN}'; --"]),
    "BLOB": objects([b"\xff\x00'", None, b""]),
    "DOUBLE": np.array([0.1, -1e300, 0.0]),
}


@pytest.mark.parametrize("times", [0, 1, 400])
@pytest.mark.parametrize("kind", COLUMNS)
def test_every_kind_of_column_arrives_as_it_is(kind, times):
    number, column = integers(range(3 * times)), np.tile(COLUMNS[kind], times)
    rows = list(zip(number.tolist(), column.tolist(), strict=True))
    with duckdb.connect() as db:
        db.execute(f"CREATE TABLE held (number INTEGER, value {kind})")
        assert run(db, [number, column], "SELECT * FROM columns ORDER BY column0").fetchall() == rows

        run(db, [number, column], "INSERT INTO held SELECT * FROM columns")
        assert db.execute("FROM held ORDER BY number").fetchall() == rows

        run(
            db,
            [number, column],
            "UPDATE held SET number = number + ? FROM columns WHERE number = column0",
            [9],
        )
        run(
            db,
            [number + 9, column],
            "WITH own AS (FROM columns) DELETE FROM held USING own WHERE column0 = ?",
            [9],
        )
        assert db.execute("SELECT count(*) FROM held").fetchone() == (0,)
