"""What one blob says about calls, and how it is kept: a pure function of its bytes and language.

Facts lie in the store as one BLOB a content: an outline that every question needs, and bodies that only the
files in question are asked for.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Literal

import msgspec
from msgspec import Struct

FACTS_VERSION = 6
"""Raise with any change to what is extracted or how it is packed; facts of another version are made again."""

_HEAD = struct.Struct("<BI")
_LEVEL = 1
"""Of zlib: level 6 saves a tenth and takes three times as long."""


class DefinitionFacts(Struct, array_like=True, frozen=True, gc=False):
    """Something that calls or is called.

    Attributes:
        kind: ``module`` (the code outside definitions, always the first), ``function`` or ``class``.
        name: Qualified name, its parts joined by ``.``; empty for the module.
        line_start: First line, decorators included.
        line_end: Last line.
        bases: Last parts of the names that it inherits from.
    """

    kind: Literal["module", "function", "class"]
    name: str
    line_start: int
    line_end: int
    bases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """What one blob says about calls.

    Attributes:
        definitions: In the order of the source.
        mentions: Every name that it reads, calls or imports, sorted; who may call what is found by these.
        body: What the language's resolution needs beyond, packed.
        failure: Why the blob could not be read; empty where it could.
    """

    definitions: tuple[DefinitionFacts, ...]
    mentions: frozenset[str]
    body: bytes
    failure: str = ""

    def read_rows(self) -> list[bytes]:
        """Unpack the body: JSON, row by row."""
        return zlib.decompress(self.body).split(b"\n")


EMPTY = Facts((), frozenset(), zlib.compress(b"null"))
"""What is said of a blob that holds nothing."""

_FAILED = 0xFFFFFFFF
FAILURE_MARK = _HEAD.pack(FACTS_VERSION, _FAILED)
"""How the packed facts of a blob begin that could not be read; the reason follows, in UTF-8."""


def failed(reason: str) -> Facts:
    """Return the facts of a blob that could not be read."""
    return Facts((), frozenset(), EMPTY.body, reason)


class _Outline(Struct, array_like=True, frozen=True, gc=False):
    definitions: tuple[DefinitionFacts, ...]
    mentions: str


_encode = msgspec.json.Encoder().encode
_decode_outline = msgspec.json.Decoder(_Outline).decode


def packed_body(*rows: object) -> bytes:
    """Pack a body; of several rows, each is read alone."""
    return zlib.compress(b"\n".join(map(_encode, rows)), _LEVEL)


def pack(facts: Facts) -> bytes:
    """Return facts as bytes."""
    if facts.failure:
        return FAILURE_MARK + facts.failure.encode("utf-8", "replace")
    outline = zlib.compress(_encode(_Outline(facts.definitions, " ".join(sorted(facts.mentions)))), _LEVEL)
    return _HEAD.pack(FACTS_VERSION, len(outline)) + outline + facts.body


def unpack(data: bytes) -> Facts | None:
    """Read facts; None where they are of another version, or damaged."""
    try:
        version, size = _HEAD.unpack_from(data)
        if version != FACTS_VERSION:
            return None
        if size == _FAILED:
            return failed(data[_HEAD.size :].decode("utf-8", "replace"))
        outline = _decode_outline(zlib.decompress(data[_HEAD.size : _HEAD.size + size]))
    except (struct.error, zlib.error, msgspec.MsgspecError):
        return None
    mentions = frozenset(outline.mentions.split(" "))
    return Facts(outline.definitions, mentions, data[_HEAD.size + size :])
