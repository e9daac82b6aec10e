"""Compounds: ``thread pool``, ``threadpool``, ``thread-pool``, ``thread_pool`` and ``ThreadPool`` are one.

Texts are cut into terms in one way (`gitrag/words/terms.py`), so a question is read in both: two neighbouring
words as one too (`Question.compounds`), and one word that no dictionary has as two. Either counts only where
names in the code are written so, and no name as the question is.

And everyday words of a question whose answer has others: "tell other programs" and ``webhook``.
`gitrag/words/people.tsv` says what code may call what people say: whole words, and phrases wherever their
words occur in a question.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from gitrag.late import np
from gitrag.search.bm25 import idf, saturated, scaled
from gitrag.search.question import MOST_TERMS, STOP_WORDS, Question
from gitrag.store.candidates import NameWords, Postings, SearchScope
from gitrag.store.memo import Memo
from gitrag.words import terms
from gitrag.words.stems import stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.store.source import Source

_SHORTEST_PART = 3
_WORD = re.compile(r"(?<!\w)[a-z]{6,24}(?!\w)")
_LONGEST = 2_000
_MOST = 4
"""Characters and words of a question that are tried as two; more that no dictionary has were pasted."""


def as_one(question: Question, postings: Postings) -> Postings:
    """Let two words in one count as each of them; the postings of compounds come after those of the terms."""
    most = len(question.words)
    if not (postings.term >= most).any():
        return postings
    added = [_rows(postings, postings.term < most)]
    for number, (_term, places) in enumerate(question.compounds, most):
        found = np.flatnonzero(postings.term == number)
        if postings.in_name[found].any() and not _in_one_name(postings, places):
            added += [_rows(postings, found, place) for place in places]
    return _together(added)


def as_two(
    source: Source,
    scope: SearchScope,
    question: Question,
    postings: Postings,
    names: NameWords,
    is_known: Callable[[str], bool],
    memo: Memo | None = None,
) -> tuple[Postings, NameWords]:
    """Let chunks and file names that have both parts of a word count as having it.

    Args:
        is_known: Tells whether a lower-case word is in the dictionary.
    """
    place_of = {word: place for place, word in enumerate(question.words)}
    words = dict.fromkeys(_WORD.findall(question.text[:_LONGEST]))
    asked = [word for word in words if stem(word) in place_of]
    for word in [word for word in asked if not is_known(word) and not is_known(stem(word))][:_MOST]:
        place = place_of[stem(word)]
        cuts = range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1)
        hashes = [terms.hashed(stem(part)) for cut in cuts for part in (word[:cut], word[cut:])]
        distinct = list(dict.fromkeys(hashes))
        pairs = [tuple(map(distinct.index, hashes[at : at + 2])) for at in range(0, len(hashes), 2)]
        found = source.postings(scope, distinct, memo)
        in_files = source.name_words(scope, distinct, memo)
        one, other = max(pairs, key=lambda pair: len(_named(found, pair)) + len(_files(in_files, pair)))
        if files := _files(in_files, (one, other)).tolist():
            names = NameWords(
                np.concatenate([names.term, np.full(len(files), place, names.term.dtype)]),
                np.concatenate([names.file, np.array(files, dtype=names.file.dtype)]),
            )
        written = postings.in_name[postings.term == place].any()
        if not written and len(_named(found, (one, other))):
            both = (found.term == one) & np.isin(found.chunk_id, found.chunk_id[found.term == other])
            both &= ~np.isin(found.chunk_id, postings.chunk_id[postings.term == place])
            postings = _together([postings, _rows(found, both, place)])
    return postings, names


def _in_one_name(postings: Postings, places: Sequence[int]) -> bool:
    return len(places) > 1 and len(_named(postings, places)) > 0


def _named(postings: Postings, pair: Sequence[int]) -> NDArray[np.int32]:
    """Return the chunks whose names have two terms."""
    one, other = (postings.chunk_id[postings.in_name & (postings.term == place)] for place in pair)
    return np.intersect1d(one, other)


def _files(names: NameWords, pair: Sequence[int]) -> NDArray[np.int32]:
    one, other = (names.file[names.term == place] for place in pair)
    return np.intersect1d(one, other)


def _rows(postings: Postings, chosen: NDArray[Any], place: int | None = None) -> Postings:
    """Return some rows, as those of one term."""
    own = Postings(*(getattr(postings, name)[chosen] for name in Postings.__struct_fields__))
    return own if place is None else replace(own, term=np.full_like(own.term, place))


def _together(parts: Sequence[Postings]) -> Postings:
    return Postings(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in Postings.__struct_fields__)
    )


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
    stems = {stem(word): word for word in terms.bare_parts(question.text)[:MOST_TERMS]}
    groups: dict[str, list[tuple[int, dict[str, float]]]] = {}
    for said, own, code in (row for word in stems for row in _table().get(word, ())):
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
def _table() -> dict[str, list[tuple[str, tuple[str, ...], str]]]:
    """Read the rows by the longest word of what is said: that, its stems, and code's words."""
    text = resources.files("gitrag.words").joinpath("people.tsv").read_text("utf-8")
    found = defaultdict(list)
    for line in text.splitlines()[1:]:
        said, _tab, code = line.partition("\t")
        own = tuple(dict.fromkeys(map(stem, terms.bare_parts(said))))
        found[max(own, key=len)].append((said, own, code))
    return dict(found)
