"""How deep the evaluation may go for one thing's sake. Nothing else bounds it: programs run in circles."""

from __future__ import annotations

_MAX_BODIES = 3
"""Bodies read for one another's sake; what lies deeper is left for the next pass. Where a part of a view is
resolved, each further one costs much: 6 take thrice the time in django."""
_MAX_BODIES_OF_ALL = 6
"""The same where all bodies are read anyway: takes lark's recall from 0.79 to 0.81; 10 adds nothing."""

_MAX_DECORATORS = 4
"""Decorators applied for one another's sake that may read bodies as if nothing else were being read."""


class Nesting:
    """What is being read.

    Attributes:
        bodies: Bodies that are being read, since the last decorator that counts.
        reads_all: Whether all bodies of the view are read.
    """

    def __init__(self) -> None:
        self.bodies = 0
        self.reads_all = False
        self._outer: list[int] = []

    def reset(self) -> None:
        """Forget what was being read: it was left in the middle."""
        self.bodies = 0
        self._outer.clear()

    def is_full(self) -> bool:
        """Tell whether no further body may be read."""
        return self.bodies >= (_MAX_BODIES_OF_ALL if self.reads_all else _MAX_BODIES)

    def enter_decorators(self) -> None:
        """Begin to apply decorators."""
        self._outer.append(self.bodies)
        if len(self._outer) <= _MAX_DECORATORS:
            self.bodies = 0

    def leave_decorators(self) -> None:
        """End what was begun last."""
        self.bodies = self._outer.pop()
