"""What a mistyped name was meant to be, how words are spelt elsewhere, in how many letters they differ."""

from __future__ import annotations

import re
from collections.abc import Sequence

_BOTH_ENGLISHES = (
    ("our", "or", "s?|ed|ing|ful|less|able|ites?"),
    ("is", "iz", "e[srd]?|ers|ing|able|ations?"),
    ("ys", "yz", "e[srd]?|ers|ing"),
    ("tre", "ter", "s?"),
    ("ogue", "og", "s?"),
    ("ence", "ense", "[sd]?"),
    ("ll", "l", "ed|ing|ers?|able|ations?"),
    ("gre", "gra", "y.*"),
)
"""What British English has where American English has other letters, and what may follow: ``colour``."""

_COMPARED_CHARACTERS = 60
"""A name is compared up to here: the time of a comparison grows with the square of the length."""


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return `` Did you mean "…"?`` for the most similar known name, or an empty string."""
    folded = {each.lower(): each for each in known}
    from difflib import get_close_matches

    close = get_close_matches(name[:_COMPARED_CHARACTERS].lower(), folded, n=1)
    return f' Did you mean "{folded[close[0]]}"?' if close else ""


def distance(one: str, other: str, most: int) -> int:
    """Return the Damerau-Levenshtein distance: letters wrong, missing, too many, or two exchanged.

    Of neighbouring letters that are exchanged, none is changed again (optimal string alignment).

    Args:
        most: Where it is certain to be more, any larger number may be returned.
    """
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        own = [row]
        for column, against in enumerate(other, 1):
            best = min(last[column] + 1, own[column - 1] + 1, last[column - 1] + (letter != against))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == against:
                best = min(best, before[column - 2] + 1)
            own.append(best)
        if min(own) > most and (not last or min(last) > most):
            return most + 1
        before, last = last, own
    return last[-1]


def other_spellings(word: str) -> list[str]:
    """List what a lower-case word may be in the other English, American or British; of most words none."""
    begin = "^" if word.startswith("gr") else "(?<=...)"
    found = (
        re.sub(f"{begin}{own}(?=(?:{ends})$)", other, word)
        for british, american, ends in _BOTH_ENGLISHES
        for own, other in ((british, american), (american, british))
    )
    return [other for other in found if other != word]
