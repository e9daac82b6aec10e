"""What was worked out from one state of the index."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

_MOST = 32
"""Things kept; an agent asks of the same files, filtered in a few ways: some ten things a question."""


class Memo:
    """Keeps what was worked out, for as long as the state that it was worked out from.

    Args:
        lasting: Whether there will be a next question of the same state; else nothing is kept.
    """

    def __init__(self, *, lasting: bool = False) -> None:
        self.lasting = lasting
        self._kept: dict[Hashable, Any] = {}
        self._pinned: dict[Hashable, Any] = {}

    def pin(self, key: Hashable, value: Any) -> None:
        """Keep what could not be made again."""
        self._pinned[key] = value

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Give what is kept under a key, making it if it is not; what was not asked for longest goes."""
        if key in self._pinned:
            pinned: T = self._pinned[key]
            return pinned
        found: T = self._kept.pop(key) if key in self._kept else make()
        if self.lasting:
            self._kept[key] = found
            if len(self._kept) > _MOST:
                del self._kept[next(iter(self._kept))]
        return found
