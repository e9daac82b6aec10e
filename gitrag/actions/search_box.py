"""What is typed into the box of the page or of `gitrag ui`: a question, or an exact search; filters. Pure."""

from __future__ import annotations

import re

from msgspec.structs import replace

from gitrag.actions.requests import SearchRequest
from gitrag.errors import UsageError
from gitrag.model import Kind

_FIELDS = {"lang": "languages", "path": "paths", "kind": "kinds"}
"""The filters, and the fields of a request that they are."""

_LONGEST = 300
"""Characters of a text with filters: a longer one is a report that somebody has pasted."""

_FILTER = r'(?:lang|path|kind):(?:"[^"]+"|[^\s"]+)'
_FILTERS = re.compile(rf"(?<!\S){_FILTER}(?!\S)")
_EXACT = re.compile(rf'(?P<before>(?:{_FILTER}\s+)*)(?P<text>/.+/|"[^"]+")(?P<after>(?:\s+{_FILTER})*)')


def read_box(text: str) -> tuple[str, SearchRequest]:
    """Return what is searched for, and the options that say how.

    ``/…/`` is a regular expression, ``"…"`` whole words as they stand. ``lang:``, ``path:`` and ``kind:`` are
    filters, a value with spaces in quotes; in what is searched for exactly they are text.

    Raises:
        UsageError: There is no such kind, or nothing beside filters.
    """
    text = text.strip()
    if len(text) > _LONGEST:
        return text, SearchRequest()
    exact = _EXACT.fullmatch(text)
    filters = f"{exact['before']} {exact['after']}" if exact else text
    fields: dict[str, list[str]] = {}
    for each in _FILTERS.findall(filters):
        name, _, value = each.partition(":")
        fields.setdefault(_FIELDS[name], []).append(value.strip('"'))
    kinds = [kind.value for kind in Kind]
    for kind in fields.get("kinds", ()):
        if kind not in kinds:
            raise UsageError(f'There is no kind "{kind}".', f"There are {', '.join(kinds)}.")
    asked = replace(SearchRequest(), **{name: tuple(values) for name, values in fields.items()})
    if exact is None:
        rest = " ".join(_FILTERS.sub(" ", text).split()) if fields else text
        if fields and not rest:
            raise UsageError("These filters have nothing to filter yet.", "Ask something beside them.")
        return rest, asked
    return exact["text"][1:-1], replace(asked, exact="regex" if exact["text"].startswith("/") else "word")
