"""Which lines of a file to show, and say of a document, of all that bear on the question. Pure.

A file's chunks are compared by what ranked them, and by what tells an explanation from a mention: the words
of a question are in everything near the answer, in the head of a class, a getter, an overload that calls
another one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from gitrag.corpus.documents import plain
from gitrag.late import late_re
from gitrag.model import Chunk, Kind
from gitrag.words import terms

_LONGEST = 240
"""Maximum characters of a note; a longer sentence is cut."""

_ROOM = 160
"""A first sentence shorter than this leaves room for the next one."""

_FENCE = late_re(r"^\s*(?:`{3,}|~{3,})")
_NO_PROSE = late_re(r"\s*(?:#{1,6}(?:\s|$)|=+\s*$|-{2,}\s*$|\||<!--|:::|!\[)")
_ITEM = late_re(r"\s*(?:[-*+]|\d+[.)]|>)\s+(?:\[[ xX]\]\s+)?")
_FIELD = late_re(
    r"\W{0,3}(?:status|date|deciders|decision-makers|consulted|informed|tags)\W{0,3}:", re.IGNORECASE
)
_END = late_re(r"(?<=[.!?])[\"')\]]?\s+(?=[A-Z`\"'(\[*_\d])")


def relevance(text: str, words: frozenset[str], instead: str = "") -> str:
    """Return the one or two sentences of a text that say most about a question.

    Args:
        text: The matching part of a document.
        words: The question's words as terms (``question.words``).
        instead: The whole document; its first sentences are used when the part has none.
    """
    found = _sentences(text)
    if not found:
        found = _sentences(instead)
    if not found:
        return ""
    shared = [len(words & set(terms.query_terms(sentence))) for sentence in found]
    best = max(range(len(found)), key=lambda place: (shared[place], -place))
    first = found[best]
    if len(first) < _ROOM and best + 1 < len(found) and len(first) + len(found[best + 1]) < _LONGEST:
        return f"{first}{'' if first[-1] in '.!?:;,…' else '.'} {found[best + 1]}"
    return first if len(first) <= _LONGEST else first[: _LONGEST - 1].rstrip() + "…"


def _sentences(text: str) -> list[str]:
    """Split prose into sentences; a list item is a paragraph of its own."""
    paragraphs: list[list[str]] = [[]]
    fenced = False
    lines = text.split("\n")
    start = 0
    if lines[0].rstrip() == "---":  # front matter has no sentences
        start = next((row + 1 for row in range(1, len(lines)) if lines[row].rstrip() == "---"), 0)
    for line in lines[start:]:
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced:
            continue
        elif not line.strip() or _NO_PROSE.match(line) or _FIELD.match(line.strip()):
            paragraphs.append([])
        elif item := _ITEM.match(line):
            paragraphs.append([line[item.end() :]])
        else:
            paragraphs[-1].append(line)
    whole = (plain(" ".join(paragraph)) for paragraph in paragraphs)
    return [sentence for paragraph in whole for sentence in _END.split(paragraph) if _says(sentence)]


def _says(sentence: str) -> bool:
    return len(sentence.split()) > 1


MOST_LINES = 30
"""Lines shown of a chunk: most functions fit. Of 345 labelled files none is answered less often for it."""

LIKELY = 0.1
"""Probability at which lines of a file are worth showing beside its best ones."""

HEADS = {Kind.MODULE: 1.2, Kind.CLASS: 0.8}
"""What is taken off for imports, constants and the head of a class: they mention much and explain little."""

_COSINE = 2.5
_FAR = 0.4
_LENGTH = 1 / 3
"""Worth of one unit of cosine, at most so far below the file's best one, and of e times the lines: of two
chunks with the same words the longer does what the other, a getter or an overload, asks it to do."""

_TEST = 2.5
"""What is taken off a test that stands in the file that it tests."""

_SHARPNESS = 2.2
"""Log-odds of one unit of worth.

Of all these, a conditional logit on the labelled files of 13 repositories (`scripts/bench/features/`) finds
the same but for rounding: with each repository left out, 0.68 of 263 files show lines that answer (0.63 by
`Evidence.worth` and heads alone), in four repositories that nothing was fitted on 0.67 of 82 (0.62).
"""

_IS_TEST = late_re(r"#\[(?:\w+::)*(?:test|rstest|test_case)\b")
"""The attribute of a test in Rust, where tests stand beside what they test; elsewhere a path tells."""


def values(
    chunks: Sequence[Chunk], worth: Sequence[float], cosine: Sequence[float], *, of_tests: bool = False
) -> list[float]:
    """Return how well each chunk of a file answers, comparable within the file only.

    Args:
        worth: What ranked them, `Evidence.worth`.
        cosine: Their cosines with the question; -1 if unknown.
    """
    tests = set() if of_tests else {chunk.qualified_name for chunk in chunks if _is_test(chunk)}
    highest = max(cosine, default=0.0)
    return [
        own
        + _COSINE * max(near - highest, -_FAR)
        + _LENGTH * math.log(max(chunk.line_end - chunk.line_start + 1, 1))
        - HEADS.get(chunk.kind, 0.0)
        - (_TEST if chunk.name and chunk.qualified_name in tests else 0.0)
        for chunk, own, near in zip(chunks, worth, cosine, strict=True)
    ]


def _is_test(chunk: Chunk) -> bool:
    attributes, name, _ = chunk.text.partition(chunk.name) if chunk.name else ("", "", "")
    return bool(name and _IS_TEST.search(attributes))


def shares(values: Sequence[float]) -> list[float]:
    """Return how likely each chunk is the one that answers, if the file does."""
    highest = max(values, default=0.0)
    odds = [math.exp(_SHARPNESS * (value - highest)) for value in values]
    return [each / sum(odds) for each in odds]


def window(chunk: Chunk, information: Mapping[str, float]) -> Chunk:
    """Return a chunk, or if it is long, the consecutive lines of it that say most about the question.

    Args:
        information: The information of each of the question's terms.
    """
    lines = chunk.text.split("\n")
    if len(lines) <= MOST_LINES:
        return chunk
    said = [sum(information.get(term, 0.0) for term in terms.query_terms(line)) for line in lines]
    here = best = sum(said[:MOST_LINES])
    start = 0
    for first in range(1, len(lines) - MOST_LINES + 1):
        here += said[first + MOST_LINES - 1] - said[first - 1]
        if here > best + 1e-6:  # of equals the first, which is nearer to the definition's own line
            best, start = here, first
    return replace(
        chunk,
        text="\n".join(lines[start : start + MOST_LINES]),
        line_start=chunk.line_start + start,
        line_end=chunk.line_start + start + MOST_LINES - 1,
    )
