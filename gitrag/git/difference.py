"""What a range of commits, or the working tree, changes: before, after, and the commit messages."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from gitrag.errors import UsageError
from gitrag.git.environment import message_of
from gitrag.git.repository import EXECUTABLE_MODE, FILE_MODE, BlobError, Repository
from gitrag.machine.files import read_regular

MOST_BYTES = 1024 * 1024
"""Larger files are not compared."""

RUN_NOTHING = ("--no-ext-diff", "--no-textconv")
"""Keep git from running external programs that attributes and configuration name for comparing."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that a change touches.

    Attributes:
        path: Its path.
        before: Its old content; None if it is new, or not text to compare.
        after: Its new content; None if it is deleted, or not text to compare.
    """

    path: str
    before: bytes | None
    after: bytes | None


def changed_files(repo: Repository, span: str) -> list[ChangedFile]:
    """Return the files a range changes, by path; a rename is a removal and an addition.

    Args:
        repo: The repository.
        span: ``main..HEAD``, ``main...``, or a single revision to compare the working tree with.

    Raises:
        UsageError: git does not know the range.
    """
    if not span or span.startswith("-") or "\0" in span:
        raise UsageError(f"{span!r} is no range of commits.", "Give one, such as main...HEAD.")
    options = ("--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules")
    done = repo.git("diff", *options, *RUN_NOTHING, "-O/dev/null", span, "--")  # override diff.orderFile
    if done.returncode:
        raise UsageError(
            f"git cannot compare {span}: {message_of(done)}.", "Give a range, such as main...HEAD."
        )
    fields = done.stdout.split(b"\0")[:-1]
    found = []
    for facts, raw in zip(fields[::2], fields[1::2], strict=True):
        modes_and_ids = facts.decode("ascii").lstrip(":").split(" ")
        path = os.fsdecode(raw)
        before = _read(repo, modes_and_ids[0], modes_and_ids[2])
        after = _read(repo, modes_and_ids[1], modes_and_ids[3], path)
        found.append(ChangedFile(path, before, after))
    return found


def changed_lines(repo: Repository, span: str) -> dict[str, list[tuple[int, int]]]:
    """Return first and last line of what a range changes in files that both sides have, as they are after.

    Where lines are only removed it is the line before them.

    Raises:
        UsageError: git does not know the range.
    """
    options = ("--diff-filter=M", "--no-renames", "--ignore-submodules", *RUN_NOTHING, "-O/dev/null")
    names = repo.git("diff", "--name-only", "-z", *options, span, "--")
    patch = repo.git("diff", "--unified=0", "--no-color", "--no-prefix", *options, span, "--")
    if names.returncode or patch.returncode:
        problem = message_of(names if names.returncode else patch)
        raise UsageError(f"git cannot compare {span}: {problem}.", "Give a range, such as main...HEAD.")
    paths = iter(names.stdout.split(b"\0")[:-1])
    found: dict[str, list[tuple[int, int]]] = {}
    own: list[tuple[int, int]] = []
    for line in patch.stdout.split(b"\n"):
        if line.startswith(b"diff --git "):  # in the same order; the lines of files begin otherwise
            own = found.setdefault(os.fsdecode(next(paths, b"")), [])
        elif hunk := _HUNK.match(line):
            first, number = int(hunk[1]), int(hunk[2] or b"1")
            own.append((max(first, 1), max(first + number - 1, first, 1)))
    return found


_HUNK = re.compile(rb"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")


def messages(repo: Repository, span: str) -> list[str]:
    """Return the messages of the commits that a range adds, newest first; none for uncommitted changes."""
    first, dots, last = span.partition("...") if "..." in span else span.partition("..")
    own = f"{first or 'HEAD'}..{last or 'HEAD'}" if dots else f"{first}..HEAD"
    done = repo.git("log", "-z", "--encoding=UTF-8", *RUN_NOTHING, "--format=%B", own, "--")
    return [each.strip() for each in done.stdout.decode("utf-8", "replace").split("\0") if each.strip()]


def _read(repo: Repository, mode: str, blob: str, path: str = "") -> bytes | None:
    """Read one side of a change: a blob, or the working tree's file if git gives the null id."""
    if int(mode, 8) not in (FILE_MODE, EXECUTABLE_MODE):
        return None
    try:
        if blob.strip("0"):
            return repo.read_blob(blob) if repo.blob_size(blob) <= MOST_BYTES else None
        file = (repo.root or repo.git_dir) / path
        return read_regular(file) if path and file.stat().st_size <= MOST_BYTES else None
    except (BlobError, OSError):
        return None
