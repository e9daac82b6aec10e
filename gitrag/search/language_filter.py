"""A language as a user names it, for a filter."""

from __future__ import annotations

from gitrag.chunking.languages import BY_NAME, named
from gitrag.errors import UsageError
from gitrag.words.spelling import did_you_mean


def language_named(given: str) -> str:
    """Return our name of a language, given by its name or by the suffix of its files."""
    found = named(given)
    if found is None:
        close = did_you_mean(given.lower(), list(BY_NAME)).strip()
        raise UsageError(
            f'There is no language "{given}".', close or "`gitrag status` lists those of this repository."
        )
    return found
