"""What commit messages say about files: two features of the ranker. Pure.

Who changed a file said why, in the words of those who ask: "retries", where the code says ``backoff``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gitrag.late import np
from gitrag.search.bm25 import B_OF_A_MESSAGE, idf, saturated, scaled
from gitrag.store.joins import runs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.search.question import Question
    from gitrag.store.commit_evidence import Messages

_ALIKE = 4
"""Power of a message's share of the best one's BM25: what is less like the question counts much less."""

_HALF_LIFE_S = 10 * 365 * 24 * 3600.0
"""Age at which a message counts half. Between 1 and 10 years makes a difference of 0.005."""


def features(told: Messages | None, files: int, question: Question) -> dict[str, NDArray[Any]]:
    """Return two features of each file, float64 (f,), relative to the best file; 0 without history.

    - ``history``: BM25 of all messages of the commits that changed it, as one document. A commit of n paths
      counts 1/√n.
    - ``like``: its part in earlier changes like this one: BM25 of each message, relative to the best one and
      sharpened, divided by n, and summed over the commits that changed the file. 0 where the question is
      asked as one: nobody commits "how are retries done". It would cost such questions 0.010 of NDCG@10.

    Args:
        told: What the messages say; None where the history has not been read.
        files: Number of files.
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
