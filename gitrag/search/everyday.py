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
from gitrag.words.spelling import other_spellings
from gitrag.words.stems import stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.store.memo import Memo
    from gitrag.store.scopes import SearchScope
    from gitrag.store.source import Source

_FALL = 0.15
"""How much less each further word of a row counts: 1, 1 / 1.15, 1 / 1.3 and so on."""

_PART_OF_A_PHRASE = 0.5
"""Weight of what a word means by itself where it is part of something longer that is said."""


def everyday(source: Source, question: Question, scope: SearchScope, memo: Memo | None) -> NDArray[Any]:
    """Return BM25 of files as one document by the best of what each word may be; the best file's is 1.

    A bug report and a name are in code's own words.
    """
    groups = meant(question) if question.report is None and not question.is_name else []
    every = sorted(((weight, word) for own in groups for word, weight in own.items()), reverse=True)
    words = list(dict.fromkeys(word for _weight, word in every))[:MOST_TERMS]
    files, found = scope.files, np.zeros(len(scope.files))
    if not words:
        return found
    postings = source.postings(scope, [terms.hashed(word) for word in words], memo)
    cell, row = np.unique(postings.file.astype(np.int64) * len(words) + postings.term, return_inverse=True)
    file, term = np.divmod(cell, len(words))
    relative_length = files.length / max(float(files.length.sum()) / max(len(files), 1), 1.0)
    worth = saturated(np.bincount(row, postings.frequency, len(cell)), relative_length[file])
    worth *= idf(len(files), np.bincount(term, minlength=len(words)))[term]
    for own in groups:
        weight = np.array([own.get(word, 0.0) for word in words])[term]
        rows, best = np.flatnonzero(weight), np.zeros(len(files))
        np.maximum.at(best, file[rows], (worth * weight)[rows])
        found += best
    return scaled(found)


def meant(question: Question) -> list[dict[str, float]]:
    """List for each word of a question what code may call it, with weights; the question's own words not."""
    asked = terms.bare_parts(question.text)[:MOST_TERMS]
    stems = {stem(form): form for word in asked for form in (*other_spellings(word), word)}
    groups: dict[str, list[tuple[int, dict[str, float]]]] = {}
    for said, own, code in (row for word in stems for row in _table(word[:2]).get(word, ())):
        telling = [word for word in own if word not in STOP_WORDS]
        if len(own) == 1 and not _is_form(stems[own[0]], said):
            continue
        if all(word in stems for word in (telling if len(telling) > 1 else own)):
            owner = next((word for word in own if word in question.words), own[0])
            places = reversed([*enumerate(code.split())])
            words = {stem(word): 1 / (1 + _FALL * place) for place, word in places}
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
def rows() -> dict[str, list[str]]:
    """List the rows by how each word of what is said begins, which its stem does not change."""
    found = defaultdict(list)
    for line in resources.files("gitrag.words").joinpath("people.tsv").read_text("utf-8").splitlines()[1:]:
        said = line.partition("\t")[0]
        parts = said.split() if said.replace(" ", "").isalpha() else terms.bare_parts(said)
        for begin in {part[:2] for part in parts}:
            found[begin].append(line)
    return found


@cache
def _table(begin: str) -> dict[str, list[tuple[str, tuple[str, ...], str]]]:
    """Read rows by the longest word of what is said: that, its stems, and code's words."""
    found = defaultdict(list)
    for line in rows().get(begin, ()):
        said, _tab, code = line.partition("\t")
        own = tuple(dict.fromkeys(map(stem, terms.bare_parts(said))))
        found[max(own, key=len)].append((said, own, code))
    return dict(found)
