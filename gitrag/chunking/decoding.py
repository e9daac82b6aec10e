"""Decode a file's bytes into text."""

from __future__ import annotations


def decode(data: bytes) -> str:
    r"""Return the text of a file: UTF-8 (without byte-order mark), else Latin-1, which accepts any byte.

    Every ``\r\n`` becomes ``\n``, so that line numbers and chunk texts do not depend on ``core.autocrlf``.
    Lines end at ``\n`` only; a lone ``\r`` is a character within its line.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n") if "\r" in text else text
