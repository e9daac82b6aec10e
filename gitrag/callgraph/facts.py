"""What one blob says about calls, and how it is kept: a pure function of its bytes and language.

Facts lie in the store as one BLOB a content: an outline that every question needs, and bodies that only the
files in question are asked for.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

FACTS_VERSION = 5
"""Raise with any change to what is extracted or how it is packed; facts of another version are made again."""

_HEAD = struct.Struct("<BI")
_LEVEL = 1
"""Of zlib: level 6 saves a tenth and takes three times as long."""


class Definition(NamedTuple):
    """Something that calls or is called. A tuple: each question makes those of all files.

    Attributes:
        kind: ``module`` (the code outside definitions, always the first), ``function``, ``method`` or
            ``class``.
        name: Qualified name, its parts joined by ``.``; empty for the module.
        line_start: First line, decorators included.
        line_end: Last line.
        bases: Last parts of the names that it inherits from.
    """

    kind: str
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

    definitions: tuple[Definition, ...]
    mentions: frozenset[str]
    body: bytes
    failure: str = ""

    def read_body(self) -> Any:
        """Unpack the body."""
        return json.loads(zlib.decompress(self.body))

    def read_rows(self) -> list[str]:
        """Unpack a Python body: the JSON of each definition."""
        return zlib.decompress(self.body).decode("utf-8", "surrogatepass").split("\n")


EMPTY = Facts((), frozenset(), zlib.compress(b"null"))
"""What is said of a blob that holds nothing."""

_FAILED = 0xFFFFFFFF
FAILURE_MARK = _HEAD.pack(FACTS_VERSION, _FAILED)
"""How the packed facts of a blob begin that could not be read; the reason follows, in UTF-8."""


def failed(reason: str) -> Facts:
    """Give the facts of a blob that could not be read."""
    return Facts((), frozenset(), EMPTY.body, reason)


_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def packed_body(*rows: object) -> bytes:
    """Pack a body; of several rows, each is read alone."""
    text = "\n".join(map(_encode, rows))
    return zlib.compress(text.encode("utf-8", "surrogatepass"), _LEVEL)


def pack(facts: Facts) -> bytes:
    """Give facts as bytes."""
    if facts.failure:
        return FAILURE_MARK + facts.failure.encode("utf-8", "replace")
    rows = [
        [each.kind[0], each.name, each.line_start, each.line_end, *each.bases] for each in facts.definitions
    ]
    outline = zlib.compress(
        json.dumps([rows, " ".join(sorted(facts.mentions))], separators=(",", ":")).encode(), _LEVEL
    )
    return _HEAD.pack(FACTS_VERSION, len(outline)) + outline + facts.body


def unpack(data: bytes) -> Facts | None:
    """Read facts; None where they are of another version, or damaged."""
    try:
        version, size = _HEAD.unpack_from(data)
        if version != FACTS_VERSION:
            return None
        if size == _FAILED:
            return failed(data[_HEAD.size :].decode("utf-8", "replace"))
        rows, mentions = json.loads(zlib.decompress(data[_HEAD.size : _HEAD.size + size]))
    except (struct.error, zlib.error, ValueError):
        return None
    definitions = tuple(
        Definition(_KINDS[kind], name, start, end, tuple(bases)) for kind, name, start, end, *bases in rows
    )
    return Facts(definitions, frozenset(mentions.split(" ")), data[_HEAD.size + size :])


_KINDS = {"m": "module", "f": "function", "c": "class"}


def names_in(body: Any, *, inherited: bool = True) -> Iterator[str]:
    """Give the names that a Python body reads, calls or imports.

    Args:
        body: Rows, statements or expressions of `python_syntax`.
        inherited: Whether those that it reads of ``super()`` are among them.
    """
    waiting: list[Any] = [body]
    while waiting:
        each = waiting.pop()
        if not isinstance(each, list) or not each:
            continue
        # A parameter or keyword may bear the name of a kind; its other places hold no strings.
        kind, size = each[0], len(each)
        if kind == "N" and size == 2 and isinstance(each[1], str):
            yield each[1]
        elif kind == "A" and size == 3 and isinstance(each[2], str):
            base = each[1]
            if inherited or not (base and base[0] == "C" and base[1] == ["N", "super"]):
                yield each[2]
            waiting.append(base)
        elif kind == "m" and size == 5 and isinstance(each[3], str):
            yield each[3]
        else:
            waiting.extend(each)


def python_facts(rows: Sequence[list[Any]]) -> Facts:
    """Make facts of what `python_syntax.Reader.read` gives."""
    definitions = []
    for row in rows:
        kind = "function" if row[0] == "async" else row[0]
        bases = tuple(name for base in row[6] if (name := _base(base))) if kind == "class" else ()
        definitions.append(Definition(kind, row[1], row[2], row[3], bases))
    return Facts(tuple(definitions), frozenset(names_in(rows)), packed_body(*rows))


def _base(base: Any) -> str:
    if base and base[0] == "I":
        base = base[1]
    return str(base[-1]) if base and base[0] in "NA" else ""
