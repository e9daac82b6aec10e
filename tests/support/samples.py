"""A small source of each parsed language, and the chunks it must give: ``samples/*.sample``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_RULE = "=====\n"


@dataclass(frozen=True)
class Sample:
    """``chunks`` are ``kind qualified_name first-last``, ``-`` for no name."""

    source: str
    chunks: list[str]


def _read(path: Path) -> Sample:
    source, _, chunks = path.read_text("utf-8").partition(_RULE)
    return Sample(source, chunks.splitlines())


SAMPLES = {path.stem: _read(path) for path in sorted(Path(__file__).with_name("samples").glob("*.sample"))}
