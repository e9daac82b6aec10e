"""Decode a file's bytes into text."""

from __future__ import annotations

NOTEBOOK = "notebook"
"""The language of files that are read as their cells only, so that their size says little of their text."""

MOST_NOTEBOOK_BYTES = 64 << 20
"""Larger notebooks are not read to see how much of them is text."""


def decode(data: bytes, language: str | None = None) -> str:
    r"""Return the text of a file: UTF-8 (without byte-order mark), else Latin-1, which accepts any byte.

    Every ``\r\n`` becomes ``\n``, so that line numbers and chunk texts do not depend on ``core.autocrlf``.
    Lines end at ``\n`` only; a lone ``\r`` is a character within its line.

    Args:
        data: The file's content.
        language: Its language: a notebook's text is that of its cells, whatever else the file holds.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if language == NOTEBOOK:
        from gitrag.chunking.notebooks import readable

        return readable(text)
    return text
