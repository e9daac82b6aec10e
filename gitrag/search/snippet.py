"""The lines of a chunk to show. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from gitrag.model import Chunk
from gitrag.search.question import Question
from gitrag.words import terms

_LONGEST_LINE = 400


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file.

    Attributes:
        number: 1-based.
        text: Its text, cut if very long.
        matches: Whether it contains a word of the question.
    """

    number: int
    text: str
    matches: bool


def snippet(chunk: Chunk, question: Question, most: int = 3) -> tuple[Line, ...]:
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
    best = [i for i in places if shared[i] or i == head][:most] or places[:1]
    return tuple(
        Line(chunk.line_start + i, lines[i][:_LONGEST_LINE].rstrip(), shared[i] > 0) for i in sorted(best)
    )
