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
from gitrag.search.outside import is_product_code
from gitrag.search.question import MOST_TERMS, STOP_WORDS, Question, with_words
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

_FEW_FILES, _FEW = 2, 0.005
"""A word that no more of the product's own files have, or no larger share of them, is hardly code's."""

_MANY_FILES, _MANY = 5, 0.2
"""And one that more have says too little."""

_ADDED = 2
"""Words that are added for one of the question's."""


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


def in_code_words(source: Source, question: Question, scope: SearchScope, memo: Memo | None) -> Question:
    """Add what code may call those words of a question that hardly any of the product's own files has.

    A bug report and a name are in code's own words.
    """
    groups = _rows_of(question) if question.report is None and not question.is_name else {}
    other = {
        owner: [word for word in _of_the_longest(group) if stem(word) not in question.words]
        for owner, group in groups.items()
    }
    forms = list(dict.fromkeys([*other, *(stem(word) for own in other.values() for word in own)]))
    forms = forms[:MOST_TERMS]
    if not forms:
        return question
    postings = source.postings(scope, [terms.hashed(form) for form in forms], memo)
    is_own = is_product_code(scope.files)
    having = np.unique(postings.file.astype(np.int64) * len(forms) + postings.term)
    counts = np.bincount((having % len(forms))[is_own[having // len(forms)]], minlength=len(forms))
    often = dict(zip(forms, counts.tolist(), strict=True))
    many = int(is_own.sum())
    added = [
        word
        for owner, words in other.items()
        if often[owner] <= max(_FEW_FILES, _FEW * many)
        for word in [
            each
            for each in words
            if often[owner] < often.get(stem(each), 0) <= max(_MANY_FILES, _MANY * many)
        ][:_ADDED]
    ]
    return with_words(question, added[: max(MOST_TERMS - len(question.words), 0)])


def meant(question: Question) -> list[dict[str, float]]:
    """List for each word of a question what code may call it, with weights; the question's own words not."""
    found = []
    for group in _rows_of(question).values():
        longest, best = max(length for length, _words in group), dict[str, float]()
        for length, code in group:
            part = 1.0 if length == longest else _PART_OF_A_PHRASE
            words = {stem(word): 1 / (1 + _FALL * place) for place, word in reversed([*enumerate(code)])}
            for word, weight in words.items():
                if word not in question.words:
                    best[word] = max(part * weight, best.get(word, 0.0))
        found.append(best)
    return found


def _rows_of(question: Question) -> dict[str, list[tuple[int, list[str]]]]:
    """List the rows that a question says, by the word that they are of: words that tell, and code's words."""
    asked = terms.bare_parts(question.text)[:MOST_TERMS]
    stems = {stem(form): form for word in asked for form in (*other_spellings(word), word)}
    as_asked = {stem(form): stem(word) for word in asked for form in (*other_spellings(word), word)}
    groups: dict[str, list[tuple[int, list[str]]]] = {}
    order = sorted(stems, key=lambda form: as_asked[form] != form)
    for said, own, code in (row for word in order for row in _table(word[:2]).get(word, ())):
        telling = [word for word in own if word not in STOP_WORDS]
        if len(own) == 1 and not _is_form(stems[own[0]], said):
            continue
        if all(word in stems for word in (telling if len(telling) > 1 else own)):
            spelt = [as_asked.get(word, word) for word in own]
            owner = next((word for word in spelt if word in question.words), spelt[0])
            groups.setdefault(owner, []).append((len(telling), code.split()))
    return groups


def _of_the_longest(group: list[tuple[int, list[str]]]) -> list[str]:
    longest = max(length for length, _words in group)
    return list(dict.fromkeys(word for length, words in group if length == longest for word in words))


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
