"""The lines of a chunk to show. Pure."""

from __future__ import annotations

from msgspec import Struct

from gitrag.model import Chunk
from gitrag.search.question import Question
from gitrag.words import terms

_LONGEST_LINE = 400
"""Characters shown of a line."""

_MOST_LINES = 3


class Line(Struct, frozen=True):
    """A line of a file.

    Attributes:
        number: Its number, 1-based.
        text: Its text, as ``shown``.
        matches: Whether it contains a word of the question.
    """

    number: int
    text: str
    matches: bool


def shown(line: str) -> str:
    """Return a line as people and agents see it: of a very long one its beginning, with an ellipsis."""
    return line.rstrip() if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1].rstrip() + "…"


def snippet(chunk: Chunk, question: Question) -> tuple[Line, ...]:
    """Return the lines of a chunk that say most about the question, in file order.

    The definition's own line comes first; then the lines with most distinct words of the question.
    """
    wanted = set(question.words)
    lines = chunk.text.split("\n")
    shared = [len(wanted & set(terms.query_terms(line))) for line in lines]
    head = next((i for i, line in enumerate(lines) if chunk.name and chunk.name in line), None)
    places = sorted(
        (i for i, line in enumerate(lines) if line.strip()), key=lambda i: (i != head, -shared[i], i)
    )
    best = [i for i in places if shared[i] or i == head][:_MOST_LINES] or places[:1]
    return tuple(Line(chunk.line_start + i, shown(lines[i]), shared[i] > 0) for i in sorted(best))


def lines_at(chunk: Chunk, first: int, last: int) -> tuple[Line, ...]:
    """Return the lines of a chunk that a question names by number; the first where it has none of them."""
    lines = chunk.text.split("\n")
    start = max(first, chunk.line_start)
    numbers = range(start, min(last, chunk.line_end, start + _MOST_LINES - 1) + 1)
    asked = tuple(
        Line(number, shown(lines[number - chunk.line_start]), matches=True)
        for number in numbers
        if number - chunk.line_start < len(lines)
    )
    return asked or (Line(chunk.line_start, shown(lines[0]), matches=False),)
