"""How much of an index had the model's vectors, over time: a line a moment in a file beside the index.

All worktrees have one index and one file; each line names the worktree whose view was counted.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from gitrag.late import late_re
from gitrag.machine import files

NAME = "coverage"
MOST = 400
"""Moments that are kept, of all worktrees together: of older ones every second of a worktree's."""

EVERY_S = 60.0
"""Seconds between two moments while vectors are computed."""

_MOST_BYTES = 1 << 16
_LINE = late_re(r"([0-9a-f]{16}) (\d{1,11}) (\d{1,11}) (\d{1,11}) (\d{1,11})", re.ASCII)


class Coverage(Struct, frozen=True):
    """What an index held at a moment.

    Attributes:
        at: When, Unix seconds.
        chunks: Chunks of the worktree's view.
        texts: Their distinct texts.
        refined: How many of those had the model's vector; the others had drafts.
    """

    at: float
    chunks: int
    texts: int
    refined: int

    @property
    def share(self) -> float:
        """The share of texts that had the model's vector, in [0, 1]."""
        return self.refined / self.texts if self.texts else 1.0


def note(directory: Path, worktree: str, now: Coverage) -> None:
    """Record a moment, unless the counts are those of the moment before. It may fail unheard.

    What is recorded as later goes too: a clock was wrong.

    Args:
        worktree: The id of the worktree whose view was counted, "" for the main one.
    """
    whose = _named(worktree)
    held = [each for each in _held(directory) if each[1].at <= now.at]
    last = next((each for name, each in reversed(held) if name == whose), None)
    if last is not None and _counts(last) == _counts(now):
        return
    lines = "".join(
        f"{name} {int(each.at)} {each.chunks} {each.texts} {each.refined}\n"
        for name, each in _thinned([*held, (whose, now)])
    )
    with suppress(OSError):  # it is for looking at only
        files.replace(directory / NAME, lines.encode("ascii"), files.private_mode(directory), durable=False)


def read(directory: Path, worktree: str) -> tuple[Coverage, ...]:
    """Return the moments that were recorded of a worktree, in order of time."""
    whose = _named(worktree)
    return tuple(each for name, each in _held(directory) if name == whose)


def _held(directory: Path) -> list[tuple[str, Coverage]]:
    try:
        content = files.read_regular(directory / NAME, _MOST_BYTES)
    except OSError:
        return []
    return sorted(_parsed(content.decode("ascii", "replace")), key=lambda each: each[1].at)


def _named(worktree: str) -> str:
    """Return what stands for a worktree in a line: its id may hold any byte but "/"."""
    return hashlib.blake2b(os.fsencode(worktree), digest_size=8).hexdigest()


def _parsed(text: str) -> Iterator[tuple[str, Coverage]]:
    """Yield the moments of lines that make sense, and whose they are."""
    for line in text.splitlines()[: 2 * MOST]:
        parts = _LINE.fullmatch(line)
        if parts is not None:
            at, chunks, texts, refined = map(int, parts.groups()[1:])
            if refined <= texts:
                yield parts[1], Coverage(float(at), chunks, texts, refined)


def _thinned(held: Sequence[tuple[str, Coverage]]) -> Sequence[tuple[str, Coverage]]:
    if len(held) <= MOST:
        return held
    recent = len(held) // 2
    nth: Counter[str] = Counter()
    kept: list[tuple[str, Coverage]] = []
    for number, (name, each) in enumerate(held):
        nth[name] += 1
        if number >= recent or nth[name] % 2:
            kept.append((name, each))
    return kept[-MOST:]


def _counts(each: Coverage) -> tuple[int, int, int]:
    return each.chunks, each.texts, each.refined
