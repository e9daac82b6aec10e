"""Suggest what a mistyped name was meant to be."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

_COMPARED_CHARACTERS = 60
"""A name is compared up to here: the time of a comparison grows with the square of the length."""


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return `` Did you mean "…"?`` for the most similar known name, or an empty string."""
    folded = {each.lower(): each for each in known}
    close = get_close_matches(name[:_COMPARED_CHARACTERS].lower(), folded, n=1)
    return f' Did you mean "{folded[close[0]]}"?' if close else ""
