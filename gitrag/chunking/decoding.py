"""Decode a file's bytes into the text that is cut and shown."""

from __future__ import annotations

from gitrag.words import encodings

NOTEBOOK = "notebook"
"""The language of files that are read as their cells only, so that their size says little of their text."""

MOST_NOTEBOOK_BYTES = 64 << 20
"""Larger notebooks are not read to see how much of them is text."""


def decode(data: bytes, language: str | None = None) -> str:
    """Return the text of a file, whatever it is in: `gitrag.words.encodings`.

    Args:
        language: Its language: a notebook's text is that of its cells, whatever else the file holds.
    """
    text = encodings.decode(data)
    if language == NOTEBOOK:
        from gitrag.chunking.notebooks import readable

        return readable(text)
    return text
