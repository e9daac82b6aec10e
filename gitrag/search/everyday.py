"""Everyday words of a question whose answer has other words: "tell other programs" and ``webhook``.

`gitrag/words/people.tsv` says what code may call what people say: whole words, and phrases wherever their
words occur in a question.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from gitrag.late import np
from gitrag.search.bm25 import idf, saturated, scaled
from gitrag.search.question import MOST_TERMS, STOP_WORDS, Question
from gitrag.words import terms
from gitrag.words.stems import stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.store.candidates import SearchScope
    from gitrag.store.memo import Memo
    from gitrag.store.source import Source

_FALL = 0.15
"""How much less each further word of a row counts: 1, 1 / 1.15, 1 / 1.3 and so on."""

_PART_OF_A_PHRASE = 0.5
"""Weight of what a word means by itself where it is part of something longer that is said."""


def everyday(source: Source, question: Question, scope: SearchScope, memo: Memo | None) -> NDArray[Any]:
    """Return BM25 of files as one document by the best of what each word may be; the best file's is 1.

    A bug report and a name are in code's own words.
    """
    files = scope.files
    groups = meant(question) if question.report is None and not question.is_name else []
    every = [(weight, word, group) for group, own in enumerate(groups) for word, weight in own.items()]
    chosen = sorted(every, reverse=True)[:MOST_TERMS]
    f, words = len(files), len(chosen)
    if not chosen:
        return np.zeros(f)
    weight, group = np.array([row[0] for row in chosen]), np.array([row[2] for row in chosen])
    postings = source.postings(scope, [terms.hashed(word) for _weight, word, _group in chosen], memo)
    cell, row = np.unique(postings.file.astype(np.int64) * words + postings.term, return_inverse=True)
    file, term = np.divmod(cell, words)
    relative_length = files.length / max(float(files.length.sum()) / max(f, 1), 1.0)
    worth = saturated(np.bincount(row, postings.frequency, len(cell)), relative_length[file])
    worth *= (weight * idf(f, np.bincount(term, minlength=words)))[term]
    best = np.zeros((f, len(groups)))
    np.maximum.at(best, (file, group[term]), worth)
    return scaled(best.sum(axis=1))


def meant(question: Question) -> list[dict[str, float]]:
    """List for each word of a question what code may call it, with weights; the question's own words not."""
    stems = {stem(word): word for word in terms.bare_parts(question.text)[:MOST_TERMS]}
    groups: dict[str, list[tuple[int, dict[str, float]]]] = {}
    for said, own, words in (row for word in stems for row in _table().get(word, ())):
        telling = [word for word in own if word not in STOP_WORDS]
        if len(own) == 1 and not _is_form(stems[own[0]], said):
            continue
        if all(word in stems for word in (telling if len(telling) > 1 else own)):
            owner = next((word for word in own if word in question.words), own[0])
            groups.setdefault(owner, []).append((len(telling), words))
    found = []
    for group in groups.values():
        longest, best = max(length for length, _words in group), dict[str, float]()
        for length, words in group:
            part = 1.0 if length == longest else _PART_OF_A_PHRASE
            for word, weight in words.items():
                if word not in question.words:
                    best[word] = max(part * weight, best.get(word, 0.0))
        found.append(best)
    return found


def _is_form(word: str, said: str) -> bool:
    """Tell whether a word of the same stem is made of another: ``deletion`` of ``delete``, not reversed."""
    return len(word) >= len(said) and word.startswith(said.rstrip("ey"))


@cache
def _table() -> dict[str, list[tuple[str, tuple[str, ...], dict[str, float]]]]:
    """Read the rows by the longest word of what is said, with that, its stems, and what code may call it."""
    text = resources.files("gitrag.words").joinpath("people.tsv").read_text("utf-8")
    found = defaultdict(list)
    for line in text.splitlines()[1:]:
        said, _tab, code = line.partition("\t")
        own = tuple(dict.fromkeys(map(stem, terms.bare_parts(said))))
        words = {stem(word): 1 / (1 + _FALL * place) for place, word in reversed([*enumerate(code.split())])}
        found[max(own, key=len)].append((said, own, words))
    return dict(found)
