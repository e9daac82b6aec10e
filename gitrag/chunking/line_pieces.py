"""Cut runs of lines into pieces of limited length.

Rows are 0-based and inclusive. A piece is ``(text, first row, last row)``.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Larger chunks rank slightly better, up to about 3,000 characters; the encoder reads far less than that, and
# a result should still fit a screen.
MAX_CHUNK_CHARS = 1_800

# Windows of files without a grammar; a short text at a cut is whole in one of two overlapping windows.
WINDOW_CHARS = 1_000
WINDOW_OVERLAP_CHARS = 200

# Cost of a cut, in columns of indentation: best before a less indented line and after a blank one;
# one after a comment separates it from what it explains; one before a closing bracket isolates the bracket.
_NO_BLANK_LINE = 6
_AFTER_COMMENT = 10
_BEFORE_CLOSER = 40
_UNEVEN = 16
_MAX_INDENT = 40

_COMMENT_STARTS = ("#", "//", "/*", "*", "--", ";;", "%", '"""', "(*", "@")
_DIRECTIVE = re.compile(r"[#@%]\w|--\w")
_CLOSING_FIRST = frozenset("})];,>|\"'`efdmr*-<?1@#")
_CLOSING = re.compile(
    r"""(?:[})\];,>|"'`]+|(?:end|fi|done|esac|\*/|-->|</\w+>|\?>|1|@end|\#endif|\#else|do|else)[;,)]*
    |return\s\w+;?|export\sdefault\s\w+;?|module\.exports\s=\s\w+;?)
    \s*(?:(?://|/\*|\#|--).*)?""",
    re.VERBOSE,
)

Piece = tuple[str, int, int]


def is_closing(stripped: str) -> bool:
    """Return whether a stripped line is blank, or only closes or returns what earlier lines opened."""
    return not stripped or (stripped[0] in _CLOSING_FIRST and _CLOSING.fullmatch(stripped) is not None)


def is_comment(stripped: str) -> bool:
    """Tell whether a stripped line is a comment in most languages; ``#include`` is not, ``# include`` is."""
    return stripped.startswith(_COMMENT_STARTS) and not _DIRECTIVE.match(stripped)


def text_of(lines: Sequence[str], first: int, last: int) -> str:
    return lines[first] if first == last else "\n".join(lines[first : last + 1])


def size_of(lines: Sequence[str], first: int, last: int) -> int:
    """Return the number of characters of the rows, including line ends between them."""
    return sum(map(len, lines[first : last + 1])) + last - first


def trim(lines: Sequence[str], first: int, last: int) -> tuple[int, int]:
    """Drop blank rows at both ends; ``first > last`` if no row is left."""
    while first <= last and not lines[first].strip():
        first += 1
    while last > first and not lines[last].strip():
        last -= 1
    return first, last


def with_marks(lines: Sequence[str], read: Sequence[str], first: int) -> int:
    """Return the first row with the marks above it: rows that parsers do not see, like a fence."""
    while first > 0 and lines[first - 1].strip() and not read[first - 1].strip():
        first -= 1
    return first


def split(lines: Sequence[str], first: int, last: int) -> Iterator[Piece]:
    """Cut rows into pieces of at most ``MAX_CHUNK_CHARS``, at the best boundaries, of roughly equal size.

    The first and last row must not be blank. Blank rows at a cut belong to no piece. A line longer than a
    piece is cut into several with the same row.
    """
    if size_of(lines, first, last) <= MAX_CHUNK_CHARS:
        yield text_of(lines, first, last), first, last
        return
    ends = list(accumulate(len(lines[row]) + 1 for row in range(first, last + 1)))
    start = first
    while start <= last:
        if len(lines[start]) > MAX_CHUNK_CHARS:
            for text in split_line(lines[start]):
                yield text, start, start
            stop = start + 1
        else:
            stop = _boundary(lines, ends, first, start, last)
            low, high = trim(lines, start, stop - 1)
            yield text_of(lines, low, high), low, high
        while stop <= last and not lines[stop].strip():
            stop += 1
        start = stop


def _boundary(lines: Sequence[str], ends: Sequence[int], first: int, start: int, last: int) -> int:
    """Return the first row of the piece after the one from ``start``."""
    offset = ends[start - first] - len(lines[start]) - 1
    total = ends[last - first] - offset
    if total - 1 <= MAX_CHUNK_CHARS:
        return last + 1
    target = total / -(-total // MAX_CHUNK_CHARS)
    best, best_cost, furthest = 0, float("inf"), start + 1
    for row in range(start + 1, last + 1):
        taken = ends[row - 1 - first] - offset
        if taken - 1 > MAX_CHUNK_CHARS:
            break
        line = lines[row]
        stripped = line.strip()
        if not stripped:
            continue
        furthest = row
        if taken < target / 2 and len(line) <= MAX_CHUNK_CHARS:
            continue
        before = lines[row - 1].strip()
        cost = min(len(line) - len(line.lstrip()), _MAX_INDENT) + _UNEVEN * abs(taken - target) / target
        if before:
            cost += _NO_BLANK_LINE
            if before.startswith(_COMMENT_STARTS):
                cost += _AFTER_COMMENT
        if is_closing(stripped):
            cost += _BEFORE_CLOSER
        if cost < best_cost:
            best, best_cost = row, cost
    return best or furthest


def split_line(line: str, limit: int = MAX_CHUNK_CHARS) -> Iterator[str]:
    """Cut a line into texts of at most ``limit`` characters, at spaces if possible; they join to the line."""
    start = 0
    while len(line) - start > limit:
        space = line.rfind(" ", start + limit * 3 // 4, start + limit)
        stop = space + 1 if space >= 0 else start + limit
        yield line[start:stop]
        start = stop
    yield line[start:]


def windows(lines: Sequence[str]) -> Iterator[Piece]:
    """Cut a whole file into windows of ``WINDOW_CHARS`` that overlap by up to ``WINDOW_OVERLAP_CHARS``.

    For files without a grammar. Cut at line ends; a longer line is cut into several windows that,
    joined, equal it.
    """
    start, last = trim(lines, 0, len(lines) - 1)
    while start <= last:
        if len(lines[start]) > WINDOW_CHARS:
            for text in split_line(lines[start], WINDOW_CHARS):
                yield text, start, start
            start = trim(lines, start + 1, last)[0]
            continue
        stop, size = start, 0
        while stop <= last and size + len(lines[stop]) <= WINDOW_CHARS:
            size += len(lines[stop]) + 1
            stop += 1
        low, high = trim(lines, start, stop - 1)
        yield text_of(lines, low, high), low, high
        if stop > last or len(lines[stop]) > WINDOW_CHARS:
            start = trim(lines, stop, last)[0]
            continue
        overlap, back = 0, stop
        while back - 1 > start and overlap + len(lines[back - 1]) < WINDOW_OVERLAP_CHARS:
            back -= 1
            overlap += len(lines[back]) + 1
        start = trim(lines, back, last)[0]
