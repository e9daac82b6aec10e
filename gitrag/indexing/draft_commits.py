"""Draft what commits say: the vectors of their subjects, of which the signs are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gitrag.late import np
from gitrag.store import commit_drafts
from gitrag.store.connection import Store
from gitrag.words import commit_message

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.store.connection import Connection

FEW_UNDRAFTED = 2_000
"""So many are drafted before a question is answered: some tenths of a second."""

_BATCH = 1_000
_EMBEDDED_CHARACTERS = 300


def draft_added(db: Connection, model: str, added: Sequence[tuple[int, str]]) -> None:
    """Make the drafts of commits, by number and message, in the transaction that adds them."""
    from gitrag.embedding.draft import has_table

    if added and has_table(model):
        commit_drafts.write(db, *_drafted(model, added))


def draft(store: Store, *, most: int | None = None, stop: Callable[[], bool] = lambda: False) -> bool:
    """Make the drafts of commits that have none.

    Args:
        most: Leave it if more have none; None for any number.

    Returns:
        Whether all have one.

    Raises:
        StoreError: The index cannot be written.
        BusyError: Other processes held it for too long.
    """
    from gitrag.embedding.draft import has_table

    if not has_table(store.model) or not store.exists():
        return True
    while True:
        with store.read() as db:
            if most is not None and commit_drafts.count_undrafted(db) > most:
                return False
            rows = commit_drafts.undrafted(db, _BATCH)
        if not rows:
            return True
        drafted = _drafted(store.model, rows)
        with store.write("keeping drafts of what commits say", make=False) as db:
            commit_drafts.write(db, *drafted)
        if stop():
            return False


def _drafted(model: str, commits: Sequence[tuple[int, str]]) -> tuple[list[int], NDArray[np.float32]]:
    """Return the numbers of commits and their drafts, float32 (n, 384)."""
    from gitrag.embedding.draft import drafter

    texts = [text_of(message) for _, message in commits]
    return [number for number, _ in commits], drafter(model).draft(texts)


def text_of(message: str) -> str:
    """Return what is embedded of a message: its subject, without numbers of issues."""
    return commit_message.without_numbers(commit_message.read(message).subject)[:_EMBEDDED_CHARACTERS]
