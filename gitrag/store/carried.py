"""Vectors that an index takes over from the one in its place, which another recipe made.

A text's key stands for the text and the encoder's version (`gitrag/embedding/text.py`), so its vector is
right however the text is cut out of a file. What nothing in the new index has is kept as long as anything
that nothing needs (`gitrag/store/garbage.py`): a branch that is not looked at yet may have it, and so may
another version of gitrag that is used in turn.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from gitrag.model import DIMENSIONS
from gitrag.store import schema
from gitrag.store.engine import quoted
from gitrag.store.vectors import UNEMBEDDED

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_CARRIED = "vectors carried over"
"""Key of the meta table: when that was, in Unix seconds, and the last text that was."""

_ENCODER = re.compile(r"encoder [^,]*")
_KEY_BYTES = 16
_TABLES = frozenset({"meta", "taken", "texts", "vectors"})
_SIGNS = ", ".join(f"b{i}" for i in range(DIMENSIONS // 64))
_VALID = f"octet_length(vector) = {DIMENSIONS} AND {_SIGNS.replace(',', ' IS NOT NULL AND')} IS NOT NULL"
"""What was carried over is read without such questions, and this file may have come with an archive."""


def carry(db: DuckDBPyConnection, old: Path) -> int:
    """Fill an empty index with an older one's texts that have the model's vector; return how many.

    Ids are given anew. What the older one has no tables for, or another encoder's vectors in, is left.

    Args:
        db: A connection to the empty index, outside of a transaction.

    Raises:
        duckdb.Error: The older one is damaged, or has other columns; nothing is carried over then.
    """
    db.execute(f"ATTACH {quoted(old)} AS older (READ_ONLY)")
    try:
        if not _is_like(db, old):
            return 0
        db.execute("BEGIN")
        try:
            count = _carry(db)
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")
        return count
    finally:
        db.execute("DETACH older")


def kept(db: DuckDBPyConnection, since_s: float) -> int:
    """Return the last text that is kept since it was carried over later than a time, Unix seconds; or 0."""
    when, _, last = schema.get(db, _CARRIED).partition(" ")
    return int(last) if when and float(when) >= since_s else 0


def _is_like(db: DuckDBPyConnection, old: Path) -> bool:
    """Tell whether an index has tables, no views, of the same encoder's vectors, that fit into its size."""
    tables = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'older'"
    if not _TABLES.issubset(name for (name,) in db.execute(tables).fetchall()):
        return False
    (recipe,) = db.execute("SELECT any_value(value) FROM older.meta WHERE key = 'recipe'").fetchone() or ("",)
    before, now = (_ENCODER.findall(str(each)) for each in (recipe, schema.get(db, "recipe")))
    (count,) = db.execute("SELECT count(*) FROM older.vectors").fetchone() or (0,)
    size = sum(each.stat().st_size for each in (old, Path(f"{old}.wal")) if each.exists())
    return before == now and 0 < count * DIMENSIONS <= size


def _carry(db: DuckDBPyConnection) -> int:
    db.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE carried AS
        SELECT row_number() OVER (ORDER BY text_id)::INTEGER AS own_id, text_id, key FROM (
            SELECT min(text_id) AS text_id, key FROM older.texts WHERE octet_length(key) = {_KEY_BYTES}
            AND NOT EXISTS (FROM older.meta WHERE meta.key = ? || lower(hex(texts.key))) GROUP BY ALL
        ) SEMI JOIN (
            SELECT text_id FROM older.vectors WHERE {_VALID} GROUP BY text_id HAVING count(*) = 1
        ) USING (text_id)
        """,
        [UNEMBEDDED],
    )
    db.execute("INSERT INTO texts SELECT own_id, key FROM carried ORDER BY own_id")
    db.execute(
        f"INSERT INTO vectors SELECT own_id, vector, {_SIGNS} FROM older.vectors JOIN carried USING (text_id)"
        f" WHERE {_VALID}"
    )
    db.execute(
        "INSERT INTO taken SELECT own_id, pack FROM older.taken JOIN carried USING (text_id)"
        " WHERE pack IS NOT NULL"
    )
    (count,) = db.execute("SELECT count(*) FROM carried").fetchone() or (0,)
    db.execute("DROP TABLE carried")
    schema.put(db, _CARRIED, f"{time.time():.0f} {count}")
    return int(count)
