"""What is near a place in meaning, as Markdown or a line. Pure."""

from __future__ import annotations

from gitrag.actions.similar import Place, Similar
from gitrag.report.parts import gist, kind_of, lines_of, range_of, shown
from gitrag.words.control_characters import Text, joined

NONE = "Nothing else was found with these options."


def similar_markdown(found: Similar) -> Text:
    """Return an answer for readers of reports and for agents."""
    lines = [f"## Similar to {place_text(found.place)}", ""]
    for hit in found.answer.hits:
        lines.append(f"- **{shown(hit.path)}** (cosine: {hit.cosine:.2f}) {lines_of(hit.chunk)}")
        name = f"{kind_of(hit.chunk)} {hit.chunk.qualified_name}: " if hit.chunk.qualified_name else ""
        lines.append(f"  {name}{gist(hit)}")
    if not found.answer.hits:
        lines.append(NONE)
    if found.copies:
        lines += ["", f"{copies_line(found)}."]
    return joined(lines)


def place_text(place: Place) -> str:
    """Return ``src/app.py:3-9 (method App.run)``."""
    name = f" ({place.kind} {place.name})" if place.name else ""
    return f"{shown(place.path)}:{range_of(place.line_start, place.line_end)}{name}"


def copies_line(found: Similar) -> str:
    """Return where the same text lies; empty for nowhere else."""
    if not found.copies:
        return ""
    places = ", ".join(
        f"{shown(each.path)}:{range_of(each.line_start, each.line_end)}" for each in found.copies
    )
    many = len(found.copies)
    return f"{many:,} exact {'copy' if many == 1 else 'copies'}: {places}"
