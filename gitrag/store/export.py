"""What a view has, read for somewhere else: its files, and their chunks with all that a search reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.late import np
from gitrag.store.columns import integers, run
from gitrag.store.content import blob_of
from gitrag.words.declarations import handed_on

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

_AT_ONCE = 500
"""Contents whose chunks are read at once: some 20 MB."""

_BOTH = "(FROM vectors UNION ALL FROM drafts)"


class ViewFile(Struct, frozen=True):
    """A file of a view.

    Attributes:
        written: As patterns of paths expect it (``scopes.path_pattern``).
        collection: Its collection, without the repository's slug.
        traits: ``gitrag.words.path_traits.Trait``.
        top: Hash of its top-level directory.
        name_terms: Number of words in its name.
        vector: Of its path, 384 signed bytes; None if there is none.
    """

    content_id: int
    blob: bytes
    language: str
    path: bytes
    written: str
    collection: str
    traits: int
    top: int
    name_terms: int
    vector: bytes | None
    words: tuple[int, ...]


class ExportedChunk(Struct, frozen=True):
    """A chunk with all that a search reads of it.

    Attributes:
        content_id: Its content, in this index.
        kind, name, name_key, qualified_name, signature, docstring, text: As in ``chunks``.
        line_start, line_end: Likewise.
        length: Its weighted number of terms.
        vector: 384 signed bytes; None where it is found by words alone.
        terms: uint64 (t,), hashed.
        frequencies: int32 (t,), as in ``postings``.
    """

    content_id: int
    kind: str
    name: str
    name_key: str
    qualified_name: str
    signature: str
    docstring: str
    text: str
    line_start: int
    line_end: int
    length: int
    vector: bytes | None
    terms: NDArray[np.uint64]
    frequencies: NDArray[np.int32]
    reexports: tuple[str, ...]


def files(db: DuckDBPyConnection, view_id: int) -> list[ViewFile]:
    """Read the files of a view that a question can find, by ascending path id."""
    rows = db.execute(
        f"""
        WITH words AS (SELECT path_id, list(term ORDER BY term) AS words FROM name_postings GROUP BY path_id)
        SELECT content_id, blob, language, path, path::VARCHAR, collection, traits, top, name_terms, vector,
            coalesce(words, [])
        FROM entries JOIN contents USING (content_id) JOIN paths USING (path_id)
        LEFT JOIN {_BOTH} known ON known.text_id = paths.text_id LEFT JOIN words USING (path_id)
        WHERE view_id = ? AND contents.chunks > 0 ORDER BY path_id
        """,
        [view_id],
    ).fetchall()
    return [ViewFile(row[0], _id_of(row[1]), *(*row[2:-1], tuple(row[-1]))) for row in rows]


def _id_of(own: bytes) -> bytes:
    """Return the id of a content's blob: elsewhere one that was asked for is as any other."""
    return bytes.fromhex(blob_of(own.hex())[0])


def batches(some: Sequence[ViewFile]) -> Iterator[list[ViewFile]]:
    """Split files by ascending content id into so many as are read at once."""
    ordered = sorted(some, key=lambda each: each.content_id)
    for start in range(0, len(ordered), _AT_ONCE):
        yield ordered[start : start + _AT_ONCE]


def holds(db: DuckDBPyConnection, some: Sequence[ViewFile]) -> bool:
    """Tell whether contents are here under the ids that were read, with all vectors the model's.

    An index that was built anew has other ids; one that was tidied may be without some.
    """
    ids = integers(each.content_id for each in some)
    here = run(
        db,
        [ids],
        "SELECT content_id, blob, language FROM contents SEMI JOIN columns ON content_id = column0",
    ).fetchall()
    drafts = run(
        db,
        [ids],
        "SELECT 1 FROM chunks SEMI JOIN columns ON content_id = column0 JOIN drafts USING (text_id) LIMIT 1",
    ).fetchone()
    there = {(content_id, _id_of(blob), language) for content_id, blob, language in here}
    return drafts is None and there == {(each.content_id, each.blob, each.language) for each in some}


def chunks(db: DuckDBPyConnection, content_ids: Sequence[int]) -> list[ExportedChunk]:
    """Read the chunks of contents, by ascending id; of a batch, to keep them small."""
    rows = run(
        db,
        [integers(content_ids)],
        "SELECT chunk_id, content_id, kind, name, name_key, qualified_name, signature, docstring, text,"
        f" line_start, line_end, length, vector FROM chunks SEMI JOIN columns ON content_id = column0"
        f" LEFT JOIN {_BOTH} known USING (text_id) ORDER BY chunk_id",
    ).fetchall()
    ids = np.array([row[0] for row in rows], dtype=np.int32)
    found = run(
        db,
        [ids],
        "SELECT chunk_id, term, tf FROM postings SEMI JOIN columns ON chunk_id = column0"
        " ORDER BY chunk_id, term",
    ).fetchnumpy()
    first = np.searchsorted(found["chunk_id"], ids, "left")
    end = np.searchsorted(found["chunk_id"], ids, "right")
    terms, frequencies = found["term"], found["tf"].astype(np.int32)
    return [
        ExportedChunk(
            *(
                *row[1:],
                terms[begin:stop],
                frequencies[begin:stop],
                tuple(sorted(handed_on(row[8]))) if row[2] == "module" else (),
            )
        )
        for row, begin, stop in zip(rows, first.tolist(), end.tolist(), strict=True)
    ]


def tree_of(db: DuckDBPyConnection, view_id: int) -> str:
    row = db.execute("SELECT tree FROM views WHERE view_id = ?", [view_id]).fetchone()
    return str(row[0]) if row else ""
