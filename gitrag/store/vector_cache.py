"""Single vectors of a large index, read by number from a file beside it.

DuckDB reads and checks whole blocks: for the 8,000 vectors that a question compares, of 1.3 million, nearly
all 500 MB. This file has each vector at the place of its text's id. It is a cache without any bookkeeping:
what it says counts only where the sign bits are those that the index has for the text; else it is read
from the index, and written here. So it needs no lock, and a lost, torn or stale one costs time, not answers.
It is mapped, from one question to the next where it stays the same file: to map it anew and to meet its pages
again takes three times as long as reading. Who cut it short while it is read, as nothing here does, would end
the process.
"""

from __future__ import annotations

import mmap
import os
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING

from gitrag.late import np
from gitrag.machine.files import NO_LINK, NO_WAIT, OURS, private_mode
from gitrag.model import DIMENSIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray


class VectorCache:
    """A file of vectors.

    Args:
        path: The file; it is made when something is first written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mapped: tuple[tuple[int, int], NDArray[np.int8]] | None = None

    def read(self, text_ids: NDArray[np.int32]) -> NDArray[np.int8]:
        """Return what the file has for texts, ids ascending, int8 (n, 384): zeros where it ends before."""
        rows = self._rows()
        inside = int(np.searchsorted(text_ids, len(rows)))
        if inside == len(text_ids):
            return rows[text_ids]
        found = np.zeros((len(text_ids), DIMENSIONS), dtype=np.int8)
        found[:inside] = rows[text_ids[:inside]]
        return found

    def _rows(self) -> NDArray[np.int8]:
        """Map the file, int8 (n, 384), unless it is mapped as it is; what no question holds is unmapped."""
        kept, self._mapped = self._mapped, None
        with suppress(OSError, ValueError), self._open(os.O_RDONLY, "rb") as file:  # not there, or empty
            status = os.fstat(file.fileno())
            same = status.st_ino, status.st_size
            if kept is None or kept[0] != same:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                rows = np.frombuffer(mapped, np.int8, len(mapped) // DIMENSIONS * DIMENSIONS)
                kept = same, rows.reshape(-1, DIMENSIONS)
            if os.name != "nt":  # where what is mapped cannot be deleted
                self._mapped = kept
            return kept[1]
        return np.empty((0, DIMENSIONS), dtype=np.int8)

    def write(self, text_ids: NDArray[np.int32], small: NDArray[np.int8], *, extend: bool = False) -> bool:
        """Write vectors, int8 (n, 384), of texts, ids ascending; return False where it cannot be written.

        Args:
            extend: Whether the file may grow; it does only by all texts in order, so that its size says which
                are still to come.
        """
        try:
            with self._open(os.O_RDWR | os.O_CREAT, "r+b") as file:
                inside = len(text_ids) if extend else int((text_ids < self.end()).sum())
                for first, last in _runs(text_ids[:inside]):
                    file.seek(int(text_ids[first]) * DIMENSIONS)
                    file.write(small[first:last].tobytes())
        except OSError:
            return False
        return True

    def _open(self, flags: int, mode: str) -> IO[bytes]:
        """Open the file, neither what a link leads to nor a pipe: it may have come with an archive."""
        descriptor = os.open(self._path, flags | NO_LINK | NO_WAIT | OURS, private_mode(self._path.parent))
        return os.fdopen(descriptor, mode, buffering=0)

    def end(self) -> int:
        """Return the first text id that the file does not reach."""
        try:
            return self._path.stat().st_size // DIMENSIONS
        except OSError:
            return 0


def _runs(text_ids: NDArray[np.int32]) -> list[tuple[int, int]]:
    """Return where runs of consecutive ids begin and end."""
    ends = np.flatnonzero(np.diff(text_ids) != 1) + 1
    edges = [0, *ends.tolist(), len(text_ids)] if len(text_ids) else []
    return list(pairwise(edges))
