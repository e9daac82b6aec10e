"""Reading a view as git says it is: brought up to date, and read as that left it, whoever else moves it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from gitrag.errors import BusyError
from gitrag.indexing.refresh import Refreshed, known, refresh
from gitrag.indexing.snapshot import Snapshot
from gitrag.store.connection import Store, StoreMissingError

if TYPE_CHECKING:
    from gitrag.store.connection import Connection

T = TypeVar("T")

ATTEMPTS = 5
"""One is enough unless others move the view between the refresh and the reading."""


def read_view(
    store: Store,
    look: Callable[[], Snapshot],
    read: Callable[[Connection, Snapshot, Refreshed], T],
    *,
    budget_s: float | None = None,
) -> T:
    """Bring a view up to date and read it in one transaction that finds it so.

    Args:
        store: The repository's store.
        look: Asks git; again where another process, which may have seen a later commit, has moved the view.
        read: Reads the view; called once.
        budget_s: Seconds after which contents are left for later; None for no limit.

    Raises:
        BusyError: Others moved the view again and again.
    """
    for _ in range(ATTEMPTS):
        now = look()
        refresh(store, now, budget_s=budget_s)
        with suppress(StoreMissingError), store.read() as db:
            refreshed = known(db, now)
            if refreshed is not None:
                return read(db, now, refreshed)
    raise BusyError("Other processes changed the index again and again meanwhile.", "Try again.")
