"""How often files have been changed."""

from __future__ import annotations

import os
from dataclasses import dataclass

from gitrag.git.difference import RUN_NOTHING
from gitrag.git.repository import Repository

MOST_COMMITS = 1_000
"""Half a second of git's time on a large repository, and years of a small one."""

_SWEEPING = 50
"""A commit of more files reformats or renames: it says nothing of any one of them."""


@dataclass(frozen=True, slots=True)
class ChangeCount:
    """How often a path has been changed lately.

    Attributes:
        commits: In so many of the commits looked at.
        last: When last, Unix seconds.
    """

    commits: int
    last: int


@dataclass(frozen=True, slots=True)
class History:
    """The commits looked at, and what they changed, by path."""

    commits: int
    changes: dict[str, ChangeCount]


def recent_changes(repo: Repository) -> History:
    """Count in how many of HEAD's last commits each path was changed, without merges and sweeping ones."""
    done = repo.git(
        "-c",
        "log.showRoot=true",
        "log",
        "-z",
        "--encoding=UTF-8",
        "-O/dev/null",  # no diff.orderFile
        f"--max-count={MOST_COMMITS}",
        "--no-merges",
        "--no-renames",
        *RUN_NOTHING,
        "--no-show-signature",
        "--name-only",
        "--format=%x00%ct",  # no name is empty: after an empty field comes a commit
        "HEAD",
        "--",
    )
    if done.returncode:  # no commit yet
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
        when = int(time) if time.lstrip("-").isdecimal() else 0  # none in a malformed commit
        for path in paths:
            before = changes.get(path, ChangeCount(0, 0))
            changes[path] = ChangeCount(before.commits + 1, max(before.last, when))
    return History(commits, changes)
