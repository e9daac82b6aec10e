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
    "Measured": ("commits", "measured_text", "measured_markdown"),
    "SessionStart": ("prime", "as_text", "as_markdown"),
    "Related": ("governance", "related_markdown", "related_markdown"),
    "Review": ("governance", "review_markdown", "review_markdown"),
    "Why": ("commits", "why_text", "why_markdown"),
}
"""By what was found, or a form of it: the module that puts it to words, as text with a style, as Markdown."""


def presented(found: object, style: Style | None = None, form: str = "") -> Text:
    """Return what was found as text in a style; without one as Markdown.

    Args:
        form: The row that it is put to words by; empty for that of its class.
    """
    module, text, markdown = PRESENTED[form or type(found).__name__]
    put = getattr(import_module(f"{__name__}.{module}"), markdown if style is None else text)
    shown: Text = put(found) if style is None else put(found, style)
    return shown
