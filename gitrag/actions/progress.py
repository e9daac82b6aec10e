"""How an action tells how far it is: to a bar on a terminal, or to nobody."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol


class Progress(Protocol):
    """Is told how far a task is."""

    def update(self, done: int, total: int | None = None) -> None:
        """Set the number of items done and, if given, the total."""

    def status(self, text: str) -> None:
        """Set the text that says what is being done now."""


ShowProgress = Callable[[str, int | None], AbstractContextManager[Progress]]
"""Begins to show a task, given its name and the number of items, None if not known; ends with the context."""
