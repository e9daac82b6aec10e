"""Cut a file's bytes into chunks."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from gitrag.chunking.cutting import cut
from gitrag.chunking.decoding import decode
from gitrag.chunking.languages import BY_NAME, Language
from gitrag.chunking.line_pieces import windows
from gitrag.chunking.outline import is_foreign, outline
from gitrag.chunking.parsing import GrammarError
from gitrag.chunking.prose import is_prose, sections
from gitrag.model import Chunk, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitrag.chunking.outline import Definition

# Larger sources are data or generated; their definitions are not worth minutes of parsing.
MAX_PARSED_BYTES = 4 * 1024 * 1024

# Longer lines are data or minified code (1 file in 800 has one); the parser sees them as blank.
MAX_PARSED_LINE_CHARS = 5_000

# The parser may take quadratic, uninterruptible time over unclosed brackets, and some scanners
# abort the process on deep nesting. Of 56,000 sources none nests deeper than 26 or leaves more than 626
# brackets unmatched (those are lexers, full of brackets in strings).
MAX_NESTING = 100
MAX_UNMATCHED_BRACKETS = 1_000

# Where error recovery is quadratic, the first lines are checked before the whole source is parsed: of a large
# source in any language, and of more than a few pages in a wary one (see `Language`).
MIN_PROBED_BYTES = 100_000
MIN_PROBED_WARY_BYTES = 8_000
MAX_WARY_BYTES = 100_000

_NOT_BRACKETS = bytes(set(range(256)) - set(b"()[]{}"))

_EVERYTHING_BUT_LINE_ENDS = re.compile(rb"[^\n]")


def chunk(data: bytes, language: str | None) -> list[Chunk]:
    """Return the chunks of a file, in order: a pure function of its arguments and ``CHUNKER_VERSION``.

    Every non-blank line is in a chunk. Never raises: what cannot be parsed is cut into windows.

    Args:
        data: The file's content.
        language: A name from ``language_of``; None or an unknown name for no language.
    """
    lines = decode(data).split("\n")
    row = BY_NAME.get(language or "")
    if row is not None and row.grammar:
        source = "\n".join(lines).encode() if data.find(b"\r") >= 0 or not data.isascii() else data
        definitions = _definitions(source, lines, row)
        if definitions is not None:
            return cut(lines, definitions, merge_clauses=row.merge_clauses)
    elif row is not None and is_prose(row.name):
        found = sections(lines, row.name)
        if found:
            return found
    return [
        Chunk(Kind.MODULE, "", "", "", "", text, first + 1, last + 1) for text, first, last in windows(lines)
    ]


def _definitions(source: bytes, lines: Sequence[str], language: Language) -> list[Definition] | None:
    """Return a source's definitions, or None if it cannot be parsed as its language."""
    if len(source) > MAX_PARSED_BYTES or source.lstrip()[:5] == b"<?xml" or is_hopelessly_nested(source):
        return None
    source = for_parser(source, lines, language)
    try:
        return outline(source, lines, language) if is_plausible(source, language) else None
    except (GrammarError, RecursionError):
        return None


def is_plausible(source: bytes, language: Language) -> bool:
    """Return whether a source's first lines parse as its language, and it is not too large for that language.

    Raises:
        GrammarError: The first lines are too costly to parse.
    """
    if language.wary and len(source) > MAX_WARY_BYTES:
        return False
    probed = len(source) > (MIN_PROBED_WARY_BYTES if language.wary else MIN_PROBED_BYTES)
    return not (probed and is_foreign(source, language))


def without_long_lines(source: bytes, lines: Sequence[str]) -> bytes:
    """Blank out lines that are data; the other lines keep their rows."""
    if max(map(len, lines)) <= MAX_PARSED_LINE_CHARS:
        return source
    return "\n".join("" if len(line) > MAX_PARSED_LINE_CHARS else line for line in lines).encode()


def for_parser(source: bytes, lines: Sequence[str], language: Language) -> bytes:
    """Blank out what the parser must not see; the rest keeps its row and column."""
    source = without_long_lines(source, lines)
    if language.noise:
        source = _compiled(language.noise).sub(_without_group, source)
    if language.element:
        source = _only(source, language.element.encode())
    return source


_OPERATORS = re.compile(rb"(?:^[ \t]{0,40}[-+*/%<>=!&|^~@][-+*/%<>=!&|^~@ \t]{0,40}\n){256}", re.MULTILINE)
"""Many consecutive lines of operators only. At the end of 3,000 lines of ``/*`` Python's parser holds
3 GB of alternative parses, in one step that cannot be interrupted."""


_OPERATOR_STEP = 64
_MARKED_OPERATORS = bytes(b"x"[0] if byte in b"-+*/%<>=!&|^~@ \t\n" else 0 for byte in range(256))
_MANY_OPERATORS = b"x" * (256 * len(b"-\n") // _OPERATOR_STEP)
"""What must stand in every 64th byte of a source with so many operator lines, each of two bytes or more."""


def is_hopelessly_nested(source: bytes) -> bool:
    """Return whether bracket depth, unmatched brackets or operator lines exceed those of any real source."""
    sample = source[::_OPERATOR_STEP].translate(_MARKED_OPERATORS)
    if _MANY_OPERATORS in sample and _OPERATORS.search(source):
        return True
    brackets = source.translate(None, _NOT_BRACKETS)
    for _ in range(MAX_NESTING):
        fewer = brackets.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
        if len(fewer) == len(brackets):
            break
        brackets = fewer
    return len(brackets) > MAX_UNMATCHED_BRACKETS


def _without_group(found: re.Match[bytes]) -> bytes:
    """Return a match with its first group blanked out."""
    start, end = found.span(1)
    whole = found[0]
    return whole[: start - found.start()] + b" " * (end - start) + whole[end - found.start() :]


def _only(source: bytes, element: bytes) -> bytes:
    """Blank out everything except what is inside elements of a name, so that rows and columns stay."""
    lower = source.lower()
    kept: list[bytes] = []
    end = 0
    while (opens := lower.find(b"<" + element, end)) >= 0:
        start = lower.find(b">", opens) + 1
        closes = lower.find(b"</" + element, start)
        if start == 0 or closes < 0:
            break
        kept += _EVERYTHING_BUT_LINE_ENDS.sub(b" ", source[end:start]), source[start:closes]
        end = closes
    return b"".join([*kept, _EVERYTHING_BUT_LINE_ENDS.sub(b" ", source[end:])])


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())
