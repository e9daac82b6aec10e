"""Several servers that are one hub: each has whole repositories, and the first one asks the others at once.

The first, the front, has all names and grants, and foreign tables (postgres_fdw) of what the others have. Who
pushes is told where a repository is, and sends it there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import astuple

from gitrag.errors import NetworkError, NotSetUpError, UsageError
from gitrag.hub import rights, upkeep
from gitrag.hub.connection import connect, place_of, told
from gitrag.hub.hub import MOST_SERVERS, Hub, initialise, opened
from gitrag.hub.upkeep import Dropped, Placed

if TYPE_CHECKING:
    from psycopg import sql

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_LONGEST: Final = 300

_KEPT: Final = ("host", "hostaddr", "port", "dbname", "sslmode", "sslrootcert")
"""Parts of an address that the front needs to connect to a server."""

_OPTIONS: Final = {
    "async_capable": "true",  # asked at once with the others
    "fetch_size": "10000",  # rows a round trip
    "fdw_tuple_cost": "1",  # a row that is sent costs more than one that is sorted there
    "connect_timeout": "5",  # seconds until it counts as away
}

_VIEWS: Final = (
    *("branches", "histories", "view_words", "path_words", "entries", "paths", "contents", "files"),
    *("chunks", "cuts", "vectors", "postings", "reexports"),
)
"""What the front reads of another server (`schema.sql`)."""


class Server(Struct, frozen=True):
    """A server of a hub.

    Attributes:
        name: Its name.
        address: Host, port and database.
    """

    name: str
    address: str


def add_server(hub: Hub, name: str, address: str) -> Server:
    """Make the tables on another server, and let the front read them.

    The password with which libpq connects from here is kept in the front's user mapping.

    Args:
        hub: The front, opened by the role that made it.
        address: A database without a hub there, with the role that shall own the tables.
    """
    import psycopg
    from psycopg import conninfo

    rights.require_owner(hub, "decides about its servers")
    if not _NAME.fullmatch(name):
        raise UsageError(f'"{name[:63]}" cannot be the name of a server.', "Letters, digits and . _ - only.")
    db = hub.db
    with db.transaction():  # without a lock of ours: the other database may be this one
        taken = dict(db.execute("SELECT name, server FROM gitrag.servers").fetchall())
        number = 1 + max(taken.values())
        if name in taken:
            raise UsageError(f'The hub at {hub.place} has a server "{name}" already.', "gitrag hub status")
        if min(taken.values()) > 0:
            raise UsageError(f"{hub.place} is itself a server of another hub.", "Add servers to its front.")
        if number > MOST_SERVERS:
            raise UsageError(f"A hub has {MOST_SERVERS} servers beside the front at most.")
        _require_fdw(hub)
        settings = dict(db.execute("SELECT key, value FROM gitrag.meta").fetchall())
        initialise(
            address, hub.recipe, partitions=int(settings["partitions"]), hnsw=hub.has_hnsw, server=number
        )
        with connect(address) as other, told(address):
            _require_empty(hub, Hub(other, address, hub.has_hnsw, hub.recipe), number)
            info = other.info
            parts = {key: str(value) for key, value in conninfo.conninfo_to_dict(address).items()}
            parts |= {"host": info.host, "port": str(info.port), "dbname": info.dbname}
            role, password = info.user, info.password
        kept = {key: parts[key] for key in _KEPT if parts.get(key)}
        try:
            for statement in _statements(number, kept, role, password):
                db.execute(statement)
            db.execute(f"SELECT count(*) FROM {_schema(number)}.view_branches".encode())
        except psycopg.Error as error:
            said = " ".join(str(error).split())[:_LONGEST]
            raise NetworkError(
                f"The front, {hub.place}, cannot read {place_of(address)}: {said}",
                "It needs a way there, and, where its own role is no superuser, one with a password.",
            ) from error
        db.execute(
            "INSERT INTO gitrag.servers VALUES (%s, %s, %s, %s, %s, %s)",
            [number, name, _schema(number), parts["host"], parts["port"], parts["dbname"]],
        )
    return Server(name, f"{parts['host']}:{parts['port']}/{parts['dbname']}")


def _statements(number: int, parts: dict[str, str], role: str, password: str) -> Iterator[sql.Composed]:
    """Make what reads another server: it in the catalogue, whom to be there, and its views as tables."""
    from psycopg import sql

    schema = sql.Identifier(_schema(number))

    def options(given: dict[str, str]) -> sql.Composable:
        written = (sql.SQL("{} {}").format(sql.Identifier(key), sql.Literal(given[key])) for key in given)
        return sql.SQL(", ").join(written)

    yield sql.SQL("CREATE SERVER {} FOREIGN DATA WRAPPER postgres_fdw OPTIONS ({})").format(
        schema, options(parts | _OPTIONS)
    )
    who = {"user": role} | ({"password": password} if password else {})
    yield sql.SQL("CREATE USER MAPPING FOR CURRENT_USER SERVER {} OPTIONS ({})").format(schema, options(who))
    yield sql.SQL("CREATE SCHEMA {}").format(schema)
    yield sql.SQL("IMPORT FOREIGN SCHEMA gitrag LIMIT TO ({}) FROM SERVER {} INTO {}").format(
        sql.SQL(", ").join(sql.Identifier(f"view_{name}") for name in _VIEWS), schema, schema
    )
    # Of which only the nearest are wanted: how many there are decides where they are sorted.
    yield sql.SQL("ALTER FOREIGN TABLE {}.view_cuts OPTIONS (ADD use_remote_estimate 'true')").format(schema)


def _schema(number: int) -> str:
    return f"gitrag_{number}"


def _require_fdw(hub: Hub) -> None:
    """Make postgres_fdw available to the role that owns the hub."""
    row = hub.db.execute(
        "SELECT (SELECT true FROM pg_available_extensions WHERE name = 'postgres_fdw'),"
        " (SELECT has_foreign_data_wrapper_privilege(w.oid, 'USAGE') FROM pg_foreign_data_wrapper w"
        " WHERE w.fdwname = 'postgres_fdw'), (SELECT r.rolsuper FROM pg_roles r"
        " WHERE r.rolname = current_user), current_user"
    ).fetchone()
    available, usable, is_superuser, role = row or (None, None, False, "")
    if not available:
        raise NotSetUpError(
            f"The server of {hub.place} has no postgres_fdw.", "Install PostgreSQL's contrib modules there."
        )
    if usable is None and is_superuser:
        hub.db.execute("CREATE EXTENSION postgres_fdw")
    elif not usable:
        raise NotSetUpError(
            f"The role {role} may not use postgres_fdw in {hub.place}.",
            "As a superuser there: CREATE EXTENSION IF NOT EXISTS postgres_fdw;"
            f' GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO "{role}"',
        )


def _require_empty(hub: Hub, other: Hub, number: int) -> None:
    """Refuse a database that has a hub of its own: its ids are those of another server."""
    row = other.db.execute(
        "SELECT (SELECT count(*) FROM gitrag.servers WHERE server <> %s) + (SELECT count(*) FROM"
        " gitrag.repositories), pg_has_role(current_user, relowner, 'USAGE') FROM pg_class"
        " WHERE oid = 'gitrag.meta'::regclass",
        [number],
    ).fetchone()
    if row is None or row[0]:
        raise NotSetUpError(
            f"There is a hub at {other.place} already: a server that is added to {hub.place} starts empty.",
            "Use another database there, and push the repositories again.",
        )
    if not row[1]:
        raise NotSetUpError(f"This role does not own the tables at {other.place}.", "Use the one that does.")


def place(hub: Hub, repository: str, server: str) -> Placed:
    """Choose the server on which a new repository will be.

    Raises:
        NetworkError: The server cannot be reached.
        BusyError: A push does not end.
    """
    rights.require_owner(hub, "decides about its servers")
    db = hub.db
    with db.transaction():
        upkeep.wait_for_pushes(hub)
        row = db.execute(
            "SELECT s.name FROM gitrag.repositories r JOIN gitrag.servers s"
            " ON s.server = gitrag.server_of(r.repository_id) WHERE r.name = %s",
            [repository],
        ).fetchone()
        if row is not None and row[0] != server:
            raise UsageError(
                f"{repository} is on the server {row[0]}.",
                f"Drop it first, then place it and push it again: gitrag hub drop {repository}",
            )
        found = db.execute(
            "SELECT schema, host, port, database FROM gitrag.servers WHERE name = %s", [server]
        ).fetchone()
        if found is None:
            names = [name for (name,) in db.execute("SELECT name FROM gitrag.servers ORDER BY server")]
            raise UsageError(f'The hub has no server "{server}".', f"There are: {', '.join(names)}")
        if row is None and not found[0]:
            rights.add_repository(hub, repository)
        elif row is None:
            with opened(_address(hub, *found[1:]), hub.recipe) as other:
                rights.add_repository(other, repository)
                own = other.db.execute(
                    "SELECT repository_id FROM gitrag.repositories WHERE name = %s", [repository]
                ).fetchone()
            db.execute(
                "INSERT INTO gitrag.repositories (repository_id, name) VALUES (%s, %s)",
                [*(own or ()), repository],
            )
    return Placed(repository, server)


@contextmanager
def holding(hub: Hub, repository: str) -> Iterator[Hub]:
    """Open the server that has a repository, as the role that opened the hub; or the hub itself."""
    found = hub.db.execute("SELECT host, port, database FROM gitrag.place_of(%s)", [repository]).fetchone()
    if found is None:
        yield hub
    else:
        with opened(_address(hub, *found), hub.recipe) as other:
            yield other


def grant(hub: Hub, role: str, repository: str, *, pushes: bool) -> None:
    """Let a role read a repository, and push to it if it ``pushes``: what it pushes to has to know it."""
    with holding(hub, repository) as there:
        if there is not hub and pushes:
            rights.grant(there, role, repository, pushes=True)
        elif there is not hub:
            rights.revoke(there, role, repository)
    rights.grant(hub, role, repository, pushes=pushes)


def revoke(hub: Hub, role: str, repository: str) -> bool:
    """Take a role's rights on a repository away, wherever it has any; return whether it had."""
    had = rights.revoke(hub, role, repository)
    with holding(hub, repository) as there:
        return (there is not hub and rights.revoke(there, role, repository)) or had


def discard_repository(hub: Hub, repository: str) -> upkeep.Discarded:
    """Drop a repository with all branches and rights on it; only the role that made the hub may."""
    with holding(hub, repository) as there:
        if there is not hub:
            upkeep.discard_repository(there, repository)
    return upkeep.discard_repository(hub, repository)


def tidy(hub: Hub, *, really: bool) -> Dropped:
    """Drop what no branch has, on all servers (``upkeep.tidy``), the front first."""
    found = [upkeep.tidy(hub, really=really)]
    for _name, address in others(hub):
        with opened(address, hub.recipe) as other:
            found.append(upkeep.tidy(other, really=really))
    return Dropped(*map(sum, zip(*map(astuple, found), strict=True)))


def others(hub: Hub) -> Iterator[tuple[str, str]]:
    """List the servers beside the front: name, and address for the role that opened the hub."""
    for name, *where in hub.db.execute(
        "SELECT name, host, port, database FROM gitrag.servers WHERE schema <> '' ORDER BY server"
    ).fetchall():
        yield name, _address(hub, *where)


def _address(hub: Hub, host: str, port: str, database: str) -> str:
    """Return an address as the hub's, on another server: the role, TLS and all else stay."""
    from psycopg import conninfo

    parts = {
        key: str(value)
        for key, value in conninfo.conninfo_to_dict(hub.address).items()
        if key not in ("host", "hostaddr", "port", "dbname")
    }
    return conninfo.make_conninfo(**parts, host=host, port=port, dbname=database)
