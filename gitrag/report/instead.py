"""What code and commits say where there is no document, as lines and for JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from gitrag.actions.instead import Instead
from gitrag.report.documents import InsteadPart
from gitrag.report.history import entries
from gitrag.report.parts import Style, place_of, plain, range_of
from gitrag.report.structured import code_match
from gitrag.report.why import SHORT, day


def instead_lines(found: Instead, style: Style = plain) -> Iterator[str]:
    """Yield a line for each file and commit; none where there is neither."""
    if found:
        yield "Code and commits on it:"
    for hit in found.files:
        place = f"{place_of(hit)}:{range_of(hit.chunk.line_start, hit.chunk.line_end)}"
        name = f" {hit.chunk.qualified_name}" if hit.chunk.qualified_name else ""
        nearest = ", nearest" if hit.is_nearest else ""
        yield f"- {style(place, 'path')}{name} ({hit.score:.2f}{nearest})"
    for match in found.commits:
        commit = match.commit
        yield f"- {style(commit.id[:SHORT], 'name')} {day(commit.authored)} {match.said.subject}"


def instead_part(found: Instead) -> InsteadPart:
    """Return it for JSON."""
    return InsteadPart(tuple(map(code_match, found.files)), entries(found.commits))
