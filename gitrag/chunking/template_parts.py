"""What templates define.

Go's and Helm's ``define``, Jinja's and Twig's ``macro``, Handlebars' ``inline``, ERB's ``content_for``,
Blade's ``@section`` and ``@push``, functions that EJS opens in one tag and closes in another.
"""

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
    |\{%[-+]?[ \t]{0,9}(?:macro[ \t]{1,9}(?P<macro>\w{1,200})|endmacro\b)
    |<%[-_=]?[ \t]{0,9}+(?:
        content_for[ \t(]{1,3}:?["']?(?P<erb>\w{1,200})["']?\)?[ \t]{1,9}do[ \t]{0,9}-?%>
        |(?:async[ \t]{1,9})?function[ \t]{1,9}(?P<ejs>\w{1,200})[^%\n]{0,300}\{[ \t]{0,9}[-_]?%>
        |(?P<opens>(?:if|unless|case|while|until|for|begin)\b(?![^%\n]{0,300};[ \t]{0,9}[-_]?%>)
            |[^}\#%\n][^%\n]{0,300}(?:\bdo|\{)(?:[ \t]{0,9}\|[^|\n]{0,100}\|)?[ \t]{0,9}[-_]?%>)
        |end\b|\}(?![^%\n]{0,300}\{[ \t]{0,9}[-_]?%>))
    |(?<![\w@])@(?:(?:section|push|prepend)\([ \t]{0,9}["'](?P<blade>[^"'\n]{1,200})["'][ \t]{0,9}\)
        |(?:endsection|stop|show|append|overwrite|endpush|endprepend)\b)""",
    re.VERBOSE,
)
_SIGNS = (
    *("define ", "{% macro ", "{%- macro ", "{{#*inline ", "content_for", "@section(", "@push(", "@prepend("),
    *("<% function ", "<%_ function ", "<%- function ", "<% async function "),
)
_SECTIONS = ("erb", "blade")
_NAMES = ("go", "inline", "macro", "ejs", *_SECTIONS)
_OPENS, _CLOSES = re.compile(r"\{\{-?\s{0,9}/\*|\{#"), re.compile(r"\*/\s{0,9}-?\}\}\s*$|#\}\s*$")
_COMMENT_ROWS = 20


def definitions(text: str, lines: Sequence[str]) -> list[Definition]:
    """Return the definitions of a template, by start; empty for a file that has none."""
    if not any(sign in text for sign in _SIGNS):
        return []
    return sorted(_found(text, lines), key=lambda each: (each.start, -each.end))


def _found(text: str, lines: Sequence[str]) -> Iterator[Definition]:
    opened: list[tuple[str, Kind, int, int]] = []
    row = counted = 0
    for tag in _TAG.finditer(text):
        row, counted = row + text.count("\n", counted, tag.start()), tag.start()
        name = next(filter(None, map(tag.group, _NAMES)), "")
        kind = Kind.SECTION if any(map(tag.group, _SECTIONS)) else Kind.FUNCTION
        if name or tag["other"] or tag["opens"]:
            opened.append((name, kind, tag.start(), row))
        elif opened:
            name, kind, start, begun = opened.pop()
            if name:
                first = _with_comment(lines, begun)
                yield Definition(
                    kind=kind,
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
