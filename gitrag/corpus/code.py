"""Code: every text file that is in no other collection, in any language. Pure."""

from __future__ import annotations

from gitrag.corpus.documents import Document


def read(path: str, _text: str) -> Document:
    """Return a document with the path as its id; a code file has no metadata."""
    return Document(path, path, path)
