"""Rank the commits of a history for a question, by their messages' words and by meaning. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.late import np
from gitrag.search.bm25 import B_OF_A_MESSAGE, K1, idf, saturated
from gitrag.words.terms import query_terms, stems_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.store.histories import Reachable

MOST_CANDIDATES = 64
"""Commits with the best words that are looked at by meaning too: the model needs 3 ms for each."""

MOST_NEAREST = 32
"""Commits whose drafts are nearest in meaning that are looked at beside them."""


SUBJECT = 0.4
PHRASES = 0.35
"""Weights, beside the share of BM25, of the share of the question's words that the subject has, and of its
pairs of words that the message has. Chosen on six of the projects of `scripts/bench/changelogs.py`: see "Does
it find the commit" in `docs/figures.md`."""

_WORD = re.compile(r"\w+")


class Candidates(Struct, frozen=True):
    """The commits that may answer: those with the most of a question's words, best first, then others.

    Attributes:
        number: int32 (n,), their numbers in the store.
        words: float64 (n,), BM25 of the message as a share of what a message could have at most.
        rarity: float64 (t,), what each term of the question is worth in this history.
    """

    number: NDArray[np.int32]
    words: NDArray[np.float64]
    rarity: NDArray[np.float64]


def candidates(
    found: Reachable,
    terms: int,
    allowed: NDArray[np.bool_] | None = None,
    most: int = MOST_CANDIDATES,
    nearest: NDArray[np.int32] | None = None,
) -> Candidates:
    """Return the commits whose messages have the most of a question's words, then those nearest in meaning.

    Args:
        found: The history, and which commits have which terms.
        terms: Number of terms of the question.
        allowed: Of each commit, whether it may be in the answer; None for all.
        most: Most commits to return for their words.
        nearest: The numbers of those nearest in meaning, which may answer too, whatever words they have.
    """
    many = len(found.number)
    having = np.bincount(found.term, minlength=terms)
    rarity = idf(many, having)
    relative = found.length / max(float(found.length.mean()) if many else 0.0, 1e-9)
    weight = saturated(found.frequency, relative[found.commit], B_OF_A_MESSAGE)
    most_possible = max(float(rarity.sum()), 1e-9) * (K1 + 1)
    words = np.bincount(found.commit, weight * rarity[found.term], many) / most_possible
    if allowed is not None:
        words = np.where(allowed, words, 0.0)
    order = np.lexsort((-found.number, -words))[:most]
    order = order[words[order] > 0]
    if nearest is not None:
        more = np.searchsorted(found.number, nearest)
        order = np.concatenate([order, more[~np.isin(more, order)]])
    return Candidates(found.number[order], words[order], rarity)


def agreement(
    question: str, terms: Sequence[str], rarity: NDArray[np.float64], subject: str, body: str
) -> float:
    """Return how well a message is worded like a question: words of its subject, and pairs of words.

    Args:
        rarity: float64 (t,), what each is worth.
        subject: The message's subject.
        body: The message, as far as it counts.
    """
    own = set(query_terms(subject))
    has = [term in own for term in terms]
    said = float(rarity[has].sum()) / max(float(rarity.sum()), 1e-9)
    asked = _pairs(question)
    return SUBJECT * said + PHRASES * len(asked & _pairs(body)) / max(len(asked), 1)


def _pairs(text: str) -> set[tuple[str, str]]:
    """Return the stems that follow one another in a text."""
    return set(pairwise(stem for word in _WORD.findall(text) for stem in stems_of(word)))


def newest(found: Reachable, allowed: NDArray[np.bool_] | None, most: int) -> Candidates:
    """Return the newest commits that may be in an answer, newest first."""
    order = np.lexsort((found.number, -found.committed))
    if allowed is not None:
        order = order[allowed[order]]
    return Candidates(found.number[order[:most]], np.zeros(min(most, len(order))), np.zeros(0))
