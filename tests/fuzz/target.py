"""What a target of the fuzzer is: it makes inputs, and says what was wrong with how one was taken."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Protocol
from urllib.parse import quote, unquote

Input = Mapping[str, bytes]
"""Bytes by name: of a file, a reply, a request."""

MOST_CPU_S = 20.0
"""Of a process for an input: no input is larger than some 300 KB."""

MOST_CPU_OF_A_SWEEP_S = 60.0
"""A walk takes 15 alone."""

MOST_CPU_OF_ALL_S = 300.0
"""Of all processes for an input: a server has no limit of its own, for it takes many."""

MOST_BYTES = 2 << 30
"""Of a process's memory."""

PATIENCE_S = 180.0
"""In which nothing runs or waits for a processor: what sleeps for longer hangs, on a busy machine too."""

_NAME = 250
"""Of a file, in bytes; longer names are cut."""


class Target(Protocol):
    """A part of gitrag that takes what strangers wrote.

    Made in a process of its own, with an empty directory to work in.
    """

    def make(self, dice: Random) -> Input:
        """Make an input; the same chance makes the same one on the same machine."""

    def check(self, made: Input, dice: Random) -> str:
        """Let gitrag take it; say what was wrong, or nothing.

        Everything it leaves behind must be gone when this returns. What ends this process, raises or takes
        too long is wrong too.
        """

    def close(self) -> None:
        """End what was started."""


def dice_of(target: str, seed: int, number: int) -> Random:
    """Return the source of chance of an input."""
    return Random(f"{target}:{seed}:{number}")


def save(made: Input, directory: Path) -> None:
    """Write an input down, a file a part."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, data in made.items():
        directory.joinpath(quote(name, safe="", errors="surrogateescape")[:_NAME]).write_bytes(data)


def load(directory: Path) -> Input:
    """Read what `save` wrote."""
    return {
        unquote(path.name, errors="surrogateescape"): path.read_bytes()
        for path in sorted(directory.iterdir())
    }
