"""COPY in PostgreSQL's binary format: the rows of a push as bytes, and columns of numbers read back.

https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.3.55.9.4; arrays as ``array_send`` writes them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from gitrag.late import np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psycopg import Connection

HEADER = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0)
TRAILER = struct.pack(">h", -1)
_NULL = struct.pack(">i", -1)
_TEXT_OID = 25
_TYPES = {"int2": ">i2", "int4": ">i4", "int8": ">i8"}
_OIDS = {">i4": 23, ">i8": 20}


def row(fields: Sequence[bytes | None]) -> bytes:
    """Return a row of fields that are in their types' binary formats; None is NULL."""
    packed = (_NULL if field is None else struct.pack(">i", len(field)) + field for field in fields)
    return struct.pack(">h", len(fields)) + b"".join(packed)


def text(value: str) -> bytes:
    """Return a text; PostgreSQL's cannot contain NUL."""
    return value.replace("\0", " ").encode("utf-8", "replace")


def integer(value: int) -> bytes:
    return struct.pack(">i", value)


def bigint(value: int) -> bytes:
    """Return a bigint, signed; of a hash of 64 bits the same bits."""
    return struct.pack(">q", value if value < 1 << 63 else value - (1 << 64))


def bits(packed: bytes) -> bytes:
    return struct.pack(">i", 8 * len(packed)) + packed


def numbers(values: NDArray[Any], kind: str) -> bytes:
    """Return an array of ``int4`` or ``int8``; uint64 become bigint with the same bits."""
    dtype = _TYPES[kind]
    if not len(values):
        return struct.pack(">iii", 0, 0, _OIDS[dtype])
    rows = np.empty(len(values), dtype=[("length", ">i4"), ("value", dtype)])
    rows["length"] = np.dtype(dtype).itemsize
    rows["value"] = values.astype(np.uint64).view(np.int64) if kind == "int8" else values
    return struct.pack(">iiiii", 1, 0, _OIDS[dtype], len(values), 1) + rows.tobytes()


def texts(values: Iterable[str]) -> bytes:
    encoded = [text(value) for value in values]
    if not encoded:
        return struct.pack(">iii", 0, 0, _TEXT_OID)
    items = b"".join(struct.pack(">i", len(each)) + each for each in encoded)
    return struct.pack(">iiiii", 1, 0, _TEXT_OID, len(encoded), 1) + items


def read_columns(
    db: Connection[Any], select: str, parameters: Sequence[object], columns: Sequence[tuple[str, str]]
) -> dict[str, NDArray[Any]]:
    """Read columns of numbers, or of byte strings of one length, none of them NULL.

    Args:
        columns: Name and type of each: ``int2``, ``int4``, ``int8``, or ``bytesN``.
    """
    fields: list[tuple[str, str]] = [("fields", ">i2")]
    for name, kind in columns:
        fields += [(f"length of {name}", ">i4"), (name, _TYPES.get(kind) or kind.replace("bytes", "V"))]
    with db.cursor() as cursor, cursor.copy(f"COPY ({select}) TO STDOUT (FORMAT BINARY)", parameters) as copy:
        data = b"".join(copy)
    rows = np.frombuffer(data[len(HEADER) : -len(TRAILER)], dtype=fields)
    found: dict[str, NDArray[Any]] = {}
    for name, kind in columns:
        column = np.ascontiguousarray(rows[name])
        if kind.startswith("bytes"):
            found[name] = column.view(np.uint8).reshape(len(rows), int(kind.removeprefix("bytes")))
        else:
            found[name] = column.astype(column.dtype.newbyteorder("="))
    return found
