"""Contents, their chunks, postings and texts: everything keyed by content, not by path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from gitrag.late import np
from gitrag.model import Chunk, Kind, Skip
from gitrag.store import schema, vectors
from gitrag.store.columns import integers, next_id, objects, run
from gitrag.store.engine import duckdb
from gitrag.store.held_texts import read_chunk_columns

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    from gitrag.store.chunk_cache import ChunkCache
    from gitrag.store.memo import Memo

INDEXED = "indexed"
PENDING = "pending"

WANTED, OUTLINED = "21", "22"
"""Follow a blob's id where the attribute `gitrag` asks for it whatever it holds, and where only its outline
is read, since it is large: contents of their own."""

IS_OUTLINED = f"state = '{INDEXED}' AND octet_length(blob) % 4 = 1 AND right(hex(blob), 2) = '{OUTLINED}'"
WHY = f"if({IS_OUTLINED}, '{Skip.OUTLINED}', split_part(coalesce(nullif(skip, ''), state, ''), ':', 1))"
"""Of ``contents``: whether only the outline is indexed. Of ``entries`` with it: why a path is left out."""

_MERGED = "postings sorted up to chunk"
_RUN = 8_000_000
"""Postings, of some 150,000 to 220,000 chunks, that are sorted together: 1.2 s of processor time."""
_LEAST_RUN = 500_000
_MOST_KEPT = 2_000
"""Chunks read from the cache beside a large index, 50 µs each; the table takes 150 ms, and 6 µs each."""
_AT_A_TIME = 1 << 15
"""Chunks that are read for the cache beside the index: a multiple of those that lie together there."""

ContentKey: TypeAlias = "tuple[str, str | None]"
"""A content: its blob's id, and what its path says of its language: a name, or an ambiguous ending."""


def blob_of(own: str) -> tuple[str, str]:
    """Return the id of a content's blob, and what follows it: nothing, ``WANTED`` or ``OUTLINED``."""
    end = len(own) - len(own) % 8  # ids are 20 or 32 bytes
    return own[:end], own[end:]


class ContentRecord(Struct, frozen=True):
    """A content that has been read and cut.

    Attributes:
        state: ``INDEXED``, or why it is skipped: a ``Skip``, optionally followed by a colon and details.
        text_keys: For each chunk, the key of its embedded text; empty for none.
        terms: uint64, the chunks' distinct terms, one chunk after the other.
        frequencies: uint16, for each of ``terms`` its weighted frequency.
        term_counts: int64, for each chunk the number of its entries in ``terms``.
        lengths: int64, for each chunk the sum of its frequencies.
        drafts: int8 (n, 384), draft vectors of the texts ``drafted``.
        language: What it is in; empty if unknown, None where it could not be read.
        drafted: The keys of texts that the store may not have; all others it had.
    """

    content_id: int
    state: str
    chunks: tuple[Chunk, ...]
    text_keys: tuple[bytes, ...]
    terms: NDArray[np.uint64]
    frequencies: NDArray[np.uint16]
    term_counts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    drafts: NDArray[np.int8]
    language: str | None = None
    drafted: tuple[bytes, ...] = ()


class PendingContent(Struct, frozen=True):
    """A content of a view that has not been read yet; ``said`` is what its path says of its language."""

    content_id: int
    blob: str
    said: str | None

    @property
    def key(self) -> ContentKey:
        return self.blob, self.said


ChunkPlace = tuple[int, int, str]
"""First and last line of a chunk, and its name; empty for none."""


def add(db: DuckDBPyConnection, keys: Sequence[ContentKey]) -> dict[ContentKey, int]:
    """Add contents that are not recorded yet, as pending; return their ids."""
    if not keys:
        return {}
    first = next_id(db, "contents", "content_id")
    columns = [
        integers(range(first, first + len(keys))),
        objects(bytes.fromhex(blob) for blob, _language in keys),
        objects(said or "" for _blob, said in keys),
    ]
    run(
        db,
        columns,
        "INSERT INTO contents SELECT column0, column1, if(column2[1] = '.', '', column2), ?, 0, 0, now(),"
        " column2 FROM columns ORDER BY column0",
        [PENDING],
    )
    return {key: first + i for i, key in enumerate(keys)}


def look_up(db: DuckDBPyConnection, wanted: Sequence[ContentKey]) -> dict[ContentKey, int]:
    """Look up contents; unknown ones are left out."""
    if not wanted:
        return {}
    columns = [
        objects(bytes.fromhex(blob) for blob, _language in wanted),
        objects(said or "" for _blob, said in wanted),
    ]
    rows = run(
        db,
        columns,
        "SELECT DISTINCT lower(hex(blob)), said, content_id FROM contents"
        " JOIN columns ON blob = column0 AND said = column1",
    ).fetchall()
    return {(blob, said or None): content_id for blob, said, content_id in rows}


def pending(db: DuckDBPyConnection, content_ids: Iterable[int], view_id: int | None) -> list[PendingContent]:
    """List the unread contents among the given ones and those of a view, smallest id first."""
    columns = [integers(content_ids)]
    if view_id is None and not len(columns[0]):
        return []
    rows = run(
        db,
        columns,
        "SELECT content_id, lower(hex(blob)), said FROM contents WHERE state = ? AND content_id IN"
        " (SELECT content_id FROM entries WHERE view_id = ? UNION ALL SELECT column0 FROM columns)"
        " ORDER BY content_id",
        [PENDING, view_id],
    ).fetchall()
    return [PendingContent(content_id, blob, said or None) for content_id, blob, said in rows]


def write(db: DuckDBPyConnection, records: Sequence[ContentRecord]) -> int:
    """Write records of contents that have been cut, except those that another process wrote first.

    Returns:
        How many are not written, since the store has dropped a text of theirs that it had: they stay pending.
    """
    columns = [integers(record.content_id for record in records)]
    waiting = {
        row[0]
        for row in run(
            db,
            columns,
            "SELECT content_id FROM contents SEMI JOIN columns ON content_id = column0 WHERE state = ?",
            [PENDING],
        ).fetchall()
    }
    records = [record for record in records if record.content_id in waiting]
    lost = _dropped(db, records)
    left = sum(not lost.isdisjoint(record.text_keys) for record in records) if lost else 0
    records = [record for record in records if lost.isdisjoint(record.text_keys)] if left else records
    if not records:
        return left
    columns = [
        integers(record.content_id for record in records),
        objects(record.state for record in records),
        integers(len(record.chunks) for record in records),
        integers(int(record.lengths.sum()) for record in records),
        objects(record.language for record in records),
    ]
    run(
        db,
        columns,
        "UPDATE contents SET state = column1, chunks = column2, length = column3,"
        " language = coalesce(column4, language) FROM columns"
        " WHERE content_id = column0",
    )
    chunks = [(record.content_id, chunk) for record in records for chunk in record.chunks]
    if chunks:
        _write_chunks(db, records, chunks)
    return left


def _write_chunks(
    db: DuckDBPyConnection, records: Sequence[ContentRecord], chunks: Sequence[tuple[int, Chunk]]
) -> None:
    """Write the chunks of contents, their texts and postings."""
    keys = [key for record in records for key in record.text_keys]
    text_ids = ensure_texts(db, keys)
    if drafted := [key for record in records for key in record.drafted]:
        known = dict(zip(keys, text_ids, strict=True))
        drafts = np.concatenate([record.drafts for record in records])
        vectors.write_drafts(db, [known[key] for key in drafted], drafts)
    first = next_id(db, "chunks", "chunk_id")
    chunk_ids = np.arange(first, first + len(chunks), dtype=np.int32)
    columns = [
        chunk_ids,
        integers(content_id for content_id, _chunk in chunks),
        integers(text_ids),
        objects(chunk.kind.value for _, chunk in chunks),
        objects(chunk.name for _, chunk in chunks),
        objects(chunk.name.casefold() for _, chunk in chunks),
        objects(chunk.qualified_name for _, chunk in chunks),
        objects(chunk.signature for _, chunk in chunks),
        objects(chunk.docstring for _, chunk in chunks),
        objects(chunk.text for _, chunk in chunks),
        integers(chunk.line_start for _, chunk in chunks),
        integers(chunk.line_end for _, chunk in chunks),
        np.concatenate([record.lengths for record in records]).astype(np.int32),
    ]
    run(db, columns, "INSERT INTO chunks SELECT * FROM columns ORDER BY column0")
    counts = np.concatenate([record.term_counts for record in records])
    columns = [
        np.concatenate([record.terms for record in records]),
        np.repeat(chunk_ids, counts),
        np.concatenate([record.frequencies for record in records]),
    ]
    # Sorted by term, a batch's postings of a term lie together and zone maps skip the rest.
    run(db, columns, "INSERT INTO postings SELECT * FROM columns ORDER BY column0, column1")
    merge_postings(db, _RUN)


def _dropped(db: DuckDBPyConnection, records: Sequence[ContentRecord]) -> set[bytes]:
    """Return the texts of contents that were not drafted since the store had them, and has no more."""
    had = {key for record in records for key in set(record.text_keys).difference(record.drafted) if key}
    return had.difference(_text_ids(db, had)) if had else had


def _text_ids(db: DuckDBPyConnection, keys: Iterable[bytes]) -> dict[bytes, int]:
    sql = "SELECT key, text_id FROM texts SEMI JOIN columns ON key = column0"
    return dict(run(db, [objects(keys)], sql).fetchall())


def text_keys(db: DuckDBPyConnection, content_ids: Iterable[int]) -> dict[int, bytes]:
    """Return the keys of the texts of contents, one after the other; each of these has a vector or draft."""
    rows = run(
        db,
        [integers(content_ids)],
        "SELECT content_id, list(DISTINCT key) FROM chunks JOIN texts USING (text_id)"
        " WHERE content_id IN (SELECT column0 FROM columns) GROUP BY content_id",
    ).fetchall()
    return {content_id: b"".join(keys) for content_id, keys in rows}


def merge_postings(db: DuckDBPyConnection, least: int = _LEAST_RUN) -> None:
    """Sort the postings written since the last time by term, if they are many.

    Then a term's postings are in few row groups, one or two for each such run, and zone maps skip the rest;
    in the batches that they were written in, nearly all row groups have some. A run is of contents written
    one after the other, and no posting is sorted twice.

    Args:
        least: Minimum number of postings that are worth it.
    """
    merged = int(schema.get(db, _MERGED) or 0)
    row = db.execute("SELECT count(*), max(chunk_id) FROM postings WHERE chunk_id > ?", [merged]).fetchone()
    count, last = row or (0, 0)
    if count < least:
        return
    if count > 2 * _RUN:  # of an index that has never been sorted: the rest at the next times
        last = merged + (last - merged) * _RUN // count
    own = [merged, last]
    those = "FROM postings WHERE chunk_id > ? AND chunk_id <= ?"
    db.execute(f"CREATE OR REPLACE TEMP TABLE unsorted AS {those}", own)
    db.execute(f"DELETE {those}", own)
    db.execute("INSERT INTO postings FROM unsorted ORDER BY term, chunk_id")
    db.execute("DROP TABLE unsorted")
    schema.put(db, _MERGED, str(last))


def ensure_texts(db: DuckDBPyConnection, keys: Sequence[bytes]) -> list[int]:
    """Look up texts by key, adding new ones; return an id for each key.

    The empty key has id 0, which no text has.
    """
    distinct = list(dict.fromkeys(key for key in keys if key))
    known = _text_ids(db, distinct)
    new = [key for key in distinct if key not in known]
    if new:
        first = next_id(db, "texts", "text_id")
        columns = [integers(range(first, first + len(new))), objects(new)]
        run(db, columns, "INSERT INTO texts SELECT * FROM columns ORDER BY column0")
        known.update((key, first + i) for i, key in enumerate(new))
    known[b""] = 0
    return [known[key] for key in keys]


_CHUNK = "kind, name, qualified_name, signature, docstring, text, line_start, line_end"
_MARK = "hash((SELECT value FROM meta WHERE key = 'identity'), content_id, blob, language)"
"""What no other index has of a content. Ids of contents are not used again (`gitrag/store/garbage.py`)."""
_INDEX = f"SELECT {_MARK}::VARCHAR FROM (VALUES (0, ''::BLOB, '')) AS none(content_id, blob, language)"
"""What no other index has, nor DuckDB says of this one once it hashes otherwise."""


def read_chunks(
    db: DuckDBPyConnection, chunk_ids: Iterable[int], memo: Memo | None = None
) -> dict[int, Chunk]:
    """Read chunks by id, of a large index from the cache beside it (`chunk_cache.py`) where that has them."""
    wanted = integers(dict.fromkeys(chunk_ids))
    found = kept_chunks(db, wanted, memo) if len(wanted) <= _MOST_KEPT else {}
    if len(found) < len(wanted):
        columns = [integers(each for each in wanted.tolist() if each not in found)]
        sql = f"SELECT chunk_id, {_CHUNK} FROM chunks SEMI JOIN columns ON chunk_id = column0"
        found.update((row[0], _chunk(*row[1:])) for row in run(db, columns, sql).fetchall())
    return found


def drafts_among(
    db: DuckDBPyConnection, chunk_ids: Sequence[int], memo: Memo | None = None
) -> list[vectors.PendingText]:
    """List the texts of chunks that have only a draft, in the chunks' order."""
    those = "SELECT chunk_id, text_id FROM chunks SEMI JOIN columns ON chunk_id = column0"
    text_of = dict(run(db, [integers(chunk_ids)], those).fetchall())
    drafts = "SELECT text_id FROM drafts SEMI JOIN columns ON text_id = column0"
    drafted = {text_id for (text_id,) in run(db, [integers(text_of.values())], drafts).fetchall()}
    having = {text_of[each]: each for each in chunk_ids if text_of.get(each) in drafted}
    chunks = read_chunks(db, having.values(), memo)
    return [(text_id, chunks[each]) for text_id, each in having.items()]


def kept_chunks(db: DuckDBPyConnection, chunk_ids: NDArray[np.int32], memo: Memo | None) -> dict[int, Chunk]:
    """Return those of some chunks that are in the cache beside a large index."""
    if memo is None or memo.chunks is None or not len(chunk_ids):
        return {}
    return memo.chunks.read(_marks_of(db, chunk_ids, memo))


def _chunk(kind: str, *rest: Any) -> Chunk:
    return Chunk(Kind(kind), *rest)


def _marks_of(db: DuckDBPyConnection, chunk_ids: NDArray[np.int32], memo: Memo) -> dict[int, int]:
    """Return the marks of the contents of some chunks, by chunk."""
    chunks = read_chunk_columns(db, memo)
    sql = f"SELECT content_id, {_MARK} AS mark FROM contents ORDER BY content_id"
    marks = memo.get("marks", lambda: db.execute(sql).fetchnumpy())
    place, chunk_ids = _found(chunks["chunk_id"], chunk_ids, chunk_ids)
    place, chunk_ids = _found(marks["content_id"], chunks["content_id"][place], chunk_ids)
    return dict(zip(chunk_ids.tolist(), marks["mark"][place].tolist(), strict=True))


def _found(
    keys: NDArray[np.int32], wanted: NDArray[np.int32], beside: NDArray[np.int32]
) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """Return where some ids are in a column, ascending, and what stands beside those that are."""
    place = np.searchsorted(keys, wanted)
    there = place < len(keys)
    there[there] = keys[place[there]] == wanted[there]
    return place[there], beside[there]


def fill_cache(
    db: DuckDBPyConnection, cache: ChunkCache, place: tuple[str, int] | None = None
) -> tuple[str, int] | None:
    """Write some of the chunks that are new into their cache.

    Args:
        place: The index and the id to go on from, as returned; None to begin.

    Returns:
        None where no more is to be written.
    """
    row = db.execute(_INDEX).fetchone()
    index = str(row and row[0])
    own, first = place or (index, cache.end(index))
    if own != index:
        return None
    rows = db.execute(
        f"SELECT chunk_id, {_MARK}, {_CHUNK} FROM chunks JOIN contents USING (content_id)"
        " WHERE chunk_id >= ? AND chunk_id < ? ORDER BY chunk_id",
        [first, first + _AT_A_TIME],
    ).fetchall()
    if not cache.write(index, ((*row[:2], _chunk(*row[2:])) for row in rows), anew=not first):
        return None
    row = db.execute("SELECT max(chunk_id) FROM chunks").fetchone()
    following = first + _AT_A_TIME
    return (index, following) if row and following <= (row[0] or 0) else None


def read_places(db: DuckDBPyConnection, chunk_ids: Iterable[int]) -> dict[int, ChunkPlace]:
    """Read where chunks are, by id, without their texts."""
    columns = [integers(chunk_ids)]
    sql = "SELECT chunk_id, line_start, line_end, name FROM chunks SEMI JOIN columns ON chunk_id = column0"
    rows = run(db, columns, sql).fetchall()
    return {chunk_id: (first, last, name) for chunk_id, first, last, name in rows}


def read_texts(db: DuckDBPyConnection, content_ids: Iterable[int]) -> dict[int, str]:
    """Read contents as text, joined from their chunks; blank lines between chunks are kept."""
    columns = [integers(sorted(set(content_ids)))]
    rows = run(
        db,
        columns,
        "SELECT content_id, line_start, text FROM chunks SEMI JOIN columns ON content_id = column0"
        " ORDER BY content_id, line_start, chunk_id",
    ).fetchall()
    return joined_texts(rows)


def joined_texts(rows: Iterable[tuple[int, int, str]]) -> dict[int, str]:
    """Join the texts of contents from their chunks: content, first line and text, in order. Pure."""
    lines: dict[int, dict[int, str]] = {}
    part_of = (0, 0)  # content and number of the line that the chunk before was, or was a part of
    for content_id, start, text in rows:
        own = lines.setdefault(content_id, {})
        if "\n" not in text and part_of == (content_id, start):  # a long line is several chunks
            own[start] += text
            continue
        part_of = (content_id, start) if "\n" not in text else (0, 0)
        for number, line in enumerate(text.split("\n"), start):
            own.setdefault(number, line)
    return {
        content_id: "\n".join(own.get(number, "") for number in range(1, max(own) + 1))
        for content_id, own in lines.items()
    }


def containing(db: DuckDBPyConnection, content_ids: NDArray[np.int32], text: str) -> NDArray[np.int32]:
    """Find the chunks of some contents that have a text."""
    return _among(db, content_ids, "contains(text, ?)", text)


def _among(db: DuckDBPyConnection, ids: NDArray[np.int32], where: str, value: str) -> NDArray[np.int32]:
    sql = f"SELECT chunk_id FROM chunks SEMI JOIN columns ON content_id = column0 WHERE {where}"
    found: NDArray[np.int32] = run(db, [ids], sql, [value]).fetchnumpy()["chunk_id"]
    return found


def of_split_lines(db: DuckDBPyConnection, memo: Memo) -> NDArray[np.int32]:
    """Return the chunks of lines so long that they are several: what is sought may lie across two."""
    sql = (
        "SELECT chunk_id FROM chunks WHERE line_start = line_end"
        " QUALIFY count(*) OVER (PARTITION BY content_id, line_start) > 1"
    )
    return memo.get("split lines", lambda: db.execute(sql).fetchnumpy()["chunk_id"])


def matching(
    db: DuckDBPyConnection, content_ids: NDArray[np.int32], expression: str
) -> NDArray[np.int32] | None:
    r"""Find the chunks of some contents of which a line may match an expression; DuckDB's are RE2 too.

    Args:
        expression: It must not ask where the text begins or ends (``\A``, ``\z``, ``(?-m)``): to the caller a
            text is a line, here it is a chunk.

    Returns:
        None where DuckDB does not know the expression: any chunk may match.
    """
    try:
        return _among(db, content_ids, "regexp_matches(text, ?)", f"(?m){expression}")
    except duckdb.InvalidInputException:  # its RE2 is an earlier one
        return None


def read_names(db: DuckDBPyConnection, content_ids: Iterable[int]) -> dict[int, list[str]]:
    """Read the names of the definitions of some contents."""
    rows = run(
        db,
        [integers(sorted(content_ids))],
        "SELECT content_id, list(DISTINCT name) FROM chunks SEMI JOIN columns ON content_id = column0"
        " WHERE name <> '' AND kind NOT IN (?, ?) GROUP BY content_id",
        [Kind.MODULE.value, Kind.SECTION.value],
    ).fetchall()
    return dict(rows)


def read_chunk_texts(db: DuckDBPyConnection, content_ids: Iterable[int]) -> dict[int, list[str]]:
    """Read the texts of the chunks of some contents, in order."""
    rows = run(
        db,
        [integers(sorted(content_ids))],
        "SELECT content_id, list(text ORDER BY chunk_id) FROM chunks"
        " SEMI JOIN columns ON content_id = column0 GROUP BY content_id",
    ).fetchall()
    return dict(rows)


def retry(db: DuckDBPyConnection, states: Sequence[str]) -> None:
    """Mark contents as pending again if they were left out for reasons that may no longer hold."""
    db.execute("UPDATE contents SET state = ? WHERE state IN (SELECT unnest(?))", [PENDING, list(states)])
