"""Progress that nobody sees."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Unseen:
    """Is told how far a task is, and shows nothing."""

    def update(self, done: int, total: int | None = None) -> None:
        pass

    def status(self, text: str) -> None:
        pass


@contextmanager
def no_progress(label: str, total: int | None) -> Iterator[Unseen]:
    """Show nothing of a task."""
    yield Unseen()
