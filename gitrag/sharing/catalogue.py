"""The packs at a place: their keys, fetched once and kept beside the index, and their vectors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gitrag.machine.files import make_private, private_mode, read_regular, replace
from gitrag.model import DIMENSIONS
from gitrag.sharing import packs
from gitrag.sharing.packs import BLOCK_ROWS, KEYS, MOST_KEYS_BYTES, MOST_ROWS_BYTES, ROWS, Pack, PackKeys
from gitrag.sharing.place import Place

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDER = "share"
_GAP_BLOCKS = 4
"""Blocks read in vain rather than asked around: 100 kB, some milliseconds of a connection."""

_MOST_RUNS = 64
"""A pack of which more ranges are needed is fetched whole, or ..."""

_MOST_SHARE = 0.6
"""... if more than this share of its bytes is needed."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The whole packs of a place.

    Attributes:
        usable: Sizes in bytes, 0 if not known, of the packs that this gitrag can use, by name.
        other_models: Names of packs of another model.
        newer: Names of packs in a newer format.
    """

    usable: Mapping[str, int]
    other_models: tuple[str, ...]
    newer: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many packs there are."""
        return len(self.usable) + len(self.other_models) + len(self.newer)


class Catalogue:
    """The packs at a place.

    Args:
        place: The place.
        directory: The index's directory, for the keys that were fetched.
        encoder: The encoder's version.
    """

    def __init__(self, place: Place, directory: Path, encoder: str) -> None:
        self.place = place
        self._encoder = encoder
        self._folder = directory / FOLDER
        self._kept: dict[str, PackKeys] = {}

    def list(self) -> Listed:
        """List the packs; errors as in `gitrag.sharing.place.Place.list`."""
        files = self.place.list()
        names = {name.rpartition(".")[0] for name in files}
        whole = sorted(name for name in names if name + KEYS in files and name + ROWS in files)
        usable = {
            name: files[name + KEYS] + files[name + ROWS]
            for name in whole
            if packs.is_usable(name, self._encoder)
        }
        newer = tuple(name for name in whole if packs.format_of(name) > packs.FORMAT)
        others = tuple(name for name in whole if name not in usable and name not in newer)
        self._forget(usable)
        return Listed(usable, others, newer)

    def prefetch(self, names: Sequence[str]) -> None:
        """Fetch the keys of several packs at once; errors as in `gitrag.sharing.place.Place.list`."""
        self.place.prefetch([name + KEYS for name in names if not (self._folder / (name + KEYS)).exists()])

    def keys(self, name: str) -> PackKeys:
        """Return the keys of a pack; errors also as in `gitrag.sharing.place.Place.get`.

        Raises:
            PackError: They are not what its name says, or not in the format.
        """
        if name not in self._kept:
            path = self._folder / (name + KEYS)
            with suppress(OSError, packs.PackError):
                self._kept[name] = packs.read_keys(
                    name, read_regular(path, MOST_KEYS_BYTES + 1), self._encoder
                )
                return self._kept[name]
            data = self.place.get(name + KEYS, MOST_KEYS_BYTES)
            self._kept[name] = packs.read_keys(name, data, self._encoder)
            with suppress(OSError):  # next time they are fetched again
                make_private(self._folder)
                replace(path, data, private_mode(self._folder), durable=False)
        return self._kept[name]

    def rows(self, index: PackKeys, wanted: NDArray[np.intp]) -> NDArray[np.int8]:
        """Return some rows, ascending, of a pack: int8 (n, 384); errors as in `keys`.

        Only the ranges that are needed are fetched where that is less.
        """
        import numpy as np

        runs = packs.runs_of(wanted, _GAP_BLOCKS)
        needed = sum(end - begin for begin, end in runs) * BLOCK_ROWS
        if not self.place.has_ranges or len(runs) > _MOST_RUNS or needed > _MOST_SHARE * len(index.keys):
            return self.whole(index).rows[wanted]
        parts = []
        for begin, end in runs:
            first, last = begin * BLOCK_ROWS, min(end * BLOCK_ROWS, len(index.keys))
            data = self.place.read(index.name + ROWS, first * DIMENSIONS, (last - first) * DIMENSIONS)
            part = packs.read_rows(index, data, begin)
            if len(part) != last - first:
                raise packs.PackError("is cut short: a range of its vectors is not there")
            parts.append(part[wanted[(wanted >= first) & (wanted < last)] - first])
        return np.concatenate(parts)

    def whole(self, index: PackKeys) -> Pack:
        """Return a whole pack; errors as in `keys`."""
        data = self.place.get(index.name + ROWS, MOST_ROWS_BYTES)
        if len(data) != index.rows_bytes:
            raise packs.PackError(f"has {len(data)} bytes of vectors for {len(index.keys)} keys")
        return Pack(index, packs.read_rows(index, data))

    def _forget(self, listed: Collection[str]) -> None:
        """Remove the kept keys of packs that are no longer there."""
        for path in self._kept_files():
            if path.name.removesuffix(KEYS) not in listed:
                with suppress(OSError):
                    path.unlink()

    def _kept_files(self) -> Iterator[Path]:
        with suppress(OSError):
            yield from self._folder.glob("v*" + KEYS)
