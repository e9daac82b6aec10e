"""Tell which decisions and specifications bear on a file or a sentence, and how likely each does. Pure.

There are few documents, some ten to a few hundred, and each is compared with everything that the target says:
a file's path, its definitions, its names and words and the messages of its last commits; a sentence's words
and its meaning. Of several queries on one file the best counts (the maximum over its definitions), as one
long text would drown a telling name. A logistic regression turns the facts into a probability, the score.

`scripts/training/fit_bearing.py` fits the weights on labelled files and sentences, and prints them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from gitrag.corpus.documents import Document
from gitrag.corpus.layout import CollectionKind
from gitrag.late import np
from gitrag.model import Chunk
from gitrag.search.bm25 import K1, B
from gitrag.search.question import STOP_WORDS
from gitrag.words import terms
from gitrag.words.stems import stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Facts: TypeAlias = dict[str, NDArray[np.float64]]

FILE_WEIGHTS: Mapping[str, float] = {
    "above": 10.47,
    "path_above": 9.04,
    "titled": 0.12,
    "words": 4.88,
    "words_share": 4.17,
    "mention": 0.25,
    "names": 0.84,
    "messages": 8.47,
    "bias": -9.46,
}
"""Log-odds by unit of each of a file's facts, ``file_facts``.

Fitted on 70 files with and 20 without a document in four repositories. On each of these left out in turn,
0.983 of the documents are among the first eight, 0.778 with a score of 0.3 or more; of the files without,
0.95 have nothing above 0.5; the expected calibration error is 0.023.
"""

FILE_WEIGHTS_BY_WORDS: Mapping[str, float] = {
    "titled": 1.31,
    "words": 5.17,
    "words_share": 5.59,
    "mention": 1.25,
    "names": 1.01,
    "messages": 13.81,
    "bias": -9.71,
}
"""The same where no vector is known: 0.957, 0.668, 1.0 and 0.031."""

TEXT_WEIGHTS: Mapping[str, float] = {
    "cosine": 4.85,
    "above": 11.86,
    "words": 2.09,
    "lead": 3.22,
    "bias": -5.56,
}
"""Log-odds by unit of each of a sentence's facts, ``text_facts``.

Fitted on 67 sentences with and 20 without a document. On repositories left out, 0.984 have a document that
decides the matter among the first three, 0.953 with a score of 0.3 or more; of the sentences without, none
has anything above 0.5; the expected calibration error is 0.015.
"""

TEXT_WEIGHTS_BY_WORDS: Mapping[str, float] = {
    "words": 3.67,
    "lead": 5.26,
    "bias": -2.82,
}
"""The same where no vector is known: 0.941, 0.784, 0.85 and 0.017."""

_BEST_PARTS = 3
"""Parts of a document whose mean cosine tells whether it is about a sentence as a whole."""

_FEW = 8
"""Fewest documents whose median cosine is a background; missing ones count as unrelated."""

_UNRELATED = 0.31
_UNRELATED_PATH = 0.21
_UNRELATED_TEXT = 0.12
"""Median over the labelled repositories of a document's cosine with a file's nearest definition, with its
path, and with a sentence."""

_TITLE_COUNTS = 3
"""How many times the words of a title count."""

_SHOWN_WORDS = 6
_MOST_NAMES = 2
"""From so many shared names on further ones add nothing."""

_WORD = re.compile(r"\w+")
_HYPHEN = re.compile(r"\b([A-Za-z]+)-([A-Za-z]+)\b")


class DocumentPart(Struct, frozen=True):
    """A part of a document, as it is indexed: the number of the document, the chunk and its id."""

    document: int
    chunk: Chunk
    chunk_id: int


class Target(Struct, frozen=True):
    """A file, or several of a directory, for which documents are looked for."""

    path: str
    text: str
    names: tuple[str, ...] = ()
    docstrings: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()


class ScoredDocument(Struct, frozen=True):
    """How likely a document bears on a target, and by what.

    Attributes:
        score: The probability that it does, in [0, 1].
        part: Its part that is nearest, an index into ``Documents.parts``.
        cosine: Of that part with the target; 0 if unknown.
        words: Words that both have, the most telling first.
        is_mentioned: Whether the document mentions the target's path or file name.
    """

    document: int
    score: float
    part: int
    cosine: float = 0.0
    words: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    is_mentioned: bool = False


class Documents(Struct, frozen=True, dict=True):
    """The documents of some collections.

    Attributes:
        documents: Path, id, title and status of each.
        parts: The parts of all, those of a document in a row.
        vectors: float32 (parts, 384), L2-normalised; None where none is known. Of a part without: zeros.
    """

    kinds: tuple[CollectionKind, ...]
    documents: tuple[Document, ...]
    texts: tuple[str, ...]
    parts: tuple[DocumentPart, ...]
    vectors: NDArray[np.float32] | None

    def of(self, kinds: Container[CollectionKind]) -> Documents:
        """Return those of some kinds, as if there were no others."""
        kept = [number for number, kind in enumerate(self.kinds) if kind in kinds]
        place = {number: new for new, number in enumerate(kept)}
        rows = [row for row, part in enumerate(self.parts) if part.document in place]
        return Documents(
            tuple(self.kinds[number] for number in kept),
            tuple(self.documents[number] for number in kept),
            tuple(self.texts[number] for number in kept),
            tuple(replace(self.parts[row], document=place[self.parts[row].document]) for row in rows),
            None if self.vectors is None else self.vectors[rows],
        )

    @cached_property
    def _owner(self) -> NDArray[np.intp]:
        return np.array([part.document for part in self.parts], dtype=np.intp)

    @cached_property
    def _part_counts(self) -> list[Counter[str]]:
        return [_count(f"{part.chunk.qualified_name}\n{part.chunk.text}") for part in self.parts]

    @cached_property
    def _counts(self) -> list[Counter[str]]:
        """The terms of each document; those of its title count several times."""
        found = [_count(text) for text in self.texts]
        for counts, document in zip(found, self.documents, strict=True):
            for term, count in _count(document.title).items():
                counts[term] += _TITLE_COUNTS * count
        return found

    @cached_property
    def _idf(self) -> dict[str, float]:
        """The idf of each term over the parts."""
        found = Counter(term for counts in self._part_counts for term in counts)
        return {term: _idf(len(self.parts), count) for term, count in found.items()}

    @cached_property
    def _weighted(self) -> list[tuple[dict[str, float], float]]:
        """The weight of each document's terms, and their norm."""
        return [self._weigh(counts) for counts in self._counts]

    @cached_property
    def _titles(self) -> list[frozenset[str]]:
        return [frozenset(_count(document.title)) for document in self.documents]

    @cached_property
    def _names(self) -> list[frozenset[str]]:
        return [_identifiers(text) for text in self.texts]

    @cached_property
    def _folded(self) -> list[str]:
        return [text.lower() for text in self.texts]

    def _weigh(self, counts: Mapping[str, int]) -> tuple[dict[str, float], float]:
        weights = {
            term: (1 + math.log(count)) * self._idf[term]
            for term, count in counts.items()
            if term in self._idf
        }
        return weights, math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0

    def _alike(self, text: str) -> NDArray[np.float64]:
        """Return the cosine of the tf-idf vectors of a text and each document."""
        own, norm = self._weigh(_count(text))
        return np.array(
            [
                sum(weight * there[term] for term, weight in own.items() if term in there) / norm / length
                for there, length in self._weighted
            ]
        )

    def cosines(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosines of some vectors (n, 384) with each part, float32 (n, parts)."""
        if self.vectors is None:
            return np.zeros((len(vectors), len(self.parts)), dtype=np.float32)
        return vectors @ self.vectors.T

    def as_wholes(self) -> NDArray[np.float32] | None:
        """Return the mean vector of each document's parts, float32 (documents, 384), L2-normalised."""
        if self.vectors is None:
            return None
        sums = np.zeros((len(self.documents), self.vectors.shape[1]), dtype=np.float32)
        np.add.at(sums, self._owner, self.vectors)
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        wholes: NDArray[np.float32] = (sums / np.maximum(norms, 1e-9)).astype(np.float32)
        return wholes

    def _best(self, cosines: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the highest cosine of each document's parts."""
        found = np.full(len(self.documents), -1.0)
        np.maximum.at(found, self._owner, cosines)
        return found

    def _mean_best(self, cosines: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the mean of the highest cosines of each document's parts."""
        own = [
            np.sort(cosines[self._owner == number])[-_BEST_PARTS:] for number in range(len(self.documents))
        ]
        return np.array([float(each.mean()) if len(each) else -1.0 for each in own])

    def file_facts(self, target: Target, vectors: NDArray[np.float32] | None) -> Facts:
        """Return the facts that tell whether each document bears on a file, float64 (documents,) each.

        Its vectors are float32 (1 + n, 384), L2-normalised: of its path, and of its definitions.

        - ``above``: the highest cosine of a definition with a part, less the median over the documents;
          ``path_above``: the same of the path, at least 0; both left out without vectors
        - ``words``: the cosine of the tf-idf vectors, and ``words_share``: relative to the best document
        - ``titled``: whether the path, the names and docstrings of definitions have every word of the title
        - ``mention``: whether the document mentions the path or the file's name; ``names``: how many names
          that the file defines, of several words, at most two
        - ``messages``: the cosine of the tf-idf vectors with the messages of its last commits
        """
        words = self._alike(target.text)
        own = _count("\n".join([target.path, *target.names, *target.docstrings])).keys()
        facts = {
            "titled": np.array([float(bool(title) and title <= own) for title in self._titles]),
            "words": words,
            "words_share": words / max(float(words.max(initial=0.0)), 1e-9),
            "mention": np.array([float(_mentions(text, target.path)) for text in self._folded]),
            "names": np.array([float(min(len(names), _MOST_NAMES)) for names in self._shared_names(target)]),
            "messages": self._alike("\n".join(target.messages)),
        }
        if vectors is not None and self.vectors is not None:
            facts["above"] = _above(self._best(self._of_definitions(vectors)), _UNRELATED)
            path = self.cosines(vectors[:1])[0]
            facts["path_above"] = np.maximum(_above(self._best(path), _UNRELATED_PATH), 0.0)
        return facts

    def text_facts(self, text: str, vector: NDArray[np.float32] | None) -> Facts:
        """Return the facts that tell whether each document bears on a sentence, float64 (documents,) each.

        - ``cosine``: the highest of a part, and ``above``: the mean of the best three, less the median over
          the documents; left out without a vector
        - ``words``: the highest BM25 of a part, as a share of the question's idf
        - ``lead``: ``words`` and ``cosine`` together, less the same of the best other document
        """
        words = self._bm25(text)
        facts = {"words": words}
        if vector is None or self.vectors is None:
            return facts | {"lead": _lead(words, 0.0)}
        cosines = self.cosines(vector[None])[0]
        facts["cosine"] = self._best(cosines)
        facts["above"] = _above(self._mean_best(cosines), _UNRELATED_TEXT)
        return facts | {"lead": _lead(words + facts["cosine"], _UNRELATED_TEXT)}

    def on_file(self, target: Target, vectors: NDArray[np.float32] | None) -> list[ScoredDocument]:
        """Return how each document bears on a file, in the documents' order."""
        facts = self.file_facts(target, vectors)
        scores = _chances(facts, FILE_WEIGHTS if "above" in facts else FILE_WEIGHTS_BY_WORDS)
        cosines = None if vectors is None or self.vectors is None else self._of_definitions(vectors)
        own = _surface(f"{target.path}\n{target.text}")
        return self._bearings(scores, cosines, own, self._shared_names(target), facts["mention"].tolist())

    def on_text(self, text: str, vector: NDArray[np.float32] | None) -> list[ScoredDocument]:
        """Return how each document bears on a sentence, in the documents' order."""
        facts = self.text_facts(text, vector)
        scores = _chances(facts, TEXT_WEIGHTS if "above" in facts else TEXT_WEIGHTS_BY_WORDS)
        cosines = None if vector is None or self.vectors is None else self.cosines(vector[None])[0]
        nothing = [0.0] * len(self.documents)
        return self._bearings(scores, cosines, _surface(text), [()] * len(self.documents), nothing)

    def _bearings(
        self,
        scores: NDArray[np.float64],
        cosines: NDArray[np.float32] | None,
        own: Mapping[str, str],
        names: Sequence[tuple[str, ...]],
        mentions: Sequence[float],
    ) -> list[ScoredDocument]:
        found = []
        for number, score in enumerate(scores.tolist()):
            part = self._nearest_part(number, cosines, own)
            there = self._weighted[number][0]
            shared = sorted((term for term in own if term in there), key=lambda term: (-there[term], term))
            found.append(
                ScoredDocument(
                    number,
                    score,
                    part,
                    float(cosines[part]) if cosines is not None and part >= 0 else 0.0,
                    tuple(dict.fromkeys(own[term] for term in shared))[:_SHOWN_WORDS],
                    names[number],
                    bool(mentions[number]),
                )
            )
        return found

    def _nearest_part(self, number: int, cosines: NDArray[np.float32] | None, own: Mapping[str, str]) -> int:
        """Return the part of a document that is nearest to a target; -1 if it has none."""
        places = [place for place, part in enumerate(self.parts) if part.document == number]
        if not places:
            return -1
        if cosines is not None:
            return max(places, key=lambda place: float(cosines[place]))
        return max(
            places, key=lambda place: sum(self._idf[term] for term in self._part_counts[place] if term in own)
        )

    def _of_definitions(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return for each part the highest cosine of a file's definitions; of the path where it has none."""
        cosines = self.cosines(vectors[1:] if len(vectors) > 1 else vectors)
        best: NDArray[np.float32] = cosines.max(axis=0)
        return best

    def _shared_names(self, target: Target) -> list[tuple[str, ...]]:
        file = target.path.rpartition("/")[2].partition(".")[0]
        own = {_whole(name): name for word in (*target.names, file) for name in _WORD.findall(word)}
        own = {whole: name for whole, name in own.items() if whole}
        return [tuple(sorted(own[name] for name in own.keys() & names)) for names in self._names]

    def _bm25(self, text: str) -> NDArray[np.float64]:
        unknown = _idf(len(self.parts), 0)
        weights = {term: self._idf.get(term, unknown) for term in _count(text)}
        lengths = [sum(counts.values()) for counts in self._part_counts]
        mean = max(sum(lengths) / max(len(lengths), 1), 1.0)
        found = np.zeros(len(self.documents))
        for part, counts, length in zip(self.parts, self._part_counts, lengths, strict=True):
            damping = K1 * (1 - B + B * length / mean)
            own = sum(
                weight * counts[term] * (K1 + 1) / (counts[term] + damping)
                for term, weight in weights.items()
                if term in counts
            )
            found[part.document] = max(found[part.document], own)
        return found / max(sum(weights.values()), 1e-9)


def _chances(facts: Facts, weights: Mapping[str, float]) -> NDArray[np.float64]:
    """Return the probabilities, float64 (documents,)."""
    odds = np.full(len(facts["words"]), weights["bias"])
    for name, values in facts.items():
        odds += weights[name] * values
    chances: NDArray[np.float64] = 1 / (1 + np.exp(-odds))
    return chances


def _above(cosines: NDArray[np.float64], unrelated: float) -> NDArray[np.float64]:
    """Return by how much cosines exceed their median; few documents are filled up with unrelated ones."""
    missing = np.full(max(0, _FEW - len(cosines)), unrelated)
    return cosines - float(np.median(np.concatenate([cosines, missing])))


def _lead(values: NDArray[np.float64], unrelated: float) -> NDArray[np.float64]:
    """Return by how much each document's value exceeds the best of the others."""
    first, second = np.sort([*values, unrelated, unrelated])[::-1][:2]
    behind: NDArray[np.float64] = values - np.where(values >= first, second, first)
    return behind


def _idf(total: int, having: int) -> float:
    return math.log(1 + (total - having + 0.5) / (having + 0.5))


def _count(text: str) -> Counter[str]:
    """Count the terms of a text that say anything: no words of asking, no numbers, no single letters."""
    found: Counter[str] = Counter()
    for word, count in Counter(_words(text)).items():
        for term in _telling(word):
            found[term] += count
    return found


def _telling(word: str) -> Iterable[str]:
    return [
        term for term in terms.split(word) if len(term) > 1 and not term.isdigit() and term not in STOP_WORDS
    ]


def _words(text: str) -> list[str]:
    """Return the words of a text; one with a hyphen also without it, as code spells it: ``email``."""
    return [*_WORD.findall(text), *(first + second for first, second in _HYPHEN.findall(text))]


def _surface(text: str) -> dict[str, str]:
    """Return a text's terms, each with the first word of it as it is written there."""
    found: dict[str, str] = {}
    for word in _words(text):
        parts = {stem(part): part for part in terms.bare_parts(word)}
        for term in _telling(word):
            found.setdefault(term, parts.get(term, word))
    return found


def _identifiers(text: str) -> frozenset[str]:
    """Return the identifiers of several words in a text, case-folded: ``BulkCache``, ``max_age``."""
    return frozenset({_whole(word) for word in _WORD.findall(text)} - {""})


def _whole(word: str) -> str:
    """Return an identifier of several words, case-folded; of another word nothing."""
    found = terms.split(word)
    return found[0] if len(found) > 1 and len(word) <= terms.LONGEST_SPLIT and not word[0].isdigit() else ""


def _mentions(folded: str, path: str) -> bool:
    """Tell whether a text in lower case has a path, or its file's name as a word of its own."""
    name = path.rpartition("/")[2].lower()
    if "." not in name.strip("."):  # a directory's name is a word like any other
        return path.lower() in folded and "/" in path
    return bool(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", folded))
