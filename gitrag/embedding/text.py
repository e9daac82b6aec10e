"""What is embedded of a chunk and of a path, and the key under which its vector is kept. Pure."""

from __future__ import annotations

import re
from hashlib import blake2b

from gitrag.embedding.version import ENCODER_VERSION
from gitrag.model import Chunk

_DOCSTRING_CHARACTERS = 320
_SIGNATURE_CHARACTERS = 200
_TEXT_CHARACTERS = 1000
"""The encoder reads 128 word pieces, some 450 characters of code: a docstring and a signature must leave room
for the body, and what lies beyond the last word piece would only make equal vectors look different."""

_SCANNED_CHARACTERS = 4 * _TEXT_CHARACTERS
"""How far into a chunk its body's head is looked for: past any docstring worth embedding."""

_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+")
_SPACE = re.compile(r"\s+")
_KEY_BYTES = 16


def chunk_text(chunk: Chunk) -> str:
    """Give the text of a chunk that is embedded: name, docstring, signature, head of the body.

    It is of the content alone, so that equal content under another path has the same vector. White space
    does not count: code that is only indented anew keeps its vector.
    """
    signature = _collapse(chunk.signature)
    docstring = _collapse(chunk.docstring)
    body = _collapse(chunk.text[:_SCANNED_CHARACTERS])
    for part in (signature, docstring):
        if part:
            body = body.replace(part, "", 1)
    parts = (
        split_words(chunk.qualified_name),
        docstring[:_DOCSTRING_CHARACTERS],
        signature[:_SIGNATURE_CHARACTERS],
        body.strip(),
    )
    return "\n".join(part for part in parts if part)[:_TEXT_CHARACTERS]


def path_text(path: str) -> str:
    """Give the words of a path: ``src/flask/json/provider.py`` → ``src flask json provider``."""
    directory, _, name = path.rpartition("/")
    stem = name[: name.rfind(".")] if name.rfind(".") > 0 else name
    return split_words(f"{directory} {stem}")[:_TEXT_CHARACTERS]


def text_key(text: str) -> str:
    """Hash a text, with the version of the encoder that reads it, to 32 hex digits (128 bits)."""
    data = f"{ENCODER_VERSION}\0{text}".encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=_KEY_BYTES).hexdigest()


def split_words(name: str) -> str:
    """Split identifiers into lower-case words: ``HTTPAdapter.send_all`` → ``http adapter send all``."""
    return _WORD_BOUNDARY.sub(" ", name).strip().lower()


def _collapse(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
