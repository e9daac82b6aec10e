"""What tells one content of an index file from the next, without DuckDB."""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path

NAME = "index.duckdb"
"""The file in the store's directory."""

_HEADER_BYTES = 3 * 4096
"""DuckDB's main header and its two database headers, of which each checkpoint rewrites one with a count."""

FileState = tuple[int, int, bytes, int]
"""Inode, device, headers, bytes in the log."""


def state_of(path: Path, largest: float = math.inf) -> FileState | None:
    """Look at an index file; None when there is none, or when it has more bytes than that."""
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
