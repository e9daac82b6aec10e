"""Rank the commits of a history for a question, by their messages' words and by meaning. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gitrag.late import np
from gitrag.search.bm25 import B_OF_A_MESSAGE, K1, idf, saturated, scaled
from gitrag.store.columns import runs
from gitrag.words.terms import query_terms, stems_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.search.question import Question
    from gitrag.store.commit_evidence import Messages
    from gitrag.store.histories import Reachable

_ALIKE = 4
"""Power of a message's share of the best one's BM25: what is less like the question counts much less."""

_HALF_LIFE_S = 10 * 365 * 24 * 3600.0
"""Age at which a message counts half. Between 1 and 10 years makes a difference of 0.005."""


def message_features(told: Messages | None, files: int, question: Question) -> dict[str, NDArray[Any]]:
    """Return two features of each file, float64 (f,), relative to the best file; 0 without history.

    - ``history``: BM25 of all messages of the commits that changed it, as one document. A commit of n paths
      counts 1/√n.
    - ``like``: its part in earlier changes like this one: BM25 of each message, relative to the best one and
      sharpened, divided by n, and summed over the commits that changed the file. 0 where the question is
      asked as one: nobody commits "how are retries done". It would cost such questions 0.010 of NDCG@10.

    Args:
        told: What the messages say; None where the history has not been read.
    """
    terms = len(question.words)
    if told is None or not len(told.term):
        return {"history": np.zeros(files), "like": np.zeros(files)}
    many = told.files[told.commit]
    file = told.file[runs(told.first[told.commit], many)].astype(np.int64)
    weight = told.frequency / np.sqrt(told.changed)[told.commit]
    cell = file * terms + np.repeat(told.term, many)
    frequency = np.bincount(cell, np.repeat(weight, many), files * terms).reshape(files, terms)
    has = told.file_length > 0
    relative = told.file_length / max(float(told.file_length[has].mean()) if has.any() else 0.0, 1e-9)
    rarity = idf(int(has.sum()), (frequency > 0).sum(axis=0))
    history = saturated(frequency, relative[:, None]) @ rarity
    if question.asks:
        return {"history": scaled(history), "like": np.zeros(files)}
    alike = _like(told, terms) / told.changed
    like = np.bincount(told.file, np.repeat(alike, told.files), files)
    return {"history": scaled(history), "like": scaled(like)}


def _like(told: Messages, terms: int) -> NDArray[np.float64]:
    """Return how much each commit's message is like the question, at most 1; older ones count less."""
    relative = told.length[told.commit] / max(told.mean_length, 1e-9)
    rarity = idf(told.telling, np.bincount(told.term, minlength=terms))
    weight = saturated(told.frequency, relative, B_OF_A_MESSAGE) * rarity[told.term]
    score = np.bincount(told.commit, weight, len(told.files)) * (told.files > 0)
    aged: NDArray[np.float64] = scaled(score) ** _ALIKE * np.exp2(-told.age_s / _HALF_LIFE_S)
    return aged


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
        allowed: Of each commit, whether it may be in the answer; None for all.
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
