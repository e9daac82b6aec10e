"""An index kept in memory between questions, for as long as its file stays as it is.

Opening the file, and reading its columns for the first time, is two thirds of a question's time in a
long-lived process (`scripts/bench/main_job.py`). DuckDB lets nobody write while another process has the file
open, so it is not kept open: it is copied.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from gitrag.store.candidates import POSTINGS, read_postings
from gitrag.store.engine import quoted
from gitrag.store.file_state import FileState
from gitrag.store.memo import Memo

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAX_BYTES = 192 << 20
"""Larger files are opened for each question: 100,000 chunks are 180 MB, in the file and in memory."""

_LEAST_BYTES = 128 << 20
"""What DuckDB may take at least; else half as much again as the file: what is read of it need not stay."""


class Copy:
    """The tables of an index file in memory, and what was worked out from them.

    Attributes:
        state: Of which content of the file.
        db: The connection.
        memo: What was worked out.
    """

    def __init__(self, path: Path, state: FileState, db: DuckDBPyConnection) -> None:
        self.state = state
        self.memo = Memo(lasting=True)
        self.db = db
        self.db.execute(f"SET memory_limit = '{max(_LEAST_BYTES, 3 * path.stat().st_size // 2)}B'")
        self.db.execute(f"ATTACH {quoted(path)} AS disk (READ_ONLY)")
        tables = self.db.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = 'disk'")
        for (table,) in tables.fetchall():
            if table in POSTINGS:  # as columns only, not as a table too
                self.memo.pin(table, read_postings(self.db, f"disk.{table}"))
            else:
                self.db.execute(f'CREATE TABLE memory."{table}" AS FROM disk."{table}"')
        self.db.execute("DETACH disk")

    def is_of(self, state: FileState | None) -> bool:
        """Tell whether the file is still what was copied."""
        return state == self.state

    def close(self) -> None:
        """Give the memory back."""
        self.db.close()


def write_copy(db: DuckDBPyConnection, path: Path, target: Path) -> None:
    """Copy an index file into a new one, whole and on the disk when this returns."""
    db.execute(f"ATTACH {quoted(path)} AS disk (READ_ONLY)")
    db.execute(f"ATTACH {quoted(target)} AS target")
    db.execute("COPY FROM DATABASE disk TO target")
    db.execute("CHECKPOINT target")
    db.execute("DETACH target")
    db.execute("DETACH disk")
    with target.open("rb") as file:
        os.fsync(file.fileno())
