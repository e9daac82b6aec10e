"""What one blob says about calls, and its storage format: a pure function of its bytes and language.

The store has one BLOB per content: an outline, which every question needs, and bodies, read only for
the files in question.
"""

from __future__ import annotations

import struct
import zlib
from typing import Literal

import msgspec
from msgspec import Struct

FACTS_VERSION = 53
"""Raise with any change to what is extracted or how it is packed; facts of other versions are redone."""

_HEAD = struct.Struct("<BI")
_LEVEL = 1
"""zlib level: 6 saves a tenth and takes three times as long."""


class DefinitionFacts(Struct, array_like=True, frozen=True, gc=False):
    """A definition, which may call and be called.

    Attributes:
        kind: ``module`` (the code outside definitions, always the first), ``function`` or ``class``.
        name: Qualified name, its parts joined by ``.``; empty for the module.
        bases: Last parts of the names of its base classes.
    """

    kind: Literal["module", "function", "class"]
    name: str
    line_start: int
    line_end: int
    bases: tuple[str, ...] = ()


class Facts(Struct, frozen=True):
    """What one blob says about calls.

    Attributes:
        definitions: In the order of the source.
        mentions: Every name that it reads, calls or imports, sorted; used to find possible callers.
        body: Further data for the language's resolution, packed.
        failure: Why the blob could not be read; empty if it could.
        partly: Why not all of it was read.
        language: The language of its code, if the file as a whole has another: Python, of a notebook.
    """

    definitions: tuple[DefinitionFacts, ...]
    mentions: frozenset[str]
    body: bytes
    failure: str = ""
    language: str = ""
    partly: str = ""

    def read_rows(self) -> list[bytes]:
        """Unpack the body: JSON, row by row."""
        return zlib.decompress(self.body).split(b"\n")


EMPTY = Facts((), frozenset(), zlib.compress(b"null"))
"""The facts of an empty blob."""

_FAILED = 0xFFFFFFFF
FAILURE_MARK = _HEAD.pack(FACTS_VERSION, _FAILED)
"""Prefix of the packed facts of a blob that could not be read; the reason follows, in UTF-8."""


def failed(reason: str) -> Facts:
    return Facts((), frozenset(), EMPTY.body, reason)


_encode = msgspec.json.Encoder().encode
_decode_outline = msgspec.json.Decoder(tuple[tuple[DefinitionFacts, ...], str, str, str]).decode


def packed_body(*rows: object) -> bytes:
    """Pack a body; each of several rows can be read alone."""
    return zlib.compress(b"\n".join(map(_encode, rows)), _LEVEL)


def pack(facts: Facts) -> bytes:
    if facts.failure:
        return FAILURE_MARK + facts.failure.encode("utf-8", "replace")
    held = facts.definitions, " ".join(sorted(facts.mentions)), facts.language, facts.partly
    outline = zlib.compress(_encode(held), _LEVEL)
    return _HEAD.pack(FACTS_VERSION, len(outline)) + outline + facts.body


def unpack(data: bytes) -> Facts | None:
    """Unpack facts; None if they are of another version, or damaged."""
    try:
        version, size = _HEAD.unpack_from(data)
        if version != FACTS_VERSION:
            return None
        if size == _FAILED:
            return failed(data[_HEAD.size :].decode("utf-8", "replace"))
        outline = _decode_outline(zlib.decompress(data[_HEAD.size : _HEAD.size + size]))
    except (struct.error, zlib.error, msgspec.MsgspecError):
        return None
    definitions, mentions, language, partly = outline
    body = data[_HEAD.size + size :]
    return Facts(definitions, frozenset(mentions.split(" ")), body, language=language, partly=partly)
