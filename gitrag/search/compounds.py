"""Compounds: ``thread pool``, ``threadpool``, ``thread-pool``, ``thread_pool`` and ``ThreadPool`` are one.

Texts are cut into terms in one way (`gitrag/words/terms.py`), so a question is read in both: two neighbouring
words as one too (`Question.compounds`), and one word that no dictionary has as two. Either counts only where
names in the code are written so, and no name as the question is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from gitrag.late import np
from gitrag.search.question import Question
from gitrag.store.candidates import NameWords, Postings
from gitrag.store.memo import Memo
from gitrag.store.scopes import SearchScope
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
