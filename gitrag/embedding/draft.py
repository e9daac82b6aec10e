"""Draft vectors: the model's vector of a text, estimated from its word pieces in 0.1 ms.

A distilled model in the vector space of MiniLM, so that drafts, vectors and questions are comparable. Each
word piece has a row; a text has two sums of its rows: each piece once, weighted ``log(1 + count)``, and the
text's beginning, weighted ``exp(-position / 20)``, since a chunk begins with its name. Both are normalised,
then one hidden layer corrects what sums cannot express. ``scripts/training/train_draft.py`` trains it all.

Trained on 136,000 texts of 277 of the 287 archives of ``scripts/training/draft_archives.toml``, going on from
the table for the model as it is published. Mean cosine to the true vectors on 5,000 texts of archives that
were held out: 0.864 (code 0.864, paths 0.879, prose 0.837, questions 0.871); twice as many steps 0.861. For
the published model 0.881; there, with 60,000 texts: one sum of rows 0.849, both sums 0.862, one sum and the
hidden layer 0.859, all 0.872. Also with int8 rows and float16 layers.
One core makes 11,000 drafts per second; a quarter of the time is tokenisation.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Self

from gitrag.embedding.safetensors import read_tensors
from gitrag.embedding.version import DRAFT_VERSION, MAX_TOKENS, TABLE
from gitrag.late import late_re, np
from gitrag.model import DIMENSIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.embedding.encoder import Encoder

    Vectors = NDArray[np.float32]

_PUNCTUATION = "!-/:-@\\[-`{-~"
_ASCII_WORDS = late_re(f"[a-z0-9]+|[{_PUNCTUATION}]")
_WORDS = late_re(f"[^\\s{_PUNCTUATION}]+|[{_PUNCTUATION}]")
_HAS_CONTROL = late_re("[\0-\x08\x0b\x0c\x0e-\x1f\x7f]").search
"""What the tokenizer drops, joining the text on both sides."""

_DROPPED = frozenset({"Cc", "Cf", "Co"})
_LONGEST_WORD = 100
_CACHED_WORDS = 200_000
"""Some 30 MB; a repository of 100,000 chunks has 100,000 words."""

_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
"""Blocks whose characters are separate words to BERT's tokenizer, as it lists them."""


class WordPieces(dict[str, tuple[int, ...]]):
    """A WordPiece vocabulary, with a cache of the words split so far."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        super().__init__()
        self._pieces = {piece: number for number, piece in enumerate(vocabulary)}
        self._unknown = (self._pieces["[UNK]"],)
        self._longest = max(map(len, vocabulary))

    def has(self, word: str) -> bool:
        """Tell whether a lower-case word is a piece by itself, as most common words of English are."""
        return word in self._pieces

    def cut(self, text: str, limit: int) -> list[int]:
        """Split a text as the model's tokenizer does, without the begin and end markers."""
        if len(self) > _CACHED_WORDS:
            self.clear()
        if text.isascii() and not _HAS_CONTROL(text):
            words = _ASCII_WORDS.findall(text.lower())
        else:
            words = _WORDS.findall(text.translate(_CHARACTERS))
        return list(islice(chain.from_iterable(map(self.__getitem__, words)), limit))

    def __missing__(self, word: str) -> tuple[int, ...]:
        pieces = self[word] = self._cut_word(word)
        return pieces

    def _cut_word(self, word: str) -> tuple[int, ...]:
        """Take the longest known piece repeatedly."""
        if len(word) > _LONGEST_WORD:
            return self._unknown
        known = self._pieces
        found: list[int] = []
        start, prefix = 0, ""
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                number = known.get(prefix + word[start:end])
                if number is not None:
                    found.append(number)
                    start, prefix = end, "##"
                    break
            else:
                return self._unknown
        return tuple(found)


class _Characters(dict[int, str]):
    """BERT's normaliser per character: lower case, no accents or control characters, ideographs separated."""

    def __missing__(self, code: int) -> str:
        made = self[code] = self._normalise(chr(code))
        return made

    @staticmethod
    def _normalise(character: str) -> str:
        category = unicodedata.category(character)
        if category[0] == "Z" or character in "\t\n\r":
            return " "
        if category == "Cs":
            return "?"  # a lone surrogate, as the encoder writes it
        if category in _DROPPED or character == "\ufffd":
            return ""
        parts = unicodedata.normalize("NFD", character)
        made = "".join(part.lower() for part in parts if unicodedata.category(part) != "Mn")
        alone = category[0] == "P" or any(first <= ord(character) <= last for first, last in _IDEOGRAPHS)
        return f" {made} " if alone else made


_CHARACTERS = _Characters()

__all__ = ["DRAFT_VERSION", "TABLE", "Drafter", "Undrafted", "drafter", "has_table"]

MAX_PIECES = MAX_TOKENS - 2
"""Word pieces that the model reads of a text, without the begin and end markers."""

HEAD_PIECES = 20.0
_BLOCK = 256
"""Texts that pass through the layers together."""

_SUMS = 2


class Drafter:
    """The loaded table. Threads may share it: of a word that two of them cut, both cache the same pieces."""

    is_there = True

    def __init__(self, tensors: dict[str, NDArray[np.generic]]) -> None:
        def floats(name: str) -> Vectors:
            return np.ascontiguousarray(tensors[name], np.float32)

        self._pieces = WordPieces(bytes(tensors["vocabulary"]).decode().split("\n"))
        self._rows = tensors["rows"]
        self._scales = floats("scales")
        self._into = floats("into")
        self._bias = floats("bias")
        self._out = floats("out")
        self._empty = floats("empty")
        self._counts = np.log1p(np.arange(MAX_PIECES + 1)).astype(np.float32)
        self._places = np.exp(np.arange(MAX_PIECES) / -HEAD_PIECES).astype(np.float32)

    @classmethod
    def load(cls, path: Path = TABLE) -> Self:
        """Open the table: 10 ms; needs no part of the model.

        Raises:
            ModelError: It is incomplete.
        """
        return cls(read_tensors(path))

    def knows(self, word: str) -> bool:
        """Tell whether a lower-case word is in the vocabulary as a whole."""
        return self._pieces.has(word)

    def draft(self, texts: Sequence[str]) -> Vectors:
        """Compute the texts' draft vectors: float32 (n, 384), L2-normalised, in their order.

        A text's draft does not depend on the others, except for the last bits, which a larger matrix product
        rounds otherwise.

        Args:
            texts: Results of ``embedding.text``, or questions.
        """
        drafts = np.empty((len(texts), DIMENSIONS), np.float32)
        for start in range(0, len(texts), _BLOCK):
            pieces = [self._pieces.cut(text, MAX_PIECES) for text in texts[start : start + _BLOCK]]
            found = self._correct(self._sums(pieces))
            found[[not own for own in pieces]] = self._empty
            drafts[start : start + len(pieces)] = found
        return drafts

    def rough(self, words: Sequence[str]) -> Vectors:
        """Return the sum of each word's rows: float32 (n, 384), L2-normalised; a tenth of a draft's time."""
        pieces = [self._pieces.cut(word, MAX_PIECES) for word in words]
        sizes = np.array([len(own) for own in pieces], dtype=np.int64)
        flat = np.fromiter(chain.from_iterable(pieces), np.int64, int(sizes.sum()))
        rows = self._rows[flat].astype(np.float32) * self._scales[flat].reshape(-1, 1)
        found = np.zeros((len(words), DIMENSIONS), np.float32)
        speaking = np.flatnonzero(sizes)
        if len(speaking):
            found[speaking] = np.add.reduceat(rows, (np.cumsum(sizes) - sizes)[speaking])
        _normalise(found)
        return found

    def _sums(self, pieces: Sequence[Sequence[int]]) -> Vectors:
        """Return each text's two sums of rows, each normalised, side by side; zeros if it has no pieces."""
        sizes = np.array([len(own) for own in pieces])
        owner = np.repeat(np.arange(len(pieces)), sizes)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        flat = np.fromiter(chain.from_iterable(pieces), np.int64, len(owner))
        distinct, index = np.unique(owner * len(self._rows) + flat, return_inverse=True)
        owner, piece = np.divmod(distinct, len(self._rows))
        weights = np.empty((_SUMS, len(distinct)), np.float32)
        weights[0] = self._counts[np.bincount(index)]
        weights[1] = np.bincount(index, weights=self._places[place])
        weights *= self._scales[piece]
        sums = np.zeros((len(pieces), _SUMS, DIMENSIONS), np.float32)
        ends = np.searchsorted(owner, np.arange(len(pieces) + 1))
        for text in np.flatnonzero(sizes):
            own = slice(ends[text], ends[text + 1])
            np.matmul(weights[:, own], self._rows[piece[own]].astype(np.float32), out=sums[text])
        _normalise(sums.reshape(-1, DIMENSIONS))
        return sums.reshape(len(pieces), -1)

    def _correct(self, sums: Vectors) -> Vectors:
        """Pass sums through the layers."""
        hidden: Vectors = sums @ self._into
        hidden += self._bias
        # The first columns are the linear part, the others the hidden layer.
        np.maximum(hidden[:, DIMENSIONS:], 0, out=hidden[:, DIMENSIONS:])
        drafts: Vectors = hidden[:, DIMENSIONS:] @ self._out
        drafts += hidden[:, :DIMENSIONS]
        _normalise(drafts)
        return drafts


class Undrafted:
    """In place of the table where it is missing, or of another model: what is static gives its own vectors.

    Else no text is similar to any other, so only keywords count.
    """

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._encoder = encoder
        self.is_there = encoder is not None

    def knows(self, word: str) -> bool:
        """Return True: where there is no vocabulary, no word is called misspelt."""
        del word
        return True

    def draft(self, texts: Sequence[str]) -> Vectors:
        """Return the model's vectors, or zeros: float32 (n, 384)."""
        if self._encoder is not None:
            return self._encoder.encode(texts)
        return np.zeros((len(texts), DIMENSIONS), np.float32)

    def rough(self, words: Sequence[str]) -> Vectors:
        """Return the same as of texts."""
        return self.draft(words)


def has_table(model: str = "") -> bool:
    """Tell whether there are drafts: the table ships with the package, but packagers drop large files."""
    return drafter(model).is_there if model else TABLE.exists()


@cache
def drafter(model: str = "") -> Drafter | Undrafted:
    """Return this process's drafter for a model of the user's, or ours, loaded once."""
    if model:
        from gitrag.embedding.brought import static_encoder

        return Undrafted(static_encoder(model))
    return Drafter.load() if TABLE.exists() else Undrafted()


def _normalise(vectors: Vectors) -> None:
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    np.divide(vectors, np.maximum(lengths, 1e-12)[:, None], out=vectors)  # zeros stay zeros
