"""What the store knows that bears on a question: the files it may find, and the rows that speak for them.

All work on a *scope*, a temporary table of the files that the question may find: those of a view with an
overlay on top, filtered. So a filter acts before any cut. Rows come as NumPy columns; what they are worth is
the ranker's to say (`gitrag/search`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gitrag.store import vectors
from gitrag.store.columns import hashes, integers, objects, run
from gitrag.store.paths import decode_path
from gitrag.store.schema import DIMENSIONS
from gitrag.store.views import Overlay
from gitrag.terms import IN_NAME

if TYPE_CHECKING:
    import numpy as np
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

SURPLUS = 8
"""How many times as many chunks as are wanted the signs choose, where there are more: with 8 the first ten
files are those of the exact comparison for all of 80 questions, with 4 for 76, with 1 for a third
(`scripts/bench/two_stages.py`).
"""

PATH_WEIGHT = 0.5
"""A question is compared with normalise(chunk + 0.5 · path): one result a file, NDCG@10 0.836 with vectors
alone, against 0.722 without the path and 0.803 with the path's words in the embedded text."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a question is limited to.

    Attributes:
        kinds: Kinds of chunk; none means all.
        languages: Languages; none means all.
        globs: Patterns of paths as in .gitignore; none means all.
    """

    kinds: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()


NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a scope, in columns of equal length; a file's number is its place in them.

    Attributes:
        path_id: int32.
        content_id: int32.
        language: str, empty where it is not known.
        traits: uint8, ``gitrag.traits.Trait``.
        top: uint64, hash of the first directory.
        name_terms: uint8, number of words in the file's name.
        chunks: int32, number of chunks.
        length: int32, number of weighted terms.
    """

    path_id: NDArray[np.int32]
    content_id: NDArray[np.int32]
    language: NDArray[Any]
    traits: NDArray[np.uint8]
    top: NDArray[np.uint64]
    name_terms: NDArray[np.uint8]
    chunks: NDArray[np.int32]
    length: NDArray[np.int32]

    def __len__(self) -> int:
        """Count the files."""
        return len(self.path_id)


@dataclass(frozen=True, slots=True)
class Postings:
    """Where a question's terms are, in columns of equal length.

    Attributes:
        term: int32, place of the term in the question.
        chunk_id: int32.
        file: int32, number of the file in the scope.
        frequency: int32, weighted.
        in_name: bool, whether the chunk's name has it.
        length: int32, the chunk's number of weighted terms.
    """

    term: NDArray[np.int32]
    chunk_id: NDArray[np.int32]
    file: NDArray[np.int32]
    frequency: NDArray[np.int32]
    in_name: NDArray[np.bool_]
    length: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Near:
    """Chunks nearest to a question in meaning, best first.

    Attributes:
        chunk_id: int32.
        file: int32, number of the file in the scope.
        cosine: float32, of the question with normalise(chunk + 0.5 · path).
    """

    chunk_id: NDArray[np.int32]
    file: NDArray[np.int32]
    cosine: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition of a name that was asked for.

    Attributes:
        chunk_id: Its first chunk.
        file: Number of the file in the scope.
        exact: Whether the name is written as asked for, not only the same letters.
    """

    chunk_id: int
    file: int
    exact: bool


@dataclass(frozen=True, slots=True)
class PathWords:
    """Where a question's terms are in paths: columns of equal length, one row a term, path and part of it."""

    term: NDArray[np.int32]
    file: NDArray[np.int32]
    in_name: NDArray[np.bool_]


def open_scope(
    db: DuckDBPyConnection,
    view_id: int | None,
    overlay: Overlay,
    filters: Filters,
    path_ids: Sequence[int] | None,
) -> Files:
    """Make the temporary table ``scope`` (file, path_id, content_id) and read what its files are.

    Args:
        db: An open connection; reading is enough.
        view_id: The view; None for the overlay alone.
        overlay: What lies on top of it.
        filters: Languages; kinds are of chunks, not of files.
        path_ids: The only paths allowed, or None for all.
    """
    columns: list[NDArray[Any]] = [
        integers(path for path, _ in overlay.entries),
        integers(content for _, content in overlay.entries),
    ]
    own = "SELECT path_id, content_id FROM entries WHERE view_id = ? AND content_id <> 0"
    conditions = ["contents.chunks > 0"]
    parameters: list[object] = [view_id]
    if overlay.masked:
        _table(db, "masked", integers(overlay.masked))
        own += " AND path_id NOT IN (FROM masked)"
    if path_ids is not None:
        _table(db, "allowed", integers(path_ids))
        conditions.append("path_id IN (FROM allowed)")
    if filters.languages:
        conditions.append("language IN (SELECT unnest(?))")
        parameters.append(list(filters.languages))
    run(
        db,
        columns,
        "CREATE OR REPLACE TEMP TABLE scope AS"
        " SELECT (row_number() OVER (ORDER BY path_id) - 1)::INTEGER AS file, path_id, content_id"
        f" FROM ({own} UNION ALL SELECT column0, column1 FROM columns) JOIN contents USING (content_id)"
        f" WHERE {' AND '.join(conditions)}",
        parameters,
    )
    found = db.execute(
        "SELECT path_id, content_id, language, traits, top, name_terms, contents.chunks, length"
        " FROM scope JOIN contents USING (content_id) JOIN paths USING (path_id) ORDER BY file"
    ).fetchnumpy()
    return Files(**found)


def postings(db: DuckDBPyConnection, terms: Sequence[int], filters: Filters) -> Postings:
    """Find the scope's chunks that have a question's terms.

    Args:
        db: The connection that has the scope.
        terms: The question's distinct hashed terms.
        filters: Kinds of chunk.
    """
    columns: list[NDArray[Any]] = [hashes(terms), integers(range(len(terms)))]
    condition, parameters = _kinds(filters)
    found = run(
        db,
        columns,
        "SELECT column1 AS term, chunk_id, file, tf, chunks.length FROM postings"
        " JOIN columns ON term = column0 JOIN chunks USING (chunk_id) JOIN scope USING (content_id)"
        f" WHERE {condition}",
        parameters,
    ).fetchnumpy()
    frequency = found["tf"].astype("int32")
    return Postings(
        found["term"],
        found["chunk_id"],
        found["file"],
        frequency & (IN_NAME - 1),
        (frequency & IN_NAME) > 0,
        found["length"],
    )


def nearest(db: DuckDBPyConnection, question: NDArray[np.float32], filters: Filters, limit: int) -> Near:
    """Find the scope's chunks that are nearest to a question in meaning.

    Where there are many, the signs of all vectors choose some chunks, whose vectors then decide. Of two
    vectors whose signs differ in h of n places the angle is about πh/n (Charikar, 2002).

    Args:
        db: The connection that has the scope.
        question: float32 (384,), L2-normalised.
        filters: Kinds of chunk.
        limit: How many to give at most.
    """
    import numpy as np

    condition, parameters = _kinds(filters)
    rows = db.execute(
        "SELECT chunk_id, file, chunks.text_id, paths.text_id AS path_text FROM chunks"
        " JOIN scope USING (content_id) JOIN paths USING (path_id)"
        f" WHERE chunks.text_id <> 0 AND {condition}",
        parameters,
    ).fetchnumpy()
    chunk_id, file, text, path_text = (rows[name] for name in ("chunk_id", "file", "text_id", "path_text"))
    chosen = SURPLUS * limit
    if len(chunk_id) > chosen:
        text_ids, signs = vectors.read_signs(db)
        _small, own = vectors.pack(question.reshape(1, -1))
        differing = np.bitwise_count(signs ^ own).sum(axis=1, dtype=np.int16)
        about = np.full(1 + max(text_ids.max(initial=0), text.max(), path_text.max()), -1.0, dtype=np.float32)
        about[text_ids] = np.cos(np.pi / DIMENSIONS * np.arange(DIMENSIONS + 1, dtype=np.float32))[differing]
        guess = about[text] + PATH_WEIGHT * np.maximum(about[path_text], 0)
        best = np.argpartition(-guess, chosen)[:chosen]
        chunk_id, file, text, path_text = chunk_id[best], file[best], text[best], path_text[best]
    known, found = vectors.read(db, np.unique(np.concatenate([text, path_text])).astype(np.int32))
    if not len(known):
        return Near(chunk_id[:0], file[:0], np.empty(0, dtype=np.float32))
    there, place = _places(known, text)
    chunk_id, file, place, path_text = chunk_id[there], file[there], place[there], path_text[there]
    with_path, path_place = _places(known, path_text)
    near = found @ question
    weight = np.where(with_path, np.float32(PATH_WEIGHT), np.float32(0))
    alike = np.einsum("ij,ij->i", found[place], found[path_place])
    cosine = (near[place] + weight * near[path_place]) / np.sqrt(1 + weight * (weight + 2 * alike))
    order = np.lexsort((chunk_id, file, -cosine))[:limit]
    return Near(chunk_id[order], file[order], cosine[order])


def _places(
    known: NDArray[np.int32], wanted: NDArray[np.int32]
) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Look up ids in an ascending column: whether each is there, and where (anywhere when it is not)."""
    import numpy as np

    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return known[place] == wanted, place


def definitions(db: DuckDBPyConnection, names: Sequence[str], filters: Filters) -> list[Definition]:
    """Find the scope's definitions by name or qualified name, case aside.

    Of a definition in several parts it is the first, which has its signature. Headings define nothing.
    """
    if not names:
        return []
    columns: list[NDArray[Any]] = [
        objects(names),
        objects(name.casefold() for name in names),
        objects(name.rpartition(".")[2].casefold() for name in names),
    ]
    condition, parameters = _kinds(filters)
    rows = run(
        db,
        columns,
        f"""
        SELECT min(chunk_id) AS first, file,
            bool_or(name = column0 OR ends_with('.' || qualified_name, '.' || column0))
        FROM chunks JOIN columns ON name_key = column2 JOIN scope USING (content_id)
        WHERE (column1 = column2 OR ends_with('.' || lower(qualified_name), '.' || column1))
            AND kind <> 'section' AND {condition}
        GROUP BY qualified_name, file ORDER BY file, first
        """,
        parameters,
    ).fetchall()
    return [Definition(*row) for row in rows]


def path_words(db: DuckDBPyConnection, terms: Sequence[int]) -> PathWords:
    """Find the scope's paths that have a question's terms."""
    columns: list[NDArray[Any]] = [hashes(terms), integers(range(len(terms)))]
    found = run(
        db,
        columns,
        "SELECT column1 AS term, file, in_name FROM path_postings JOIN columns ON term = column0"
        " JOIN scope USING (path_id)",
    ).fetchnumpy()
    return PathWords(found["term"], found["file"], found["in_name"])


def read_paths(db: DuckDBPyConnection, path_ids: Sequence[int]) -> dict[int, str]:
    """Read paths by id."""
    columns = [integers(path_ids)]
    rows = run(
        db, columns, "SELECT path_id, path FROM paths SEMI JOIN columns ON path_id = column0"
    ).fetchall()
    return {path_id: decode_path(path) for path_id, path in rows}


def all_paths(db: DuckDBPyConnection) -> list[tuple[int, str]]:
    """List every recorded path, for filters that only Python can apply."""
    return [(i, decode_path(path)) for i, path in db.execute("SELECT path_id, path FROM paths").fetchall()]


def _kinds(filters: Filters) -> tuple[str, list[object]]:
    return ("kind IN (SELECT unnest(?))", [list(filters.kinds)]) if filters.kinds else ("true", [])


def _table(db: DuckDBPyConnection, name: str, values: NDArray[np.int32]) -> None:
    run(db, [values], f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT column0 AS path_id FROM columns")
