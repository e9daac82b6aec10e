"""Stems: the common part of ``registers``, ``registered`` and ``registering``. Pure.

Lighter than Porter's algorithm: the words of a question only have to match those of names and comments, so a
stem need not be a word, and unknown endings are kept.
"""

from __future__ import annotations

from functools import lru_cache

_SHORTEST = 4
"""Shorter words are kept whole: ``us``, ``bed`` and ``ring`` have no suffix."""

_VOWELS = frozenset("aeiouy")

_PLURALS = (
    ("ies", "y", 2),
    ("sses", "ss", 0),
    ("ches", "ch", 1),
    ("shes", "sh", 1),
    ("xes", "x", 2),
    ("zes", "z", 2),
)
"""Suffix, its replacement, and the minimum number of letters before it."""

_KEPT_S = ("ss", "us", "is")

_ENDINGS = (
    ("ization", "iz"),
    ("ation", "at"),
    ("ition", "it"),
    ("ment", ""),
    ("ness", ""),
    ("able", ""),
    ("ible", ""),
    ("ers", ""),
    ("er", ""),
    ("or", ""),
    ("ion", ""),
    ("ive", ""),
    ("ly", ""),
)
"""The first suffix that leaves at least four letters is removed."""

_FEWEST_BEFORE_ENDING = 4
_FEWEST_BEFORE_VERB = 3
_FEWEST_BEFORE_TAIL = 4


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Reduce a lower-case word to its stem; return anything but an English-looking word unchanged."""
    if len(word) < _SHORTEST or not word.isascii() or not word.isalpha():
        return word
    word = _verb(_plural(word))
    for ending, replacement in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _FEWEST_BEFORE_ENDING:
            word = _single(word[: -len(ending)]) + replacement
            break
    if word.endswith("e") and len(word) >= _FEWEST_BEFORE_TAIL:
        word = word[:-1]
    if word.endswith("y") and len(word) >= _FEWEST_BEFORE_TAIL:
        word = word[:-1] + "i"
    for tail in ("at", "iz"):
        if word.endswith(tail) and len(word) - len(tail) >= _FEWEST_BEFORE_TAIL:
            word = word[: -len(tail)]
    return word


def _plural(word: str) -> str:
    for ending, replacement, fewest in _PLURALS:
        if word.endswith(ending) and len(word) - len(ending) >= fewest:
            return word[: -len(ending)] + replacement
    return word[:-1] if word.endswith("s") and not word.endswith(_KEPT_S) else word


def _verb(word: str) -> str:
    for ending in ("ing", "ed"):
        base = word[: -len(ending)]
        if word.endswith(ending) and len(base) >= _FEWEST_BEFORE_VERB and not _VOWELS.isdisjoint(base):
            return _single(base)
    return word


def _single(word: str) -> str:
    """Undo the doubled consonant before a suffix: ``emitt`` → ``emit``, but ``press`` stays."""
    doubled = len(word) > 2 and word[-1] == word[-2] and word[-1] not in "aeioulsz"
    return word[:-1] if doubled else word
