"""The terms of a text: what lexical search counts.

A word is a run of word characters. It yields itself, case-folded, and, when it is an identifier of several
parts, each part: ``parseHTTPResponse2`` → ``parsehttpresponse2 parse http response 2``. A run of Chinese,
Japanese or Korean characters, which has no spaces to cut at, yields its overlapping pairs.

A term is kept as a 64-bit hash, so that no dictionary has to be read before a text can be written: among ten
million distinct terms the chance of any collision is 3e-6 (birthday bound n²/2⁶⁵).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from hashlib import blake2b

TERMS_VERSION = 1  # raise when the terms of a text change: every index is then rebuilt

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\dA-Za-z_]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")

LONGEST_SPLIT = 64
"""Longer words (encoded data, generated names) are kept whole but not split: their parts are noise."""


def words(text: str) -> Counter[str]:
    """Count the raw words of a text, as written."""
    return Counter(_WORD.findall(text))


@lru_cache(maxsize=200_000)
def split(word: str) -> tuple[str, ...]:
    """Split one raw word into its terms, the whole word first; no duplicates."""
    if not word.isascii():
        word = unicodedata.normalize("NFKC", word)
        if _CJK.search(word):
            return _split_cjk(word)
    whole = word.strip("_").casefold()
    if not whole:
        return ()
    if len(word) > LONGEST_SPLIT:
        return (whole,)
    parts = [part.casefold() for part in _PART.findall(word)]
    return tuple(dict.fromkeys([whole, *parts]))


def _split_cjk(word: str) -> tuple[str, ...]:
    found: list[str] = []
    position = 0
    for run in _CJK.finditer(word):
        found += split(word[position : run.start()])
        characters = run.group()
        found += [characters[i : i + 2] for i in range(len(characters) - 1)] or [characters]
        position = run.end()
    found += split(word[position:])
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=400_000)
def hashed(term: str) -> int:
    """Hash a term to an unsigned 64-bit integer."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


@lru_cache(maxsize=200_000)
def _hashes(word: str) -> tuple[int, ...]:
    return tuple(hashed(term) for term in split(word))


def count(text: str, weight: int = 1, into: Counter[int] | None = None) -> Counter[int]:
    """Count the hashed terms of a text.

    Args:
        text: Any text.
        weight: What one occurrence counts.
        into: A counter to add to.
    """
    counts: Counter[int] = Counter() if into is None else into
    for word, times in words(text).items():
        for term in _hashes(word):
            counts[term] += times * weight
    return counts


def query_terms(text: str) -> list[str]:
    """List the distinct terms of a question, in order of appearance."""
    return list(dict.fromkeys(term for word in _WORD.findall(text) for term in split(word)))


def identifiers(text: str) -> list[str]:
    """List the words of a question that could name a definition, as written, most specific spelling first.

    Dotted and ``::`` names come whole too (``Session.send`` → ``Session.send``, ``Session``, ``send``).
    """
    dotted = re.findall(r"\w+(?:(?:\.|::|#)\w+)+", text)
    return list(dict.fromkeys([*(re.sub(r"::|#", ".", name) for name in dotted), *_WORD.findall(text)]))
