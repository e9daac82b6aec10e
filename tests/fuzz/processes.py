"""Processes by a mark in their environment, and what of the machine they take, where the system tells."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_AT_WORK = frozenset("RD")
"""Running or waiting for a processor; waiting for a disk."""


def marked(mark: str) -> list[int]:
    """Find the processes that have a ``NAME=value`` in their environment."""
    found = []
    for path in _PROC.glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark.encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found


def taken(pids: list[int]) -> tuple[float, bool]:
    """Return the processor seconds of processes and of their children that ended; whether any is at work."""
    ticks, at_work = 0, False
    for pid in pids:
        with suppress(OSError):
            at_work |= any(fields[0] in _AT_WORK for fields in _fields(pid, "task/*/stat"))
            ticks += sum(int(each) for fields in _fields(pid, "stat") for each in fields[11:15])
    return ticks / _TICKS_A_SECOND, at_work


def _fields(pid: int, files: str) -> Iterator[list[str]]:
    """Read what follows the name of a process or of its threads: the state first."""
    for path in (_PROC / str(pid)).glob(files):
        yield path.read_text("utf-8", "replace").rpartition(") ")[2].split()
