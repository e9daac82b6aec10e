"""An answer as text, Markdown or JSON. Pure: the same answer gives the same bytes."""

from gitrag.report.markdown import as_markdown
from gitrag.report.parts import (
    PIECE,
    Style,
    cleaned,
    cut,
    hits_of,
    listed_paths,
    notes_of,
    place_of,
    plain,
    reworded_lines,
    shown,
    standing,
    wording_line,
)
from gitrag.report.places import as_paths, as_vimgrep, best_lines, located, relative_to
from gitrag.report.structured import as_json
from gitrag.report.text import as_text

__all__ = [
    "PIECE",
    "Style",
    "as_json",
    "as_markdown",
    "as_paths",
    "as_text",
    "as_vimgrep",
    "best_lines",
    "cleaned",
    "cut",
    "hits_of",
    "listed_paths",
    "located",
    "notes_of",
    "place_of",
    "plain",
    "relative_to",
    "reworded_lines",
    "shown",
    "standing",
    "wording_line",
]
