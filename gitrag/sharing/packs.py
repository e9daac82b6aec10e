"""The format of a pack: vectors by their texts' keys, immutable, in two files. Pure.

=========  ================================================================================================
``.keys``  a header, the keys in ascending order, and a SHA-256 for each block of vectors
``.rows``  the vectors as the store has them, 384 signed bytes each, in the order of their keys
=========  ================================================================================================

A pack is named after its format, its encoder and the SHA-256 of its ``.keys``. So whoever has the name can
check the keys, and with them any block of vectors, however it was fetched. The keys take a 25th of the
bytes, and tell whether the vectors are worth fetching.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gitrag.late import np
from gitrag.model import DIMENSIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT: Final = 1
"""Raise when older versions of gitrag cannot read what is written."""

KEY_BYTES: Final = 16
BLOCK_ROWS: Final = 64
"""Vectors a block: 24 kB, the least that is fetched. A SHA-256 for each adds half a byte to a vector."""

MOST_ROWS: Final = 120_000
"""46 MB of vectors: forges refuse blobs over 100 MB and warn above 50."""

KEYS: Final = ".keys"
ROWS: Final = ".rows"
LISTING: Final = "packs.txt"
"""The files' names and sizes in a directory, for readers over HTTP."""

_MAGIC: Final = b"gitragVK"
_HEADER: Final = struct.Struct("<8sIHHII64s8x")
_ENCODER_BYTES: Final = 64
_DIGEST_BYTES: Final = 32
_LARGEST: Final = 127
_NAME = re.compile(r"v([0-9]{1,4})-([0-9a-f]{16})-([0-9a-f]{64})")

MOST_KEYS_TOTAL_BYTES: Final = 256_000_000
"""Keys of all packs of a place that are read, and kept beside the index: of fifteen million vectors."""

MOST_KEYS_BYTES: Final = _HEADER.size + MOST_ROWS * KEY_BYTES + (MOST_ROWS // BLOCK_ROWS + 1) * _DIGEST_BYTES
MOST_ROWS_BYTES: Final = MOST_ROWS * DIMENSIONS


class PackError(Exception):
    """A pack cannot be used; the text says why, as the end of the sentence "The pack …"."""


class DamagedError(PackError):
    """These bytes are not those that the pack is named after: damaged where they lie, or on the way."""


class PackKeys(Struct, frozen=True):
    """The checked ``.keys`` of a pack.

    Attributes:
        keys: S16 (n,), ascending. NumPy compares such strings as bytes padded with zeros, which orders keys
            of one length rightly.
        digests: A SHA-256 for each block of vectors.
    """

    name: str
    keys: NDArray[np.bytes_]
    digests: tuple[bytes, ...]
    data: bytes

    @property
    def rows_bytes(self) -> int:
        """Size of the pack's ``.rows``."""
        return len(self.keys) * DIMENSIONS

    def find(self, wanted: NDArray[np.bytes_]) -> NDArray[np.intp]:
        """Return the rows of those wanted keys, S16, that are here; ascending, each once."""
        return np.flatnonzero(np.isin(self.keys, wanted))


class Pack(Struct, frozen=True):
    """A whole pack: its checked keys, and its vectors.

    Attributes:
        rows: int8 (n, 384), in the order of the keys.
    """

    index: PackKeys
    rows: NDArray[np.int8]

    @property
    def files(self) -> dict[str, bytes]:
        """The two files by name; vectors first, since a pack is there once its keys are."""
        return {self.index.name + ROWS: self.rows.tobytes(), self.index.name + KEYS: self.index.data}


def encoder_id(encoder: str) -> str:
    """Return the part of a pack's name that stands for its encoder."""
    return hashlib.sha256(encoder.encode()).hexdigest()[:16]


def is_pack(name: str) -> bool:
    """Tell whether it is the name of a pack, of any format and encoder."""
    return _NAME.fullmatch(name) is not None


def is_of_a_pack(name: str) -> bool:
    """Tell whether a file's name is that of a pack's file, of any format and encoder."""
    stem, dot, end = name.rpartition(".")
    return dot + end in {KEYS, ROWS} and is_pack(stem)


def format_of(name: str) -> int:
    """Return the format that a pack's name states."""
    found = _NAME.fullmatch(name)
    return int(found[1]) if found else 0


def is_usable(name: str, encoder: str) -> bool:
    """Tell whether a name is that of a pack in this format, of this encoder."""
    found = _NAME.fullmatch(name)
    return found is not None and int(found[1]) == FORMAT and found[2] == encoder_id(encoder)


def make(keys: NDArray[np.bytes_], rows: NDArray[np.int8], encoder: str) -> Pack:
    """Make a pack.

    Args:
        keys: S16 (n,), distinct, in any order; 1 to ``MOST_ROWS``.
        rows: int8 (n, 384), scaled to a largest component of 127, as `gitrag.store.vectors.shrink` does.
    """
    order = np.argsort(keys)
    keys, rows = keys[order], np.ascontiguousarray(rows[order])
    digests = [_digest(rows, start) for start in _blocks(len(keys))]
    header = _HEADER.pack(
        _MAGIC, FORMAT, DIMENSIONS, KEY_BYTES, len(keys), BLOCK_ROWS, encoder.encode()[:_ENCODER_BYTES]
    )
    data = header + keys.astype(f"S{KEY_BYTES}").tobytes() + b"".join(digests)
    name = f"v{FORMAT}-{encoder_id(encoder)}-{hashlib.sha256(data).hexdigest()}"
    return Pack(PackKeys(name, keys, tuple(digests), data), rows)


def read_keys(name: str, data: bytes, encoder: str) -> PackKeys:
    """Check the ``.keys`` of a pack.

    Raises:
        DamagedError: It is not what its name says.
        PackError: It is, but not in the format.
    """
    if len(data) < _HEADER.size:
        raise DamagedError(f"is cut short: its keys have {len(data)} bytes")
    if hashlib.sha256(data).hexdigest() != name.rpartition("-")[2]:
        raise DamagedError("is damaged: its keys are not those that it is named after")
    magic, number, dimensions, key_bytes, count, block_rows, raw = _HEADER.unpack_from(data)
    if magic != _MAGIC:
        raise PackError("is no pack of gitrag's")
    if number > FORMAT:
        raise PackError(f"has format {number}, this gitrag reads {FORMAT}")
    if raw.rstrip(b"\0") != encoder.encode():
        raise PackError("was made with another model")
    if (number, dimensions, key_bytes, block_rows) != (FORMAT, DIMENSIONS, KEY_BYTES, BLOCK_ROWS):
        raise PackError(f"has vectors of {dimensions} bytes, keys of {key_bytes}, blocks of {block_rows}")
    if not 0 < count <= MOST_ROWS:
        raise PackError(f"says that it has {count} vectors; it may have 1 to {MOST_ROWS}")
    end = _HEADER.size + count * KEY_BYTES
    blocks = len(_blocks(count))
    if len(data) != end + blocks * _DIGEST_BYTES:
        raise PackError(f"says that it has {count} vectors, which do not fit its keys' {len(data)} bytes")
    keys = np.frombuffer(data, dtype=f"S{KEY_BYTES}", count=count, offset=_HEADER.size)
    if not bool(np.all(keys[:-1] < keys[1:])):
        raise PackError("has keys that are out of order or twice there")
    digests = tuple(data[end + i * _DIGEST_BYTES : end + (i + 1) * _DIGEST_BYTES] for i in range(blocks))
    return PackKeys(name, keys, digests, data)


def read_rows(index: PackKeys, data: bytes, first_block: int = 0) -> NDArray[np.int8]:
    """Check vectors of a pack: int8 (n, 384).

    Args:
        data: Whole blocks of its ``.rows``, one after the other; the pack's last block may be shorter.

    Raises:
        DamagedError: They are not those that belong to the keys.
        PackError: They are, but no gitrag writes such.
    """
    begin = first_block * BLOCK_ROWS
    count = min(-(-len(data) // DIMENSIONS), len(index.keys) - begin)
    whole = count % BLOCK_ROWS == 0 or begin + count == len(index.keys)
    if len(data) != count * DIMENSIONS or not whole or not count:
        raise DamagedError(f"is cut short: {len(data)} bytes of vectors from the {begin + 1}th on")
    rows = np.frombuffer(data, dtype=np.int8).reshape(count, DIMENSIONS)
    for number, start in enumerate(_blocks(count), first_block):
        if _digest(rows, start) != index.digests[number]:
            raise DamagedError("is damaged: its vectors are not those that belong to its keys")
    largest = np.maximum(rows.max(axis=1), -rows.min(axis=1).astype(np.int16))
    if not bool(np.all(largest == _LARGEST)):
        raise PackError("has vectors that no gitrag writes: not scaled to 127")
    return rows


def runs_of(rows: NDArray[np.intp], gap: int) -> list[tuple[int, int]]:
    """Return the blocks that hold some rows as runs: pairs of the first block and the one after the last.

    Args:
        rows: Ascending.
        gap: How many blocks that are not needed may lie within a run.
    """
    runs: list[tuple[int, int]] = []
    for block in dict.fromkeys((rows // BLOCK_ROWS).tolist()):
        if runs and block - runs[-1][1] <= gap:
            runs[-1] = (runs[-1][0], block + 1)
        else:
            runs.append((block, block + 1))
    return runs


def merge(packs: Sequence[Pack], encoder: str) -> Pack:
    """Merge packs into one; of a key that several have, the vector of the first by name is kept.

    So whoever merges the same packs makes the same one.
    """
    packs = sorted(packs, key=lambda pack: pack.index.name)
    keys = np.concatenate([pack.index.keys for pack in packs])
    rows = np.concatenate([pack.rows for pack in packs])
    distinct, first = np.unique(keys, return_index=True)
    return make(distinct, rows[first], encoder)


FAN: Final = 4
"""Packs of about one size that are merged into one: a vector is written again once for each power of it."""

_SMALLEST_ROWS: Final = 256
"""Packs of fewer vectors, as of a commit, are of one size."""


def to_merge(sizes: Mapping[str, int]) -> list[tuple[str, ...]]:
    """Choose which packs to merge, as a log-structured merge tree does.

    Returns:
        Groups of packs of about one size, ``FAN`` or as many as fill one, each to become one. Where there
        is none, there are at most three packs of each of five sizes, and those that are more than half full.
    """
    tiers: dict[int, list[str]] = {}
    for name in sorted(sizes, key=lambda each: (sizes[each], each)):
        tier, top = 0, _SMALLEST_ROWS
        while sizes[name] > top:
            tier, top = tier + 1, top * FAN
        tiers.setdefault(tier, []).append(name)
    return [group for tier in sorted(tiers) for group in _groups(tiers[tier], sizes)]


def _groups(names: Iterable[str], sizes: Mapping[str, int]) -> Iterator[tuple[str, ...]]:
    """Split packs of a tier, smallest first, into groups that fit one pack each; those too few stay."""
    group: list[str] = []
    for name in names:
        if sum(map(sizes.__getitem__, group)) + sizes[name] > MOST_ROWS:
            if len(group) > 1:
                yield tuple(group)
            group = []
        group.append(name)
    if len(group) >= FAN:
        yield tuple(group)


def _blocks(count: int) -> range:
    return range(0, count, BLOCK_ROWS)


def _digest(rows: NDArray[np.int8], start: int) -> bytes:
    return hashlib.sha256(rows[start : start + BLOCK_ROWS].tobytes()).digest()
