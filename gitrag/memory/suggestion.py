"""What kind of change, and how large, a conversation sounds like (requirement 5.7). Pure.

A guess by words, and called one: whoever reads it decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

NO_SIGNAL = "Based on limited context — adjust as needed"

TYPES: Mapping[str, tuple[str, ...]] = {
    "fix": ("fix", "bug", "crash", "error", "broken"),
    "refactor": ("refactor", "restructure", "reorganize", "clean up", "cleanup"),
    "enhancement": ("improve", "enhance", "optimize", "better", "upgrade"),
    "feature": ("new", "add", "create", "build", "implement"),
}
"""In this order: the first that any word speaks for."""

SIZES: Mapping[str, tuple[str, ...]] = {
    "small": ("quick", "small", "simple", "trivial", "one-liner", "minor"),
    "large": ("complex", "large", "major", "big", "rewrite", "overhaul"),
}

DEFAULT_TYPE = "feature"
DEFAULT_SIZE = "medium"


@dataclass(frozen=True, slots=True)
class Guess:
    """A guess.

    Attributes:
        value: What it sounds like.
        word: The word in the text that said so; empty where none did.
    """

    value: str
    word: str = ""

    @property
    def reason(self) -> str:
        """Why, after ``value — ``."""
        return f'because of "{self.word}"' if self.word else NO_SIGNAL


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What kind of change it may be, and how large."""

    kind: Guess
    size: Guess


def suggest(goals: str, constraints: str, context: str) -> Suggestion:
    """Guess the type and the size of a change from what was said of it."""
    text = f"{goals}\n{constraints}\n{context}"
    return Suggestion(_first(TYPES, text, DEFAULT_TYPE), _first(SIZES, text, DEFAULT_SIZE))


def _first(table: Mapping[str, tuple[str, ...]], text: str, default: str) -> Guess:
    for value, words in table.items():
        if found := _pattern(words).search(text):
            return Guess(value, found.group().lower())
    return Guess(default)


def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Match the words at the start of any word: ``bug`` in ``bugs``, not in ``debug``.

    A final e may have given way to an ending: ``improving``, ``optimization``.
    """
    starts = (re.escape(word).replace(r"\ ", r"\s+") for word in words)
    flexible = (f"{start[:-1]}(?:e|ing|ion|ation)" if start[-1] == "e" else start for start in starts)
    return re.compile(rf"\b(?:{'|'.join(flexible)})\w*", re.IGNORECASE)
