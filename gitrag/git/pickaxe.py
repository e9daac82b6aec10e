"""Find the commits that change how often a text occurs in a file."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gitrag.git.commits import PLAIN_GRAPH, CommitError
from gitrag.git.difference import RUN_NOTHING
from gitrag.git.environment import message_of
from gitrag.git.repository import Repository

_MOST_BYTES = 16 << 20


def changing_count(
    repo: Repository, ids: Sequence[str], text: str, timeout_s: float
) -> list[tuple[str, tuple[str, ...]]]:
    """Return those of some commits that change how often a text occurs in a file, each with these files.

    Merges are not looked at.

    Args:
        text: What is counted, upper and lower case apart.

    Raises:
        CommitError: git cannot compare one of them: the clone lacks files of it, or is damaged.
        PrintedTooMuchError: git printed more than 16 MiB.
    """
    done = repo.git(
        *("diff-tree", "--stdin", "--root", "-r", "-z", "--no-renames", "--raw", f"-S{text}"),
        *(*RUN_NOTHING, "--no-show-signature", "--format=%H"),
        stdin="".join(f"{each}\n" for each in ids).encode("ascii"),
        environment=PLAIN_GRAPH,
        timeout_s=timeout_s,
        most_bytes=_MOST_BYTES,
    )
    if done.returncode:
        raise CommitError(f"git cannot compare commits with their parents: {message_of(done)}.")
    return [(own, tuple(paths)) for own, paths in _parsed(done.stdout)]


def _parsed(out: bytes) -> list[tuple[str, list[str]]]:
    """Parse what git printed: ids, each followed by two fields for each path, the first with a colon."""
    found: list[tuple[str, list[str]]] = []
    fields = iter(out.split(b"\0"))
    for field in fields:
        plain = field.lstrip(b"\n")
        if plain[:1] == b":":
            found[-1][1].append(os.fsdecode(next(fields, b"")))
        elif plain:
            found.append((plain.decode("ascii"), []))
    return found
