"""An index kept in memory between questions, while its file does not change.

Opening the file and reading its columns for the first time take two thirds of a question's time in a
long-lived process (`scripts/bench/main_job.py`). DuckDB allows no writer while another process has the file
open, so the file is copied instead of kept open.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gitrag.store.candidates import POSTINGS, read_postings
from gitrag.store.engine import parsing_once, quoted, share_work
from gitrag.store.file_state import FileState
from gitrag.store.memo import Memo

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAX_BYTES = 192 << 20
"""Larger files are opened for each question: 100,000 chunks are 180 MB, on disk and in memory."""

_STATES = itertools.count(1)
"""For each state of what is held in memory, none of which is ever told for another."""

_LEAST_BYTES = 128 << 20
"""Minimum memory for DuckDB; otherwise one and a half times the file, since data can be evicted."""


class Copy:
    """The tables of an index file in memory, and results computed from them."""

    def __init__(self, path: Path, state: FileState, db: DuckDBPyConnection) -> None:
        self.state = state
        self.memo = Memo(lasting=True)
        self.db = parsing_once(db)  # but for what is asked once: it would be kept for good
        share_work(db, path)
        db.execute(f"SET memory_limit = '{max(_LEAST_BYTES, 3 * path.stat().st_size // 2)}B'")
        db.execute(f"ATTACH {quoted(path)} AS disk (READ_ONLY)")
        tables = db.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = 'disk'")
        for (table,) in tables.fetchall():
            if table in POSTINGS:  # as columns only, not also as a table
                self.memo.pin(table, read_postings(self.db, f"disk.{table}"))
            else:
                db.execute(f'CREATE TABLE memory."{table}" AS FROM disk."{table}"')
        db.execute("DETACH disk")

    def is_of(self, state: FileState | None) -> bool:
        """Tell whether the file still has the state that was copied."""
        return state == self.state

    def close(self) -> None:
        self.db.close()


class Held:
    """A copy of an index in memory that is written to, where the file cannot be: it ends with this process.

    Args:
        path: The index file; None to begin with an empty one.
        db: A running DuckDB, which is the copy's from now on.

    Attributes:
        memo: Results computed from its state.
    """

    def __init__(self, path: Path | None, db: DuckDBPyConnection) -> None:
        self.db = db
        self.db.execute("ATTACH ':memory:' AS held (COMPRESS)")
        if path is not None:
            self.db.execute(f"ATTACH {quoted(path)} AS disk (READ_ONLY)")
            self.db.execute("COPY FROM DATABASE disk TO held")
            self.db.execute("DETACH disk")
        self.db.execute("USE held")
        self.changed()

    def changed(self) -> None:
        """Note that it has been written to."""
        self.memo = Memo(lasting=True)
        self.state: FileState = (0, 0, b"", next(_STATES))  # no file has these numbers

    @contextmanager
    def transaction(self) -> Iterator[DuckDBPyConnection]:
        """Provide the connection in a transaction, rolled back where the block raises."""
        self.db.execute("BEGIN")
        try:
            yield self.db
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")
        self.changed()


def share_to_win(db: DuckDBPyConnection, path: Path) -> float:
    """Return how much smaller an index file would be anew, from 0 to 1, read from its metadata.

    That is the share of its free blocks, and of each table's blocks that of its dead rows: DuckDB leaves
    deleted rows where they are while many of their row group are left.
    """
    db.execute(f"ATTACH {quoted(path)} AS disk (READ_ONLY)")
    try:
        (total, free) = db.execute(
            "SELECT total_blocks, free_blocks FROM pragma_database_size() WHERE database_name = 'disk'"
        ).fetchone() or (0, 0)
        tables = db.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = 'disk'").fetchall()
        return float((free + sum(_dead_blocks(db, table) for (table,) in tables)) / max(total, 1))
    finally:
        db.execute("DETACH disk")


def _dead_blocks(db: DuckDBPyConnection, table: str) -> float:
    rows, stored, blocks = db.execute(
        f"SELECT (SELECT count(*) FROM disk.{table}),"
        " sum(count) FILTER (column_id = 0 AND segment_type = 'VALIDITY'),"
        " count(DISTINCT block_id) FILTER (persistent AND block_id >= 0)"
        f" FROM pragma_storage_info('disk.{table}')"
    ).fetchone() or (0, 0, 0)
    return float(blocks * (1 - rows / stored)) if stored else 0.0


def write_copy(db: DuckDBPyConnection, path: Path, target: Path) -> None:
    """Copy an index file in full into a new one, which is on disk when this returns."""
    db.execute(f"ATTACH {quoted(path)} AS disk (READ_ONLY)")
    db.execute(f"ATTACH {quoted(target)} AS target")
    db.execute("COPY FROM DATABASE disk TO target")
    put_on_disk(db, "target", target)
    db.execute("DETACH disk")


def put_on_disk(db: DuckDBPyConnection, name: str, path: Path) -> None:
    """Detach a new index file; it is on disk in full, without a log, when this returns."""
    db.execute(f"CHECKPOINT {name}")
    db.execute(f"DETACH {name}")
    with path.open("rb") as file:
        os.fsync(file.fileno())
