"""Search observations: the ranking of files, applied to a few texts in memory.

Terms, vectors, evidence, weights and calibration are those of `gitrag/search`: an observation takes the place
of a file, pieces of its sections that of chunks, its title that of the name. A few hundred observations are
read, split and compared in some milliseconds, so there is no index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitrag.chunking import chunk
from gitrag.embedding.text import chunk_text, path_text
from gitrag.memory.exploration import SECTIONS
from gitrag.memory.observations import Observation
from gitrag.model import Chunk
from gitrag.search import ranking
from gitrag.search.evidence import gather
from gitrag.search.question import Question
from gitrag.store.candidates import PATH_WEIGHT, Files, NameWords, Near, Postings
from gitrag.words import terms
from gitrag.words.path_traits import Trait
from gitrag.words.terms import IN_NAME

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Recalled:
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


@dataclass(frozen=True, slots=True)
class Piece:
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
        question: The query.
        vector: Its embedding, float32 (384,), L2-normalised.
        observations: The observations to search.
        cut: Their ``pieces``.
        vectors: Of their ``texts``, float32 (n + p, 384), L2-normalised.
        limit: Most observations to return.
        min_score: Those with a lower score are left out.
    """
    import numpy as np

    if not cut or not question.words:
        return []
    n = len(observations)
    owner = np.array([piece.owner for piece in cut], np.int32)
    texts_of = [(piece.chunk.text, observations[piece.owner].title) for piece in cut]
    term, frequency, sizes, lengths = terms.count(texts_of)
    evidence = gather(
        question,
        _files(observations, owner, lengths),
        _postings(question, term, frequency, sizes, lengths, owner),
        _near(vector, vectors[n:], vectors[:n], owner),
        [],
        _title_words(question, observations),
    )
    ties = [f"{each.updated} {each.observation_id:020}" for each in observations]
    sums = ranking.candidates(evidence, limit)
    ranked = ranking.rank_alone(evidence, sums, np.arange(n, dtype=np.int32), ties, limit=limit)
    found = []
    for item in (each for each in ranked if each.score >= min_score):
        best = cut[int(evidence.chunk_id[item.chunks[0]])]
        found.append(Recalled(observations[item.file], item.score, best.section, best.chunk.text))
    return found


def _files(
    observations: Sequence[Observation], owner: NDArray[np.int32], lengths: NDArray[np.int64]
) -> Files:
    import numpy as np

    n = len(observations)
    numbers = np.arange(n, dtype=np.int32)
    return Files(
        path_id=numbers,
        content_id=numbers,
        language=np.full(n, "markdown", dtype=object),
        traits=np.full(n, int(Trait.DOCUMENT), np.uint8),
        top=np.zeros(n, np.uint64),
        name_terms=np.array([min(len(terms.parts_of(each.title)), 255) for each in observations], np.uint8),
        chunks=np.bincount(owner, minlength=n).astype(np.int32),
        length=np.bincount(owner, lengths, n).astype(np.int32),
    )


def _postings(
    question: Question,
    term: NDArray[np.uint64],
    frequency: NDArray[np.uint16],
    sizes: NDArray[np.int64],
    lengths: NDArray[np.int64],
    owner: NDArray[np.int32],
) -> Postings:
    import numpy as np

    piece = np.repeat(np.arange(len(sizes)), sizes)
    asked = np.array(question.hashes, np.uint64)
    order = np.argsort(asked)
    place = np.searchsorted(asked[order], term).clip(max=len(asked) - 1)
    hit = asked[order][place] == term
    return Postings(
        term=order[place[hit]].astype(np.int32),
        chunk_id=piece[hit].astype(np.int32),
        file=owner[piece[hit]],
        frequency=(frequency[hit] % IN_NAME).astype(np.int32),
        in_name=frequency[hit] >= IN_NAME,
        length=lengths[piece[hit]].astype(np.int32),
    )


def _near(
    vector: NDArray[np.float32],
    own: NDArray[np.float32],
    titles: NDArray[np.float32],
    owner: NDArray[np.int32],
) -> Near:
    import numpy as np

    joint = own + np.float32(PATH_WEIGHT) * titles[owner]
    cosine = (joint @ vector) / np.maximum(np.linalg.norm(joint, axis=1), 1e-9)
    order = np.argsort(-cosine, kind="stable")
    return Near(order.astype(np.int32), owner[order], cosine[order].astype(np.float32))


def _title_words(question: Question, observations: Sequence[Observation]) -> NameWords:
    import numpy as np

    rows = [
        (place, number)
        for number, each in enumerate(observations)
        for place in _places(question, set(terms.parts_of(each.title)))
    ]
    columns = np.array(rows, np.int32).reshape(-1, 2)
    return NameWords(columns[:, 0], columns[:, 1])


def _places(question: Question, words: set[str]) -> list[int]:
    return [place for place, word in enumerate(question.words) if word in words]
