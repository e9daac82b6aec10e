"""What a source file states about itself: the documents that govern it, and what it exports. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from gitrag.corpus.documents import numbered
from gitrag.model import Chunk, Kind

_GOVERNING = re.compile(r"\bGoverning[ \w]{0,20}:[ \t]*(.*)", re.IGNORECASE)
_ID = re.compile(r"\b(ADR|SPEC)[-_ ]?(\d{1,6})\b", re.IGNORECASE)
_REQUIREMENT = re.compile(r"\bREQ(?:UIREMENT)?\b\W{0,3}\"([^\"]{1,200})\"", re.IGNORECASE)
_MARGIN = re.compile(r"^[ \t]*(?:#|//+|/?\*+|--|;+|%+|<!--)?[ \t]*")

_FURTHER_LINES = 5
"""Most further lines of a governing comment, which continues while its lines end with a comma."""

_LINE_CHARACTERS = 1_000
_MOST_REQUIREMENTS = 10


class GoverningComment(Struct, frozen=True):
    """A comment that names what governs the code: ``Governing: ADR-0007, SPEC-0003 REQ "Keys rotate"``.

    Attributes:
        line: Its first line, 1-based.
    """

    line: int
    ids: tuple[str, ...]
    requirements: tuple[str, ...]


def governing(text: str) -> list[GoverningComment]:
    lines = [line[:_LINE_CHARACTERS] for line in text.split("\n")]
    found = []
    for row, line in enumerate(lines):
        opening = _GOVERNING.search(line)
        if not opening:
            continue
        whole = opening[1].rstrip()
        for below in lines[row + 1 : row + 1 + _FURTHER_LINES]:
            if not whole.endswith(","):
                break
            whole += " " + _MARGIN.sub("", below).rstrip()
        ids = tuple(dict.fromkeys(_ids(whole)))
        if ids:
            requirements = tuple(_REQUIREMENT.findall(whole)[:_MOST_REQUIREMENTS])
            found.append(GoverningComment(row + 1, ids, requirements))
    return found


def named(text: str) -> dict[str, int]:
    """Return the ids of decisions and specifications in a text, with the line of each first mention."""
    found: dict[str, int] = {}
    for row, line in enumerate(text.split("\n"), 1):
        for own in _ids(line[:_LINE_CHARACTERS]):
            found.setdefault(own, row)
    return found


def _ids(text: str) -> Iterator[str]:
    return (numbered(kind, number) for kind, number in _ID.findall(text))


def _unless_underscored(chunk: Chunk) -> bool:
    return not chunk.name.startswith("_")


def _with(*words: str) -> Callable[[Chunk], bool]:
    pattern = re.compile(rf"\b({'|'.join(words)})\b")
    return lambda chunk: bool(pattern.search(chunk.signature))


def _without(*words: str) -> Callable[[Chunk], bool]:
    has = _with(*words)
    return lambda chunk: not has(chunk)


def _exports(chunk: Chunk) -> bool:
    return "export" in chunk.text[:200].split("{")[0].split()


_OFFERED: Mapping[str, Callable[[Chunk], bool]] = {
    "go": lambda chunk: chunk.name[:1].isupper(),
    "rust": _with("pub"),
    "javascript": _exports,
    "typescript": _exports,
    "tsx": _exports,
    "java": _without("private"),
    "kotlin": _without("private"),
    "csharp": _without("private"),
    "swift": _without("private", "fileprivate"),
    "elixir": _without("defp"),
    "c": _without("static"),
}
"""How each language marks exported definitions; in others, a leading underscore marks private ones."""


def exported(chunks: Sequence[Chunk], language: str | None) -> list[Chunk]:
    """Return the top-level definitions that a file exports; all if it marks none."""
    own = [
        chunk
        for chunk in chunks
        if chunk.kind not in (Kind.MODULE, Kind.SECTION) and chunk.name and "." not in chunk.qualified_name
    ]
    own = list({chunk.qualified_name: chunk for chunk in reversed(own)}.values())[::-1]
    offered = _OFFERED.get(language or "", _unless_underscored)
    return [chunk for chunk in own if offered(chunk)] or own
