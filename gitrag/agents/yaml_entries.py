"""Add an entry to a table of a YAML file without changing any other byte, and take it out again. Pure.

The entry is between marks, which are comments at the beginning of a line: YAML allows them anywhere between
the lines of a block.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import yaml

from gitrag.agents.text_blocks import HASH, has_block

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
        block = newline.join([HASH.start, *lines, HASH.end])
        return text + block + newline if not text or text.endswith("\n") else text + newline + block
    head = re.search(rf"^{re.escape(table)}:[ \t]*(?:#[^\r\n]*)?(?:\r?\n)", text, re.MULTILINE)
    if head is None:
        raise NotYamlError(f"{table} is written in it so that no line can be added")
    first = re.match(r"(?:[ \t]*(?:#[^\r\n]*)?\r?\n)*([ ]+)(?=[^\s#])", text[head.end() :])
    lines = _dumped(name, entry, first[1] if first else _INDENT)
    block = newline.join([HASH.start, *lines, HASH.end])
    return text[: head.end()] + block + newline + text[head.end() :]


def without_entry(text: str) -> str:
    """Take the entry out, with its marks."""
    if not has_block(text, HASH):
        return text
    start, end = (
        re.search(rf"^{re.escape(mark)}[ \t]*\r?$", text, re.MULTILINE) for mark in (HASH.start, HASH.end)
    )
    before, after = text[: start.start()] if start else text, text[end.end() :] if end else ""
    if after:
        return before + after.removeprefix("\n")
    return before.removesuffix("\n").removesuffix("\r")  # the file had no line end after its last line


def _dumped(name: str, entry: Mapping[str, object], indent: str) -> list[str]:
    text = yaml.safe_dump({name: dict(entry)}, sort_keys=False, default_flow_style=None, width=1000)
    return [indent + line for line in text.rstrip("\n").split("\n")]
