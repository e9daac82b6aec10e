"""Read exact lines of files of the working tree, by path and range, or by a hit's id; or a file's outline."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from gitrag.chunking import chunk as chunks_of
from gitrag.chunking import decode
from gitrag.chunking.languages import language_of
from gitrag.chunking.notebooks import MOST_NOTEBOOK_BYTES, NOTEBOOK
from gitrag.errors import NotSetUpError, UsageError
from gitrag.git import BlobError, meant_path, read_file
from gitrag.git.conversion import as_stored
from gitrag.machine.files import within
from gitrag.machine.refusals import disk_error
from gitrag.model import Chunk, Kind
from gitrag.model import digest as digest_of
from gitrag.words.encodings import is_binary
from gitrag.workspace import Workspace

MOST_LINES = 400
"""Most lines of one answer; callers who need more ask for the next range."""

LONG = 120
"""Lines of a file of which a reader who names no range gets the outline: some 1,500 tokens."""

_LONGEST_SIGNATURE = 100

_MOST_BYTES = 8 * 1024 * 1024
_WHAT = re.compile(
    r"(?P<path>.+?)(?::(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?)?(?:#(?P<digest>[0-9a-f]{8}))?"
)


class Range(Struct, frozen=True):
    """Lines of a file.

    Attributes:
        lines_in_file: How many the file has.
        moved: What has become of a hit's lines since: ``moved from 7-9``; empty where nothing has.
        is_outline: Whether the text is the file's outline instead, by what `read_outline` returns.
        not_indexed: Why searches do not find the file, or only its outline: a sentence each.
    """

    path: str
    line_start: int
    line_end: int
    text: str
    lines_in_file: int
    moved: str = ""
    is_outline: bool = False
    not_indexed: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line, 1-based, inclusive."""
        return self.line_start, self.line_end


class Outline(Struct, frozen=True):
    """A file's definitions or headings, in order, and how many lines it has.

    Attributes:
        parts: First and last line of each, and what to show for it.
    """

    path: str
    lines: int
    parts: tuple[tuple[int, int, str], ...]


def read_range(workspace: Workspace, what: str) -> Range:
    """Read lines of a file as it is now.

    Args:
        what: ``path``, ``path:line``, ``path:first-last``, or a hit's id; the end of a path is enough.
    """
    found = _WHAT.fullmatch(what.strip())
    if found is None:
        raise UsageError(f'"{what[:80]}" names no lines.', "Give path:first-last, or a hit's id.")
    path = _meant(workspace, found["path"])
    lines = file_lines(workspace, path)
    first = int(found["first"] or 1)
    last = int(found["last"] or found["first"] or len(lines))
    moved = ""
    if found["digest"]:
        first, last, moved = _find_again(lines, first, last, found["digest"])
    if not 1 <= first <= len(lines) or last < first:
        raise UsageError(f"{path} has no lines {first}-{last}: it has {len(lines)}.", "Give others.")
    last = min(last, len(lines), first + MOST_LINES - 1)
    return Range(path, first, last, "\n".join(lines[first - 1 : last]), len(lines), moved)


def read_outline(workspace: Workspace, what: str) -> Outline | None:
    """Return the outline of a file that is too long to be read unasked; None for all that names lines."""
    found = _WHAT.fullmatch(what.strip())
    if found is None or found["first"]:
        return None
    path = _meant(workspace, found["path"])
    lines = file_lines(workspace, path)
    if len(lines) <= LONG:
        return None
    parts = []
    for each in definitions_of(lines, language_of(path, "\n".join(lines))):
        said = (
            each.signature or f"{'' if each.kind is Kind.SECTION else f'{each.kind} '}{each.qualified_name}"
        )
        indent = "  " if each.kind is Kind.METHOD else ""
        parts.append((each.line_start, each.line_end, indent + said[:_LONGEST_SIGNATURE]))
    return Outline(path, len(lines), tuple(parts))


def definitions_of(lines: Sequence[str], language: str | None) -> list[Chunk]:
    """Return the definitions or headings of a file, each once; of one in several chunks the first.

    A long one is cut, and what is between a class's methods is a chunk of the class.
    """
    found: list[Chunk] = []
    for each in chunks_of("\n".join(lines).encode("utf-8", "surrogatepass"), language):
        inside = takewhile(
            lambda other: other.qualified_name.startswith(f"{each.qualified_name}."),  # noqa: B023 - used at once
            reversed(found),
        )
        place = len(found) - 1 - sum(1 for _ in inside)
        known = found[place] if place >= 0 else None
        if known and each.continued and known.qualified_name == each.qualified_name:
            if known.kind is not Kind.CLASS or place == len(found) - 1:
                found[place] = replace(known, line_end=each.line_end)
        elif each.name:
            found.append(each)
    return found


def _meant(workspace: Workspace, path: str) -> str:
    """Return the path of the file that is meant by a path, or by the end of one."""
    root = workspace.repo.root
    return path if root is None else within(root, meant_path(workspace.repo, root, path)) or path


def file_lines(workspace: Workspace, path: str) -> list[str]:
    """Read the lines of a text file of the working tree, as chunks count them."""
    root = workspace.repo.root
    if root is None:
        raise NotSetUpError("A bare repository has no working tree to read from.", "Run this in a worktree.")
    inside = within(root, root / path)
    if inside is None:
        raise UsageError(f"{path} is outside the repository.", "Only its own files are read.")
    real = (root / inside).resolve().relative_to(root.resolve())
    if ".git" in {part.lower() for part in (*inside.split("/"), *real.parts)}:
        raise UsageError(f"{path} is git's own.", "Only files of the working tree are read.")
    language = language_of(inside)
    most = MOST_NOTEBOOK_BYTES if language == NOTEBOOK else _MOST_BYTES
    try:
        data = read_file(root.resolve(), real.as_posix(), most)
    except BlobError as error:
        if told := disk_error(error.__cause__ or error, root / inside):
            raise told from error
        if os.path.lexists(root / inside):  # returns False where the path is too long
            raise UsageError(str(error), f"Give a text file of at most {most >> 20} MiB.") from error
        raise UsageError(
            f"There is no text file {path} in the repository.", "A search finds those there are."
        ) from error
    data = as_stored(workspace.repo, real.as_posix(), data)
    if is_binary(data):
        raise UsageError(f"{path} is no text.", "Only text is read.")
    lines = decode(data, language).split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _find_again(lines: list[str], first: int, last: int, digest: str) -> tuple[int, int, str]:
    """Find where the lines of a hit are now, the nearest place first."""
    size = last - first + 1

    def same(start: int) -> bool:
        return digest_of("\n".join(lines[start - 1 : start - 1 + size])) == digest

    if same(first):
        return first, last, ""
    starts = range(1, max(len(lines) - size, 0) + 2)
    for start in sorted(starts, key=lambda start: abs(start - first)):
        if same(start):
            return start, start + size - 1, f"moved from {first}-{last}"
    return first, last, "changed since it was found"
