"""What a hub holds, which branch is searched, and dropping branches and what none has any more."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from msgspec import Struct

from gitrag.errors import BusyError, NotSetUpError, UsageError
from gitrag.hub.connection import IS_SEARCHED, NO_BRANCH
from gitrag.hub.hub import OWN_TURN, SHARED_TURN, Hub
from gitrag.hub.rights import revoke
from gitrag.hub.sending import refused
from gitrag.hub.source import HubView

_OF_CONTENTS: Final = ("chunks", "cuts", "vectors", "postings", "reexports", "contents")

_PATIENCE_MS: Final = 30_000
"""How long gc and `place` wait for pushes: meanwhile, others wait for them."""


class HubBranch(Struct, frozen=True):
    """A branch in the hub.

    Attributes:
        repository: Its repository.
        branch: Its name.
        searched: Whether a search asks it.
        commit: The commit that was pushed.
        files: How many files a question can find.
        chunks: How many chunks they have.
        pushed_at: When, by the server's clock.
        pushed_by: By which role.
        server: On which server of the hub it is.
    """

    repository: str
    branch: str
    searched: bool
    commit: str | None
    files: int
    chunks: int
    pushed_at: datetime | None
    pushed_by: str | None
    server: str


class Placed(Struct, frozen=True):
    """A repository, and the server that it is on."""

    repository: str
    server: str


class HubStatus(Struct, frozen=True):
    """What this role sees of a hub.

    Attributes:
        address: Where it is.
        server: PostgreSQL's version.
        hnsw: Whether there is an HNSW index over the sign bits.
        recipe: What its contents were made with.
        branches: The branches that this role may search.
        size_bytes: Of all tables of the front, whoever may read them; None where the role does not run it.
        absent: The repositories that this role may search, of which the server does not answer.
    """

    address: str
    server: str
    hnsw: bool
    recipe: str
    branches: tuple[HubBranch, ...]
    size_bytes: int | None
    absent: tuple[Placed, ...]


class Dropped(Struct, frozen=True):
    """What gc found: contents that no branch has, paths likewise, and rows of pushes that never ended."""

    contents: int
    paths: int
    unfinished: int

    def __bool__(self) -> bool:
        return bool(self.contents or self.paths or self.unfinished)


def searchable(hub: Hub) -> tuple[list[HubView], list[Placed]]:
    """List the branch of each repository that a search asks, by the repository's name, and what is away."""
    rows = hub.db.execute(
        "SELECT server, view_id, repository_id, name, branch, commit_id, left_out, files"
        " FROM gitrag.branches() WHERE searched ORDER BY name"
    ).fetchall()
    return (
        [HubView(*row) for _server, *row in rows if row[0] is not None],
        [Placed(row[2], server) for server, *row in rows if row[0] is None],
    )


def status(hub: Hub, *, is_owner: bool) -> HubStatus:
    """Read what this role sees of a hub."""
    rows = hub.db.execute(
        "SELECT view_id IS NOT NULL, name, branch, searched, commit_id, files, chunks, pushed_at, pushed_by,"
        " server FROM gitrag.branches() ORDER BY name, branch"
    ).fetchall()
    size = None
    if is_owner:
        found = hub.db.execute(
            "SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c JOIN pg_namespace n"
            " ON n.oid = c.relnamespace WHERE n.nspname = 'gitrag' AND c.relkind = 'r'"
        ).fetchone()
        size = found[0] if found else None
    recipe = hub.db.execute("SELECT value FROM gitrag.meta WHERE key = 'recipe'").fetchone()
    return HubStatus(
        address=hub.place,
        server=hub.db.info.parameter_status("server_version") or "",
        hnsw=hub.has_hnsw,
        recipe=str(recipe[0]) if recipe else "",
        branches=tuple(HubBranch(*row) for there, *row in rows if there),
        size_bytes=size,
        absent=tuple(Placed(row[0], row[-1]) for there, *row in rows if not there),
    )


def tidy(hub: Hub, *, really: bool) -> Dropped:
    """Drop the contents and paths that no branch has; pushes wait meanwhile."""
    db = hub.db
    with db.transaction(force_rollback=not really):
        wait_for_pushes(hub)
        unheld = "NOT EXISTS (SELECT FROM gitrag.entries e WHERE e.content_id = t.content_id)"
        dropped = [
            db.execute(f"DELETE FROM gitrag.{table} t WHERE {unheld}").rowcount for table in _OF_CONTENTS
        ]
        gone = (
            "NOT EXISTS (SELECT FROM gitrag.entries e WHERE e.repository_id = t.repository_id"
            " AND e.path_id = t.path_id)"
        )
        paths = db.execute(f"DELETE FROM gitrag.paths t WHERE {gone}").rowcount
        db.execute(f"DELETE FROM gitrag.path_words t WHERE {gone}")
        unfinished = sum(
            db.execute(f"DELETE FROM gitrag.{table}").rowcount
            for table in ("sent_chunks", "sent_contents", "sent_entries", "sent_words")
        )
    return Dropped(dropped[-1], paths, unfinished)


def wait_for_pushes(hub: Hub) -> None:
    """Wait until no push is in the midst, and let none begin until the transaction ends."""
    import psycopg

    try:
        with hub.db.transaction():
            hub.db.execute(f"SET LOCAL lock_timeout = {_PATIENCE_MS}")
            hub.db.execute(OWN_TURN)
            hub.db.execute("SET LOCAL lock_timeout = 0")
    except psycopg.errors.LockNotAvailable as error:
        pushing = hub.db.execute(
            "SELECT DISTINCT a.usename || ' (process ' || a.pid || ')' FROM pg_locks l"
            " JOIN pg_stat_activity a USING (pid)"
            " WHERE l.relation = 'gitrag.turns'::regclass AND l.granted"
            " AND a.datname = current_database() ORDER BY 1"
        ).fetchall()
        raise BusyError(
            f"A push to {hub.place} does not end: {', '.join(who for (who,) in pushing) or 'it has now'}.",
            "Try again, or end it: SELECT pg_terminate_backend(PROCESS)",
        ) from error


class Searched(Struct, frozen=True):
    """The branch of a repository that is searched from now on."""

    repository: str
    branch: str


class Discarded(Struct, frozen=True):
    """What was dropped: a branch, or all of a repository where it is None."""

    repository: str
    branch: str | None


def choose(hub: Hub, repository: str, branch: str) -> Searched:
    """Make a branch the one that is searched.

    Raises:
        NotSetUpError: There is no such repository, or this role may not push to it.
    """
    _call(hub, "choose", repository, branch)
    return Searched(repository, branch)


def discard(hub: Hub, repository: str, branch: str) -> Discarded:
    """Drop a branch; the one that is searched only where it is the last one."""
    _call(hub, "discard", repository, branch)
    return Discarded(repository, branch)


def discard_repository(hub: Hub, repository: str) -> Discarded:
    """Drop a repository with all branches and rights on it; only the role that made the hub may."""
    db = hub.db
    with db.transaction():
        db.execute(SHARED_TURN)
        row = db.execute(
            "SELECT repository_id FROM gitrag.repositories WHERE name = %s FOR UPDATE", [repository]
        ).fetchone()
        if row is None:
            raise NotSetUpError(
                f'The hub at {hub.place} has no repository "{repository}".', "gitrag hub status"
            )
        # A push that has begun ends first, and none begins meanwhile.
        db.execute("SELECT 1 FROM gitrag.views WHERE repository_id = %s FOR UPDATE", row)
        roles = db.execute(
            "SELECT o.rolname FROM gitrag.grants g JOIN pg_roles o ON o.oid = g.role"
            " WHERE g.repository_id = %s",
            row,
        ).fetchall()
        for (role,) in roles:
            revoke(hub, role, repository)
        for table in ("entries", "path_words", "paths", "repositories"):
            db.execute(f"DELETE FROM gitrag.{table} WHERE repository_id = %s".encode(), row)
    return Discarded(repository, None)


def _call(hub: Hub, function: str, repository: str, branch: str) -> None:
    import psycopg

    try:
        with refused(hub, repository):
            hub.db.execute(f"SELECT gitrag.{function}(%s, %s)".encode(), [repository, branch])
    except psycopg.Error as error:
        if error.sqlstate == NO_BRANCH:
            raise UsageError(
                f'{repository} has no branch "{branch}" in the hub.', "gitrag hub status"
            ) from error
        if error.sqlstate == IS_SEARCHED:
            raise UsageError(
                f'"{branch}" is the branch of {repository} that is searched.',
                f"Choose another first: gitrag hub branch {repository} NAME",
            ) from error
        raise
