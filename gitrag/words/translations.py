"""English for the words of a question in another language, one by one: ``translations.tsv``. Pure."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from gitrag.words import terms

_ENDINGS = (0, 0, 2, 2, 5, 5, 5, 7)
"""Letters that may follow a beginning, such as ``-ungen``, by the number of its own; the last for more."""

_COMPOUND = 5
"""Least letters of the first word of a German compound."""

_LINKS = ("", "s", "n", "e", "en", "es", "er")
"""What stands between the words of a German compound."""

LANGUAGES = ("German", "Spanish", "French", "Portuguese", "Chinese", "Japanese")


def translated(word: str, language: str) -> list[str]:
    """List what a word means in English, or the words of a run of Chinese or Japanese writing."""
    begins = _begins().get(language, {})
    word = terms.unaccented(word.lower())
    if language in ("Chinese", "Japanese"):
        return [begins[each] for each in _pattern(language).findall(word)]
    if len(word) > terms.LONGEST_SPLIT:
        return []
    longest = next((word[:size] for size in range(len(word), 0, -1) if word[:size] in begins), "")
    rest = word[len(longest) :]
    if language == "German" and len(longest) >= _COMPOUND:
        others = (translated(rest.removeprefix(link), language) for link in _LINKS if rest.startswith(link))
        return [begins[longest], *next(filter(None, others), [])]
    return (
        [begins[longest]] if longest and len(rest) <= _ENDINGS[min(len(longest), len(_ENDINGS) - 1)] else []
    )


@cache
def _begins() -> dict[str, dict[str, str]]:
    """Read by language how words begin, without marks, and what they mean."""
    text = resources.files("gitrag.words").joinpath("translations.tsv").read_text("utf-8")
    found: dict[str, dict[str, str]] = {language: {} for language in LANGUAGES}
    for line in text.splitlines()[2:]:
        english, *columns = line.split("\t")
        for language, own in zip(LANGUAGES, columns, strict=True):
            for begin in own.split():
                found[language].setdefault(terms.unaccented(begin.lower()), english)
    return found


@cache
def _pattern(language: str) -> re.Pattern[str]:
    longest_first = sorted(_begins()[language], key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)))
