"""Which file somebody means by a path: from where they stand, from the top, or by the end of one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from posixpath import relpath

from gitrag.errors import UsageError
from gitrag.git.repository import Repository
from gitrag.machine.files import within

_LISTED = 8
"""Candidates named where several are meant."""


def meant_path(repo: Repository, start: Path, given: str, *, directories: bool = False) -> Path:
    """Return the file that a path means, absolute.

    One that exists wins: first from ``start``, then from the working tree's top. Else it is the one file,
    tracked or not ignored, whose path ends so. Where there is none, the path is taken as it is.

    Args:
        repo: The repository.
        start: Where the user stands.
        given: The path.
        directories: Whether a directory may be meant.

    Raises:
        UsageError: Several files are meant.
    """
    here = start / given
    root = repo.root
    wanted = given.rstrip("/")
    if root is None or _exists(here) or not wanted or wanted.startswith(("/", "~", "./", "../")):
        return here
    if _exists(root / wanted):
        return root / wanted
    found = [path for path in ending(wanted, _paths(repo, directories=directories)) if _exists(root / path)]
    if len(found) > 1:
        raise ambiguous(given, seen_from(within(root, start.absolute()) or "", found))
    return root / found[0] if found else here


def ending(end: str, paths: Iterable[str]) -> list[str]:
    """Return the paths that end with whole parts of another, sorted. Pure."""
    return sorted(path for path in paths if path == end or path.endswith(f"/{end}"))


def ambiguous(given: str, places: Sequence[str]) -> UsageError:
    """Return the error that several places are meant. Pure."""
    more = f" and {len(places) - _LISTED:,} more" if len(places) > _LISTED else ""
    return UsageError(f"{given} may be {', '.join(places[:_LISTED])}{more}.", "Give one of them.")


def seen_from(directory: str, paths: Iterable[str]) -> list[str]:
    """Return paths as one writes them in a directory; all from the worktree's top. Pure."""
    return [relpath(path, directory or ".") for path in paths]


def _exists(path: Path) -> bool:
    try:
        return os.path.lexists(path)
    except ValueError:  # a NUL
        return False


def _paths(repo: Repository, *, directories: bool) -> set[str]:
    """Return the paths that git tracks or would add, and the directories above them if they count."""
    done = repo.git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    paths = {os.fsdecode(path) for path in done.stdout.split(b"\0") if path}
    if directories:
        paths |= {path[:at] for path in tuple(paths) for at, character in enumerate(path) if character == "/"}
    return paths
