"""The tables, and how an older store is migrated."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gitrag.model import DIMENSIONS
from gitrag.store.engine import duckdb

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TABLES_VERSION = 4  # raise when a table changes that no release has written: such an index is rebuilt


_AS_IT_IS = "USING COMPRESSION uncompressed"
"""Of what looks random: DuckDB compresses it in vain, 8 µs a vector, and decodes a block to read one."""
_VECTORS = (
    f"(text_id INTEGER, vector BLOB {_AS_IT_IS},"
    " b0 UBIGINT, b1 UBIGINT, b2 UBIGINT, b3 UBIGINT, b4 UBIGINT, b5 UBIGINT)"
)


class ForeignDatabaseError(Exception):
    """The file is a DuckDB database, but not an index of ours."""


_TABLES = f"""
-- What was built how: schema, recipe.
CREATE TABLE meta (key VARCHAR, value VARCHAR);

-- A blob, and what its path says of its language: a name, or an ambiguous ending with its dot.
-- language: what it is in; empty if unknown, and of such an ending until it is read.
-- state: 'pending', 'indexed', or why it is skipped (model.Skip): and how it failed.
-- chunks and length: how many, and the sum of their lengths, once it is indexed.
-- left_at: when it was added, or when a view last dropped it.
CREATE TABLE contents (
    content_id INTEGER, blob BLOB, language VARCHAR, state VARCHAR, chunks INTEGER, length INTEGER,
    left_at TIMESTAMPTZ, said VARCHAR
);

-- name_key is the case-folded name; length counts terms, weighted as in postings.
CREATE TABLE chunks (
    chunk_id INTEGER, content_id INTEGER, text_id INTEGER,
    kind VARCHAR, name VARCHAR, name_key VARCHAR, qualified_name VARCHAR,
    signature VARCHAR, docstring VARCHAR, text VARCHAR,
    line_start INTEGER, line_end INTEGER, length INTEGER
);

-- term is a hash (words.terms); tf is weighted (indexing.records), terms.IN_NAME is its top bit.
CREATE TABLE postings (term UBIGINT, chunk_id INTEGER, tf USMALLINT);

-- What is embedded, once in its life: key is a hash of the text and the encoder's version.
CREATE TABLE texts (text_id INTEGER, key BLOB {_AS_IT_IS});
-- vector: {DIMENSIONS} signed bytes; b0 to b5: their signs. A draft stands in for the model's vector.
CREATE TABLE vectors {_VECTORS};
CREATE TABLE drafts {_VECTORS};

-- What a content says about calls (gitrag.callgraph.facts): made when a graph is first asked for.
CREATE TABLE facts (content_id INTEGER, data BLOB);

-- Paths are bytes, as in git. text_id: the path's words, embedded like any text. traits: what kind of
-- file (path_traits). top: hash of its first directory; name_terms: how many words are in its name.
CREATE TABLE paths (
    path_id INTEGER, path BLOB, text_id INTEGER, traits UTINYINT, top UBIGINT,
    name_terms UTINYINT, left_at TIMESTAMPTZ
);
CREATE TABLE name_postings (term UBIGINT, path_id INTEGER);

-- A view is a tree as its rules let it be seen; content_id 0: left out, for the reason in skip.
-- collection: of the path, without the repository's slug (gitrag.corpus.layout).
CREATE TABLE views (
    view_id INTEGER, tree VARCHAR, rules VARCHAR, commit_id VARCHAR, updated TIMESTAMPTZ
);
CREATE TABLE entries (
    view_id INTEGER, path_id INTEGER, content_id INTEGER, skip VARCHAR, collection VARCHAR
);
-- When what a view has of a collection last changed.
CREATE TABLE touched (view_id INTEGER, collection VARCHAR, updated TIMESTAMPTZ);
CREATE TABLE modules (view_id INTEGER, name VARCHAR, directory BLOB);
CREATE TABLE rule_files (view_id INTEGER, path BLOB, content BLOB);
CREATE TABLE worktrees (worktree VARCHAR, view_id INTEGER);
"""


def _create(db: DuckDBPyConnection) -> None:
    """Create the first version of the tables.

    The code enforces keys, as the only writer and with the lock held; indexes do not: DuckDB's ART
    indexes slow a bulk load several times and are read in full into memory.
    """
    db.execute(_TABLES)


def _add_commits(db: DuckDBPyConnection) -> None:
    """Add commits and what they say, read in the background."""
    db.execute("""
        -- A commit, immutable, read once. parents: how many; authored, committed: Unix seconds;
        -- message: cut; changed: how many paths it changes with regard to its first parent; length: terms of
        -- its message, as counted in message_postings.
        CREATE TABLE commits (
            commit_number INTEGER, id BLOB, parents USMALLINT, authored BIGINT, committed BIGINT,
            author VARCHAR, message VARCHAR, changed INTEGER, length INTEGER
        );
        CREATE TABLE message_postings (term UBIGINT, commit_number INTEGER, tf USMALLINT);

        -- Which paths commits change, whether they are in a view or not: path_id, 0 if it is not recorded.
        -- status: a letter, as git prints it. moved_from: the path that was moved; 0 for none. Of a commit of
        -- very many paths not all are here.
        CREATE TABLE changed_paths (changed_path INTEGER, path BLOB, path_id INTEGER);
        CREATE TABLE commit_paths (
            commit_number INTEGER, changed_path INTEGER, status UTINYINT, moved_from INTEGER
        );

        -- Which commits are reachable from a commit, the newest ones: runs of numbers. No row: they have not
        -- been read. moved: pairs of changed paths, an old one and the last one it was moved to.
        -- telling, mean_length: how many commits of few paths there are, and how long their messages are;
        -- paths, lengths: which paths they change, and the weighted length of the messages. latest: its time.
        CREATE TABLE histories (
            id BLOB, commits BLOB, moved BLOB, paths BLOB, lengths BLOB, telling INTEGER, mean_length DOUBLE,
            latest BIGINT, made TIMESTAMPTZ
        );
    """)


def _add_taken(db: DuckDBPyConnection) -> None:
    """Add where vectors came from that were not computed here."""
    db.execute("""
        -- A text whose vector came from a pack that somebody shares (gitrag.sharing), and the pack's name.
        CREATE TABLE taken (text_id INTEGER, pack VARCHAR);
    """)


def _add_commit_drafts(db: DuckDBPyConnection) -> None:
    db.execute("""
        -- The signs of the draft vector of a commit's subject.
        CREATE TABLE commit_drafts (
            commit_number INTEGER,
            b0 UBIGINT, b1 UBIGINT, b2 UBIGINT, b3 UBIGINT, b4 UBIGINT, b5 UBIGINT
        );
    """)


MIGRATIONS: tuple[Callable[[DuckDBPyConnection], None], ...] = (
    _create,
    _add_commits,
    _add_taken,
    _add_commit_drafts,
)
"""Migration ``i`` turns a store of schema ``i`` into one of schema ``i + 1``. Never edited once released."""

SCHEMA_VERSION = len(MIGRATIONS)


def read_meta(db: DuckDBPyConnection) -> dict[str, str]:
    """Read what the store was built with; empty for an empty database.

    Raises:
        ForeignDatabaseError: The database has tables but none of ours.
    """
    try:
        found = dict(db.execute("SELECT key, value FROM meta").fetchall())
    except (duckdb.CatalogException, duckdb.BinderException) as error:
        if db.execute("SELECT 1 FROM duckdb_tables()").fetchone():
            raise ForeignDatabaseError("a database of something else") from error
        return {}
    if "schema" not in found:
        raise ForeignDatabaseError("a database of something else")
    return found


def version(meta: Mapping[str, str]) -> int:
    """Return the schema's version; 0 for an empty database."""
    return int(meta.get("schema", 0))


def is_newer(found: str, own: str) -> bool:
    """Tell whether a recipe ("chunker 3, terms 7") has no step older than another's, and a newer one."""
    theirs, ours = _steps(found), _steps(own)
    return (
        bool(ours) and theirs != ours and all(theirs.get(step, 0) >= number for step, number in ours.items())
    )


def _steps(recipe: str) -> dict[str, int]:
    """Parse a recipe; parts that are not a step with a number are ignored."""
    return {step: int(number) for step, number in re.findall(r"(\w+) (\d+)", recipe)}


def migrate(db: DuckDBPyConnection, found: int) -> None:
    """Migrate the tables from a version to the current one, in one transaction with its record."""
    db.execute("BEGIN")
    for step in MIGRATIONS[found:]:
        step(db)
    put(db, "schema", str(SCHEMA_VERSION))
    db.execute("COMMIT")


def sign(db: DuckDBPyConnection, recipe: str, identity: str) -> None:
    """Write with which recipe a new store is filled, and what distinguishes it from any other."""
    db.execute("INSERT INTO meta VALUES ('recipe', ?), ('identity', ?)", [recipe, identity])


def get(db: DuckDBPyConnection, key: str) -> str:
    """Read a value of the meta table; empty if there is none."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", [key]).fetchone()
    return str(row[0]) if row else ""


def put(db: DuckDBPyConnection, key: str, value: str) -> None:
    """Write a value of the meta table."""
    db.execute("DELETE FROM meta WHERE key = ?", [key])
    db.execute("INSERT INTO meta VALUES (?, ?)", [key, value])
