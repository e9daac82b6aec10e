"""Single chunks of a large index, read by number from a file beside it.

DuckDB unpacks the 2,048 texts around each that it reads: for the 90 of a question some 30 ms, of this file 4.
It has them eight by eight, packed, in SQLite, and is a cache like that of vectors (`vector_cache.py`): what
it says of a chunk counts only if it is marked with the hash that the index gives the chunk's content now,
else the chunk is read from the index. So it is read without a lock and written without a journal: one that is
lost, torn or stale costs time, not answers.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from gitrag.machine.files import open_private
from gitrag.model import Chunk

if TYPE_CHECKING:
    import sqlite3

_TOGETHER = 8
"""Chunks of a row: 264 bytes a chunk, 370 by one; 16 take 248, and twice as long to unpack."""

_LARGEST = 16 << 20
"""Bytes of a row, unpacked; chunks are a thousandth of that."""


KeptChunk: TypeAlias = tuple[int, int, Chunk]
"""A chunk's id, the mark of its content, and the chunk."""

_TABLES = ("CREATE TABLE chunks (number INTEGER PRIMARY KEY, packed BLOB)", "CREATE TABLE meta (of TEXT)")


class ChunkCache:
    """A file of chunks.

    Args:
        path: The file; it is made when something is first written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()

    def read(self, marks: Mapping[int, int]) -> dict[int, Chunk]:
        """Return what the file has of chunks with these marks."""
        found: dict[int, Chunk] = {}
        numbers = ", ".join(map(str, sorted({chunk_id // _TOGETHER for chunk_id in marks})))
        sql = f"SELECT packed FROM chunks WHERE number IN ({numbers}) AND length(packed) <= {_LARGEST}"
        with suppress(*_errors()), closing(self._open("ro")) as db:
            for (packed,) in db.execute(sql):
                found.update((own, chunk) for own, mark, chunk in _unpacked(packed) if marks.get(own) == mark)
        return found

    def end(self, index: str) -> int:
        """Return the first chunk id that may be missing: 0 where the file is of another index."""
        with suppress(*_errors()), closing(self._open("ro")) as db:
            for of, last in db.execute("SELECT of, (SELECT max(number) FROM chunks) FROM meta"):
                return max(last, 0) * _TOGETHER if of == index and isinstance(last, int) else 0
        return 0

    def write(self, index: str, rows: Iterable[KeptChunk], *, anew: bool) -> bool:
        """Write chunks, ids ascending; return False where it cannot be done.

        Args:
            index: The identity of the index.
            anew: Whether what the file has is dropped.
        """
        try:
            for end in ("-journal", "-wal", "") if anew else ("-journal", "-wal"):  # none is ours
                self._path.with_name(f"{self._path.name}{end}").unlink(missing_ok=True)
            # Where it is to go on and is there no more, it is to begin anew: not made here.
            open_private(self._path, "xb" if anew else "r+b").close()
            with closing(self._open("rw")) as db, db:
                db.execute("DELETE FROM meta")
                db.execute("INSERT INTO meta VALUES (?)", [index])
                db.executemany("INSERT OR REPLACE INTO chunks VALUES (?, ?)", _packed(rows))
        except _errors():
            with suppress(OSError):
                self._path.unlink()  # to be made anew
            return False
        return True

    def _open(self, mode: str) -> sqlite3.Connection:
        """Open the file, refusing what else may be in it: it may have come with an archive."""
        import sqlite3

        if not self._path.is_file():  # a pipe would be waited for
            raise sqlite3.OperationalError("no file")
        how = "mode=ro&immutable=1" if mode == "ro" else "mode=rw"
        db = sqlite3.connect(f"{self._path.as_uri()}?{how}", uri=True, timeout=0)
        if mode == "rw":
            db.executescript("PRAGMA page_size=16384; PRAGMA journal_mode=memory; PRAGMA synchronous=off;")
        tables = tuple(sql for (sql,) in db.execute("SELECT sql FROM sqlite_schema ORDER BY name"))
        if mode == "rw" and not tables:
            db.executescript(";".join(_TABLES))
        elif tables != _TABLES:
            db.close()
            raise sqlite3.DatabaseError(f"other tables: {tables}")
        return db


def _errors() -> tuple[type[Exception], ...]:
    """Return what is raised where the file or SQLite fails, or Python has been built without that."""
    try:
        import sqlite3
    except ImportError:
        return OSError, ImportError
    return OSError, UnicodeDecodeError, sqlite3.Error


def _packed(rows: Iterable[KeptChunk]) -> Iterator[tuple[int, bytes]]:
    for number, own in groupby(rows, lambda row: row[0] // _TOGETHER):
        yield number, zlib.compress(msgspec.msgpack.encode([*own]), 1)


def _unpacked(packed: object) -> list[KeptChunk]:
    """Return the chunks of a row; none where it is damaged."""
    with suppress(zlib.error, msgspec.MsgspecError, TypeError, UnicodeDecodeError, RecursionError):
        unpacking = zlib.decompressobj()
        raw = unpacking.decompress(packed, _LARGEST)  # type: ignore[arg-type]
        if unpacking.eof:  # its checksum is right
            return msgspec.msgpack.decode(raw, type=list[KeptChunk])
    return []
