"""Macros in C and C++ that annotate functions, and that the parser takes for types or bodies."""

from __future__ import annotations

import re

_BEFORE = re.compile(
    rb"^[ \t]{0,80}(?:(?:static|inline|extern|virtual|explicit)[ \t]{1,40}){0,4}"
    rb"([A-Z][A-Z0-9_]{3,60})[ \t]{1,40}"
    rb"(?=[a-z_A-Z][\w:<>,*& \t]{0,120}[ \t*&]~?[\w:~<>]{1,120}[ \t]{0,80}\("
    rb"|\w[\w<>]{0,200}::[\w:~<>]{1,200}[ \t]{0,80}\()",
    re.MULTILINE,
)
"""``LIB_INLINE void Log::say(``; not ``BOOL say(``, where it is the type."""

_AFTER = re.compile(
    rb"\)[ \t]{0,80}\n?[ \t]{0,80}(?:const[ \t]{1,40})?"
    rb"([A-Z][A-Z0-9_]{3,60}(?:\([^()\n]{0,200}\))?)(?=\s{0,80}[{:])"
)
"""``void say() LIB_NOEXCEPT {``."""

_MEMBER = re.compile(
    rb"\b(?!return\b|else\b|throw\b|do\b|case\b|delete\b|new\b|co_return\b)\w{1,200}[ \t]{1,40}"
    rb"([A-Z][A-Z0-9_]{3,60}\([^()\n]{0,200}\))(?=[ \t]{0,80}[;=])"
)
"""``Status error_ GUARDED_BY(mutex_);``."""

_ALONE = re.compile(
    rb"^[ \t]{0,80}([A-Z][A-Z0-9_]{3,60}\([^()\n]{0,200}\))[ \t]{0,80}$(?=\s{1,80}[\w}~#/])", re.MULTILINE
)
"""``LIB_DECLARE(Store)`` in a line of its own, of a class's body; not ``TEST(Store)`` before a body."""


def without_annotations(source: bytes) -> bytes:
    """Blank out macros around functions' heads; the rest keeps its row and column."""
    for pattern in (_BEFORE, _BEFORE, _AFTER, _MEMBER, _ALONE):  # two may stand before a function
        source = pattern.sub(_blanked, source)
    return source


def _blanked(found: re.Match[bytes]) -> bytes:
    start, end = found.start(1) - found.start(), found.end(1) - found.start()
    return found[0][:start] + b" " * (end - start) + found[0][end:]
