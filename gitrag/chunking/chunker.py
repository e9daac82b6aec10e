"""Cut a file's bytes into chunks."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gitrag.chunking.containers import container_of, parts_of
from gitrag.chunking.cutting import cut
from gitrag.chunking.languages import BY_NAME, Language
from gitrag.chunking.line_pieces import MAX_CHUNK_CHARS, windows, with_marks
from gitrag.chunking.notebooks import OUTPUT, decode
from gitrag.chunking.outline import is_foreign, outline
from gitrag.chunking.parsing import GrammarError
from gitrag.chunking.prose import LANGUAGES as TEMPLATES
from gitrag.chunking.prose import definitions as template_definitions
from gitrag.chunking.prose import is_prose, outside, sections
from gitrag.chunking.sql_strings import definitions as sql_definitions
from gitrag.model import Chunk, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitrag.chunking.containers import Container, Part
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

# Of a file that is too large to be cut whole: how much of its beginning is, how many of its definitions are
# kept, and how much of each. A file of 1 MiB that is cut whole has some 700 chunks.
OUTLINED_HEAD_CHARS = 32_000
MAX_OUTLINED = 3_000
OUTLINED_CHARS = 800

# Of more parts each is nothing that anybody wrote; one takes a quarter of a millisecond.
MAX_PARTS = 2_000

_NOT_BRACKETS = bytes(set(range(256)) - set(b"()[]{}"))


def chunk(data: bytes, language: str | None) -> list[Chunk]:
    """Return the chunks of a file, in order: a pure function of its arguments and ``CHUNKER_VERSION``.

    Every non-blank line is in a chunk. Never raises: what cannot be parsed is cut into windows.

    Args:
        language: A name from ``language_of``; None or an unknown name for no language.
    """
    text = decode(data, language)
    lines = text.split("\n")
    container = container_of(text, language)
    if container is not None and container.cuts(text):
        parts = parts_of(lines, container)
        if 0 < len(parts) <= MAX_PARTS:
            return _taken_apart(lines, parts, container, language or "")
    source = data if data.isascii() and len(text) == len(data) else text.encode()
    return _whole(lines, lines, source, language)


def outlined(data: bytes, language: str | None) -> list[Chunk]:
    """Return a large file's chunks: its head, and the first lines of definitions; none of other files."""
    row = BY_NAME.get(language or "")
    if row is None or not row.grammar:
        return []
    lines = decode(data, language).split("\n")
    rows = bisect_left(list(accumulate(len(line) + 1 for line in lines)), OUTLINED_HEAD_CHARS)
    definitions = _definitions("\n".join(lines).encode(), lines, row)
    if not definitions:
        head = lines[:rows] or [""]
        return _whole(head, head, "\n".join(head).encode(), language)
    kept = []
    for each in cut(lines, definitions, merge_clauses=row.merge_clauses):
        if each.line_end <= rows:
            kept.append(each)
        elif each.name and not each.continued:
            text = each.text[:OUTLINED_CHARS]
            if len(text) < len(each.text):
                text = (text.rpartition("\n")[0] or text).rstrip("\n")
            kept.append(replace(each, text=text, line_end=each.line_start + text.count("\n")))
    kept = sorted(kept, key=lambda each: each.qualified_name.count("."))[:MAX_OUTLINED]  # the outermost
    return sorted(kept, key=lambda each: each.line_start)


def _whole(lines: Sequence[str], read: Sequence[str], source: bytes, language: str | None) -> list[Chunk]:
    """Cut a file, or a part of one, that is in one language.

    Args:
        read: What the parser sees of each.
        source: The same in UTF-8.
    """
    row = BY_NAME.get(language or "")
    if row is not None and row.grammar:
        definitions = _definitions(source, read, row)
        if definitions is not None:
            if read is not lines:
                for each in definitions:
                    each.first = with_marks(lines, read, each.first)
            return cut(lines, definitions, merge_clauses=row.merge_clauses)
        return _windows(lines)
    return _unparsed(lines, read, row.name if row is not None else "")


def _unparsed(lines: Sequence[str], read: Sequence[str], language: str) -> list[Chunk]:
    """Cut a file, or a part of one, in a language without a grammar."""
    if is_prose(language):
        found = sections(lines, language, read)
        if found:
            return found
    elif language in TEMPLATES and (definitions := template_definitions("\n".join(read), read)):
        return cut(lines, definitions)
    return _windows(lines)


def _windows(lines: Sequence[str]) -> list[Chunk]:
    return [
        Chunk(Kind.MODULE, "", "", "", "", text, first + 1, last + 1) for text, first, last in windows(lines)
    ]


def _taken_apart(
    lines: Sequence[str], parts: Sequence[Part], container: Container, language: str
) -> list[Chunk]:
    """Cut a file part by part, each by its own language, and what is around them."""
    chunks: list[Chunk] = []
    apart: list[tuple[int, int]] = []
    read = list(lines)
    for part in parts:
        rows = slice(part.first, part.stop)
        if part.language == container.rest:
            read[rows] = part.read
            continue
        own, source = lines[rows], "\n".join(part.read)
        if not container.cuts(source):
            continue
        found = _joined_marks(own, part.read, _whole(own, part.read, source.encode(), part.language))
        if not container.defines or any(each.kind is not Kind.MODULE for each in found):
            apart.append((part.first, part.stop))
            is_output = part.language == OUTPUT
            chunks += [replace(each, words_only=is_output) for each in _lower(found, part.first)]
    if container.rest:
        around = sections(lines, container.rest, read, apart)
        chunks = [_under_heading(each, around) for each in chunks] + around
    else:
        for first, stop in outside(0, len(lines), apart):
            chunks += _lower(_unparsed(lines[first:stop], read[first:stop], language), first)
    return sorted(chunks, key=lambda each: each.line_start)


def _joined_marks(lines: Sequence[str], read: Sequence[str], chunks: Sequence[Chunk]) -> list[Chunk]:
    """Join what only marks a part (a fence, a tag, the line above a cell) to what stands beside it."""
    kept: list[Chunk] = []
    for each in chunks:
        before = kept[-1] if kept else None
        if before is not None and (_is_mark(before, read) or _is_mark(each, read)):
            text = "\n".join(lines[before.line_start - 1 : each.line_end])
            is_apart = (
                before.line_end < each.line_start and _is_whole(before, lines) and _is_whole(each, lines)
            )
            if is_apart and len(text) <= MAX_CHUNK_CHARS:
                own = each if _is_mark(before, read) else before
                kept[-1] = replace(own, text=text, line_start=before.line_start, line_end=each.line_end)
                continue
        kept.append(each)
    return kept


def _is_whole(chunk: Chunk, lines: Sequence[str]) -> bool:
    """Return whether it has whole lines, not a piece of a long one."""
    return chunk.text == "\n".join(lines[chunk.line_start - 1 : chunk.line_end])


def _is_mark(chunk: Chunk, read: Sequence[str]) -> bool:
    return not any(map(str.strip, read[chunk.line_start - 1 : chunk.line_end]))


def _lower(chunks: Sequence[Chunk], rows: int) -> list[Chunk]:
    return [
        replace(each, line_start=each.line_start + rows, line_end=each.line_end + rows) for each in chunks
    ]


def _under_heading(own: Chunk, around: Sequence[Chunk]) -> Chunk:
    """Return code outside definitions as part of the section that it stands in, if it stands in one."""
    at = bisect_left(around, own.line_start, key=lambda each: each.line_start) - 1
    if own.kind is not Kind.MODULE or own.words_only or at < 0 or not around[at].name:
        return own
    section = around[at]
    return replace(
        own, kind=Kind.SECTION, name=section.name, qualified_name=section.qualified_name, continued=True
    )


def _definitions(source: bytes, lines: Sequence[str], language: Language) -> list[Definition] | None:
    """Return a source's definitions, or None if it cannot be parsed as its language."""
    if len(source) > MAX_PARSED_BYTES or source.lstrip()[:5] == b"<?xml" or is_hopelessly_nested(source):
        return None
    source = for_parser(source, lines, language)
    try:
        found = outline(source, lines, language) if is_plausible(source, language) else None
    except (GrammarError, RecursionError):
        return None
    if found is None or language.name == "sql" or not (tables := sql_definitions(source)):
        return found
    starts = sorted(each.start for each in found)  # no string has another definition in it
    tables = [each for each in tables if bisect_left(starts, each.start) == bisect_left(starts, each.end)]
    return sorted([*found, *tables], key=lambda each: (each.start, -each.end))


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
    """Return a match with the only group that matched blanked out."""
    group = found.lastindex or 0
    start, end = found.span(group)
    whole = found[0]
    hidden = b"\n".join(b" " * len(line) for line in found[group].split(b"\n"))
    return whole[: start - found.start()] + hidden + whole[end - found.start() :]


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())
