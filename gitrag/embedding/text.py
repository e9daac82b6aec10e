"""The text that is embedded for a chunk or a path, and the key of its vector. Pure."""

from __future__ import annotations

from hashlib import blake2b

from gitrag.embedding.version import encoder_version
from gitrag.late import late_re
from gitrag.model import Chunk, Kind

_DOCSTRING_CHARACTERS = 320
_SIGNATURE_CHARACTERS = 200
_TEXT_CHARACTERS = 900
"""The encoder reads 128 word pieces, some 600 characters of words. A docstring and a signature must leave
room for the body, and text beyond the last word piece would only give equal vectors different keys."""

_MARKS_CHARACTERS = 1000
"""How much longer a signature and docstring may be in the source: indentation, comment marks."""

_IDENTIFIER = late_re(r"[^\W_]+")
_ASCII_IDENTIFIER = late_re(r"[A-Za-z0-9]+")  # the same for ASCII text, a third faster
_HUMP = late_re(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
KEY_BYTES = 16


def chunk_text(chunk: Chunk) -> str:
    """Return the text that is embedded for a chunk: name, docstring, signature, start of the body.

    It depends on the content alone, so that equal content under another path has the same vector. White space
    does not count: code that is only re-indented keeps its vector.

    The body is reduced to its words. 1,000 documented functions, searched by their docstring's first
    sentence, with docstrings left out of the texts: MRR@10 0.676 with 81 tokens a text; with the body as
    written 0.664 with 97, and without the name's words 0.619; without a body 0.610; the code alone 0.591.
    """
    signature = _collapse(chunk.signature)
    docstring = _collapse(chunk.docstring)
    reach = len(signature) + len(docstring) + _MARKS_CHARACTERS + _TEXT_CHARACTERS
    body = chunk.text[:reach]
    if chunk.kind is Kind.SECTION:  # prose keeps its punctuation
        body = _collapse(body)
    else:
        body = f" {split_words(body)} "
        for part in (signature, docstring):
            body = body.replace(f" {split_words(part)} ", " ", 1)
    name = split_words(chunk.qualified_name)
    head = " ".join(
        part for part in (docstring[:_DOCSTRING_CHARACTERS], signature[:_SIGNATURE_CHARACTERS]) if part
    )
    if name:
        head = f"{name}: {head}".rstrip()
    return "\n".join(part for part in (head, body.strip()) if part)[:_TEXT_CHARACTERS]


def path_text(path: str) -> str:
    """Return the words of a path: ``src/flask/json/provider.py`` → ``src flask json provider``."""
    directory, _, name = path.rpartition("/")
    stem = name[: name.rfind(".")] if name.rfind(".") > 0 else name
    return split_words(f"{directory} {stem}")[:_TEXT_CHARACTERS]


def text_key(text: str, model: str = "") -> str:
    """Hash a text and the encoder's version to 32 hex digits (128 bits)."""
    data = f"{encoder_version(model)}\0{text}".encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=KEY_BYTES).hexdigest()


def split_words(name: str) -> str:
    """Split identifiers into lower-case words: ``HTTPAdapter.send_all`` → ``http adapter send all``."""
    words = (_ASCII_IDENTIFIER if name.isascii() else _IDENTIFIER).findall(name)
    if len(_humps) > _MOST_WORDS:
        _humps.clear()
    return " ".join(map(_humps.__getitem__, words))


class _Humps(dict[str, str]):
    """Words split at their humps, each once: code repeats its words."""

    def __missing__(self, word: str) -> str:
        if word.islower() or word.isdigit():
            made = self[word] = word.lower()
        else:
            made = self[word] = _HUMP.sub(" ", word).lower()
        return made


_humps = _Humps()
_MOST_WORDS = 100_000


def _collapse(text: str) -> str:
    return " ".join(text.split())
