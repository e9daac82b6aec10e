"""Vectors that come from packs, and those that go into some: both by the keys of their texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gitrag.late import np
from gitrag.model import DIMENSIONS
from gitrag.store import vectors
from gitrag.store.columns import encode_path, objects, pairs, run

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    Keyed = tuple[NDArray[np.int32], NDArray[np.bytes_]]


def waiting(db: DuckDBPyConnection, entries: Iterable[tuple[int, int]] = ()) -> Keyed:
    """Return the texts, of all views and of some entries, without a vector: ids int32 (n,), keys S16 (n,)."""
    columns = pairs(entries)
    return _keyed(
        run(
            db,
            columns,
            f"SELECT text_id, key FROM texts SEMI JOIN ({vectors.PENDING_IDS}) USING (text_id)",
            [None, None],
        )
    )


def known(db: DuckDBPyConnection) -> Keyed:
    """Return all texts that are here: ids int32 (n,), keys S16 (n,)."""
    return _keyed(
        db.execute(
            "SELECT text_id, key FROM texts SEMI JOIN (SELECT text_id FROM chunks UNION ALL"
            " SELECT text_id FROM paths) USING (text_id)"
        )
    )


def take(db: DuckDBPyConnection, text_ids: NDArray[np.int32], small: NDArray[np.int8], pack: str) -> int:
    """Store vectors, int8 (n, 384), that a pack has, in place of drafts; return how many.

    A text that was embedded here meanwhile keeps its vector.
    """
    columns = vectors.columns_of(text_ids, small)
    (before,) = db.execute("SELECT count(*) FROM vectors").fetchone() or (0,)
    drafted = "FROM columns SEMI JOIN drafts ON drafts.text_id = column0"
    run(db, columns, f"INSERT INTO taken SELECT column0, ? {drafted}", [pack])
    run(db, columns, f"INSERT INTO vectors SELECT * {drafted}")
    run(db, columns, "DELETE FROM drafts WHERE text_id IN (SELECT column0 FROM columns)")
    (after,) = db.execute("SELECT count(*) FROM vectors").fetchone() or (0,)
    return int(after - before)


def taken_from(
    db: DuckDBPyConnection, pack: str, known: tuple[NDArray[np.int32], NDArray[np.int8]] | None = None
) -> NDArray[np.int32]:
    """Return the texts, int32 (n,), whose vectors came from a pack, or from another one that had the same.

    Args:
        known: Texts that it has, int32 (n,), and their vectors in it, int8 (n, 384).
    """
    known = known or (np.empty(0, np.int32), np.empty((0, DIMENSIONS), np.int8))
    return _ids(
        run(
            db,
            vectors.columns_of(*known)[:2],
            "SELECT text_id FROM taken JOIN vectors USING (text_id) WHERE pack = ?"
            " OR (text_id, vector) IN (SELECT (column0, column1) FROM columns)",
            [pack],
        )
    )


def packs_taken_from(db: DuckDBPyConnection) -> set[str]:
    """Return the names of the packs that vectors here came from."""
    return {
        pack
        for (pack,) in db.execute(
            "SELECT DISTINCT pack FROM taken SEMI JOIN vectors USING (text_id)"
        ).fetchall()
    }


def give_back(
    db: DuckDBPyConnection, text_ids: NDArray[np.int32], drafted: Sequence[int], drafts: NDArray[np.int8]
) -> None:
    """Drop the vectors of texts where they came from packs.

    Args:
        text_ids: The texts, int32 (n,).
        drafted: Those of them that chunks or paths here have, ...
        drafts: ... and the drafts, int8 (n, 384), that they have again.
    """
    columns = [text_ids]
    for table in ("vectors", "taken"):
        run(
            db,
            columns,
            f"DELETE FROM {table} WHERE text_id IN (SELECT text_id FROM taken SEMI JOIN columns"
            " ON text_id = column0)",
        )
    vectors.write_drafts(db, drafted, drafts)


def to_share(db: DuckDBPyConnection, blobs: Sequence[str], paths: Sequence[str]) -> Keyed:
    """Return the texts of some blobs and paths whose vectors were computed here.

    Neither those that came from a pack, nor drafts that stand for texts that cannot be embedded.

    Args:
        paths: Paths; their words are texts too.

    Returns:
        Ids int32 (n,), keys S16 (n,).
    """
    of_chunks = run(
        db,
        [objects(map(bytes.fromhex, blobs))],
        "SELECT DISTINCT text_id FROM chunks JOIN contents USING (content_id)"
        " SEMI JOIN columns ON blob = column0",
    )
    ids = _ids(of_chunks)
    of_paths = run(
        db,
        [objects(map(encode_path, paths))],
        "SELECT text_id FROM paths SEMI JOIN columns ON path = column0",
    )
    ids = np.union1d(ids, _ids(of_paths)).astype(np.int32)
    return _keyed(
        run(
            db,
            [ids],
            "SELECT text_id, key FROM texts SEMI JOIN columns ON text_id = column0 SEMI JOIN vectors"
            " USING (text_id) ANTI JOIN taken USING (text_id)"
            " WHERE ? || lower(hex(texts.key)) NOT IN (SELECT key FROM meta)",
            [vectors.UNEMBEDDED],
        )
    )


def read(db: DuckDBPyConnection, text_ids: NDArray[np.int32]) -> NDArray[np.int8]:
    """Return the vectors, int8 (n, 384), of texts that have one, in the texts' order."""
    columns = [text_ids, np.arange(len(text_ids), dtype=np.int32)]
    found = run(
        db,
        columns,
        "SELECT vector, column1 AS place FROM vectors JOIN columns ON text_id = column0",
    ).fetchnumpy()
    rows = found["vector"][np.argsort(found["place"])]
    return np.frombuffer(b"".join(rows), dtype=np.int8).reshape(-1, DIMENSIONS)


def _ids(result: DuckDBPyConnection) -> NDArray[np.int32]:
    return result.fetchnumpy()["text_id"].astype(np.int32)


def _keyed(result: DuckDBPyConnection) -> Keyed:
    found = result.fetchnumpy()
    return found["text_id"].astype(np.int32), np.frombuffer(b"".join(found["key"]), dtype="S16")
