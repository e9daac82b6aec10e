"""What is kept of a file in a language other than Python, as JSON."""

from __future__ import annotations

from msgspec import Struct
from msgspec.json import Decoder


class WrittenCall(Struct, array_like=True, frozen=True, gc=False):
    """A call.

    Attributes:
        caller: The place of the definition that it stands in.
        parts: What is called, taken apart at its dots; parts that are called themselves end in ``()``.
        line: Where.
    """

    caller: int
    parts: tuple[str, ...]
    line: int


class Declaration(Struct, array_like=True, frozen=True, gc=False):
    """A variable, or a member of a class.

    Attributes:
        owner: The place of the definition that it is of.
        name: Its name.
        type_name: Its declared type; empty where it is not written down.
        made: The call that it is the result of, taken apart.
    """

    owner: int
    name: str
    type_name: str
    made: tuple[str, ...] | None


class Result(Struct, array_like=True, frozen=True, gc=False):
    """The type that a function is declared to return."""

    function: int
    type_name: str


class ImportRow(Struct, frozen=True, gc=False, omit_defaults=True, rename={"origin": "from"}):
    """The captures of an import; see ``@import.…`` of `general.syntax`."""

    origin: str | None = None
    package: str | None = None
    path: str | None = None
    use: str | None = None
    name: str | None = None
    alias: str | None = None
    default: str | None = None
    module: str | None = None
    all: str | None = None


class Body(Struct, array_like=True, frozen=True, gc=False):
    """All of a file. Of definitions, the place of each one's parent; -1 for the file's own."""

    parents: tuple[int, ...]
    calls: tuple[WrittenCall, ...]
    variables: tuple[Declaration, ...]
    fields: tuple[Declaration, ...]
    results: tuple[Result, ...]
    imports: tuple[ImportRow, ...]


unpacked_body = Decoder(Body).decode
"""Unpack the only one of `Facts.read_rows`."""
