"""A cache of results computed from one state of the index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from gitrag.store.chunk_cache import ChunkCache
    from gitrag.store.vector_cache import VectorCache

T = TypeVar("T")

_MOST = 32
"""Maximum number of entries; an agent asks about the same files with a few filters: some ten a question."""

_MOST_BYTES = 256 << 20
"""Maximum size of the columns kept: of 1.4 million chunks, the signs of vectors are 70 MB, a scope 25 MB.

What a `Recent` among them holds is not counted: it has a maximum of its own.
"""


class Memo:
    """Caches results for as long as the state that they were computed from.

    Args:
        lasting: Whether further questions of the same state will come; else nothing is kept.
        vectors: Of an index too large to be held in memory: where single vectors are read from.
        chunks: Likewise, where single chunks are.

    Attributes:
        whole: Whether postings, vectors and paths are kept in full.
    """

    def __init__(
        self, *, lasting: bool = False, vectors: VectorCache | None = None, chunks: ChunkCache | None = None
    ) -> None:
        self.lasting = lasting
        self.whole = lasting and vectors is None
        self.vectors = vectors
        self.chunks = chunks
        self._kept: dict[Hashable, Any] = {}
        self._bytes: dict[Hashable, int] = {}
        self._pinned: dict[Hashable, Any] = {}
        self._asked: Counter[Hashable] = Counter()

    def pin(self, key: Hashable, value: Any) -> None:
        """Keep a value that could not be computed again."""
        self._pinned[key] = value

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key, computing it if needed; the least recently used entries are dropped."""
        if key in self._pinned:
            pinned: T = self._pinned[key]
            return pinned
        known = key in self._kept
        found: T = self._kept.pop(key) if known else make()
        if self.lasting:
            self._kept[key] = found
            if not known:
                self._bytes[key] = _bytes_of(found)
                self._drop()
        return found

    def known(self, key: Hashable) -> Any | None:
        """Return the value of a key if it is kept, else None."""
        return self._kept.get(key)

    def forget(self, *names: Hashable) -> None:
        """Drop entries by their keys, or by what these begin with."""
        for key in [
            key for key in self._kept if key in names or (isinstance(key, tuple) and key[0] in names)
        ]:
            del self._kept[key], self._bytes[key]

    def count(self, key: Hashable) -> int:
        """Return how often this was called with a key: what takes long to prepare waits until it pays."""
        self._asked[key] += 1
        return self._asked[key]

    def _drop(self) -> None:
        """Drop entries, the least recently used first, never the last one."""
        while len(self._kept) > 1 and (
            len(self._kept) > _MOST or (not self.whole and sum(self._bytes.values()) > _MOST_BYTES)
        ):
            oldest = next(iter(self._kept))
            del self._kept[oldest], self._bytes[oldest]


class Recent(Generic[T]):
    """Columns by key, the least recently used ones dropped.

    Args:
        most_bytes: Maximum size of all columns.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept: dict[Hashable, T] = {}
        self._bytes = 0

    def get(self, key: Hashable) -> T | None:
        """Return the columns of a key, or None."""
        found = self._kept.pop(key, None)
        if found is not None:
            self._kept[key] = found
        return found

    def put(self, key: Hashable, columns: T) -> None:
        """Keep the columns of a key, in place of those that it had."""
        self._bytes += _bytes_of(columns) - _bytes_of(self._kept.pop(key, None))
        self._kept[key] = columns
        while self._bytes > self._most_bytes:
            oldest = next(iter(self._kept))
            self._bytes -= _bytes_of(self._kept.pop(oldest))


def _bytes_of(value: Any) -> int:
    """Return the size of the columns in a value."""
    if isinstance(value, tuple | list):
        return sum(map(_bytes_of, value)) if len(value) <= _MOST else 0
    if isinstance(value, dict):
        return sum(map(_bytes_of, value.values())) if len(value) <= _MOST else 0
    if names := getattr(value, "__match_args__", ()):  # a record's fields
        return sum(_bytes_of(getattr(value, name)) for name in names)
    return int(getattr(value, "nbytes", 0))
