"""Ask the store: candidates by words, meaning, name and path, fused and ranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitrag.git import Rules
from gitrag.git.repository import FILE_MODE
from gitrag.model import Chunk, Skip
from gitrag.search import ranking
from gitrag.search.question import Question
from gitrag.search.ranking import Signal
from gitrag.search.snippet import Line, snippet
from gitrag.store import candidates, content
from gitrag.store.candidates import Filters
from gitrag.store.views import Overlay

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gitrag.store.connection import Connection

_CANDIDATES = 200
"""From each way of looking; 50 → 200 is worth 0.015 NDCG@10 on whole repositories."""

_ALSO = 3
"""Further hits of a file that are named beneath its best."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where another hit of the same file is."""

    line_start: int
    line_end: int
    name: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A file that answers a question, by its best chunk.

    Attributes:
        path: The file.
        chunk: Its best chunk.
        score: Relevance in [0, 1].
        lines: The lines that say most.
        also: The file's other hits, best first.
        signals: What each way of looking said (``ranking.WEIGHTS`` names them).
    """

    path: str
    chunk: Chunk
    score: float
    lines: tuple[Line, ...]
    also: tuple[Place, ...]
    signals: dict[str, Signal]


@dataclass(frozen=True, slots=True)
class Scoped:
    """What a question may find.

    Attributes:
        view_id: The view, or None.
        overlay: What lies on top of it.
        filters: Kinds, languages, path globs.
    """

    view_id: int | None
    overlay: Overlay
    filters: Filters


def ask(
    db: Connection,
    question: Question,
    scoped: Scoped,
    vector: NDArray[np.float32] | None,
    *,
    limit: int,
    min_score: float,
    every_chunk: bool = False,
) -> list[Hit]:
    """Answer a question from the store.

    Args:
        db: An open connection; reading is enough.
        question: The question.
        scoped: What it may find.
        vector: The question's embedding, float32 (384,), L2-normalised; None to go by words alone.
        limit: How many hits at most.
        min_score: Hits below are left out.
        every_chunk: Give each chunk a hit of its own, not each file.
    """
    allowed = _allowed(db, scoped.filters)
    scope = candidates.open_scope(db, scoped.view_id, scoped.overlay, scoped.filters, allowed)
    if not scope.chunks or not question.words:
        return []
    lexical = candidates.lexical(db, scope, question.hashes, question.weights, _CANDIDATES)
    semantic = [] if vector is None else candidates.semantic(db, scope, vector, _CANDIDATES)
    named = candidates.named(db, question.names, _CANDIDATES)
    by_path = candidates.by_path(db, question.hashes, _CANDIDATES)
    fused = ranking.fuse(
        {
            "lexical": [(hit.chunk_id, hit.path_id, hit.score) for hit in lexical],
            "semantic": [(hit.chunk_id, hit.path_id, hit.score) for hit in semantic],
            "name": [(hit.chunk_id, hit.path_id, hit.score) for hit in named],
            "path": [(hit.chunk_id, hit.path_id, hit.score) for hit in by_path],
        }
    )
    kinds = content.read_kinds(db, {item.chunk_id for item in fused})
    paths = candidates.read_paths(db, list({item.path_id for item in fused}))
    files = ranking.order(fused, paths, kinds, question)
    if every_chunk:
        singles = [[item] for group in files for item in group]
        files = sorted(singles, key=lambda group: -group[0].fused)
    sure = ranking.evidence(
        max((hit.coverage for hit in lexical), default=0.0),
        max((hit.score for hit in semantic), default=0.0),
        named=any(hit.score == 1.0 for hit in named),
    )
    shown = ranking.cut(files, sure, limit=limit, min_score=min_score)
    ids = {item.chunk_id for _score, group in shown for item in group[: 1 + _ALSO]}
    chunks = content.read_chunks(db, ids)
    return [
        Hit(
            path=paths[group[0].path_id],
            chunk=chunks[group[0].chunk_id],
            score=score,
            lines=snippet(chunks[group[0].chunk_id], question),
            also=tuple(_place(chunks[item.chunk_id]) for item in group[1 : 1 + _ALSO]),
            signals=dict(group[0].signals),
        )
        for score, group in shown
    ]


def _place(chunk: Chunk) -> Place:
    return Place(chunk.line_start, chunk.line_end, chunk.name)


def _allowed(db: Connection, filters: Filters) -> Sequence[int] | None:
    if not filters.globs:
        return None
    # Written as exclusions are, by the same bounded matcher: what would be excluded is what is wanted.
    rules = Rules.build({}, filters.globs)
    return [
        path_id for path_id, path in candidates.all_paths(db) if rules.skip(path, FILE_MODE) is Skip.IGNORED
    ]
