"""Search observations: what tells which decisions bear on a sentence, applied to a few texts in memory.

An observation takes the place of a document (`gitrag/search/bearing.py`), pieces of its sections that of the
document's parts. A few hundred observations are read, split and compared at once, so there is no index.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gitrag.chunking import chunk
from gitrag.corpus.documents import Document
from gitrag.embedding.text import chunk_text, path_text
from gitrag.late import np
from gitrag.memory.exploration import SECTIONS
from gitrag.memory.observations import Observation
from gitrag.model import Chunk
from gitrag.search.bearing import DocumentPart, Documents
from gitrag.search.question import Question
from gitrag.store.candidates import PATH_WEIGHT

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Recalled(Struct, frozen=True):
    """An observation that answers a query.

    Attributes:
        observation: The observation.
        score: Relevance in [0, 1].
        section: The most relevant section.
        text: The most relevant piece of it.
    """

    observation: Observation
    score: float
    section: str
    text: str


class Piece(Struct, frozen=True):
    """A piece of a section, as it is searched."""

    owner: int
    section: str
    chunk: Chunk


def pieces(observations: Sequence[Observation]) -> list[Piece]:
    """Split observations into pieces, each small enough to be embedded."""
    found = []
    for owner, observation in enumerate(observations):
        for name in SECTIONS:
            text = observation.sections.get(name, "")
            cut = chunk(text.encode("utf-8", "replace"), "markdown") if text else []
            found += [Piece(owner, name, each) for each in cut]
    return found


def texts(observations: Sequence[Observation], cut: Sequence[Piece]) -> list[str]:
    """Return the texts to embed: each observation's title, then each piece."""
    return [path_text(each.title) for each in observations] + [chunk_text(each.chunk) for each in cut]


def recall(
    question: Question,
    vector: NDArray[np.float32],
    observations: Sequence[Observation],
    cut: Sequence[Piece],
    vectors: NDArray[np.float32],
    *,
    limit: int,
    min_score: float,
) -> list[Recalled]:
    """Return the observations that answer a query, best first.

    Args:
        vector: Its embedding, float32 (384,), L2-normalised.
        cut: Their ``pieces``.
        vectors: Of their ``texts``, float32 (n + p, 384), L2-normalised.
    """
    if not cut or not question.words:
        return []
    documents = Documents(
        kinds=(),
        documents=tuple(Document(str(each.observation_id), "", each.title) for each in observations),
        texts=tuple("\n\n".join(each.sections.values()) for each in observations),
        parts=tuple(
            DocumentPart(
                piece.owner, replace(piece.chunk, qualified_name=observations[piece.owner].title), place
            )
            for place, piece in enumerate(cut)
        ),
        vectors=_with_titles(vectors[len(observations) :], vectors[: len(observations)], cut),
    )
    found = documents.on_text(question.text, vector)
    ties = [(each.updated, each.observation_id) for each in observations]
    order = sorted(found, key=lambda each: (round(each.score, 6), ties[each.document]), reverse=True)
    return [
        Recalled(observations[each.document], each.score, cut[each.part].section, cut[each.part].chunk.text)
        for each in order
        if each.score >= min_score and each.part >= 0
    ][:limit]


def _with_titles(
    own: NDArray[np.float32], titles: NDArray[np.float32], cut: Sequence[Piece]
) -> NDArray[np.float32]:
    """Mix the vector of each piece with that of its observation's title, as a chunk's with its path's."""
    joint = own + np.float32(PATH_WEIGHT) * titles[[piece.owner for piece in cut]]
    mixed: NDArray[np.float32] = joint / np.maximum(np.linalg.norm(joint, axis=1, keepdims=True), 1e-9)
    return mixed
