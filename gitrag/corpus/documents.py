"""The common form of documents of every collection, and how their parts are read. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from gitrag.errors import ConfigError
from gitrag.late import late_re
from gitrag.words.bounded_yaml import YamlValue, parse_mapping

FRONT_MATTER_BYTES = 8 * 1024
"""Longer front matter is treated as text: some ten lines are usual, and PyYAML reads only 0.1 MB/s."""

_READ_LINES = 400
"""Lines of a document that are searched for its title, status and links."""

_LINE_CHARACTERS = 500
_TITLE_CHARACTERS = 200
_MOST_TARGETS = 50

_FENCE = late_re(r" {0,3}(`{3,}|~{3,})")
_HEADING = late_re(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]{1,20}#{1,20})?[ \t]{0,20}$")
_UNDERLINE = late_re(r" {0,3}(=+|-+)[ \t]*$")
_MARKS = late_re(
    r"!?\[([^\]]{0,300})\]\([^)]{0,300}\)|[`*_]{1,3}([^`*_]{1,300})[`*_]{1,3}|<[^>]{1,300}>"
)  # bounded: a line of brackets takes linear time
_TARGET = late_re(
    r"\b(?P<kind>ADR|SPEC)[-_ ]?(?P<number>\d{1,6})\b"
    r"|(?:^|[(/\s\[\"'])(?P<file>\d{1,6})[-_][\w.-]*\.(?:md|markdown|mdx)\b"
    r"|\[(?P<link>\d{1,4})[.\]]",
    re.IGNORECASE,
)


class DocumentLink(Struct, frozen=True):
    """A link from a document to another.

    Attributes:
        relation: ``supersedes``, ``superseded-by``, ``extends``, ``extended-by``, ``requires``,
            ``implements``, ``related``, ``blocks`` or ``blocked-by``.
    """

    relation: str
    target: str


class Document(Struct, frozen=True):
    """A document of a collection.

    Attributes:
        path: Its path.
        id: The id by which others refer to it, ``ADR-0007``.
        title: Its title, without the id.
        status: In lower case, without further text: ``accepted``, ``on hold``; empty if it has none.
    """

    path: str
    id: str
    title: str
    status: str = ""
    edges: tuple[DocumentLink, ...] = ()


class DocumentHead(Struct, frozen=True):
    """The beginning of a document, where its metadata are.

    Attributes:
        fields: Its front matter, keys in lower case with ``-`` for ``_``.
        title: Its first heading, without inline markup; empty if there is none.
        lines: Its lines without fenced code and front matter.
    """

    fields: Mapping[str, YamlValue]
    title: str
    lines: tuple[str, ...]

    def text(self, *names: str) -> str:
        """Return the first of these fields that holds a non-empty text."""
        for name in names:
            value = self.fields.get(name)
            if isinstance(value, str) and value.strip():
                return " ".join(value.split())[:_TITLE_CHARACTERS]
        return ""

    def texts(self, *names: str) -> list[str]:
        """Return all texts of these fields, lists flattened."""
        return [text for name in names for text in _flat(self.fields.get(name))]


def read_head(text: str) -> DocumentHead:
    """Read front matter, title and lines; front matter that is no plain YAML mapping is treated as text."""
    lines = [line[:_LINE_CHARACTERS] for line in text.split("\n", _READ_LINES)[:_READ_LINES]]
    fields, start = _front_matter(text, lines)
    kept: list[str] = []
    title = fence = ""
    for line in lines[start:]:
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence):
                fence = ""
            continue
        if mark:
            fence = mark[1]
            continue
        if not title:
            heading = _HEADING.match(line)
            if heading:
                title = heading[2]
            elif _UNDERLINE.match(line) and kept and kept[-1].strip():
                title = kept[-1]
        kept.append(line)
    return DocumentHead(fields, plain(title)[:_TITLE_CHARACTERS], tuple(kept))


def plain(text: str) -> str:
    """Remove Markdown's inline markup, and collapse white space."""
    found = _MARKS.sub(lambda mark: mark[1] or mark[2] or "", text)
    return " ".join(found.split())


def targets(text: str, kind: str) -> Iterator[str]:
    """Find the ids that a text names: ``ADR-0001``, ``SPEC-12``, ``0001-title.md``, ``[1. Title]``.

    Args:
        text: A line, or the value of a field.
        kind: ``ADR`` or ``SPEC``: the kind of a number without prefix.
    """
    for found in _TARGET.finditer(text):
        number = found["number"] or found["file"] or found["link"]
        yield numbered(found["kind"] or kind, number)


def numbered(kind: str, number: str) -> str:
    """Return the id of a kind's number: ``ADR``, ``7`` → ``ADR-0007``."""
    return f"{kind.upper()}-{int(number):04d}"


def field_edges(head: DocumentHead, names: Mapping[str, str], kind: str) -> Iterator[DocumentLink]:
    """Read links from front matter.

    Args:
        names: The fields that hold links, and the relation of each.
    """
    for name, relation in names.items():
        for text in head.texts(name)[:_MOST_TARGETS]:
            found = list(targets(text, kind))
            if not found and text.strip().isdecimal() and len(text.strip()) <= 6:
                found = [numbered(kind, text.strip())]
            for target in found or [text.strip()[:_TITLE_CHARACTERS]]:
                if target:
                    yield DocumentLink(relation, target)


def distinct(edges: Sequence[DocumentLink], own: str) -> tuple[DocumentLink, ...]:
    """Remove duplicate links and those to the document itself; keep the order."""
    return tuple(edge for edge in dict.fromkeys(edges) if edge.target != own)


@lru_cache(maxsize=256)
def _parsed(block: bytes) -> Mapping[str, YamlValue]:
    try:
        found = parse_mapping(block, "front matter", FRONT_MATTER_BYTES)
    except ConfigError:
        return {}
    return {key.strip().lower().replace("_", "-").replace(" ", "-"): value for key, value in found.items()}


def _front_matter(text: str, lines: Sequence[str]) -> tuple[Mapping[str, YamlValue], int]:
    """Return the fields of the front matter, and the index of the line after it."""
    if not lines or lines[0].removeprefix("\ufeff").rstrip() != "---":
        return {}, 0
    for row in range(1, len(lines)):
        if lines[row].rstrip() in ("---", "..."):
            block = "\n".join(text.split("\n", row)[1:row])
            fields = _parsed(block.encode("utf-8", "replace")) if len(block) <= FRONT_MATTER_BYTES else {}
            return fields, row + 1
    return {}, 0


def _flat(value: YamlValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value[:_MOST_TARGETS]:
            if isinstance(item, str):
                yield item
            elif isinstance(item, dict):
                yield from (each for each in item.values() if isinstance(each, str))
