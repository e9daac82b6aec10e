"""Cut files into chunks: pieces that are meaningful on their own, with exact line ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitrag.chunking.languages import (
    has_outline,
    key_of,
    language_in,
    language_of,
    named,
    needs_first_line,
)
from gitrag.chunking.notebooks import decode

if TYPE_CHECKING:
    from gitrag.model import Chunk

# Part of every stored chunk's key: raise it with any change that may alter a chunk of any file.
CHUNKER_VERSION = 14

__all__ = [
    "CHUNKER_VERSION",
    "chunk",
    "decode",
    "has_outline",
    "key_of",
    "language_in",
    "language_of",
    "named",
    "needs_first_line",
    "outlined",
]


def chunk(data: bytes, language: str | None) -> list[Chunk]:
    """Return the chunks of a file, in order: a pure function of its arguments and ``CHUNKER_VERSION``.

    Every non-blank line is in a chunk; ranges are exact. Never raises.

    Args:
        language: A name from ``language_of``; None for an unknown language.
    """
    from gitrag.chunking.chunker import chunk as chunk_file

    return chunk_file(data, language)


def outlined(data: bytes, language: str | None) -> list[Chunk]:
    """Return a large file's chunks: its head, and the first lines of definitions; none of other files."""
    from gitrag.chunking.chunker import outlined as outline_file

    return outline_file(data, language)
