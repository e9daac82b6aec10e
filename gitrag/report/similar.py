"""What is near a place in meaning, as Markdown, JSON or a line. Pure."""

from __future__ import annotations

from msgspec import Struct

from gitrag.actions.similar import Place, Similar
from gitrag.report.parts import gist, kind_of, lines_of, range_of, shown
from gitrag.words.control_characters import Text, joined


class Neighbour(Struct, frozen=True):
    """A chunk near a place in meaning.

    Attributes:
        path: The file, from the repository's top.
        line_start: First line, 1-based.
        line_end: Last line, inclusive.
        name: The definition or heading; empty for none.
        kind: What it is: function, method, class, module or section.
        cosine: Of the two vectors, in [-1, 1].
        snippet: Its text.
    """

    path: str
    line_start: int
    line_end: int
    name: str
    kind: str
    cosine: float
    snippet: str


class SimilarDocument(Struct, frozen=True):
    """What `gitrag similar` prints as JSON.

    Attributes:
        place: What is compared.
        similar: The chunks nearest to it, the nearest first.
        copies: Where the same text lies.
        drafts: How many texts of the repository are compared by draft vectors.
        commit: The commit that was searched; null before the first one.
        dirty: How many paths with uncommitted changes are in the answer.
    """

    place: Place
    similar: tuple[Neighbour, ...]
    copies: tuple[Place, ...]
    drafts: int
    commit: str | None
    dirty: int


def similar_document(found: Similar) -> SimilarDocument:
    """Return an answer for programs."""
    neighbours = tuple(
        Neighbour(
            path=shown(hit.path),
            line_start=hit.chunk.line_start,
            line_end=hit.chunk.line_end,
            name=hit.chunk.qualified_name,
            kind=hit.chunk.kind.value,
            cosine=hit.cosine,
            snippet=hit.chunk.text,
        )
        for hit in found.answer.hits
    )
    return SimilarDocument(
        found.place, neighbours, found.copies, found.drafts, found.answer.commit, found.answer.dirty
    )


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
