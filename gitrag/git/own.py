"""Which paths that somebody gives are the repository's own files."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from gitrag.errors import RepositoryError, UsageError
from gitrag.git.environment import message_of
from gitrag.git.repository import Repository
from gitrag.machine.files import within


def own_file(repo: Repository, root: Path, given: Path, shown: str) -> str:
    """Return the path of a file that is tracked, or untracked and not ignored, relative to the top level.

    Args:
        given: The path, absolute.
        shown: What the user calls it.

    Raises:
        UsageError: There is no such file; it is outside, in a git directory, or ignored, or links to what is.
        RepositoryError: git cannot tell.
    """
    path = within(root, given)
    if path is None:
        raise UsageError(
            f"There is no file {shown} in {root}: it is outside.", "Give the path of one of its own files."
        )
    target = target_of(root, path)
    if any(part.lower() == ".git" for each in (path, target) for part in each.split("/")):
        raise UsageError(f"{shown} is git's own.", "Give the path of a file of the working tree.")
    try:
        is_file = (root / path).is_file()
    except (OSError, ValueError):  # a name that is too long, or with a NUL
        is_file = False
    if not is_file:
        raise UsageError(
            f"There is no file {shown} in {root}.", "Give the path of a file of this repository."
        )
    done = repo.git(
        *("--literal-pathspecs", "ls-files", "-z", "--cached", "--others", "--exclude-standard"),
        *("--", os.fsencode(path), os.fsencode(target)),
    )
    if done.returncode:
        raise RepositoryError(f"git ls-files fails in {root}: {message_of(done)}.", "Try it: git ls-files")
    if not {os.fsencode(path), os.fsencode(target)} <= set(done.stdout.split(b"\0")):
        raise UsageError(
            f"{shown} is ignored by git, or belongs to a repository inside this one.",
            "Only files that git tracks or would add are meant: git add --force adds one.",
        )
    return path


def files_of(repo: Repository, paths: Collection[str]) -> set[str]:
    """Return which paths are files of the working tree; of a bare repository, which of them HEAD has."""
    root = repo.root
    if root is not None:
        inside = (path for path in paths if within(root, root / path) == path)
        return {path for path in inside if os.path.isfile(root / path)}  # noqa: PTH113  # no error if too long
    if not paths:
        return set()
    done = repo.git("ls-tree", "-z", "--name-only", "--full-tree", "HEAD", "--", *map(os.fsencode, paths))
    return set(paths) & set(os.fsdecode(done.stdout).split("\0"))


def target_of(root: Path, path: str) -> str:
    """Return the path that a file has where its symbolic links end; the path itself where that is unknown."""
    try:
        return (root / path).resolve().relative_to(root.resolve()).as_posix()
    except (OSError, RuntimeError, ValueError):  # a circle of links, a name that is too long
        return path
