"""Source as coloured text, and the words of a question marked in it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from markupsafe import Markup, escape

from gitrag.report.parts import PIECE
from gitrag.web.colouring import NAME, Line, ShownSource
from gitrag.words.control_characters import sanitise_line
from gitrag.words.terms import query_terms

_TAB = 4
_LONGEST_LINE = 2_000
"""Characters of a line of which words are marked."""

Spans = Callable[[str], Sequence[tuple[int, int]]]
"""What says where a line is marked: first character, and the one after the last, in order."""


def marks_of(words: frozenset[str]) -> Spans:
    """Return what marks the words of a question."""
    return lambda text: [
        piece.span() for piece in PIECE.finditer(text) if words and words.intersection(query_terms(piece[0]))
    ]


def pieces(text: str, spans: Sequence[tuple[int, int]], start: int = 0) -> Iterator[tuple[str, bool]]:
    """Yield a text piece by piece, and whether each is marked; it begins at ``start`` in its line."""
    done = 0
    for first, last in spans:
        begin, end = max(first - start, done), min(last - start, len(text))
        if begin < end:
            yield text[done:begin], False
            yield text[begin:end], True
            done = end
    yield text[done:], False


def marked(text: str, spans: Sequence[tuple[int, int]], start: int = 0) -> Markup:
    """Return text with spans marked, of the line that it begins at ``start`` in."""
    if not spans:
        return escape(text)
    mark = Markup("<mark>%s</mark>")
    parts = (mark % piece if is_marked else escape(piece) for piece, is_marked in pieces(text, spans, start))
    return Markup("").join(parts)


def source_of(path: str, lines: Sequence[str]) -> ShownSource:
    """Return lines of a file as they are shown: control characters visible, tabs as spaces."""
    return ShownSource(path, tuple(sanitise_line(line.expandtabs(_TAB)) for line in lines))


def lines_of(
    source: ShownSource,
    parts: Sequence[Line] | None,
    spans: Spans = lambda _line: (),
    *,
    names: bool = False,
) -> list[Markup]:
    """Return lines of a file, coloured.

    Args:
        parts: Their parts; None where their words are not told apart.
        names: Whether identifiers get an element of their own, for a script to find them.
    """
    own = parts or [((("", line),) if line else ()) for line in source.lines]
    marks = [spans(line) if len(line) <= _LONGEST_LINE else () for line in source.lines]
    return [_line(line, mark, names=names) for line, mark in zip(own, marks, strict=True)]


def _line(line: Line, spans: Sequence[tuple[int, int]], *, names: bool) -> Markup:
    found: list[Markup] = []
    start = 0
    for kind, text in line:
        inner = marked(text, spans, start)
        start += len(text)
        is_told = kind and (names or kind != NAME)
        found.append(Markup('<span class="%s">%s</span>') % (kind, inner) if is_told else inner)
    return Markup("").join(found)
