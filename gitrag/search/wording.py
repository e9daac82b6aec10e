"""What is to be said of a question's own words: which occur nowhere, which only beside the source.

A word occurs where one of its forms does: its stem, as a word or as part of an identifier, in a text or in a
file's name. Before anything is said of it, the texts are read for its letters too: ``pyjwt`` has ``jwt``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gitrag.chunking.languages import is_prose
from gitrag.late import np
from gitrag.search.outside import traits_of
from gitrag.search.question import STOP_WORDS, Question, looks_like_code
from gitrag.store.scopes import Files
from gitrag.words import terms
from gitrag.words.path_traits import Trait
from gitrag.words.stems import stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.store.source import Source

_GENERIC = frozenset(
    map(
        stem,
        """
        across actually anything aspect based behavior behaviour between case cases codebase component
        concept currently define defined definition describe detail different during edge entire every
        everything exactly exist explain feature file find folder function functionality general give
        handle handled handler handles handling help here implement implementation implemented including
        instead internally involved kind level locate located location logic look main manage managed
        manages mechanism method module need occur particular per perform performed place please
        possible process project provide purpose really related repo repository responsible see
        something somewhere specific support supported take tell there thing using various via way whole
        within without
        """.split(),
    )
)
"""Words of questions rather than of what they ask for; that none occurs says nothing."""

_SHORTEST = 3
_MOST = 4
"""Words that are looked for in the texts; each takes a pass over them."""

_SPACELESS = re.compile(r"[^\W\d_a-zA-Z]")


class Group(StrEnum):
    """What a file is among a repository's: its own source, or something that repeats its words."""

    SOURCE = "source"
    TESTS = "tests"
    EXAMPLES = "examples"
    DOCS = "docs"


_GROUPS = tuple(Group)


Beside = tuple[str, int, tuple[Group, ...]]
"""A word of the question that no source file contains, how many others do, and what they are."""


class Wording(Struct, frozen=True):
    """What is to be said of a question's words.

    Attributes:
        missing: Words, as asked, that no file contains that was searched.
        only_beside: Words that only tests, examples or docs contain.
        unread: How many of those that could have been found are not read yet, or could not be.
        left_out: How many text files of the view are left out of the index.
        narrowed: Whether only some collections, paths or languages were searched.
        no_such_path: The question, where it is a path and no file that was searched has it; else empty.
        searched_for: The question as it was searched for, misspelt words corrected; empty where as asked.
        read_of: Of a question that the model cannot read, the words that were searched for.
        foreign: Whether the question is in a language that the model does not read.
        exists: What the question asks for and no hit can be, since it is left out: a sentence each.
        added: Words that code was also searched for, where few or no files have one of the question's.
    """

    missing: tuple[str, ...] = ()
    only_beside: tuple[Beside, ...] = ()
    searched: int = 0
    unread: int = 0
    left_out: int = 0
    narrowed: bool = False
    no_such_path: str = ""
    searched_for: str = ""
    read_of: str = ""
    foreign: bool = False
    exists: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


NOTHING_TO_SAY = Wording()


class Occurrences(Struct, frozen=True):
    """Where a question's terms occur in a scope.

    Attributes:
        counts: int64 (terms, groups), how many files of each group contain each term.
        written: bool (terms), whether any has the term itself, not only a short form of it.
    """

    files: Files
    counts: NDArray[np.int64]
    written: NDArray[np.bool_]


def count(found: NDArray[np.bool_], files: Files, written: NDArray[np.bool_]) -> Occurrences:
    """Count the files of each group that contain each term."""
    groups = groups_of(files)
    counts = [found[groups == number].sum(axis=0) for number in range(len(_GROUPS))]
    by_term = np.array(counts, dtype=np.int64).reshape(len(_GROUPS), found.shape[1]).T
    return Occurrences(files, by_term, written)


def groups_of(files: Files) -> NDArray[np.int8]:
    """Return the number of each file's group, int8."""
    traits = traits_of(files)
    beside: list[tuple[Group, Any]] = [
        (Group.DOCS, files.among(is_prose) | ((traits & Trait.DOCUMENT) > 0)),
        (Group.EXAMPLES, (traits & Trait.EXAMPLE) > 0),
        (Group.TESTS, (traits & Trait.TEST) > 0),
    ]
    groups = np.zeros(len(files), dtype=np.int8)
    for group, chosen in beside:
        groups[chosen] = _GROUPS.index(group)
    return groups


def absent_words(question: Question, counts: NDArray[np.int64]) -> list[tuple[str, NDArray[np.int64]]]:
    """Return the telling words that no source file contains, as asked, with their files by group.

    Args:
        counts: int64 (terms, groups), of all that was searched.

    Returns:
        The first words; of a pasted log there may be thousands.
    """
    place = {term: number for number, term in enumerate(question.words)}
    found: dict[str, NDArray[np.int64]] = {}
    seen: set[str] = set()
    for word in dict.fromkeys(re.findall(r"\w+", question.text)):
        if len(found) >= _MOST:
            break
        forms = terms.split_asked(word)
        if not forms:  # such as "_"
            continue
        whole, *parts = forms
        if len(parts) > 1 and whole in place and not counts[place[whole]].any():
            pieces = terms.pieces(word)
        else:
            pieces = [word]
        for piece in pieces:
            own = [place[form] for form in terms.split_asked(piece) if form in place]
            if not own or not is_telling(piece):
                continue
            files = counts[own].max(axis=0)
            if not files[0] and piece.casefold() not in seen:
                seen.add(piece.casefold())
                found[piece] = files
    return list(found.items())


def absent_names(question: Question, occurrences: Sequence[Occurrences]) -> tuple[str, ...]:
    """Return the names of a question, written as in code, that nothing contains that was searched."""
    counts = [each.counts for each in occurrences]
    found = []
    for name in filter(looks_like_code, question.names):
        term = terms.whole(name.rpartition(".")[2])
        at = question.words.index(term) if term in question.words else None
        if at is not None and counts and not any(each[at].any() for each in counts):
            found.append(name)
    return tuple(found)


def is_telling(word: str) -> bool:
    """Tell whether it means something that a word of the question occurs nowhere, or in one file."""
    form = stem(word.casefold().strip("_"))
    if len(word) < _SHORTEST and not _SPACELESS.search(word):
        return False
    return not word.isdigit() and form not in STOP_WORDS and form not in _GENERIC


def say(
    source: Source,
    question: Question,
    occurrences: Sequence[Occurrences],
) -> tuple[tuple[str, ...], tuple[Beside, ...]]:
    """Return the words that occur nowhere, and those that occur only beside the source.

    Args:
        occurrences: Where its terms occur, in each scope that was searched.
    """
    if not occurrences:
        return (), ()
    counts = np.sum([each.counts for each in occurrences], axis=0)
    absent = absent_words(question, counts)[:_MOST]
    contents = np.concatenate([each.files.content_id for each in occurrences])
    groups = np.concatenate([groups_of(each.files) for each in occurrences])
    asked = question.asks_for
    missing: list[str] = []
    only_beside: list[Beside] = []
    for word, files in absent:
        having = np.isin(contents, source.contents_with(word))
        by_group = np.maximum(files, np.bincount(groups[having], minlength=len(_GROUPS)))
        if not by_group.any():
            missing.append(word)
        elif not by_group[0] and not asked & (Trait.TEST | Trait.EXAMPLE | Trait.DOCUMENT):
            where = tuple(group for group, own in zip(_GROUPS, by_group, strict=True) if own)
            only_beside.append((word, int(by_group.sum()), where))
    return tuple(missing), tuple(only_beside)


def of_foreign(read_of: str) -> Wording:
    """Return what is to be said of a question in a language that the model does not read."""
    return Wording(read_of=read_of, foreign=True)
