"""How often files have been changed, and what the latest commits say."""

from __future__ import annotations

import os

from msgspec import Struct

from gitrag.git.difference import RUN_NOTHING
from gitrag.git.repository import Repository

MOST_COMMITS = 1_000
"""Half a second of git's time in a large repository, and years of a small one."""

_SWEEPING = 50
"""A commit of more files is a reformat or a mass rename: it says nothing about a single file."""


class ChangeCount(Struct, frozen=True):
    """How often a path has been changed recently.

    Attributes:
        last: Time of the last one, Unix seconds.
    """

    commits: int
    last: int


class History(Struct, frozen=True):
    """The commits examined, and the changes per path."""

    commits: int
    changes: dict[str, ChangeCount]


class LatestCommit(Struct, frozen=True):
    """A commit: its abbreviated id, the day it was made (``2026-11-23``), and its message's first line."""

    commit: str
    day: str
    subject: str


def latest_commits(repo: Repository, most: int) -> tuple[LatestCommit, ...]:
    """Return HEAD's latest commits without merges, the newest first; none where there is no commit yet."""
    done = repo.git(
        "log",
        "-z",
        f"--max-count={most}",
        "--no-merges",
        "--no-show-signature",
        "--no-patch",
        "--format=%h%n%cs%n%s",
        "HEAD",
        "--",
    )
    if done.returncode:
        return ()
    each = (row.decode("utf-8", "replace").split("\n", 2) for row in done.stdout.split(b"\0") if row)
    return tuple(LatestCommit(*fields) for fields in each if len(fields) == 3)


def recent_changes(repo: Repository, most: int = MOST_COMMITS) -> History:
    """Count for each path how many of HEAD's last commits changed it, without merges and mass changes."""
    done = repo.git(
        "-c",
        "log.showRoot=true",
        "log",
        "-z",
        f"--max-count={most}",
        "--no-merges",
        "--no-renames",
        *RUN_NOTHING,
        "--no-show-signature",
        "--name-only",
        "--format=%x00%ct",  # names are never empty: an empty field precedes a commit
        "HEAD",
        "--",
    )
    if done.returncode:  # no commits yet
        return History(0, {})
    commits = 0
    changes: dict[str, ChangeCount] = {}
    fields = iter(os.fsdecode(done.stdout).split("\0")[1:])
    for time in fields:
        commits += 1
        paths = list(iter(lambda: next(fields, ""), ""))
        paths[:1] = [path.removeprefix("\n") for path in paths[:1]]
        if len(paths) > _SWEEPING:
            continue
        when = int(time) if time.lstrip("-").isdecimal() else 0  # missing in a malformed commit
        for path in paths:
            before = changes.get(path, ChangeCount(0, 0))
            changes[path] = ChangeCount(before.commits + 1, max(before.last, when))
    return History(commits, changes)
