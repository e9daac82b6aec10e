"""Identify the content of an index file without DuckDB."""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path

NAME = "index.duckdb"
"""The file in the store's directory."""

_HEADER_BYTES = 3 * 4096
"""DuckDB's main header and its two database headers; each checkpoint rewrites one with a counter."""

FileState = tuple[int, int, bytes, int]
"""Inode, device, headers, size of the write-ahead log in bytes."""


def state_of(path: Path, largest: float = math.inf) -> FileState | None:
    """Return an index file's state; None when there is no file, or it is larger than the given limit."""
    log = 0
    with suppress(OSError):
        log = path.with_name(path.name + ".wal").stat().st_size
    try:
        with path.open("rb") as file:
            headers = file.read(_HEADER_BYTES)
        status = path.stat()
    except OSError:
        return None
    return (status.st_ino, status.st_dev, headers, log) if status.st_size <= largest else None
