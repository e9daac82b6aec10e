"""An answer as text, Markdown or JSON. Pure: the same answer gives the same bytes.

Its parts are imported when they are first used: `gitrag status` needs none of a search's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitrag.report.documents import as_json
    from gitrag.report.markdown import as_markdown
    from gitrag.report.parts import (
        PIECE,
        Style,
        cut,
        hits_of,
        kind_of,
        listed_paths,
        nearest_line,
        notes_of,
        place_of,
        plain,
        reworded_lines,
        shown,
        standing,
        wording_line,
    )
    from gitrag.report.places import as_paths, as_vimgrep, best_lines, located, relative_to
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
    "cut",
    "hits_of",
    "kind_of",
    "listed_paths",
    "located",
    "nearest_line",
    "notes_of",
    "place_of",
    "plain",
    "relative_to",
    "reworded_lines",
    "shown",
    "standing",
    "wording_line",
]

_MODULES = {
    "documents": ("as_json",),
    "markdown": ("as_markdown",),
    "parts": (
        "PIECE",
        "Style",
        "cut",
        "hits_of",
        "kind_of",
        "listed_paths",
        "nearest_line",
        "notes_of",
        "place_of",
        "plain",
        "reworded_lines",
        "shown",
        "standing",
        "wording_line",
    ),
    "places": (
        "as_paths",
        "as_vimgrep",
        "best_lines",
        "located",
        "relative_to",
    ),
    "text": ("as_text",),
}
"""The module that each name is of."""

if not TYPE_CHECKING:  # a type checker would take any name for one of these

    def __getattr__(name: str) -> object:
        """Load what is asked for (PEP 562)."""
        from importlib import import_module

        for module, names in _MODULES.items():
            if name in names:
                found = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
                return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
