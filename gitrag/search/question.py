"""What a question asks for. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gitrag import terms

MOST_TERMS = 64
"""Distinct terms that count; a pasted file is a question of its first lines."""

_STOP_WORDS = frozenset(
    """
    a about an and any are as at be been by can code could do does each for from get gets has have how i if
    in into is it its me of on or our should show so some that the their them then there these they this to
    used using was we what when where which who why will with work works would you
    """.split()
)
"""Words that ask rather than name. They count only where a question has no others."""

_PROGRAM_NAME = re.compile(r"[a-z0-9][A-Z]|\w_\w|\d|\.|::|^[A-Z][a-z]+[A-Z]|^_")
"""What a name in a program has and a word of prose has not: an inner capital, underscore, digit or dot."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, read.

    Attributes:
        text: As asked, white space collapsed.
        words: Its distinct terms that count, lower-case.
        hashes: Their hashes, in the same order.
        weights: What each counts: a whole identifier 1, its parts together as much again.
        names: Words that may name a definition.
    """

    text: str
    words: tuple[str, ...]
    hashes: tuple[int, ...]
    weights: tuple[float, ...]
    names: tuple[str, ...]

    def mentions(self, *words: str) -> bool:
        """Tell whether the question has one of the words."""
        return not set(words).isdisjoint(self.words)


def read(text: str) -> Question:
    """Read a question."""
    text = " ".join(text.split())
    found = terms.query_terms(text)
    words = [word for word in found if word not in _STOP_WORDS] or found
    words = words[:MOST_TERMS]
    identifiers = terms.identifiers(text)[:MOST_TERMS]
    alone = len(text.split()) == 1
    names = [name for name in identifiers if alone or _PROGRAM_NAME.search(name)]
    return Question(
        text=text,
        words=tuple(words),
        hashes=tuple(terms.hashed(word) for word in words),
        weights=(1.0,) * len(words),
        names=tuple(names),
    )
