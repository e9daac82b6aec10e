"""Check that a given path is one of the repository's own files."""

from __future__ import annotations

import os
from pathlib import Path

from gitrag.errors import RepositoryError, UsageError
from gitrag.git.environment import message_of
from gitrag.git.repository import Repository
from gitrag.machine.files import within


def own_file(repo: Repository, root: Path, given: Path, shown: str) -> str:
    """Return a file's path relative to the top level, if it is tracked, or untracked and not ignored.

    Args:
        repo: The repository.
        root: Its working tree's top level.
        given: The absolute path.
        shown: The path as the user wrote it.

    Raises:
        UsageError: The file is missing, outside, in a git directory, ignored, or behind a link.
        RepositoryError: git fails.
    """
    path = within(root, given)
    if path is None:
        raise UsageError(
            f"There is no file {shown} in {root}: it is outside.", "Give the path of one of its own files."
        )
    if ".git" in (part.lower() for part in path.split("/")):
        raise UsageError(f"{shown} is git's own.", "Give the path of a file of the working tree.")
    if link := _link_to(root, given, path):
        raise UsageError(
            f"{shown} is reached by the symbolic link {link}.", "Give the path of the file itself."
        )
    try:
        is_file = (root / path).is_file()
    except (OSError, ValueError):  # the name is too long, or contains a NUL
        is_file = False
    if not is_file:
        raise UsageError(
            f"There is no file {shown} in {root}.", "Give the path of a file of this repository."
        )
    done = repo.git(
        *("--literal-pathspecs", "ls-files", "-z", "--cached", "--others", "--exclude-standard"),
        *("--", os.fsencode(path)),
    )
    if done.returncode:
        raise RepositoryError(f"git ls-files fails in {root}: {message_of(done)}.", "Try it: git ls-files")
    if os.fsencode(path) not in done.stdout.split(b"\0"):
        raise UsageError(
            f"{shown} is ignored by git, or belongs to a repository inside this one.",
            "Only files that git tracks or would add are meant: git add --force adds one.",
        )
    return path


def _link_to(root: Path, given: Path, path: str) -> str:
    """Return the first symbolic link on a file's path, below the top level; "" for none."""
    lexical = os.path.relpath(os.path.normpath(given), root)
    for way in (path, path if lexical.startswith("..") else lexical):
        parts = way.split("/")
        for end in range(1, len(parts) + 1):
            if os.path.islink(root / "/".join(parts[:end])):  # noqa: PTH114 - no error for a long path
                return "/".join(parts[:end])
    return ""
