"""Commits that are older than those whose messages a search of files reads.

They are in an index file of their own, so that no search of files opens, copies or waits for it. Its tables
are those of any index (`gitrag/store/schema.py`); used are those about commits. A row of ``histories`` says
which of them a commit leads to; ``telling`` is how many there are to be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.store import commits, histories, schema

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_UNLISTED = "older commits not listed"
_WANTED = "wanted commits"
_MOST_WANTED = 8
"""Histories whose older commits are still to be read: those asked last."""

_KEPT = 32
"""Commits whose older ones are known: the newest of branches that one returns to."""


class CommitsRead(Struct, frozen=True):
    """How far the older commits have been read.

    Attributes:
        known: How many are stored of those that a commit leads to.
        listed: How many there are to be read; the same where that is done.
    """

    known: int
    listed: int


def write_reached(db: DuckDBPyConnection, commit: str, ids: Sequence[str], *, is_all: bool) -> None:
    """Store which older commits a commit leads to, as far as they are stored."""
    known = commits.numbers_of(db, ids)
    own = bytes.fromhex(commit)
    db.execute("DELETE FROM histories WHERE id = ?", [own])
    db.execute(
        "INSERT INTO histories VALUES (?, ?, '', '', '', ?, 0, 0, now())",
        [own, histories.runs_of([*known.values()]), len(known) if is_all else len(ids)],
    )
    db.execute(
        "DELETE FROM histories WHERE id NOT IN"
        f" (SELECT id FROM histories ORDER BY made DESC, id LIMIT {_KEPT})"
    )


def known_from(db: DuckDBPyConnection) -> list[str]:
    """Return the commits whose older ones are known, the one that was read last first."""
    rows = db.execute("SELECT id FROM histories ORDER BY made DESC, id").fetchall()
    return [bytes(own).hex() for (own,) in rows]


def progress(db: DuckDBPyConnection, commit: str) -> CommitsRead:
    """Return how far those have been read that a commit leads to."""
    row = db.execute("SELECT telling FROM histories WHERE id = ?", [bytes.fromhex(commit)]).fetchone()
    return CommitsRead(histories.size_of_history(db, commit), int(row[0]) if row else 0)


def note_unlisted(db: DuckDBPyConnection, commit: str) -> None:
    """Store the commit whose older commits git could not list; an empty one where it could."""
    schema.put(db, _UNLISTED, commit)


def unlisted(db: DuckDBPyConnection) -> str:
    """Return the commit whose older commits git could not list when this was last tried; else empty."""
    return schema.get(db, _UNLISTED)


def wanted(db: DuckDBPyConnection) -> list[str]:
    """Return the histories whose older commits are to be read though they are of no worktree's HEAD."""
    return schema.get(db, _WANTED).split()


def set_wanted(db: DuckDBPyConnection, ids: Sequence[str]) -> None:
    """Store the commits whose older ones are to be read; of more than eight the last ones."""
    schema.put(db, _WANTED, " ".join(ids[-_MOST_WANTED:]))
