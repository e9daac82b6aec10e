"""Guess from the words of a conversation what type of change it is about, and of what size. Pure.

The result is always presented as a suggestion: the reader decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

NO_SIGNAL = "Based on limited context — adjust as needed"

TYPES: Mapping[str, tuple[str, ...]] = {
    "fix": ("fix", "bug", "crash", "error", "broken"),
    "refactor": ("refactor", "restructure", "reorganize", "clean up", "cleanup"),
    "enhancement": ("improve", "enhance", "optimize", "better", "upgrade"),
    "feature": ("new", "add", "create", "build", "implement"),
}
"""The first type, in this order, with a matching word is suggested."""

SIZES: Mapping[str, tuple[str, ...]] = {
    "small": ("quick", "small", "simple", "trivial", "one-liner", "minor"),
    "large": ("complex", "large", "major", "big", "rewrite", "overhaul"),
}

DEFAULT_TYPE = "feature"
DEFAULT_SIZE = "medium"


class Guess(Struct, frozen=True):
    """A guess.

    Attributes:
        value: The type or size.
        word: The word in the text that matched; empty if none did.
    """

    value: str
    word: str = ""

    @property
    def reason(self) -> str:
        """The reason, to follow ``value — ``."""
        return f'because of "{self.word}"' if self.word else NO_SIGNAL


class Suggestion(Struct, frozen=True):
    """The suggested type and size of a change."""

    kind: Guess
    size: Guess


def suggest(goals: str, constraints: str, context: str) -> Suggestion:
    """Guess the type and the size of a change from the text of an exploration."""
    text = f"{goals}\n{constraints}\n{context}"
    return Suggestion(_first(TYPES, text, DEFAULT_TYPE), _first(SIZES, text, DEFAULT_SIZE))


def _first(table: Mapping[str, tuple[str, ...]], text: str, default: str) -> Guess:
    for value, words in table.items():
        if found := _pattern(words).search(text):
            return Guess(value, found.group().lower())
    return Guess(default)


def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Match the words at the start of any word: ``bug`` in ``bugs``, not in ``debug``.

    A final e may be dropped before an ending: ``improving``, ``optimization``.
    """
    starts = (re.escape(word).replace(r"\ ", r"\s+") for word in words)
    flexible = (f"{start[:-1]}(?:e|ing|ion|ation)" if start[-1] == "e" else start for start in starts)
    return re.compile(rf"\b(?:{'|'.join(flexible)})\w*", re.IGNORECASE)
