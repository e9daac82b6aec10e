"""An answer as text, Markdown or JSON. Pure: the same answer gives the same bytes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitrag.report.parts import Style
    from gitrag.words.control_characters import Text

PRESENTED: Final[Mapping[str, tuple[str, str, str]]] = {
    "ChangeImpact": ("impact", "as_text", "as_markdown"),
    "Checked": ("governance", "checked_text", "checked_markdown"),
    "Duplicates": ("governance", "duplicates_markdown", "duplicates_markdown"),
    "HistoryAnswer": ("commits", "history_text", "history_markdown"),
    "HubAnswer": ("hub", "as_text", "as_markdown"),
    "Measured": ("measure", "as_text", "as_markdown"),
    "SessionStart": ("prime", "as_text", "as_markdown"),
    "Related": ("governance", "related_markdown", "related_markdown"),
    "Review": ("governance", "review_markdown", "review_markdown"),
    "Why": ("commits", "why_text", "why_markdown"),
}
"""By what was found: the module here that puts it to words, as text with a style, and as Markdown."""


def presented(found: object, style: Style | None = None) -> Text:
    """Return what was found as text in a style; without one as Markdown."""
    module, text, markdown = PRESENTED[type(found).__name__]
    put = getattr(import_module(f"{__name__}.{module}"), markdown if style is None else text)
    shown: Text = put(found) if style is None else put(found, style)
    return shown
