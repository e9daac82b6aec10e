"""DuckDB in this process, and the index files attached to it.

To start DuckDB takes 15 ms of a processor, to attach a file to one that runs 1 ms. So it is started before
the store's lock is asked for, and kept: others wait for what is done with the file, not for that.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MEMORY_LIMIT = "384MB"
"""DuckDB's default is 80 % of the machine; the whole indexing has to stay under 1 GiB."""


def start(directory: Path) -> DuckDBPyConnection:
    """Start DuckDB with nothing in it; what it has no memory for goes into a directory."""
    import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": _MEMORY_LIMIT,
        "temp_directory": str(directory / "spill"),
        "autoinstall_known_extensions": False,  # an index works on a train
        "autoload_known_extensions": False,
    }
    db = duckdb.connect(":memory:", config=config)
    db.execute("SET enable_progress_bar = false")  # it is drawn on stdout, into the result
    return db


def quoted(path: Path) -> str:
    """Give a path as a literal of SQL, for statements that take no parameters."""
    return "'" + str(path).replace("'", "''") + "'"


class Engine:
    """DuckDB as started for one operation after the other, with one file at a time.

    Args:
        directory: Where what it has no memory for goes.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._engine: DuckDBPyConnection | None = None
        self._db: DuckDBPyConnection | None = None

    def start(self) -> None:
        """Start it, if it is not running."""
        if self._engine is None:
            self._engine = start(self._directory)

    @contextmanager
    def let_go(self) -> Iterator[None]:
        """Let go of what has been attached when this ends; an open transaction is rolled back."""
        try:
            yield
            self.detach()
        except BaseException:
            self.stop()
            raise

    def attach(self, path: Path, *, read_only: bool = False) -> DuckDBPyConnection:
        """Open a file, made if it is not there.

        Raises:
            duckdb.Error: It cannot be opened.
        """
        self.start()
        if self._engine is None:
            raise AssertionError("it has just been started")
        how = "TYPE duckdb, READ_ONLY" if read_only else "TYPE duckdb"
        self._engine.execute(f"ATTACH {quoted(path)} AS disk ({how})")
        self._db = self._engine.cursor()
        self._db.execute("USE disk")
        return self._db

    def detach(self) -> None:
        """Let go of the file, if there is one."""
        import duckdb

        if self._engine is None or self._db is None:
            return
        self._db.close()
        self._db = None
        try:
            self._engine.execute("DETACH disk")
        except duckdb.Error:  # what is committed could not be put from the log into the file
            self.stop()

    def stop(self) -> None:
        """Stop it: whatever it held is let go of, whatever has become of it."""
        for db in (self._db, self._engine):
            if db is not None:
                db.close()
        self._db = self._engine = None
