"""A block of lines between two marks, at the end of a text file. Pure.

What `without_block` takes out of what `with_block` made is what was there before.
"""

from __future__ import annotations

from dataclasses import dataclass


class DamagedMarksError(ValueError):
    """The marks are not one start and one end after it, so nobody knows what is whose."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The lines that a block stands between."""

    start: str
    end: str


MARKDOWN = Marks("<!-- gitrag:start -->", "<!-- gitrag:end -->")
HASH = Marks("# >>> gitrag >>>", "# <<< gitrag <<<")
"""For TOML and YAML."""


def with_block(text: str, marks: Marks, body: str) -> str:
    """Put a block at the end, or in place of the one that is there.

    A last line without a line end stays without: the block ends without one instead.

    Raises:
        DamagedMarksError: See above.
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
    """Take the block out, with the blank line before it; empty when there was nothing else.

    Raises:
        DamagedMarksError: See above.
    """
    found = _find(text, marks)
    if not found:
        return text
    before, after = text[: found[0]], text[found[1] :]
    newline = "\r\n" if after.startswith("\r\n") or before.endswith("\r\n") else "\n"
    if not after.startswith(newline):  # the file had no line end after its last line
        return before.removesuffix(newline).removesuffix(newline) + after
    return before.removesuffix(newline) + after.removeprefix(newline)


def has_block(text: str, marks: Marks) -> bool:
    """Tell whether there is a block.

    Raises:
        DamagedMarksError: See above.
    """
    return _find(text, marks) is not None


def _find(text: str, marks: Marks) -> tuple[int, int] | None:
    starts, ends = (_places(text, mark) for mark in (marks.start, marks.end))
    if not starts and not ends:
        return None
    if len(starts) != 1 or len(ends) != 1 or ends[0] < starts[0]:
        raise DamagedMarksError("gitrag's marks in it are not one start and one end")
    return starts[0], ends[0] + len(marks.end)


def _places(text: str, mark: str) -> list[int]:
    """Find a mark where it is a line of its own."""
    places, at = [], 0
    for line in text.split("\n"):
        if line.rstrip() == mark:
            places.append(at)
        at += len(line) + 1
    return places
