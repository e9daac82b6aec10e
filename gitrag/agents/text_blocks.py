"""A block of lines between two marks, at the end of a text file or in a table of a YAML file. Pure.

No other byte changes, and `without_block` and `without_entry` restore exactly the text that was given. The
marks are comments at the beginning of a line, which YAML allows anywhere between the lines of a block.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import yaml


class DamagedMarksError(ValueError):
    """There is not exactly one start mark followed by one end mark, so the block's extent is unknown."""


Marks = tuple[str, str]
"""The lines that a block begins and ends with."""


MARKDOWN = ("<!-- gitrag:start -->", "<!-- gitrag:end -->")
HASH = ("# >>> gitrag >>>", "# <<< gitrag <<<")
"""For TOML and YAML."""


def with_block(text: str, marks: Marks, body: str) -> str:
    """Add the block at the end, or replace the existing one.

    If the last line had no line end, the block has none either, so that removing it restores the text.

    Raises:
        DamagedMarksError: The marks are missing, doubled or out of order.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join([marks[0], *body.strip("\n").split("\n"), marks[1]])
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
    starts, ends = (_places(text, mark) for mark in marks)
    if not starts and not ends:
        return None
    if len(starts) != 1 or len(ends) != 1 or ends[0] < starts[0]:
        raise DamagedMarksError("gitrag's marks in it are not one start and one end")
    return starts[0], ends[0] + len(marks[1])


def _places(text: str, mark: str) -> list[int]:
    places, at = [], 0
    for line in text.split("\n"):
        if line.rstrip() == mark:
            places.append(at)
        at += len(line) + 1
    return places


_INDENT = "  "


class NotYamlError(ValueError):
    """The text is not YAML, or its table is written so that no line can be added to it."""


def parse(text: str) -> dict[str, object]:
    """Parse a YAML mapping; an empty file is an empty one.

    Raises:
        NotYamlError: It is something else.
    """
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise NotYamlError("it is no YAML") from error
    if found is not None and not isinstance(found, dict):
        raise NotYamlError("the file is no mapping")
    return found or {}


def with_entry(text: str, table: str, name: str, entry: Mapping[str, object]) -> str:
    """Add an entry to a table of the file, as its first; add the table, at the end, if it is missing.

    Raises:
        NotYamlError: No line can be added to the table.
    """
    text = without_entry(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    if table not in parse(text):
        lines = [f"{table}:", *_dumped(name, entry, _INDENT)]
        block = newline.join([HASH[0], *lines, HASH[1]])
        return text + block + newline if not text or text.endswith("\n") else text + newline + block
    head = re.search(rf"^{re.escape(table)}:[ \t]*(?:#[^\r\n]*)?(?:\r?\n)", text, re.MULTILINE)
    if head is None:
        raise NotYamlError(f"{table} is written in it so that no line can be added")
    first = re.match(r"(?:[ \t]*(?:#[^\r\n]*)?\r?\n)*([ ]+)(?=[^\s#])", text[head.end() :])
    lines = _dumped(name, entry, first[1] if first else _INDENT)
    block = newline.join([HASH[0], *lines, HASH[1]])
    return text[: head.end()] + block + newline + text[head.end() :]


def without_entry(text: str) -> str:
    """Take the entry out, with its marks."""
    if not has_block(text, HASH):
        return text
    start, end = (re.search(rf"^{re.escape(mark)}[ \t]*\r?$", text, re.MULTILINE) for mark in HASH)
    before, after = text[: start.start()] if start else text, text[end.end() :] if end else ""
    if after:
        return before + after.removeprefix("\n")
    return before.removesuffix("\n").removesuffix("\r")  # the file had no line end after its last line


def _dumped(name: str, entry: Mapping[str, object], indent: str) -> list[str]:
    text = yaml.safe_dump({name: dict(entry)}, sort_keys=False, default_flow_style=None, width=1000)
    return [indent + line for line in text.rstrip("\n").split("\n")]
