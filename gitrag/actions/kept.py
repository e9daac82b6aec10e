"""What a session's start would wait seconds for, kept beside the index: callers counted, and the text itself.

Each is kept under a hash of all that it was made of, so that it never passes for that of another state of
the files, the settings or the marks. Losing it costs time only: what cannot be written is not kept, and what
is not understood is not read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from gitrag import __version__
from gitrag.actions.compiler_index import NAME
from gitrag.callgraph.facts import FACTS_VERSION
from gitrag.machine.files import private_mode, read_regular, replace

if TYPE_CHECKING:
    from gitrag.indexing.snapshot import Snapshot
    from gitrag.workspace import Workspace

T = TypeVar("T")

COUNTS = "callers.kept"
"""How many files call each file."""

TEXTS = "prime.kept"
"""What a session is told at its start."""

_STATES = 4
"""States of the files whose callers are kept: a few worktrees'."""

_MOST_BYTES = 4 << 20
"""Of a file of either kind: the counts of some 50,000 files."""

_HALF = 16
"""Bytes of a hash: what callers are kept under begins with that of what an earlier state must share."""

_Counts = tuple[bytes, str, bool, dict[bytes, int]]
"""The hash of the state, what to call it, whether all files were looked at, and how many call each path."""


def counts(workspace: Workspace, now: Snapshot, *, earlier: bool) -> tuple[dict[str, int], str, bool] | None:
    """Return how many files call each path; None where that is not kept.

    Args:
        earlier: Whether those of an earlier state do, where none of now are kept.

    Returns:
        Also what to call an earlier state, "" for now, and whether all files were looked at.
    """
    held = read(workspace.store.directory / COUNTS, list[_Counts]) or []
    wanted = _key(workspace, now)
    for of, name, is_whole, callers in sorted(held, key=lambda each: each[0] != wanted):
        if (of == wanted and is_whole) or (earlier and of[:_HALF] == wanted[:_HALF]):
            found = {os.fsdecode(path): number for path, number in callers.items()}
            return found, name if of != wanted else "", is_whole
    return None


def keep_counts(workspace: Workspace, now: Snapshot, callers: Mapping[str, int], *, is_whole: bool) -> None:
    """Keep how many files call each path, of the files as they are now."""
    if now.head.commit is None:
        return
    path, of = workspace.store.directory / COUNTS, _key(workspace, now)
    name = now.head.commit[:7] + " and edits" * bool(now.dirty)
    others = [each for each in read(path, list[_Counts]) or [] if each[0] != of]
    own = {os.fsencode(path): number for path, number in callers.items()}
    write(path, [(of, name, is_whole, own), *others[: _STATES - 1]])


def _key(workspace: Workspace, now: Snapshot) -> bytes:
    """Return a hash of the directory, the version and the rules, then one of what decides who calls what."""
    state = digest(now.head.tree, now.key[2:], FACTS_VERSION, made_here(workspace))
    return digest(_place(workspace), FACTS_VERSION, now.rules_key) + state


def made_here(workspace: Workspace) -> tuple[object, ...]:
    """Return what changes with a compiler's index, and the directory: what an archive brings is not read."""
    root = workspace.repo.root
    compiled = workspace.config.scip_index or (root and root / NAME)
    return compiled and sign(compiled), *_place(workspace)


def _place(workspace: Workspace) -> tuple[int, ...]:
    """Return what tells the directory from others; empty where there is none yet: the index is elsewhere."""
    return sign(workspace.store.directory)[:2]


def digest(*facts: object) -> bytes:
    """Return a hash of all that something was made of, and of the version that made it."""
    return blake2b(repr((__version__, *facts)).encode("utf-8", "surrogateescape"), digest_size=_HALF).digest()


def sign(path: Path) -> tuple[int, ...]:
    """Return what changes when a file does; empty where there is none."""
    with suppress(OSError):
        found = path.stat()
        return *found[1:3], found.st_size, found.st_mtime_ns
    return ()


def read(path: Path, kind: type[T]) -> T | None:
    """Return what is kept; None for nothing, or what cannot be understood."""
    with suppress(OSError, ValueError, msgspec.MsgspecError):  # also what is not UTF-8
        return msgspec.msgpack.decode(read_regular(path, _MOST_BYTES), type=kind)
    return None


def write(path: Path, content: object) -> None:
    """Keep it, if that can be."""
    data = msgspec.msgpack.encode(content)
    if len(data) <= _MOST_BYTES:
        with suppress(OSError):  # a read-only store or a full disk
            replace(path, data, private_mode(path.parent), durable=False)
