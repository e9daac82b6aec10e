"""Lines that match exactly, as text, Markdown, JSON or places. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from gitrag.actions.answer import Answer
from gitrag.actions.exact_search import ExactAnswer
from gitrag.model import Kind
from gitrag.report.markdown import as_code
from gitrag.report.parts import TAB, Style, cut, kind_of, place_of, plain
from gitrag.report.places import place_line
from gitrag.search.engine import Hit
from gitrag.search.exact import Pattern
from gitrag.search.snippet import Line
from gitrag.words.control_characters import Text, joined
from gitrag.words.numbers import count

LONGEST_LINE = 400
"""Characters shown of a line in text and Markdown, around what matches; places and JSON have all of it."""

_BEFORE = 60
"""Characters shown before what matches, where a line is too long."""


def exact_text(
    found: ExactAnswer,
    answer: Answer,
    style: Style = plain,
    *,
    columns: int | None = None,
    gaps: bool = False,
) -> Text:
    """Return the lines below their files, each definition named once.

    Args:
        answer: Its hits as they are to be shown: relative, with more lines around.
        gaps: Mark where lines are left out between two that are shown.
    """
    if not found.answer.hits:
        return nothing_line(found)
    parts: list[str] = []
    for path, hits in groupby(answer.hits, key=place_of):
        own = list(hits)
        parts += [style(path, "path"), *_below(own, found.pattern, style, columns, gaps=gaps), ""]
    return joined(parts)


def _below(
    hits: list[Hit], pattern: Pattern, style: Style, columns: int | None, *, gaps: bool
) -> Iterator[str]:
    lines: dict[int, tuple[Hit, Line]] = {}
    for hit in hits:
        for line in hit.snippet:
            if line.number not in lines or hit.chunk.line_start <= line.number <= hit.chunk.line_end:
                lines[line.number] = (hit, line)  # what is around one definition may be in the next
    width = len(str(max(lines, default=0)))
    most = min((columns or LONGEST_LINE) - width - 4, LONGEST_LINE)
    ordered = sorted(lines.items())
    last, named = -1, ""
    for at, (number, (own, line)) in enumerate(ordered):
        begins = number > last + 1
        if gaps and at and begins:
            yield f"  {style('…', 'dim')}"
        last = number
        if begins or not gaps:  # above the lines around a match, not between them
            ahead = (hit for _, (hit, other) in ordered[at:] if other.matches)
            chunk = (next(ahead, own) if gaps else own).chunk
            if chunk.qualified_name != named and number != chunk.line_start and chunk.kind is not Kind.MODULE:
                what = f"{kind_of(chunk)} {chunk.qualified_name}"
                yield f"  {' ' * width}  {style(cut(what, most), 'dim')}"
            named = chunk.qualified_name
        text = (
            _marked(_around(line.text.expandtabs(TAB), pattern, most), pattern, style)
            if line.matches
            else style(cut(line.text.expandtabs(TAB), most), "dim")
        )
        yield f"  {style(f'{number:>{width}}', 'number')}  {text}".rstrip()


def exact_markdown(found: ExactAnswer, answer: Answer) -> Text:
    """Return the lines below their files, for readers of reports and for agents."""
    if not found.answer.hits:
        return nothing_line(found)
    parts = [f"## Exact matches: {found.pattern.text}", "", f"{_told(found)}.", ""]
    for path, hits in groupby(answer.hits, key=place_of):
        parts.append(f"- **{path}**")
        for hit in hits:
            name = f" ({hit.chunk.qualified_name})" if hit.chunk.qualified_name else ""
            for line in hit.snippet:
                text = _around(line.text, found.pattern, LONGEST_LINE).strip()
                parts.append(f"  {line.number}{name}: {as_code(text)}")
    return joined(parts)


def exact_vimgrep(found: ExactAnswer, answer: Answer) -> Text:
    """Return ``path:line:column:text`` for each line that matches; columns are bytes, from 1."""
    return joined(
        place_line(place_of(each.hit), each.line, each.column)
        for each in found.matches_in(answer)
        if each.line.matches
    )


def nothing_line(found: ExactAnswer) -> Text:
    """Return the line that nothing was found, with what was looked at."""
    what = "matches" if found.pattern.is_regex else "has the word"
    looked = f"{count(found.searched, 'file')} searched"
    return joined([f"No line {what} {cut(found.pattern.text, 200)!r}: {looked}."])


def exact_notes(found: ExactAnswer) -> list[str]:
    """Say what is not in an answer, a line each."""
    notes = []
    if found.omitted:
        notes.append(f"{_told(found)}: a limit of {found.lines} returns all, path and language narrow it.")
    notes += [f"{each[0].upper()}{each[1:]}." for each in found.not_indexed]
    apart = []
    if found.left_out:
        apart.append(f"{count(found.left_out, 'text file')} left out of the index (`gitrag status` says why)")
    if found.unread:
        apart.append(f"{count(found.unread, 'file')} not read yet, or not readable")
    if apart:
        notes.append(f"Not searched: {'; '.join(apart)}.")
    return notes


def all_notes(found: ExactAnswer) -> list[str]:
    """Say what is not in an answer, and first of all if nothing is, a line each."""
    return [*([] if found.answer.hits else [nothing_line(found)]), *exact_notes(found)]


def _told(found: ExactAnswer) -> str:
    all_lines = f"{count(found.lines, 'line')} in {count(found.files, 'file')}"
    given = found.lines - found.omitted
    return f"The first {given:,} of {all_lines}" if found.omitted else all_lines


def _around(text: str, pattern: Pattern, columns: int) -> str:
    """Shorten a line so that the first match is in what is left."""
    spans = pattern.spans(text) if len(text) > columns else []
    start = max(spans[0][0] - _BEFORE, 0) if spans and spans[0][1] > columns - 1 else 0
    return cut(f"…{text[start:]}" if start else text, columns)


def _marked(text: str, pattern: Pattern, style: Style) -> str:
    parts, end = [], 0
    for first, last in pattern.spans(text):
        parts += [text[end:first], style(text[first:last], "word")]
        end = last
    return "".join([*parts, text[end:]])
