"""How much of an index had the model's vectors, over time: a line a moment in a file beside the index."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gitrag.machine import files

NAME = "coverage"
MOST = 400
"""Moments that are kept: of older ones every second."""

EVERY_S = 60.0
"""Seconds between two moments while vectors are computed."""

_MOST_BYTES = 1 << 16
_NUMBERS = re.compile(r"(\d{1,11}) (\d{1,11}) (\d{1,11}) (\d{1,11})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Coverage:
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


def note(directory: Path, now: Coverage) -> None:
    """Record a moment; of three with the same counts the middle one goes. It may fail unheard."""
    held = list(read(directory))
    same = [each for each in held[-2:] if _counts(each) == _counts(now)]
    held = [*held[: -1 if len(same) == 2 else None], now]
    lines = "".join(f"{each.at:.0f} {each.chunks} {each.texts} {each.refined}\n" for each in _thinned(held))
    with suppress(OSError):  # it is for looking at only
        files.replace(directory / NAME, lines.encode("ascii"), files.private_mode(directory), durable=False)


def read(directory: Path) -> tuple[Coverage, ...]:
    """Return the moments that were recorded, in order of time."""
    try:
        content = files.read_regular(directory / NAME, _MOST_BYTES)
    except OSError:
        return ()
    return tuple(sorted(_parsed(content.decode("ascii", "replace")), key=lambda each: each.at))


def _parsed(text: str) -> Iterator[Coverage]:
    """Yield the moments of lines that make sense."""
    for line in text.splitlines()[: 2 * MOST]:
        numbers = _NUMBERS.fullmatch(line)
        if numbers is not None:
            at, chunks, texts, refined = map(int, numbers.groups())
            if refined <= texts:
                yield Coverage(float(at), chunks, texts, refined)


def _thinned(held: Sequence[Coverage]) -> Sequence[Coverage]:
    if len(held) <= MOST:
        return held
    half = len(held) // 2
    return [*held[:half:2], *held[half:]]


def _counts(each: Coverage) -> tuple[int, int, int]:
    return each.chunks, each.texts, each.refined
