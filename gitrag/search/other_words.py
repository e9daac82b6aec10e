"""How much of a question a text says, be it in other words. Pure.

Each word of the question is compared with each word of the text, by the vectors of single words that the
draft table gives (`gitrag/embedding/draft.py`): its best match counts, weighted by the word's information. It
is the MaxSim of late interaction (Khattab and Zaharia, ColBERT, 2020), with words for tokens. Where an answer
uses other words than the question, the share of the question's words that occur says little; this tells
"resend" beside "retry" from "resend" beside "render".
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.embedding.draft import drafter
from gitrag.late import np
from gitrag.model import DIMENSIONS
from gitrag.search.question import STOP_WORDS, Question
from gitrag.words import terms
from gitrag.words.stems import stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_CHARACTERS = 4_000
_MOST_WORDS = 400
"""Of a longer text the beginning counts: a definition's name, signature and first lines."""

_MOST_OF_A_REPORT = 32
"""Words of a bug report that are compared: its title and first sentences."""

_NEAR = 3
"""Words of a text whose drafts are compared with that of each asked word: the nearest by rough vectors."""

_MOST_KEPT = 16_384
"""Words whose drafts are kept, and those of one question more: 25 MB."""


class Said(Struct, frozen=True):
    """How much of a question a text says.

    Attributes:
        share: Mean likeness of the question's words to the text's nearest ones, weighted by information.
        missing: The same for those words only that the source has nowhere; 1 if there is none.
    """

    share: float
    missing: float


class _WordDrafts:
    """The drafts of single words, kept: the same ones are near in other questions and repositories."""

    def __init__(self) -> None:
        self._kept: dict[str, NDArray[np.float32]] = {}
        self._lock = threading.Lock()

    def of(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return the drafts of distinct words, float32 (n, 384)."""
        with self._lock:
            known = {word: self._kept[word] for word in words if word in self._kept}
        new = [word for word in words if word not in known]
        known.update((word, draft.copy()) for word, draft in zip(new, drafter().draft(new), strict=True))
        with self._lock:
            if len(self._kept) > _MOST_KEPT:
                self._kept.clear()
            self._kept.update((word, known[word]) for word in new)
        return np.array([known[word] for word in words], np.float32).reshape(-1, DIMENSIONS)


_drafts = _WordDrafts()


def said(
    question: Question, idf: NDArray[np.floating], in_source: NDArray[np.bool_], texts: Sequence[str]
) -> list[Said]:
    """Compare a question with texts.

    Args:
        idf: The information of its terms, float (t,).
    """
    if not texts:
        return []
    asked = _asked(question)
    place = {term: i for i, term in enumerate(question.words)}
    places = [place.get(stem(word)) for word in asked]
    weight = np.array([1.0 if at is None else float(idf[at]) for at in places])
    lacking = weight * np.array([at is not None and not in_source[at] for at in places])
    of_texts = [_words(text) for text in texts]
    vocabulary = list(dict.fromkeys(word for words in of_texts for word in words))
    number = {word: i for i, word in enumerate(vocabulary)}
    owns = [np.array([number[word] for word in words], dtype=np.int64) for words in of_texts]
    absent = [  # what a text has is nearest to itself
        np.array([place for place, word in enumerate(asked) if word not in own], np.intp) for own in of_texts
    ]
    rough = drafter().rough(asked) @ drafter().rough(vocabulary).T
    nearest = [_nearest(rough[rows], own) for rows, own in zip(absent, owns, strict=True)]
    compared = np.unique(np.concatenate([near.ravel() for near in nearest]))
    likeness = _drafts.of(asked) @ _drafts.of([vocabulary[i] for i in compared]).T
    found = []
    for rows, near in zip(absent, nearest, strict=True):
        best = np.ones(len(asked), likeness.dtype)
        best[rows] = np.take_along_axis(likeness[rows], np.searchsorted(compared, near), axis=1).max(axis=1)
        share = float(best @ weight / max(weight.sum(), 1e-9))
        found.append(Said(share, float(best @ lacking / lacking.sum()) if lacking.any() else 1.0))
    return found


def _asked(question: Question) -> list[str]:
    most = terms.LONGEST_SPLIT if question.report is None else _MOST_OF_A_REPORT
    text = question.text if question.report is None else question.meaning
    every = list(dict.fromkeys(word.lower() for word in terms.bare_parts(text)))[:most]
    return [word for word in every if not {word, stem(word)} & STOP_WORDS] or every[:1] or [question.text]


def _words(text: str) -> dict[str, None]:
    words = dict.fromkeys(word.lower() for word in terms.bare_parts(text[:_MOST_CHARACTERS]))
    return dict.fromkeys(list(words)[:_MOST_WORDS] or ["-"])


def _nearest(rough: NDArray[np.float32], own: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the nearest words of a text to each of the question's, int64 (words, up to 3)."""
    count = min(_NEAR, len(own))
    return own[np.argpartition(-rough[:, own], count - 1, axis=1)[:, :count]]
