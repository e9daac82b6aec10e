"""Connecting to a hub's server, and what goes wrong there, said in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from gitrag.errors import BusyError, DiskFullError, GitragError, NetworkError, NotSetUpError, StoreError

if TYPE_CHECKING:
    from psycopg import Connection, Error

OLDEST_SERVER: Final = 150_000
_CONNECT_TIMEOUT_S: Final = 10
_STATEMENT_TIMEOUT_MS: Final = 600_000
_LONGEST: Final = 200

NO_REPOSITORY: Final = "GR001"
NO_BRANCH: Final = "GR003"
IS_SEARCHED: Final = "GR004"
"""SQLSTATEs that our own functions raise (`schema.sql`)."""


class ServerLostError(NetworkError):
    """Another server of the hub went away while it was asked; the hub itself is there."""


_ABOUT_PASSWORDS = (
    "Put the password into ~/.pgpass (or PGPASSFILE, PGPASSWORD, a service file): PostgreSQL's own ways."
)

_BY_STATE: Final[dict[str, tuple[type[GitragError], str, str]]] = {
    "28P01": (NotSetUpError, "The hub at {place} refuses the password.", _ABOUT_PASSWORDS),
    "28000": (NotSetUpError, "The hub at {place} refuses to let this role in: {text}", "Ask who runs it."),
    "3D000": (NotSetUpError, "The hub's server has no such database: {text}", "git config gitrag.hub"),
    "3F000": (NotSetUpError, "There is no hub at {place} yet.", "gitrag hub init"),
    "42P01": (NotSetUpError, "There is no hub at {place} yet.", "gitrag hub init"),
    "42501": (
        NotSetUpError,
        "The hub at {place} does not allow that to this role: {text}",
        "Ask who runs it.",
    ),
    "25006": (NotSetUpError, "The hub at {place} is read-only now: {text}", "Ask who runs it."),
    "2200H": (
        StoreError,
        "The hub at {place} has no ids left ({text}): nothing of this was kept.",
        "Make a new hub, or give this one another server: gitrag hub add-server",
    ),
    "53100": (
        DiskFullError,
        "The disk of the hub at {place} is full: nothing of this was kept.",
        "Tell who runs it, and try again.",
    ),
    "53200": (BusyError, "The hub at {place} has no memory left: {text}", "Try again."),
    "53300": (BusyError, "The hub at {place} has no connection left: {text}", "Try again."),
    "57014": (BusyError, "The hub at {place} stopped this after too long a time.", "Try again."),
    "GR002": (BusyError, "Others pushed the same repository to {place} at the same time.", "Try again."),
    "40P01": (BusyError, "Others wrote to the hub at {place} at the same time.", "Try again."),
    "55P03": (BusyError, "Others write to the hub at {place}.", "Try again."),
    "XX001": (StoreError, "The hub at {place} has damaged data: {text}", "Tell who runs it."),
}
_OF_ANOTHER = re.compile('server "gitrag_[0-9]+"|remote SQL command')
"""What postgres_fdw says of a foreign server (`gitrag/hub/servers.py`)."""

_STOPPED = (
    NetworkError,
    "The hub at {place} went away: {text}",
    "Nothing half was kept there. Try again when it is back.",
)
_AT_CONNECTING: Final[tuple[tuple[str, tuple[type[GitragError], str, str]], ...]] = (
    ("password authentication failed", _BY_STATE["28P01"]),
    ("no password supplied", (NotSetUpError, "The hub at {place} wants a password.", _ABOUT_PASSWORDS)),
    ('database ".*" does not exist', _BY_STATE["3D000"]),
    ('role ".*" does not exist|no pg_hba.conf entry|is not permitted to log in', _BY_STATE["28000"]),
    ("definition of service|invalid .*connection option|invalid URI", (
        NotSetUpError, "gitrag.hub cannot be understood: {text}", "git config gitrag.hub postgresql://host/database",
    )),
    ("too many clients|remaining connection slots", _BY_STATE["53300"]),
    ("starting up|shutting down|recovery (mode|state)|not yet accepting", (
        NetworkError, "The hub at {place} is starting or stopping.", "Try again in a moment.",
    )),
)  # fmt: skip


def connect(address: str) -> Connection[Any]:
    """Connect to a hub's server; the caller closes the connection."""
    try:
        import psycopg
    except ImportError as error:
        raise NotSetUpError(
            f"A hub is asked through psycopg, which is not here: {error}.", "pip install 'gitrag[hub]'"
        ) from error
    try:
        parts = psycopg.conninfo.conninfo_to_dict(address)
        db = psycopg.connect(
            address,
            connect_timeout=int(parts.get("connect_timeout") or _CONNECT_TIMEOUT_S),
            application_name="gitrag",
            client_encoding="utf8",
            autocommit=True,
        )
    except (psycopg.Error, ValueError) as error:
        raise _said(error, address, connecting=True) from error
    if db.info.server_version < OLDEST_SERVER:
        found = db.info.parameter_status("server_version")
        db.close()
        raise NotSetUpError(
            f"The hub at {place_of(address)} has PostgreSQL {found}; 15 is the oldest that works."
        )
    encoding = db.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        db.close()
        raise NotSetUpError(
            f"The database of the hub at {place_of(address)} has the encoding {encoding}, which cannot keep"
            " every text.",
            "Make one that can: createdb --encoding=UTF8 --template=template0 NAME",
        )
    with told(address):
        # Also of who stops in the midst: what he has locked, others would wait for.
        db.execute(f"SET idle_in_transaction_session_timeout = {_STATEMENT_TIMEOUT_MS}")
        db.execute(f"SET statement_timeout = {_STATEMENT_TIMEOUT_MS}")
        db.execute("SET jit = off")  # it costs more than it saves a question
    return db


@contextmanager
def told(address: str) -> Iterator[None]:
    """Turn an error of the server into one for the user."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        raise _said(error, address) from error


def place_of(address: str) -> str:
    """Return an address for messages: without what follows the database's name."""
    return address.partition("?")[0]


def _said(error: Error | ValueError, address: str, *, connecting: bool = False) -> GitragError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("Is the server running")]  # our hint asks that
    text = (lines or ["no reason given"])[-1 if connecting else 0].removeprefix("FATAL:").strip()[:_LONGEST]
    state = getattr(error, "sqlstate", None) or ""
    kind = _BY_STATE.get(state)
    if not connecting and state.startswith(("08", "57P")) and _OF_ANOTHER.search(str(error)):
        kind = (ServerLostError, "A server of the hub at {place} went away: {text}", "Try again.")
    if connecting and kind is None:
        for pattern, meant in _AT_CONNECTING:
            if re.search(pattern, str(error)):
                kind = meant
                break
        else:
            kind = (
                NetworkError,
                "Cannot reach the hub at {place}: {text}",
                "Is the server running? git config gitrag.hub",
            )
    if kind is None:
        kind = (
            _STOPPED
            if _is_gone(error)
            else (StoreError, "The hub at {place} failed: {text}", "Tell who runs it.")
        )
    made, message, hint = kind
    return made(message.format(place=place_of(address), text=text.rstrip(".") + "."), hint)


def _is_gone(error: Error | ValueError) -> bool:
    """Tell whether the connection has ended, rather than a statement failed."""
    import psycopg

    state = getattr(error, "sqlstate", None) or ""
    return isinstance(error, psycopg.OperationalError) and (not state or state.startswith(("08", "57P")))
