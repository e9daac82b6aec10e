"""The terms of a text: the units of keyword search.

A word is a run of word characters. It yields its stem or, when it is an identifier of several parts,
itself, case-folded, and each part's stem: ``parsedHTTPResponse2`` → ``parsedhttpresponse2 pars http respons
2``. A run of Chinese, Japanese or Korean characters, which has no spaces to cut at, yields its overlapping
pairs.

A term is stored as a 64-bit hash, so that no dictionary has to be read before a text is written: among ten
million distinct terms the chance of any collision is 3e-6 (birthday bound n²/2⁶⁵).
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from gitrag.late import late_re, np
from gitrag.words.stems import stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

TERMS_VERSION = 2  # raise when the terms of a text change: every index is then rebuilt

_WORD = late_re(r"\w+")
_ASCII_WORD = late_re(r"[A-Za-z0-9_]+")  # the same for ASCII text, a third faster
_PART = late_re(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\dA-Za-z_]+")
_CJK = late_re(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")

LONGEST_SPLIT = 64
"""Longer words (encoded data, generated names) are kept whole, not split: their parts are noise."""


@lru_cache(maxsize=20_000)
def split(word: str) -> tuple[str, ...]:
    """Split one raw word into its terms: its stem, or the whole identifier and then its parts' stems."""
    if not word.isascii():
        word = unicodedata.normalize("NFKC", word)
        if _CJK.search(word):
            return _split_cjk(word)
    whole = word.strip("_").casefold()
    if not whole:
        return ()
    if len(word) > LONGEST_SPLIT:
        return (whole,)
    parts = [stem(part.casefold()) for part in _PART.findall(word)]
    return tuple(dict.fromkeys([whole, *parts] if len(parts) > 1 else parts or [whole]))


@lru_cache(maxsize=20_000)
def split_asked(word: str) -> tuple[str, ...]:
    """Split one raw word of a question: as `split`, but a word with letters beyond ASCII stays whole.

    Texts have it whole, and besides in parts that mean nothing: ``petición`` → ``petición petici ó n``.
    """
    found = split(word)
    if word.isascii() or not word.isalpha() or _CJK.search(word):
        return found
    return found[:1] if word.islower() or word.istitle() or word.isupper() else found


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
    return _hash(term)


def _hash(term: str) -> int:
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


class _Parts(dict[str, int]):
    """The hashed stems of the parts of words, each computed once: most new words consist of known parts."""

    def __missing__(self, part: str) -> int:
        found = self[part] = _hash(stem(part.casefold()))
        return found


class _Vocabulary(dict[str, int]):
    """Numbers the words seen by this process, with the hashed terms of each in one flat array."""

    def __init__(self) -> None:
        super().__init__()
        self.terms = array("Q")
        self.starts = array("q")
        self.sizes = array("q")
        self._parts = _Parts()

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self.starts)
        found = self._hashed_terms(word)
        self.starts.append(len(self.terms))
        self.sizes.append(len(found))
        self.terms.extend(found)
        return number

    def _hashed_terms(self, word: str) -> list[int]:
        """Return the hash of each term of `split`, in its order, in half the time for words of ASCII."""
        if len(word) > LONGEST_SPLIT or not word.isascii():
            return [hashed(term) for term in split(word)]
        if word.isalpha() and word.islower():
            return [_hash(stem(word))]
        parts = _PART.findall(word)
        if len(parts) == 1:
            return [self._parts[parts[0]]]
        whole = word.strip("_").lower()
        if not whole:
            return []
        return list(dict.fromkeys([_hash(whole), *map(self._parts.__getitem__, parts)]))


_MOST_WORDS = 400_000
"""At this size (some 60 MB) the vocabulary is emptied."""

_vocabulary = _Vocabulary()

IN_NAME = 1 << 15
"""Added to the frequency of a term that occurs in a name."""

_NAME_UNIT = 1 << 32
"""The same while frequencies are summed."""

NAME_WEIGHT = 3
"""Occurrences that one in the name counts as, because names say what a text is about."""


def count(
    texts: Sequence[tuple[str, str]],
) -> tuple[NDArray[np.uint64], NDArray[np.uint16], NDArray[np.int64], NDArray[np.int64]]:
    """Count the hashed terms of texts and of their names.

    Words become numbers in Python, the rest is NumPy: five times faster than counting in dictionaries.

    Args:
        texts: Pairs of a text and its name, whose occurrences are weighted by ``NAME_WEIGHT``.

    Returns:
        The distinct terms of each text, sorted, one text after the other; their weighted frequencies, at
        most 32,767, plus ``IN_NAME``; the number of distinct terms of each text; the sum of the
        frequencies of each text.
    """
    global _vocabulary  # noqa: PLW0603 - a per-process cache
    if len(_vocabulary) > _MOST_WORDS:
        _vocabulary = _Vocabulary()
    vocabulary = _vocabulary
    numbers: list[int] = []
    runs: list[tuple[int, int, int]] = []  # text, weight, words
    for position, pair in enumerate(texts):
        for text, weight in zip(pair, (1, NAME_WEIGHT + _NAME_UNIT), strict=True):
            words = (_ASCII_WORD if text.isascii() else _WORD).findall(text)
            numbers.extend(map(vocabulary.__getitem__, words))
            runs.append((position, weight, len(words)))
    run = np.array(runs, dtype=np.int64).reshape(-1, 3)
    word = np.array(numbers, dtype=np.int64)
    starts = np.frombuffer(vocabulary.starts, dtype=np.int64)  # views, released when this call returns
    sizes = np.frombuffer(vocabulary.sizes, dtype=np.int64)
    flat = np.frombuffer(vocabulary.terms, dtype=np.uint64)
    size = sizes[word]
    term = flat[np.repeat(starts[word] - (np.cumsum(size) - size), size) + np.arange(size.sum())]
    owner = np.repeat(np.repeat(run[:, 0], run[:, 2]), size)
    weight_of = np.repeat(np.repeat(run[:, 1], run[:, 2]), size)
    order = np.argsort(term)
    narrow = owner.astype(np.min_scalar_type(len(texts)))  # 16-bit values are radix-sorted
    order = order[np.argsort(narrow[order], kind="stable")]
    term, owner, weight_of = term[order], owner[order], weight_of[order]
    first = np.ones(len(term), dtype=bool)
    first[1:] = (term[1:] != term[:-1]) | (owner[1:] != owner[:-1])
    places = np.flatnonzero(first)
    frequency = np.add.reduceat(weight_of, places) if len(places) else weight_of
    in_name = frequency >= _NAME_UNIT
    frequency = np.minimum(frequency % _NAME_UNIT, IN_NAME - 1)
    return (
        term[places],
        (frequency + IN_NAME * in_name).astype(np.uint16),
        np.bincount(owner[places], minlength=len(texts)),
        np.bincount(owner[places], weights=frequency, minlength=len(texts)).astype(np.int64),
    )


def query_terms(text: str) -> list[str]:
    """List the distinct terms of a question, in order of appearance."""
    return list(dict.fromkeys(term for word in _WORD.findall(text) for term in split_asked(word)))


def asked_parts(text: str) -> list[str]:
    """List those of a question's terms that are no identifiers of several words."""
    found = map(split_asked, _WORD.findall(text))
    return list(dict.fromkeys(term for own in found for term in (own[1:] or own)))


def unaccented(word: str) -> str:
    """Return a word with the marks of its letters left out, as identifiers are written: ``peticion``."""
    return "".join(each for each in unicodedata.normalize("NFD", word) if not unicodedata.combining(each))


def parts_of(text: str) -> list[str]:
    """List the distinct stems of a text without whole identifiers: for paths and names."""
    return list(dict.fromkeys(term for word in _WORD.findall(text) for term in stems_of(word)))


def bare_parts(text: str) -> list[str]:
    """List the parts of a text's words in order, not stemmed: ``aWebSocket`` → ``a web socket``."""
    return [part.casefold() for word in _WORD.findall(text) for part in _PART.findall(word)]


def pieces(word: str) -> list[str]:
    """List the parts of one raw word as written: ``parsedHTTPResponse2`` → ``parsed HTTP Response 2``."""
    return _PART.findall(word)


def whole(word: str) -> str:
    """Return the term for one raw word as a whole: the word, or its stem if it has only one part."""
    return next(iter(split(word)), "")


def stems_of(word: str) -> tuple[str, ...]:
    """Split one raw word into its parts' stems, without the whole identifier."""
    found = split(word)
    return found[1:] if len(found) > 1 else found


def identifiers(text: str) -> list[str]:
    """List the words of a question that could name a definition, as written, most specific spelling first.

    Dotted and ``::`` names are listed whole too (``Session.send`` → ``Session.send``, ``Session``, ``send``).
    """
    dotted = re.findall(r"\b\w++(?:(?:\.|::|#)\w++)+", text)  # linear, even for a word of a megabyte
    return list(dict.fromkeys([*(re.sub(r"::|#", ".", name) for name in dotted), *_WORD.findall(text)]))
