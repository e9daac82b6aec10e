"""Which file somebody means by a path: from where they stand, from the top, or by the end of one."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from posixpath import relpath

from gitrag.errors import RepositoryError, UsageError
from gitrag.git.environment import message_of
from gitrag.git.repository import Repository
from gitrag.machine.files import within
from gitrag.words.typed_paths import composed, forms, is_url, spellings

_FROM_A_PLACE = ("/", "~", "./", "../")
"""How a path begins that is not looked for by its end."""

_UP_TO_A_PATTERN = re.compile(r"(?:[^*?\[\\/]+(?:/|$))+")

_SPECIAL = re.compile(r"[*?\[\\]")

_WINDOWS = re.compile(r"\\\w")
"""A backslash that no glob needs: it separates, as on Windows."""

_LISTED = 8
"""Candidates named where several are meant."""


def meant_path(repo: Repository, start: Path, given: str, *, directories: bool = False) -> Path:
    """Return the file that a path means, absolute.

    One that exists wins: first from ``start``, then from the working tree's top. Else it is the one file,
    tracked or not ignored, whose path ends so. Where there is none, the path is taken as it is. That of a URL
    is a whole one, from the top.
    """
    root = repo.root
    if root is None or _exists(start / given):
        return start / given
    is_whole = is_url(given)
    meant = [wanted for each in spellings(given) if (wanted := each.rstrip("/"))]
    for wanted in meant:
        if not is_whole and _exists(start / wanted):
            return start / wanted
        if not wanted.startswith(_FROM_A_PLACE) and _exists(root / wanted):
            return root / wanted
    ends = dict.fromkeys(
        composed(wanted) for wanted in meant if not (is_whole or wanted.startswith(_FROM_A_PLACE))
    )
    paths = listed_paths(repo, directories=directories) if ends else set()
    for end in ends:
        found = [path for path in ending(end, paths) if _exists(root / path)]
        if len(found) > 1:
            raise ambiguous(given, seen_from(within(root, start.absolute()) or "", found))
        if found:
            return root / found[0]
    return start / given


def named_paths(root: Path, start: Path, given: str) -> list[str]:
    """Return the paths in a repository that a text may mean, whether or not a file is there.

    Args:
        start: Where a relative path starts; that of a URL starts at the top.
    """
    place = root if is_url(given) else start
    found = [each for own in spellings(given) for each in (within(root, place / own), own) if each]
    return list(dict.fromkeys(found))


def ending(end: str, paths: Iterable[str]) -> list[str]:
    """Return the paths that end with whole parts of another, sorted. Pure."""
    end = f"/{composed(end)}"
    return sorted(path for path in paths if f"/{composed(path)}".endswith(end))


def followed(root: Path | None, path: str) -> str:
    """Return the path that one has where its links end, if that is another file inside; else the path."""
    if root is None or not path.strip("/"):
        return path
    real = target_of(root, path)
    return real if real != "." and _exists(root / real) else path


def globs_meant(root: Path | None, globs: Sequence[str]) -> tuple[str, ...]:
    """Return globs, with what they are where a link leads, in other forms of Unicode, and as paths typed."""
    found: list[str] = []
    for glob in globs:
        mark, bare = ("!", glob[1:]) if glob.startswith("!") else ("", glob)
        place = _UP_TO_A_PATTERN.match(bare.lstrip("/"))
        fixed = place[0].rstrip("/") if place else ""
        real = followed(root, fixed)
        more = [f"/{real}{bare.lstrip('/').removeprefix(fixed)}"] if real != fixed else []
        if root is not None and (_SPECIAL.search(bare) or not _exists(root / bare.lstrip("/"))):
            there = (path for path in named_paths(root, root, bare) if path != "." and _exists(root / path))
            more += ["/" + _SPECIAL.sub(r"\\\g<0>", path) for path in there][:1]
        more += [bare.replace("\\", "/")] * bool(_WINDOWS.search(bare))
        found += [mark + form for each in (bare, *more) for form in forms(each)]
    return tuple(dict.fromkeys(found))


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


def listed_paths(repo: Repository, *, directories: bool = False) -> set[str]:
    """Return the paths that git tracks or would add, and the directories above them if they count."""
    done = repo.git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    paths = {os.fsdecode(path) for path in done.stdout.split(b"\0") if path}
    if directories:
        paths |= {path[:at] for path in tuple(paths) for at, character in enumerate(path) if character == "/"}
    return paths


def own_file(repo: Repository, root: Path, given: Path, shown: str) -> str:
    """Return the path of a file that is tracked, or untracked and not ignored, relative to the top level."""
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
