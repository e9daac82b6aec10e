"""A cache of results computed from one state of the index."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

_MOST = 32
"""Maximum number of entries; an agent asks about the same files with a few filters: some ten a question."""


class Memo:
    """Caches results for as long as the state that they were computed from.

    Args:
        lasting: Whether further questions of the same state will come; else nothing is kept.
    """

    def __init__(self, *, lasting: bool = False) -> None:
        self.lasting = lasting
        self._kept: dict[Hashable, Any] = {}
        self._pinned: dict[Hashable, Any] = {}

    def pin(self, key: Hashable, value: Any) -> None:
        """Keep a value that could not be computed again."""
        self._pinned[key] = value

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key, computing it if needed; the least recently used entry is dropped."""
        if key in self._pinned:
            pinned: T = self._pinned[key]
            return pinned
        found: T = self._kept.pop(key) if key in self._kept else make()
        if self.lasting:
            self._kept[key] = found
            if len(self._kept) > _MOST:
                del self._kept[next(iter(self._kept))]
        return found
