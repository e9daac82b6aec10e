"""Source as coloured text, and the words of a question marked in it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from gitrag.report.parts import PIECE
from gitrag.web.colouring import NAME, Line, Source
from gitrag.words.control_characters import sanitise_line
from gitrag.words.terms import query_terms

_TAB = 4
_LONGEST_LINE = 2_000
"""Characters of a line of which words are marked."""


def marked(text: str, words: frozenset[str]) -> Markup:
    if not words:
        return escape(text)
    found: list[Markup] = []
    end = 0
    for piece in PIECE.finditer(text):
        if words.intersection(query_terms(piece[0])):
            found += [escape(text[end : piece.start()]), Markup("<mark>%s</mark>") % piece[0]]
            end = piece.end()
    return Markup("").join([*found, escape(text[end:])])


def source_of(path: str, lines: Sequence[str]) -> Source:
    """Return lines of a file as they are shown: control characters visible, tabs as spaces."""
    return Source(path, tuple(sanitise_line(line.expandtabs(_TAB)) for line in lines))


def lines_of(
    source: Source,
    parts: Sequence[Line] | None,
    words: frozenset[str] = frozenset(),
    *,
    names: bool = False,
) -> list[Markup]:
    """Return lines of a file, coloured.

    Args:
        parts: Their parts; None where their words are not told apart.
        names: Whether identifiers get an element of their own, for a script to find them.
    """
    if parts is None:
        return [marked(line, words) if len(line) <= _LONGEST_LINE else escape(line) for line in source.lines]
    return [Markup("").join(_part(kind, text, words, names=names) for kind, text in line) for line in parts]


def _part(kind: str, text: str, words: frozenset[str], *, names: bool) -> Markup:
    inner = marked(text, words)
    return Markup('<span class="%s">%s</span>') % (kind, inner) if kind and (names or kind != NAME) else inner
