"""A block of lines between two marks, at the end of a text file. Pure.

`without_block` restores exactly the text that `with_block` was given.
"""

from __future__ import annotations

from msgspec import Struct


class DamagedMarksError(ValueError):
    """There is not exactly one start mark followed by one end mark, so the block's extent is unknown."""


class Marks(Struct, frozen=True):
    """The lines that delimit a block."""

    start: str
    end: str


MARKDOWN = Marks("<!-- gitrag:start -->", "<!-- gitrag:end -->")
HASH = Marks("# >>> gitrag >>>", "# <<< gitrag <<<")
"""For TOML and YAML."""


def with_block(text: str, marks: Marks, body: str) -> str:
    """Add the block at the end, or replace the existing one.

    If the last line had no line end, the block has none either, so that removing it restores the text.

    Raises:
        DamagedMarksError: The marks are missing, doubled or out of order.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join([marks.start, *body.strip("\n").split("\n"), marks.end])
    found = _find(text, marks)
    if found:
        return text[: found[0]] + block + text[found[1] :]
    if not text:
        return block + newline
    return text + newline + block + newline if text.endswith("\n") else text + newline * 2 + block


def without_block(text: str, marks: Marks) -> str:
    """Remove the block and the blank line before it; the result is empty if there was nothing else."""
    found = _find(text, marks)
    if not found:
        return text
    before, after = text[: found[0]], text[found[1] :]
    newline = "\r\n" if after.startswith("\r\n") or before.endswith("\r\n") else "\n"
    if not after.startswith(newline):  # the file had no line end after its last line
        return before.removesuffix(newline).removesuffix(newline) + after
    return before.removesuffix(newline) + after.removeprefix(newline)


def has_block(text: str, marks: Marks) -> bool:
    return _find(text, marks) is not None


def _find(text: str, marks: Marks) -> tuple[int, int] | None:
    starts, ends = (_places(text, mark) for mark in (marks.start, marks.end))
    if not starts and not ends:
        return None
    if len(starts) != 1 or len(ends) != 1 or ends[0] < starts[0]:
        raise DamagedMarksError("gitrag's marks in it are not one start and one end")
    return starts[0], ends[0] + len(marks.end)


def _places(text: str, mark: str) -> list[int]:
    places, at = [], 0
    for line in text.split("\n"):
        if line.rstrip() == mark:
            places.append(at)
        at += len(line) + 1
    return places
