"""Find the commits that change how often a text occurs in a file."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gitrag.git.commits import PLAIN_GRAPH
from gitrag.git.difference import RUN_NOTHING
from gitrag.git.repository import Repository

_MOST_BYTES = 4 << 20


def changing_count(
    repo: Repository, ids: Sequence[str], text: str, timeout_s: float
) -> list[tuple[str, tuple[str, ...]]]:
    """Return those of some commits that change how often a text occurs in a file, each with these files.

    Merges are not looked at.

    Args:
        repo: The repository.
        ids: The commits.
        text: What is counted, upper and lower case apart.
        timeout_s: Time limit.

    Raises:
        GitTimeoutError: The time was over.
        PrintedTooMuchError: git printed more than 4 MiB.
    """
    done = repo.git(
        *("diff-tree", "--stdin", "--root", "-r", "-z", "--no-renames", "--name-only", f"-S{text}"),
        *("-O/dev/null", *RUN_NOTHING, "--no-show-signature", "--format=%x01%H"),
        stdin="".join(f"{each}\n" for each in ids).encode("ascii"),
        environment=PLAIN_GRAPH,
        timeout_s=timeout_s,
        most_bytes=_MOST_BYTES,
    )
    found = []
    for each in done.stdout.split(b"\1")[1:]:
        commit, _, rest = each.partition(b"\0")
        names = (name.lstrip(b"\n") for name in rest.split(b"\0"))
        found.append(
            (commit.strip().decode("ascii", "replace"), tuple(os.fsdecode(name) for name in names if name))
        )
    return found
