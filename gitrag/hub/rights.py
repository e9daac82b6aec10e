"""Who may read and push which repositories; only the role that made the hub decides that."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from gitrag.errors import NotSetUpError
from gitrag.hub.hub import Hub
from gitrag.hub.sending import CHUNK_COLUMNS, ENTRY_COLUMNS, WORD_COLUMNS

_STAGING: Final = (
    ("sent_chunks", CHUNK_COLUMNS),
    ("sent_entries", ENTRY_COLUMNS),
    ("sent_words", WORD_COLUMNS),
)
"""The columns that who pushes may fill; not ``sender``, so that nobody sends in another's name."""


class Grant(Struct, frozen=True):
    """What a role may do with a repository."""

    role: str
    repository: str
    pushes: bool


def add_repository(hub: Hub, repository: str) -> bool:
    """Add a repository; return whether it is new."""
    row = hub.db.execute(
        "INSERT INTO gitrag.repositories (name) VALUES (%s) ON CONFLICT DO NOTHING RETURNING 1", [repository]
    ).fetchone()
    return row is not None


def owns(hub: Hub) -> bool:
    """Tell whether this role may decide about rights."""
    row = hub.db.execute(
        "SELECT pg_has_role(current_user, relowner, 'USAGE') FROM pg_class"
        " WHERE oid = 'gitrag.meta'::regclass"
    ).fetchone()
    return bool(row and row[0])


def require_owner(hub: Hub, does: str) -> None:
    """Refuse what only the role that made the hub does, such as ``may tidy it up``."""
    if not owns(hub):
        raise NotSetUpError(f"Only the role that made the hub {does}.", "Ask who runs it.")


def grant(hub: Hub, role: str, repository: str, *, pushes: bool) -> None:
    """Let a role read a repository, and push to it if it ``pushes``; the repository is added if it is new."""
    with hub.db.transaction():
        _require_role(hub, role)
        add_repository(hub, repository)
        hub.db.execute(
            "DELETE FROM gitrag.grants g WHERE NOT EXISTS (SELECT FROM pg_roles o WHERE o.oid = g.role)"
        )
        hub.db.execute(
            "INSERT INTO gitrag.grants (role, repository_id, pushes) SELECT o.oid, r.repository_id, %s"
            " FROM pg_roles o, gitrag.repositories r WHERE o.rolname = %s AND r.name = %s"
            " ON CONFLICT (role, repository_id) DO UPDATE SET pushes = EXCLUDED.pushes",
            [pushes, role, repository],
        )
        _let_send(hub, role)


def revoke(hub: Hub, role: str, repository: str) -> bool:
    """Take a role's rights on a repository away; return whether it had any."""
    with hub.db.transaction():
        row = hub.db.execute(
            "DELETE FROM gitrag.grants WHERE role = (SELECT oid FROM pg_roles WHERE rolname = %s)"
            " AND repository_id = (SELECT repository_id FROM gitrag.repositories WHERE name = %s)"
            " RETURNING 1",
            [role, repository],
        ).fetchone()
        if row is not None:
            _let_send(hub, role)
    return row is not None


def _let_send(hub: Hub, role: str) -> None:
    """Let a role write to the tables that pushes go through if it may push anywhere, and else not."""
    from psycopg import sql

    row = hub.db.execute(
        "SELECT 1 FROM gitrag.grants WHERE pushes AND role = (SELECT oid FROM pg_roles WHERE rolname = %s)",
        [role],
    ).fetchone()
    who = sql.Identifier(role)
    verb, whom = (sql.SQL("REVOKE"), sql.SQL("FROM")) if row is None else (sql.SQL("GRANT"), sql.SQL("TO"))
    for table, columns in _STAGING:
        named = sql.SQL(", ").join(map(sql.Identifier, columns.split(", ")))
        hub.db.execute(
            sql.SQL("{} INSERT ({}) ON gitrag.{} {} {}").format(verb, named, sql.Identifier(table), whom, who)
        )


def listed(hub: Hub) -> list[Grant]:
    """List the grants that this role may see: its own, or all if it made the hub."""
    rows = hub.db.execute("SELECT role, repository, pushes FROM gitrag.granted()").fetchall()
    return [Grant(*row) for row in rows]


def _require_role(hub: Hub, role: str) -> None:
    if not hub.db.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone():
        raise NotSetUpError(
            f'The server of {hub.place} has no role "{role}".', f"Make it there: CREATE ROLE {role} LOGIN"
        )
