"""Lines and places of a file as an editor counts them: of an unsaved buffer, in UTF-16."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit
from urllib.request import url2pathname

from lsprotocol.types import Location, Position, Range
from msgspec import Struct

from gitrag.actions.lines import file_lines
from gitrag.chunking.languages import language_of
from gitrag.chunking.notebooks import decode
from gitrag.git.blame import unchanged_lines
from gitrag.workspace import Workspace

_LONE_RETURN = re.compile(r"\r(?!\n)")
"""A line end for editors only."""

_WORD = re.compile(r"[\w$]+")

Units = Callable[[str], int]
"""How long a text is for the editor: in UTF-16 code units, unless it has agreed to others."""


class Lines(Struct, frozen=True):
    """A file as the editor shows it, and as it is on the disk.

    Attributes:
        shown: The lines that the editor shows.
        there: Those on the disk, which answers are about.
        same: Which line of the disk one is that is shown, for those that are as there; None where all are.
        back: The same the other way.
    """

    shown: Sequence[str]
    there: Sequence[str]
    same: Mapping[int, int] | None = None
    back: Mapping[int, int] = {}

    def on_disk(self, line: int) -> int | None:
        """Return the number on the disk of a line that is shown; None where it is not there."""
        return line if self.same is None else self.same.get(line)

    def as_shown(self, line: int) -> int | None:
        """Return the number that a line on the disk is shown at; None where it has changed or gone."""
        return line if self.same is None else self.back.get(line)


def read_lines(workspace: Workspace, path: str, text: str | None) -> Lines:
    """Read a file.

    Args:
        text: What the editor shows of it; None where it is not open.
    """
    there = file_lines(workspace, path)
    if text is None:
        return Lines(there, there)
    if _LONE_RETURN.search(text):  # its lines are counted otherwise there
        return Lines((), there, {})
    shown = text.split("\n")
    read = decode(text.encode("utf-8", "surrogatepass"), language_of(path))
    before = "\n".join(there).encode("utf-8", "surrogatepass")
    same = unchanged_lines(before, read.encode("utf-8", "surrogatepass"))
    return Lines(shown, there, same, {line: own for own, line in same.items()})


def word_at(line: str, character: int, units: Units) -> str:
    """Return the word that a place on a line is in or right behind; empty if none.

    Args:
        character: In the editor's units.
    """
    for found in _WORD.finditer(line):
        if units(line[: found.start()]) <= character <= units(line[: found.end()]):
            return found[0]
    return ""


def location(uri: str, lines: Lines, line: int, name: str, units: Units, last: int = 0) -> Location | None:
    """Return where a name stands on a line of the disk, as the editor shows it; None where it does not.

    Args:
        name: The name; where the line does not have it, all of the line is meant.
        last: The last line of what is meant, to be had in the range too; 0 for the name alone.
    """
    own = lines.as_shown(line)
    if own is None or not 1 <= own <= len(lines.shown):
        return None
    text = lines.shown[own - 1].rstrip("\r")
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) if name else None
    start, end = found.span() if found else (len(text) - len(text.lstrip()), len(text))
    begin = Position(own - 1, units(text[:start]))
    until = lines.as_shown(last) if last > line else None
    if until is None or not own <= until <= len(lines.shown):
        return Location(uri, Range(begin, Position(own - 1, units(text[:end]))))
    return Location(uri, Range(begin, Position(until - 1, units(lines.shown[until - 1].rstrip("\r")))))


def path_of(uri: str) -> Path | None:
    """Return the file that an address means; None if it is no file's. Bytes that are not UTF-8 are kept."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or "\0" in (path := os.fsdecode(unquote_to_bytes(parts.path))):
        return None
    return Path(url2pathname(parts.path) if os.name == "nt" else path)
