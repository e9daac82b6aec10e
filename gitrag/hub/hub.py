"""A hub: a server with our tables, opened and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gitrag.errors import NotSetUpError, StoreError
from gitrag.hub.connection import connect, place_of, told
from gitrag.model import DIMENSIONS, Kind

if TYPE_CHECKING:
    from psycopg import Connection

SCHEMA_VERSION: Final = 2
"""2: ids that go round, checks in the tables, no advisory lock."""

PARTITIONS: Final = 8
"""A statement plans for every partition: with 8, planning takes less than executing."""

OWN_IDS: Final = 1 << 30
IDS: Final = 1 << 27
MOST_SERVERS: Final = 8
"""Ids have 31 bits: the first server has those below ``OWN_IDS``, each of up to eight others ``IDS`` more."""

SHARED_TURN: Final = "LOCK TABLE gitrag.turns IN ROW SHARE MODE"
OWN_TURN: Final = "LOCK TABLE gitrag.turns IN EXCLUSIVE MODE"
"""The lock that a push shares and gc has alone, until the transaction ends."""

FRONT: Final = "front"
"""The name of the server that the others are added to."""

_CHUNK: Final = (
    "content_id integer, chunk_id integer, line_start integer, line_end integer, kind text, name text,"
    " name_key text, qualified_name text, signature text, docstring text, text text"
)


class Hub(Struct, frozen=True):
    """A connection to a hub of this version and recipe.

    Attributes:
        has_hnsw: Whether there is an HNSW index over the sign bits.
    """

    db: Connection[Any]
    address: str
    has_hnsw: bool
    recipe: str

    @property
    def place(self) -> str:
        """The address for messages."""
        return place_of(self.address)


@contextmanager
def opened(address: str, recipe: str) -> Iterator[Hub]:
    """Open a hub; what its server says goes wrong is raised as an error for the user."""
    with connect(address) as db, told(address):
        found: Mapping[str, str] = dict(db.execute("SELECT key, value FROM gitrag.meta").fetchall())
        _check(found, recipe, place_of(address))
        yield Hub(db, address, found.get("hnsw") == "on", recipe)


@contextmanager
def unchanging(hub: Hub) -> Iterator[None]:
    """Let all reads in the block see one state of the hub, which can only be read, whatever is pushed."""
    from psycopg import IsolationLevel

    hub.db.isolation_level, hub.db.read_only = IsolationLevel.REPEATABLE_READ, True
    try:
        with hub.db.transaction():
            yield
    finally:
        if not hub.db.closed:
            hub.db.isolation_level, hub.db.read_only = None, None


def _check(found: Mapping[str, str], recipe: str, place: str) -> None:
    """Raise where a hub is not of this version and recipe."""
    version = int(found.get("schema", 0))
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"The hub at {place} was made by a newer gitrag: schema {version}, here {SCHEMA_VERSION}.",
            "Upgrade gitrag.",
        )
    if not version:
        raise NotSetUpError(f"There is no hub at {place} yet.", "gitrag hub init")
    if version < SCHEMA_VERSION:
        raise StoreError(
            f"The hub at {place} was made by an older gitrag: schema {version}, here {SCHEMA_VERSION}.",
            "Make a new one in another database (gitrag hub init), and push to it.",
        )
    if found.get("recipe") != recipe:
        raise StoreError(
            f"The hub at {place} holds what another version of gitrag makes: {found.get('recipe')};"
            f" here it is {recipe}.",
            "Use the version of gitrag that the hub was made with, or make a new hub in another database.",
        )


def initialise(
    address: str, recipe: str, *, partitions: int = PARTITIONS, hnsw: bool = False, server: int = 0
) -> bool:
    """Make the tables, in one transaction.

    Args:
        partitions: Into how many each large table is divided.
        hnsw: Make an HNSW index over the sign bits; pgvector must be there.
        server: Its number among the servers of a hub.

    Returns:
        Whether they were made; False if they were there already, of this version and recipe.
    """
    import psycopg

    with told(address):
        try:
            return _made(address, recipe, partitions, hnsw=hnsw, server=server)
        except (psycopg.errors.UniqueViolation, psycopg.errors.DuplicateSchema):  # another one was first
            return _made(address, recipe, partitions, hnsw=hnsw, server=server)


def _made(address: str, recipe: str, partitions: int, *, hnsw: bool, server: int) -> bool:
    with connect(address) as db, db.transaction():
        if db.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'gitrag'").fetchone():
            found = dict(db.execute("SELECT key, value FROM gitrag.meta").fetchall())
            _check(found, recipe, place_of(address))
            return False
        nearest = "2, 1"  # of equals the same ones each time
        if hnsw:
            of_pgvector = _add_pgvector(db, place_of(address))
            nearest = f"t.signs OPERATOR({of_pgvector}.<~>) $3::bit({DIMENSIONS})"
        schema = files("gitrag.hub").joinpath("schema.sql").read_text("utf-8")
        for name, value in (
            ("partitions", partitions),
            ("dimensions", DIMENSIONS),
            ("nearest", nearest),
            ("chunk", _CHUNK),
            ("server", server),
            ("name", FRONT if server == 0 else f"server {server}"),
            ("first_id", max(1, _first_id(server))),
            ("last_id", _first_id(server + 1) - 1),
            ("own_ids", OWN_IDS),
            ("ids", IDS),
            ("most_servers", MOST_SERVERS),
            ("kinds", ", ".join(f"'{kind.value}'" for kind in Kind)),
        ):
            schema = schema.replace(f"{{{name}}}", str(value))
        db.execute(schema.encode())
        if hnsw:
            db.execute(
                f"CREATE INDEX ON gitrag.cuts USING hnsw (signs {of_pgvector}.bit_hamming_ops)".encode()
            )
        db.cursor().executemany(
            "INSERT INTO gitrag.meta VALUES (%s, %s)",
            [
                ("schema", str(SCHEMA_VERSION)),
                ("recipe", recipe),
                ("partitions", str(partitions)),
                ("hnsw", "on" if hnsw else "off"),
            ],
        )
    return True


def _first_id(server: int) -> int:
    return OWN_IDS + (server - 1) * IDS if server else 0


def _add_pgvector(db: Connection[Any], place: str) -> str:
    """Make pgvector available in the database; return its schema, quoted."""
    if not db.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone():
        raise NotSetUpError(
            f"The server of {place} has no pgvector, which --hnsw needs.",
            "Install pgvector 0.7 or later there, or leave out --hnsw.",
        )
    db.execute("CREATE EXTENSION IF NOT EXISTS vector")
    row = db.execute(
        "SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace"
        " WHERE e.extname = 'vector'"
    ).fetchone()
    return str(row[0]) if row else "public"
