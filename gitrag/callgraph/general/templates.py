"""The Ruby code of ERB templates: Rails' views call helpers and models."""

from __future__ import annotations

import re

_TAG = re.compile(r"<%(?P<kind>[=#-]?)(?P<code>(?!%).*?)-?%>", re.DOTALL)
_OTHER = re.compile(r"[^\n]")


def ruby_of(text: str) -> str:
    """Return a template's Ruby code at its own lines and columns; everything else becomes spaces."""
    parts, at = [], 0
    for tag in _TAG.finditer(text):
        start, end = tag.span("code") if tag["kind"] != "#" else (tag.end(), tag.end())
        parts += [_OTHER.sub(" ", text[at:start]), text[start:end]]
        at = end
        if end < tag.end():
            parts.append(";")  # or the next tag of the line would be an argument
            at = end + 1
    return "".join([*parts, _OTHER.sub(" ", text[at:])])
