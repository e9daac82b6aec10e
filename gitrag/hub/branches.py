"""Choosing the branch that is searched, and dropping branches and repositories; contents are left to gc."""

from __future__ import annotations

from msgspec import Struct

from gitrag.errors import NotSetUpError, UsageError
from gitrag.hub.connection import IS_SEARCHED, NO_BRANCH
from gitrag.hub.hub import SHARED_TURN, Hub
from gitrag.hub.rights import revoke
from gitrag.hub.sending import refused


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
        UsageError: It has no such branch.
    """
    _call(hub, "choose", repository, branch)
    return Searched(repository, branch)


def discard(hub: Hub, repository: str, branch: str) -> Discarded:
    """Drop a branch; the one that is searched only where it is the last one.

    Raises:
        NotSetUpError: There is no such repository, or this role may not push to it.
        UsageError: It has no such branch, or searches it.
    """
    _call(hub, "discard", repository, branch)
    return Discarded(repository, branch)


def discard_repository(hub: Hub, repository: str) -> Discarded:
    """Drop a repository with all branches and rights on it; only the role that made the hub may.

    Raises:
        NotSetUpError: There is no such repository.
    """
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
