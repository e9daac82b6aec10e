"""What code and commits say where there is no document, as lines. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from gitrag.actions.instead import Instead
from gitrag.report.parts import Style, day, place_of, plain, range_of
from gitrag.report.why import SHORT


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
