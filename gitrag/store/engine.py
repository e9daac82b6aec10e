"""DuckDB inside this process, and the index files attached to it.

Starting DuckDB takes 15 ms of processor time, attaching a file to a running one 1 ms. So it is started before
the store's lock is acquired, and kept: other processes wait only while the file is in use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from gitrag.late import Late

if TYPE_CHECKING:
    import duckdb as duckdb  # noqa: PLC0414 - for the others here
    from duckdb import DuckDBPyConnection
else:
    duckdb = Late("_duckdb", "duckdb")  # the package is the library's names again, and twice as long to load

_MEMORY_LIMIT = "384MB"
"""DuckDB's default is 80 % of the machine's memory; indexing as a whole must stay below 1 GiB."""

CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": _MEMORY_LIMIT,
    "autoinstall_known_extensions": False,  # no downloads: an index must work offline
    "autoload_known_extensions": False,
    "threads": 1,  # until a file is large
}
_OPTIMIZER = "filter_pushdown"
"""What small files' statements have of optimising: without it ``UPDATE one FROM other WHERE`` makes all pairs
of rows. The rest is a fourth of what a small statement takes."""

_LEAST_SHARED_BYTES = 32 << 20
"""Files from this size on are read by several threads, and statements optimised in full; either doubles the
cost of a small one."""
_MOST_PARSED = 1000
"""Statements that are kept: there are 300, and few are made up."""


def start(directory: Path, beside: Iterable[Path] = ()) -> DuckDBPyConnection:
    """Start an empty DuckDB that can reach no files but those of a directory.

    An index may have come with an archive, with views and macros of somebody else's in it: they could read
    any file into an answer.

    Args:
        directory: Where the indexes lie, and what exceeds its memory is spilled to.
        beside: Further directories of indexes.
    """
    return confined(duckdb.connect(":memory:", config=CONFIG), directory, beside)


class _ParsingOnce:
    """A connection that parses a statement once in a process: that is a fourth of what a small one takes."""

    parsed: ClassVar[dict[str, Any]] = {}

    def __init__(self, db: DuckDBPyConnection) -> None:
        self._db = db

    def execute(self, sql: str, parameters: object = None) -> DuckDBPyConnection:
        statement = self.parsed.get(sql)
        if statement is None:
            found = self._db.extract_statements(sql)
            statement = found[0] if len(found) == 1 else sql
            if len(self.parsed) < _MOST_PARSED:
                self.parsed[sql] = statement
        return self._db.execute(statement, parameters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)


def parsing_once(db: DuckDBPyConnection) -> DuckDBPyConnection:
    """Return a connection for statements that are asked again and again, whatever index is attached."""
    return cast("DuckDBPyConnection", _ParsingOnce(db))


def confined(db: DuckDBPyConnection, directory: Path, beside: Iterable[Path]) -> DuckDBPyConnection:
    """Let a DuckDB that has just been started reach these directories only."""
    db.execute(f"SET temp_directory = {quoted(directory / 'spill')}")
    left_out = db.execute("SELECT string_agg(name) FROM duckdb_optimizers() WHERE name <> ?", [_OPTIMIZER])
    db.execute(f"SET disabled_optimizers = '{(left_out.fetchone() or ('',))[0]}'")
    db.execute("SET enable_progress_bar = false")  # it is printed on stdout, into the result
    reached = ", ".join(map(quoted, dict.fromkeys((directory, *beside))))
    db.execute(f"SET allowed_directories = [{reached}]")
    db.execute("SET enable_external_access = false")
    return db


def share_work(db: DuckDBPyConnection, path: Path) -> bool:
    """Have a DuckDB use all processors for a file, if it is large; tell whether it does."""
    is_large = path.exists() and path.stat().st_size >= _LEAST_SHARED_BYTES
    if is_large:
        db.execute("RESET threads")  # as many as the machine, or a container, has
        db.execute("RESET disabled_optimizers")
    return is_large


def quoted(path: Path) -> str:
    """Return a path as an SQL literal, for statements that take no parameters."""
    return "'" + str(path).replace("'", "''") + "'"


class Engine:
    """A DuckDB instance reused for one operation after another, with one file at a time.

    Args:
        directory: Where the files are, and where it spills what exceeds its memory.
    """

    def __init__(self, directory: Path, beside: Iterable[Path] = ()) -> None:
        self._directory = directory
        self._beside = tuple(beside)
        self._engine: DuckDBPyConnection | None = None
        self._db: DuckDBPyConnection | None = None
        self._shares_work = False

    def start(self) -> None:
        """Start it unless it is running."""
        if self._engine is None:
            self._engine = start(self._directory, self._beside)

    @contextmanager
    def detaching(self) -> Iterator[None]:
        """Detach the file at the end of the block; an open transaction is rolled back."""
        try:
            yield
            self.detach()
        except BaseException:
            self.stop()
            raise

    def attach(self, path: Path, *, read_only: bool = False) -> DuckDBPyConnection:
        """Open a file, creating it if it is missing.

        Raises:
            duckdb.Error: It cannot be opened.
        """
        self.start()
        if self._engine is None:
            raise AssertionError("it has just been started")
        how = "TYPE duckdb, READ_ONLY" if read_only else "TYPE duckdb"
        self._shares_work = self._shares_work or share_work(self._engine, path)
        self._engine.execute(f"ATTACH {quoted(path)} AS disk ({how})")
        self._db = parsing_once(self._engine.cursor())
        self._db.execute("USE disk")
        return self._db

    def detach(self) -> None:
        """Close the file, if one is attached."""
        if self._engine is None or self._db is None:
            return
        self._db.close()
        self._db = None
        try:
            self._engine.execute("DETACH disk")
        except duckdb.Error:  # the checkpoint failed: committed data stays in the write-ahead log
            self.stop()

    def stop(self) -> None:
        """Stop it and release everything, whatever state it is in."""
        for db in (self._db, self._engine):
            if db is not None:
                db.close()
        self._db = self._engine = None
        self._shares_work = False


class SharedEngines:
    """Engines that several stores take turns with, each of which would start one for a few statements.

    Args:
        directories: Where the stores' files are: an engine can reach them all, and no other file.

    Attributes:
        idle: Those that no store uses now.
    """

    def __init__(self, directories: Iterable[Path]) -> None:
        self.directories = frozenset(directories)
        self.idle: list[Engine] = []

    def stop(self) -> None:
        """Stop those that no store uses."""
        while self.idle:
            self.idle.pop().stop()
