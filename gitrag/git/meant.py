"""Which file somebody means by a path: from where they stand, from the top, or by the end of one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from posixpath import relpath

from gitrag.errors import UsageError
from gitrag.git.own import target_of
from gitrag.git.repository import Repository
from gitrag.machine.files import within
from gitrag.words.typed_paths import composed, forms, is_url, spellings

_FROM_A_PLACE = ("/", "~", "./", "../")
"""How a path begins that is not looked for by its end."""

_UP_TO_A_PATTERN = re.compile(r"(?:[^*?\[\\/]+(?:/|$))+")

_SPECIAL = re.compile(r"[*?\[\\]")

_LISTED = 8
"""Candidates named where several are meant."""


def meant_path(repo: Repository, start: Path, given: str, *, directories: bool = False) -> Path:
    """Return the file that a path means, absolute.

    One that exists wins: first from ``start``, then from the working tree's top. Else it is the one file,
    tracked or not ignored, whose path ends so. Where there is none, the path is taken as it is. That of a URL
    is a whole one, from the top.

    Raises:
        UsageError: Several files are meant.
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
    paths = _paths(repo, directories=directories) if ends else set()
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


def _paths(repo: Repository, *, directories: bool) -> set[str]:
    """Return the paths that git tracks or would add, and the directories above them if they count."""
    done = repo.git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    paths = {os.fsdecode(path) for path in done.stdout.split(b"\0") if path}
    if directories:
        paths |= {path[:at] for path in tuple(paths) for at, character in enumerate(path) if character == "/"}
    return paths
