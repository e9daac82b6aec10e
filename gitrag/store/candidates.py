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
    columns = [integers(overlay.masked)]
    run(db, columns, "CREATE OR REPLACE TEMP TABLE masked AS SELECT column0 AS path_id FROM columns")
    columns = [
        integers(path for path, _ in overlay.entries),
        integers(content for _, content in overlay.entries),
    ]
    allowed = [integers(path_ids or ())]
    conditions = ["true"]
    parameters: list[object] = [view_id]
    if path_ids is not None:
        run(db, allowed, "CREATE OR REPLACE TEMP TABLE allowed AS SELECT column0 AS path_id FROM columns")
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
        "CREATE OR REPLACE TEMP TABLE scope AS"
        " SELECT chunk_id, path_id, chunks.text_id, length FROM ("
        "  SELECT path_id, content_id FROM entries ANTI JOIN masked USING (path_id)"
        "  WHERE view_id = ? AND content_id <> 0"
        "  UNION ALL SELECT column0, column1 FROM columns"
        f") JOIN chunks USING (content_id) JOIN contents USING (content_id) WHERE {' AND '.join(conditions)}",
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
    rows = run(
        db,
        columns,
        f"""
        WITH hits AS MATERIALIZED (
            SELECT term, chunk_id, tf, column1 AS weight FROM postings
            JOIN columns ON term = column0 SEMI JOIN scope USING (chunk_id)
        ), idf AS (
            SELECT column0 AS term, column1 * ln(1 + ($chunks - n + 0.5) / (n + 0.5)) AS idf FROM columns
            LEFT JOIN (SELECT term, count(*) AS n FROM hits GROUP BY term) counts ON column0 = counts.term
        ), total AS (
            -- A term found nowhere has the idf of one found once: what is not there must count as missing.
            SELECT sum(coalesce(idf, column1 * ln(1 + ($chunks - 0.5) / 1.5))) AS total
            FROM columns LEFT JOIN idf ON column0 = idf.term
        )
        SELECT chunk_id, path_id,
            sum(idf * tf * ({K1} + 1) / (tf + {K1} * (1 - {B} + {B} * length / $mean))) AS score,
            sum(idf) / any_value(total) AS coverage
        FROM hits JOIN idf USING (term) JOIN scope USING (chunk_id) CROSS JOIN total
        GROUP BY chunk_id, path_id ORDER BY score DESC, path_id, chunk_id LIMIT $limit
        """.replace("$chunks", str(float(scope.chunks)))
        .replace("$mean", str(max(scope.mean_length, 1.0)))
        .replace("$limit", str(int(limit))),
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
    if scope.chunks <= EXACT_BELOW:
        near = _cosine("vector")
    else:
        _, bits = pack(question.reshape(1, -1))
        # Of two vectors whose signs differ in h of n places, the angle is about πh/n (Charikar, 2002).
        distance = " + ".join(
            f"bit_count(xor(b{i}, {int(word)}::UBIGINT))::SMALLINT" for i, word in enumerate(bits[0])
        )
        near = f"cos({math.pi / DIMENSIONS} * ({distance}))"
    rows = db.execute(
        f"""
        WITH near_paths AS MATERIALIZED (
            SELECT path_id, vector AS path_vector, {_cosine("vector")} AS path_cos
            FROM (SELECT DISTINCT path_id FROM scope) JOIN paths USING (path_id) JOIN vectors USING (text_id)
            CROSS JOIN question
        ), first AS MATERIALIZED (
            SELECT chunk_id, path_id, scope.text_id, coalesce(path_cos, 0) AS path_cos, {near} AS near
            FROM scope JOIN vectors USING (text_id) CROSS JOIN question LEFT JOIN near_paths USING (path_id)
            ORDER BY near + {PATH_WEIGHT} * coalesce(path_cos, 0) DESC, path_id, chunk_id LIMIT {_FIRST_STAGE}
        )
        SELECT chunk_id, path_id, ({_cosine("vector")} + {PATH_WEIGHT} * first.path_cos)
            / sqrt(1 + {PATH_WEIGHT**2} + 2 * {PATH_WEIGHT}
                * coalesce({_cosine("vector", f"path_vector::FLOAT[{DIMENSIONS}]")}, 0)) AS score
        FROM first JOIN vectors USING (text_id) CROSS JOIN question LEFT JOIN near_paths USING (path_id)
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
    columns = [objects(names), objects(name.casefold() for name in names)]
    rows = run(
        db,
        columns,
        """
        SELECT min(chunk_id) AS chunk_id, path_id,
            max(CASE WHEN name = column0 OR qualified_name = column0 THEN 1.0 ELSE 0.5 END) AS score
        FROM chunks JOIN columns ON name_key = column1 OR lower(qualified_name) = column1
        JOIN scope USING (chunk_id)
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


def _cosine(column: str, other: str = "q") -> str:
    return f"array_cosine_similarity({column}::FLOAT[{DIMENSIONS}], {other})"


def _doubles(values: Sequence[float]) -> NDArray[np.float64]:
    import numpy as np

    return np.array(values, dtype=np.float64)
