"""Vectors: one per text, as 384 signed bytes and their sign bits; a draft until the model's own exists.

An embedding has unit length, so only its direction matters. It is stored scaled to its largest component in
int8, which changes the cosine of two texts by less than 0.002 and takes 0.45 kB with its sign bits where
FLOAT[384] takes 1.44 kB. As BLOBs, a thousand are read in 15 ms, and the sign bits of 57,000 in 6 ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from gitrag.late import np
from gitrag.model import DIMENSIONS, Chunk, Kind
from gitrag.store.columns import decode_path, integers, objects, pairs, run
from gitrag.store.held_texts import flags, held_texts
from gitrag.store.memo import Memo
from gitrag.words.path_traits import OUTSIDE_THE_PRODUCT

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    from gitrag.store.vector_cache import VectorCache

_WORDS = DIMENSIONS // 64
_SIGNS = ", ".join(f"b{i}" for i in range(_WORDS))
_BLOCK = 512
_SIGNS_BLOCK = 1 << 14
"""Columns of sign bits compared at a time: six rows fit a processor's cache."""
_MANY = 1_000
_AT_A_TIME = 1 << 16
_BOTH = "(FROM vectors UNION ALL FROM drafts)"
"""A text has either a vector or a draft, never both."""


UNEMBEDDED = "unembedded "
"""Prefix, before a text's key in hex, of the meta table's key for why the text could not be embedded."""


PendingText = tuple[int, "Chunk | str"]
"""A text without a vector from the model, by its id: of a chunk, or of a path's words."""


def shrink(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Scale vectors (n, 384) to their largest component in int8."""
    largest = np.maximum(np.abs(vectors).max(axis=1, keepdims=True, initial=0.0), 1e-12)
    small: NDArray[np.int8] = np.rint(vectors / largest * 127).astype(np.int8)
    return small


def signs(vectors: NDArray[np.int8] | NDArray[np.float32]) -> NDArray[np.uint64]:
    """Return the sign bits, uint64 (n, 6), of vectors (n, 384)."""
    return np.packbits(vectors > 0, axis=1, bitorder="little").view("<u8").reshape(-1, _WORDS)


def write(db: DuckDBPyConnection, text_ids: Sequence[int], vectors: NDArray[np.float32]) -> None:
    """Store the vectors of texts, replacing their drafts.

    A text that another process embedded first keeps its vector.

    Args:
        vectors: float32 (n, 384), L2-normalised.
    """
    columns = columns_of(text_ids, shrink(vectors))
    run(
        db,
        columns,
        "INSERT INTO vectors SELECT * FROM columns"
        " ANTI JOIN vectors ON text_id = column0 SEMI JOIN texts ON texts.text_id = column0",
    )
    run(db, columns, "DELETE FROM drafts WHERE text_id IN (SELECT column0 FROM columns)")


def settle_for_drafts(db: DuckDBPyConnection, failures: Mapping[int, str]) -> None:
    """Keep the drafts of texts that cannot be embedded for good, and record why."""
    columns: list[NDArray[Any]] = [integers(failures), objects(failures.values())]
    drafted = "SELECT drafts.* FROM drafts SEMI JOIN columns ON text_id = column0"
    run(db, columns, f"INSERT INTO vectors {drafted}")
    run(db, columns, "DELETE FROM drafts WHERE text_id IN (SELECT column0 FROM columns)")
    run(
        db,
        columns,
        "INSERT INTO meta SELECT ? || lower(hex(key)), column1 FROM texts JOIN columns ON text_id = column0",
        [UNEMBEDDED],
    )


def write_drafts(db: DuckDBPyConnection, text_ids: Sequence[int], small: NDArray[np.int8]) -> None:
    """Store drafts, int8 (n, 384), of texts with neither vector nor draft; duplicates are allowed."""
    ids, first = np.unique(np.array(text_ids, dtype=np.int32), return_index=True)
    run(
        db,
        columns_of(ids, small[first]),
        "INSERT INTO drafts SELECT * FROM columns ANTI JOIN"  # by name: a small index reads all that is not
        " (SELECT text_id FROM vectors UNION ALL SELECT text_id FROM drafts) own ON own.text_id = column0",
    )


def columns_of(text_ids: Sequence[int] | NDArray[np.int32], small: NDArray[np.int8]) -> list[NDArray[Any]]:
    """Return texts and their vectors, int8 (n, 384), as the columns of ``vectors`` and ``drafts``."""
    bits = signs(small)
    raw = small.tobytes()
    return [
        integers(text_ids),
        objects(raw[start : start + DIMENSIONS] for start in range(0, len(raw), DIMENSIONS)),
        *(np.ascontiguousarray(bits[:, i]) for i in range(_WORDS)),
    ]


class Vectors(Struct, frozen=True):
    """Vectors and drafts of texts, as stored.

    Attributes:
        text_ids: int32 (n,), ascending.
        small: int8 (n, 384).
        scale: float32 (n,), turns them into unit vectors.
    """

    text_ids: NDArray[np.int32]
    small: NDArray[np.int8]
    scale: NDArray[np.float32]

    def find(self, text_ids: NDArray[np.int32]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Look up texts: whether each is there, and its index (arbitrary if it is not)."""
        if not len(self.text_ids):
            return np.zeros(len(text_ids), dtype=bool), np.zeros(len(text_ids), dtype=np.intp)
        place = np.minimum(np.searchsorted(self.text_ids, text_ids), len(self.text_ids) - 1)
        return self.text_ids[place] == text_ids, place

    def compare_with(self, vector: NDArray[np.float32], places: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the cosines, float32, of the vectors at some indices with float32 (384,), L2-normalised."""
        dots = np.empty(len(places), dtype=np.float32)
        for block in _blocks(len(places)):
            dots[block] = np.einsum("ij,j->i", self.small[places[block]].astype(np.float32), vector)
        return dots * self.scale[places]

    def compare_both(
        self, vector: NDArray[np.float32], places: NDArray[np.intp], others: NDArray[np.intp]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the cosines, float32, of the vectors at some indices with one, and with as many others."""
        dots = np.empty((2, len(places)), dtype=np.float32)
        for block in _blocks(len(places)):
            own, other = (self.small[chosen[block]].astype(np.float32) for chosen in (places, others))
            dots[0, block] = np.einsum("ij,j->i", own, vector)
            dots[1, block] = np.einsum("ij,ij->i", own, other)
        dots *= self.scale[places]
        return dots[0], dots[1] * self.scale[others]


def _blocks(length: int) -> Iterator[slice]:
    """Split rows into blocks that fit a processor's cache as float32."""
    return (slice(start, start + _BLOCK) for start in range(0, length, _BLOCK))


def read_signs(db: DuckDBPyConnection, memo: Memo) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
    """Read the sign bits of all vectors and drafts: text ids int32 (n,), ascending, bits uint64 (6, n)."""
    return memo.get("signs", lambda: _read_signs(db))


def renew(db: DuckDBPyConnection, text_ids: Sequence[int], memo: Memo) -> None:
    """Bring what is kept of an index up to date, where only vectors of these texts were written since.

    Whoever still reads has the earlier columns.
    """
    known: tuple[NDArray[np.int32], NDArray[np.uint64]] | None = memo.known("signs")
    every: Vectors | None = memo.known("vectors")
    memo.forget("signs", "vectors", "drafts", "embedded", "standing")
    new = _vectors(_select(db, integers(text_ids)))
    if known is not None and np.isin(new.text_ids, known[0]).all():
        bits = known[1].copy()
        bits[:, np.searchsorted(known[0], new.text_ids)] = signs(new.small).T
        memo.get("signs", lambda: (known[0], bits))
    if every is not None and np.isin(new.text_ids, every.text_ids).all():
        place = every.find(new.text_ids)[1]
        small, scale = every.small.copy(), every.scale.copy()
        small[place], scale[place] = new.small, new.scale
        memo.get("vectors", lambda: replace(every, small=small, scale=scale))


def _read_signs(db: DuckDBPyConnection) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
    found = db.execute(f"SELECT text_id, {_SIGNS} FROM {_BOTH}").fetchnumpy()
    text_ids = found.pop("text_id")
    signs = np.empty((_WORDS, len(text_ids)), dtype=np.uint64)
    order = None if bool((text_ids[1:] > text_ids[:-1]).all()) else np.argsort(text_ids)
    for i in range(_WORDS):
        column = found.pop(f"b{i}")
        signs[i] = column if order is None else column[order]
    return text_ids if order is None else text_ids[order], signs


def differing(signs: NDArray[np.uint64], own: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Return in how many components the signs, uint64 (6, n), differ from those of a vector, uint64 (6,)."""
    found = np.zeros(signs.shape[1], dtype=np.uint16)
    for start in range(0, len(found), _SIGNS_BLOCK):
        block = slice(start, start + _SIGNS_BLOCK)
        for row, word in zip(signs, own, strict=True):
            found[block] += np.bitwise_count(row[block] ^ word)
    return found


def count_differing(signs: NDArray[np.uint64], others: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Return in how many components the signs, uint64 (6, n), of as many pairs of vectors differ."""
    found = np.zeros(signs.shape[1], dtype=np.uint16)
    for row, other in zip(signs, others, strict=True):
        found += np.bitwise_count(row ^ other)
    return found


def sign_sums(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the sums of 16 components each of a vector, float32 (384,), by their signs: (24, 65536).

    Those of the last vector are kept: a question asks for the same ones of texts and commits, and of each
    repository.
    """
    return _sign_sums(vector.tobytes())


@lru_cache(maxsize=1)
def _sign_sums(raw: bytes) -> NDArray[np.float32]:
    vector = np.frombuffer(raw, np.float32)
    bits = np.arange(256)[:, None] >> np.arange(8) & 1
    of_byte = vector.reshape(-1, 8) @ (2 * bits - 1).T.astype(np.float32)
    sums = of_byte[1::2, :, None] + of_byte[::2, None, :]
    return sums.reshape(len(sums), -1)


def estimated(signs: NDArray[np.uint64], sums: NDArray[np.float32]) -> NDArray[np.float32]:
    """Estimate the cosines of vectors of which the signs, uint64 (6, n), are known with one known in full.

    A unit vector's components are taken to be normally distributed: then their mean magnitude is √(2/πd) for
    d of them. The sum of the other's components, with these signs, is divided by d times that.

    Args:
        sums: ``sign_sums`` of the other vector.
    """
    found = np.zeros(signs.shape[1], dtype=np.float32)
    for word, own in zip(signs, sums.reshape(_WORDS, -1, sums.shape[1]), strict=True):
        parts = np.ascontiguousarray(word, dtype="<u8").view("<u2").reshape(-1, 4)
        for place, each in enumerate(own):
            found += np.take(each, parts[:, place])
    return found * np.float32(np.sqrt(np.pi / (2 * DIMENSIONS)))


def read(db: DuckDBPyConnection, text_ids: NDArray[np.int32], memo: Memo) -> Vectors:
    """Read the vectors and drafts of texts, distinct; if they are kept in full, all of them.

    Texts that have neither are left out.
    """
    if memo.whole:
        return memo.get("vectors", lambda: _vectors(db.execute(f"SELECT text_id, vector FROM {_BOTH}")))
    if memo.vectors is not None:
        return _read_cached(db, text_ids, memo, memo.vectors)
    return _vectors(_select(db, text_ids))


def _select(db: DuckDBPyConnection, text_ids: NDArray[np.int32]) -> DuckDBPyConnection:
    columns = [text_ids]
    return run(db, columns, f"SELECT text_id, vector FROM {_BOTH} SEMI JOIN columns ON text_id = column0")


def _read_cached(
    db: DuckDBPyConnection, text_ids: NDArray[np.int32], memo: Memo, cache: VectorCache
) -> Vectors:
    """Read vectors from the cache, and those that it has not right from the index, into the cache too."""
    known, bits = read_signs(db, memo)
    place = np.searchsorted(known, text_ids)
    there = place < len(known)
    there[there] = known[place[there]] == text_ids[there]
    wanted, place = text_ids[there], place[there]
    expected = bits[:, place].T
    small = cache.read(wanted)
    wrong = np.flatnonzero((signs(small) != expected).any(axis=1))
    end = cache.end()
    if 2 * len(wrong) > len(wanted) > _MANY:  # reading so many would read all, too
        end = 0
    if len(wrong) and wanted[wrong[-1]] >= end and fill(db, cache, end):
        small = cache.read(wanted)
        wrong = np.flatnonzero((signs(small) != expected).any(axis=1))
    if len(wrong):
        found = _vectors(_select(db, wanted[wrong]))
        cache.write(found.text_ids, found.small)
        small[wrong] = found.small
    return _scaled(wanted, small)


def fill(db: DuckDBPyConnection, cache: VectorCache, first: int = 0) -> bool:
    """Write vectors and drafts, those of texts from an id on, into the cache; return False where it fails."""
    row = db.execute("SELECT max(text_id) FROM texts").fetchone()
    last = int(row[0] or 0) if row else 0
    for start in range(first, last + 1, _AT_A_TIME):
        sql = f"SELECT text_id, vector FROM {_BOTH} WHERE text_id >= ? AND text_id < ?"
        found = _vectors(db.execute(sql, [start, start + _AT_A_TIME]))
        if not cache.write(found.text_ids, found.small, extend=True):
            return False
    return True


def _vectors(result: DuckDBPyConnection) -> Vectors:
    found = result.fetchnumpy()
    order = np.argsort(found["text_id"])
    small = np.frombuffer(b"".join(found["vector"][order]), dtype=np.int8).reshape(-1, DIMENSIONS)
    return _scaled(found["text_id"][order], small)


def _scaled(text_ids: NDArray[np.int32], small: NDArray[np.int8]) -> Vectors:
    squares = np.einsum("ij,ij->i", small, small, dtype=np.float32)
    return Vectors(text_ids, small, 1 / np.sqrt(np.maximum(squares, 1)))


def count_pending(
    db: DuckDBPyConnection,
    entries: Iterable[tuple[int, int]] = (),
    view_id: int | None = None,
    memo: Memo | None = None,
) -> int:
    """Count the texts without a vector, of chunks and paths; see ``pending_counts``."""
    return next(pending_counts(db, entries, view_id, memo))


def pending_counts(
    db: DuckDBPyConnection,
    entries: Iterable[tuple[int, int]] = (),
    view_id: int | None = None,
    memo: Memo | None = None,
) -> Iterator[int]:
    """Yield how many texts without a vector a view and its overlay need, and then how many are of chunks.

    Args:
        entries: Pairs of path id and content id in addition to the view's; 0 for no path.
        view_id: The view; None for all views.
    """
    memo = memo or Memo()
    drafts = memo.get("drafts", lambda: db.execute("SELECT text_id FROM drafts").fetchnumpy())["text_id"]
    if not len(drafts):
        yield from (0, 0)
        return
    where = "content_id <> 0 AND (?::INTEGER IS NULL OR view_id = ?)"
    held = db.execute(
        f"SELECT path_id, content_id FROM entries WHERE {where}", [view_id, view_id]
    ).fetchnumpy()
    paths, contents = (
        np.concatenate([held[key], own])
        for key, own in zip(("path_id", "content_id"), pairs(entries), strict=True)
    )
    for own in (paths, paths[:0]):
        needed = held_texts(db, own, contents, memo)
        yield int(np.count_nonzero(needed & flags(drafts, len(needed))))


def count_of_content(db: DuckDBPyConnection, content_id: int) -> tuple[int, int]:
    """Count the chunks of a content, and those of their texts that have only a draft."""
    row = db.execute(
        "SELECT count(*), count(DISTINCT drafts.text_id) FROM chunks LEFT JOIN drafts USING (text_id)"
        " WHERE content_id = ?",
        [content_id],
    ).fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)


def pending(
    db: DuckDBPyConnection,
    limit: int,
    entries: Iterable[tuple[int, int]] = (),
    view_id: int | None = None,
    *,
    oldest_first: bool = False,
) -> list[PendingText]:
    """List texts without a vector: of the product before those of tests, examples and documents alone.

    Of either, newest first: recent writing is asked about next. Two processes that embed at the same time
    share the work if one starts with the oldest.
    """
    order = "text_id" if oldest_first else "text_id DESC"
    columns = pairs(entries)
    found: dict[int, PendingText] = {}
    for ids in (_OF_PRODUCT, PENDING_IDS):  # to sort all by which they are takes as long as three of these
        sql = f"WITH wanted AS MATERIALIZED (SELECT text_id FROM ({ids}) ORDER BY {order} LIMIT ?) {_SOURCES}"
        rows = run(db, columns, f"{sql} ORDER BY {order}", [view_id, view_id, limit])
        for each in _sources(rows):
            found.setdefault(each[0], each)
        if len(found) >= limit:
            break
    return [*found.values()][:limit]


def sources_of(db: DuckDBPyConnection, text_ids: NDArray[np.int32]) -> list[PendingText]:
    """Read what texts are made of; those that no chunk and no path has are left out."""
    return _sources(
        run(db, [text_ids], f"WITH wanted AS (SELECT column0 AS text_id FROM columns) {_SOURCES}")
    )


def _sources(result: DuckDBPyConnection) -> list[PendingText]:
    return [
        (text_id, decode_path(path) if chunk is None else Chunk(**{**chunk, "kind": Kind(chunk["kind"])}))
        for text_id, chunk, path in result.fetchall()
    ]


_HELD = """
    WITH held AS MATERIALIZED (
        SELECT path_id, content_id FROM entries WHERE (?::INTEGER IS NULL OR view_id = ?) AND content_id <> 0
        UNION ALL SELECT column0, column1 FROM columns
    ), product AS (
        SELECT content_id FROM held JOIN paths USING (path_id) WHERE traits & {outside} = 0
    )
    SELECT text_id FROM drafts SEMI JOIN (
        SELECT text_id FROM chunks SEMI JOIN {those} USING (content_id)
        UNION ALL SELECT text_id FROM paths SEMI JOIN held USING (path_id)
    ) USING (text_id)
"""
PENDING_IDS, _OF_PRODUCT = (
    _HELD.format(those=those, outside=OUTSIDE_THE_PRODUCT.value) for those in ("held", "product")
)
"""A text has a draft until it has its vector. Paths' words are few, and count in all that is found."""

_SOURCES = """
    SELECT text_id, min_by(struct_pack(kind, name, qualified_name, signature, docstring, text, line_start,
        line_end), chunk_id) AS chunk, NULL AS path FROM chunks JOIN wanted USING (text_id) GROUP BY text_id
    UNION ALL SELECT text_id, NULL, min(path) FROM paths JOIN wanted USING (text_id)
        WHERE text_id NOT IN (SELECT text_id FROM chunks) GROUP BY text_id
"""
