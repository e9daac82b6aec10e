"""Regular expressions of a user's, in time linear in the text, whatever the expression.

RE2 (github.com/google/re2/wiki/Syntax); Python's own would hang on ``(a*)*b``.
"""

from __future__ import annotations

import re
from typing import Any

from gitrag.errors import UsageError
from gitrag.words.control_characters import in_whole_characters

MOST_CHARACTERS = 10_000
"""Maximum length. The filter of a search with 50 hits has three words of each: some 4,000 characters."""

_MOST_MEMORY_BYTES = 1 << 20
"""Memory limit of a compiled expression and its automaton: 20 times the need of 10,000 characters."""

_UNSUPPORTED = re.compile(r"\(\?(?:[=!>#(]|<[=!]|P=)|\\[1-9ZAGuUNXR]|[*+?}]\+")
"""Python syntax that RE2 lacks: look-around, back-references, atomic groups …"""


def compiled(expression: str, *, called: str = "expression", ignores_case: bool = False) -> Any:
    """Compile an expression; return RE2's pattern, which has ``search`` and ``finditer`` as Python's.

    Args:
        ignores_case: Whether upper and lower case are the same.
    """
    if len(expression) > MOST_CHARACTERS:
        raise UsageError(
            f"The {called} has {len(expression):,} characters; {MOST_CHARACTERS:,} are allowed.",
            "Shorten it.",
        )
    import re2

    options = re2.Options()
    options.case_sensitive = not ignores_case
    options.never_capture = True
    options.max_mem = _MOST_MEMORY_BYTES
    options.log_errors = False
    try:
        done = re2.compile(in_whole_characters(expression), options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else error
        problem = (
            f"The {called} {expression[:60]!r} is no regular expression that RE2 knows: {str(reason)[:80]}."
        )
        if "too large" in str(reason) or "repetition size" in str(reason):
            hint = "Shorten it, with fewer repetitions such as {1,100}."
        elif _UNSUPPORTED.search(expression):
            hint = "RE2 has no look-around, back-references or possessive repeats: say it without them."
        else:
            hint = "Escape what is meant as text, for example \\( for a bracket."
        raise UsageError(problem, hint) from error
    return done
