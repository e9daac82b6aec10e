"""What templates define: Go's and Helm's ``define``, Jinja's and Twig's ``macro``, Handlebars' ``inline``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gitrag.chunking.outline import COMMENT_BYTES, SIGNATURE_CHARS, Definition
from gitrag.model import Kind

LANGUAGES = frozenset({"html", "go-template"})

_TAG = re.compile(
    r"""\{\{-?[ \t]{0,9}
        (?:(?:define|block)[ \t]{1,9}"(?P<go>[^"\n]{1,200})"|(?P<other>if|range|with|block)\b|end\b)
    |\{\{(?:\#\*inline[ \t]{1,9}["'](?P<inline>[^"'\n]{1,200})["']|/inline\b)
    |\{%[-+]?[ \t]{0,9}(?:macro[ \t]{1,9}(?P<macro>\w{1,200})|endmacro\b)""",
    re.VERBOSE,
)
_SIGNS = ("define ", "{% macro ", "{%- macro ", "{{#*inline ")
_OPENS, _CLOSES = re.compile(r"\{\{-?\s{0,9}/\*|\{#"), re.compile(r"\*/\s{0,9}-?\}\}\s*$|#\}\s*$")
_COMMENT_ROWS = 20


def definitions(text: str, lines: Sequence[str]) -> list[Definition]:
    """Return the definitions of a template, by start; empty for a file that has none."""
    if not any(sign in text for sign in _SIGNS):
        return []
    return sorted(_found(text, lines), key=lambda each: (each.start, -each.end))


def _found(text: str, lines: Sequence[str]) -> Iterator[Definition]:
    opened: list[tuple[str, int, int]] = []
    row = counted = 0
    for tag in _TAG.finditer(text):
        row, counted = row + text.count("\n", counted, tag.start()), tag.start()
        name = tag["go"] or tag["inline"] or tag["macro"] or ""
        if name or tag["other"]:
            opened.append((name, tag.start(), row))
        elif opened:
            name, start, begun = opened.pop()
            if name:
                first = _with_comment(lines, begun)
                yield Definition(
                    kind=Kind.FUNCTION,
                    name=name,
                    start=start,
                    end=tag.end(),
                    first=first,
                    row=begun,
                    last=row,
                    signature=lines[begun].strip()[:SIGNATURE_CHARS],
                    docstring=_said(lines[first:begun]),
                )


def _with_comment(lines: Sequence[str], row: int) -> int:
    """Return the first row of the comment directly above a row, or the row."""
    if row == 0 or not _CLOSES.search(lines[row - 1]):
        return row
    above = range(row - 1, max(row - 1 - _COMMENT_ROWS, -1), -1)
    return next((first for first in above if _OPENS.search(lines[first])), row)


def _said(comment: Sequence[str]) -> str:
    text = "\n".join(comment)[:COMMENT_BYTES]
    return " ".join(_CLOSES.sub("", _OPENS.sub("", text, count=1)).split())
