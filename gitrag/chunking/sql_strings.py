"""Tables and views that the strings of other languages create: migrations, schemas of embedded databases."""

from __future__ import annotations

import re
from itertools import islice

from gitrag.chunking.outline import SIGNATURE_CHARS, Definition
from gitrag.model import Kind

_CREATE = re.compile(
    rb"(?:^[ \t]*|[\"'`;(][ \t]*)(?P<all>create[ \t]+(?:or[ \t]+replace[ \t]+)?"
    rb"(?:(?:temp|temporary|unlogged|virtual|materialized)[ \t]+)?(?P<what>table|view)[ \t]+"
    rb"(?:if[ \t]+not[ \t]+exists[ \t]+)?(?P<name>[\w.\"`\[\]\\]{1,200})\s{0,99}"
    rb"(?=(?P<opens>\()|as\s{1,99}\(?\s{0,99}(?:select|with|values|table)\b"
    rb"|(?P<using>using)\s{1,99}\w{1,99}\s{0,9}\())",
    re.IGNORECASE | re.MULTILINE,
)
_BRACKET = re.compile(rb"[()]")
_END = re.compile(rb"[;\"`]|'''")
_LONGEST = 20_000
_MOST = 1_000
"""Bytes of a statement, and statements of a file, that are looked at: brackets may never close."""
_NOT_OF_A_NAME = re.compile(r"[\"`\[\]\\]")


def definitions(source: bytes) -> list[Definition]:
    """Return the tables and views that a source's strings create, in order."""
    if b"create " not in source.lower():
        return []
    found, row, counted = [], 0, 0
    for each in islice(_CREATE.finditer(source), _MOST):
        start, end = each.start("all"), _end(source, each.end(), in_brackets=_has_columns(each))
        row, counted = row + source.count(b"\n", counted, start), start
        name = _NOT_OF_A_NAME.sub("", each["name"].decode("utf-8", "replace")).rpartition(".")[2]
        found.append(
            Definition(
                kind=Kind.CLASS,
                minor=True,
                name=name,
                start=start,
                end=end,
                first=row,
                row=row,
                last=row + source.count(b"\n", start, end),
                signature=" ".join(each["all"].decode("utf-8", "replace").split())[:SIGNATURE_CHARS],
                is_apart=True,
            )
        )
    return found


def _has_columns(created: re.Match[bytes]) -> bool:
    return bool(created["using"] or (created["opens"] and created["what"].lower() == b"table"))


def _end(source: bytes, at: int, *, in_brackets: bool) -> int:
    """Return where a statement ends: with the brackets of its columns, a query's with the string."""
    if not in_brackets:
        found = _END.search(source, at, at + _LONGEST)
        return found.start() if found else at
    depth = 0
    for bracket in _BRACKET.finditer(source, at, at + _LONGEST):
        depth += 1 if bracket[0] == b"(" else -1
        if not depth:
            return bracket.end()
    return at
