"""Refresh a view and read it in the state the refresh left, even if other processes move it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from gitrag.errors import BusyError
from gitrag.indexing.known import Refreshed, known
from gitrag.indexing.refresh import refresh
from gitrag.indexing.snapshot import Snapshot
from gitrag.store.connection import Store, StoreMissingError

if TYPE_CHECKING:
    from gitrag.store.connection import Connection

T = TypeVar("T")

ATTEMPTS = 5
"""One is enough unless other processes move the view between refresh and read."""


def read_view(
    store: Store,
    look: Callable[[], Snapshot],
    read: Callable[[Connection, Snapshot, Refreshed], T],
    *,
    budget_s: float | None = None,
) -> T:
    """Refresh a view and read it in a transaction that verifies it is still current.

    Args:
        store: The repository's store.
        look: Takes a git snapshot; called again where another process has moved the view, perhaps to a
            later commit.
        read: Reads the view; called once.
        budget_s: Seconds after which remaining contents are left for later; None for no limit.

    Raises:
        BusyError: Other processes moved the view again and again.
    """
    for _ in range(ATTEMPTS):
        now = look()
        refresh(store, now, budget_s=budget_s)
        with suppress(StoreMissingError), store.read() as db:
            refreshed = known(db, now)
            if refreshed is not None:
                return read(db, now, refreshed)
    raise BusyError("Other processes changed the index again and again meanwhile.", "Try again.")
