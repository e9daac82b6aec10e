"""Code: every text file that is in no other collection, whatever its language. Pure."""

from __future__ import annotations

from gitrag.corpus.documents import Document


def read(path: str, _text: str) -> Document:
    """Name a file by its path; what it holds its chunks say."""
    return Document(path, path, path)
