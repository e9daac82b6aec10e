"""Candidates: the chunks that a question may be about, by words, by meaning and by name.

All work on a *scope*, a temporary table of the chunks that the question may find: those of a view with an
overlay on top, filtered. So a filter acts before any cut.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitrag.store.columns import hashes, integers, objects, run
from gitrag.store.content import decode_path
from gitrag.store.schema import DIMENSIONS
from gitrag.store.vectors import pack
from gitrag.store.views import Overlay

if TYPE_CHECKING:
    import numpy as np
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

EXACT_BELOW = 20_000
"""Fewer vectors are scanned exactly (11 ms); more go by Hamming distance first, 7 ms for 200,000."""

_FIRST_STAGE = 1_000
"""Vectors compared exactly after the first stage: 0.98 of the exact top 50 among 300,000."""

PATH_WEIGHT = 0.5
"""A question is compared with normalise(chunk + 0.5 · path): one result a file, NDCG@10 0.836 with vectors
alone, against 0.722 without the path and 0.803 with the path's words in the embedded text."""

K1 = 1.2
B = 0.75
"""Okapi BM25's usual constants (Robertson and Zaragoza, 2009, section 3.5)."""


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
class Scope:
    """What the temporary table ``scope`` holds.

    Attributes:
        chunks: Number of chunks.
        mean_length: Their mean number of weighted terms.
    """

    chunks: int
    mean_length: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk at a path, and what one way of looking thinks of it; larger is better."""

    chunk_id: int
    path_id: int
    score: float


@dataclass(frozen=True, slots=True)
class LexicalCandidate:
    """A chunk at a path, its BM25, and the share of the question's information that its terms cover."""

    chunk_id: int
    path_id: int
    score: float
    coverage: float


def open_scope(
    db: DuckDBPyConnection,
    view_id: int | None,
    overlay: Overlay,
    filters: Filters,
    path_ids: Sequence[int] | None,
) -> Scope:
    """Make the temporary table ``scope`` (chunk_id, path_id, text_id, length).

    Args:
        db: An open connection; reading is enough.
        view_id: The view; None for the overlay alone.
        overlay: What lies on top of it.
        filters: Kinds and languages.
        path_ids: The only paths allowed, or None for all.
    """
    columns = [
        integers(path for path, _ in overlay.entries),
        integers(content for _, content in overlay.entries),
    ]
    own = "SELECT path_id, content_id FROM entries WHERE view_id = ? AND content_id <> 0"
    conditions = ["true"]
    parameters: list[object] = [view_id]
    if overlay.masked:
        _table(db, "masked", integers(overlay.masked))
        own += " AND path_id NOT IN (FROM masked)"
    if path_ids is not None:
        _table(db, "allowed", integers(path_ids))
        conditions.append("path_id IN (FROM allowed)")
    if filters.kinds:
        conditions.append("kind IN (SELECT unnest(?))")
        parameters.append(list(filters.kinds))
    if filters.languages:
        conditions.append("language IN (SELECT unnest(?))")
        parameters.append(list(filters.languages))
    run(
        db,
        columns,
        "CREATE OR REPLACE TEMP TABLE scope AS SELECT chunk_id, path_id, chunks.text_id, length"
        f" FROM ({own} UNION ALL SELECT column0, column1 FROM columns)"
        " JOIN chunks USING (content_id) JOIN contents USING (content_id)"
        f" WHERE {' AND '.join(conditions)}",
        parameters,
    )
    row = db.execute("SELECT count(*), coalesce(avg(length), 0) FROM scope").fetchone()
    return Scope(*row) if row else Scope(0, 0.0)


def lexical(
    db: DuckDBPyConnection, scope: Scope, terms: Sequence[int], weights: Sequence[float], limit: int
) -> list[LexicalCandidate]:
    """Rank the scope's chunks by BM25, document frequencies counted in the scope.

    Args:
        db: The connection that has the scope.
        scope: What it holds.
        terms: The question's distinct hashed terms.
        weights: For each term, how much it counts.
        limit: How many to give at most.
    """
    if not terms or not scope.chunks:
        return []
    columns = [hashes(terms), _doubles(weights)]
    n, slope = _double(scope.chunks), _double(K1 * B / max(scope.mean_length, 1.0))
    rows = run(
        db,
        columns,
        f"""
        WITH hits AS MATERIALIZED (
            SELECT term, chunk_id, tf::DOUBLE AS tf FROM postings
            SEMI JOIN columns ON term = column0 SEMI JOIN scope USING (chunk_id)
        ), idf AS MATERIALIZED (
            -- A term found nowhere has the idf of one found once: what is not there must count as missing.
            SELECT column0 AS term,
                column1 * ln(1 + ({n} - coalesce(df, 1) + 0.5) / (coalesce(df, 1) + 0.5)) AS idf
            FROM columns LEFT JOIN (SELECT term, count(*) AS df FROM hits GROUP BY term) counted
                ON column0 = counted.term
        )
        SELECT chunk_id, path_id,
            sum(idf * tf * {_double(K1 + 1)} / (tf + {_double(K1 * (1 - B))} + {slope} * length)) AS score,
            sum(idf) / (SELECT sum(idf) FROM idf) AS coverage
        FROM hits JOIN idf USING (term) JOIN scope USING (chunk_id)
        GROUP BY chunk_id, path_id ORDER BY score DESC, path_id, chunk_id LIMIT {int(limit)}
        """,
    ).fetchall()
    return [LexicalCandidate(*row) for row in rows]


def semantic(
    db: DuckDBPyConnection, scope: Scope, question: NDArray[np.float32], limit: int
) -> list[Candidate]:
    """Rank the scope's chunks by the cosine of the question with normalise(chunk + 0.5 · path).

    Args:
        db: The connection that has the scope.
        scope: What it holds.
        question: float32 (384,), L2-normalised.
        limit: How many to give at most.

    Returns:
        Candidates with their cosine in [-1, 1]; a chunk without a vector is not among them.
    """
    columns = [question.astype("float32")]
    # A row of a table: as a parameter, 384 numbers would be converted one by one, in each place again.
    run(
        db,
        columns,
        "CREATE OR REPLACE TEMP TABLE question AS"
        f" SELECT list(column0)::FLOAT[{DIMENSIONS}] AS q FROM columns",
    )
    exact = scope.chunks <= EXACT_BELOW
    rows = db.execute(
        f"""
        WITH near AS MATERIALIZED (
            -- Over the whole table, for a join would copy each vector that it passes on.
            SELECT text_id, {_cosine("vector") if exact else _cosine_by_signs(question)} AS near
            FROM vectors {"CROSS JOIN question" if exact else ""}
        ), near_paths AS MATERIALIZED (
            SELECT path_id, text_id AS path_text_id, near AS path_near
            FROM paths JOIN near USING (text_id) SEMI JOIN scope USING (path_id)
        ), first AS MATERIALIZED (
            SELECT chunk_id, path_id, scope.text_id, path_text_id, near.near
            FROM scope JOIN near ON scope.text_id = near.text_id LEFT JOIN near_paths USING (path_id)
            ORDER BY near.near + {_double(PATH_WEIGHT)} * coalesce(path_near, 0) DESC, path_id, chunk_id
            LIMIT {max(2 * limit, 0 if exact else _FIRST_STAGE)}
        ), pairs AS MATERIALIZED (
            -- No outer join to vectors: DuckDB 2.0 casts garbage for the array of a row without match.
            SELECT text_id, path_text_id, {_cosine("path.vector")} AS path_near,
                {_cosine("chunk.vector", f"path.vector::FLOAT[{DIMENSIONS}]")} AS alike
            FROM (SELECT DISTINCT text_id, path_text_id FROM first WHERE path_text_id IS NOT NULL)
                JOIN vectors chunk USING (text_id) JOIN vectors path ON path_text_id = path.text_id
                CROSS JOIN question
        )
        SELECT chunk_id, path_id,
            ({_cosine("chunk.vector")} + {_double(PATH_WEIGHT)} * coalesce(path_near, 0))
            / sqrt(1 + coalesce({_double(PATH_WEIGHT**2)} + 2 * {_double(PATH_WEIGHT)} * alike, 0)) AS score
        FROM first JOIN vectors chunk ON first.text_id = chunk.text_id
            LEFT JOIN pairs ON first.text_id = pairs.text_id AND first.path_text_id = pairs.path_text_id
            CROSS JOIN question
        ORDER BY score DESC, path_id, chunk_id LIMIT ?
        """,
        [limit],
    ).fetchall()
    return [Candidate(*row) for row in rows]


def named(db: DuckDBPyConnection, names: Sequence[str], limit: int) -> list[Candidate]:
    """Find the scope's definitions by name or qualified name; 1 for the same case, 0.5 otherwise.

    Of a definition in several parts it is the first, which has its signature.
    """
    if not names:
        return []
    columns = [
        objects(names),
        objects(name.casefold() for name in names),
        objects(name.rpartition(".")[2].casefold() for name in names),
    ]
    rows = run(
        db,
        columns,
        """
        SELECT min(chunk_id) AS chunk_id, path_id,
            max(CASE WHEN name = column0 OR ends_with('.' || qualified_name, '.' || column0)
                THEN 1 ELSE 0.5 END)::DOUBLE AS score
        FROM chunks JOIN columns ON name_key = column2 JOIN scope USING (chunk_id)
        WHERE column1 = column2 OR ends_with('.' || lower(qualified_name), '.' || column1)
        GROUP BY qualified_name, path_id ORDER BY score DESC, path_id, chunk_id LIMIT ?
        """,
        [limit],
    ).fetchall()
    return [Candidate(*row) for row in rows]


def by_path(db: DuckDBPyConnection, terms: Sequence[int], limit: int) -> list[Candidate]:
    """Find the scope's paths by their words: the summed idf of the terms among the scope's paths."""
    if not terms:
        return []
    columns = [hashes(terms)]
    rows = run(
        db,
        columns,
        """
        WITH mine AS MATERIALIZED (SELECT path_id, min(chunk_id) AS chunk_id FROM scope GROUP BY path_id),
        hits AS MATERIALIZED (
            SELECT term, path_id FROM path_postings
            SEMI JOIN columns ON term = column0 SEMI JOIN mine USING (path_id)
        ), idf AS (
            SELECT term, ln(1 + ((SELECT count(*) FROM mine) - count(*) + 0.5) / (count(*) + 0.5)) AS idf
            FROM hits GROUP BY term
        )
        SELECT any_value(chunk_id), path_id, sum(idf) AS score
        FROM hits JOIN idf USING (term) JOIN mine USING (path_id)
        GROUP BY path_id ORDER BY score DESC, path_id LIMIT ?
        """,
        [limit],
    ).fetchall()
    return [Candidate(*row) for row in rows]


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


def _cosine_by_signs(question: NDArray[np.float32]) -> str:
    """Of two vectors whose signs differ in h of n places the angle is about πh/n (Charikar, 2002)."""
    _, bits = pack(question.reshape(1, -1))
    distance = " + ".join(
        # Without the cast the sum overflows INT8.
        f"bit_count(xor(b{i}, {int(word)}::UBIGINT))::SMALLINT"
        for i, word in enumerate(bits[0])
    )
    return f"cos({_double(math.pi / DIMENSIONS)} * ({distance}))"


def _cosine(column: str, other: str = "q") -> str:
    return f"array_cosine_similarity({column}::FLOAT[{DIMENSIONS}], {other})"


def _table(db: DuckDBPyConnection, name: str, values: NDArray[np.int32]) -> None:
    run(db, [values], f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT column0 AS path_id FROM columns")


def _double(value: float) -> str:
    """Write a number as a DOUBLE: DuckDB reads a bare 0.1 as a DECIMAL, three times as slow."""
    return f"{float(value)!r}::DOUBLE"


def _doubles(values: Sequence[float]) -> NDArray[np.float64]:
    import numpy as np

    return np.array(values, dtype=np.float64)
