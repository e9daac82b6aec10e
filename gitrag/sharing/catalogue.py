"""The packs at a place: their keys, fetched once and kept beside the index, and their vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from gitrag.late import np
from gitrag.machine.files import make_private, private_mode, read_regular, replace
from gitrag.model import DIMENSIONS
from gitrag.sharing import packs
from gitrag.sharing.packs import (
    BLOCK_ROWS,
    KEYS,
    MOST_KEYS_BYTES,
    MOST_ROWS_BYTES,
    ROWS,
    DamagedError,
    Pack,
    PackKeys,
)
from gitrag.sharing.place import Place, TooLargeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLDER = "share"
_GAP_BLOCKS = 4
"""Blocks read in vain rather than asked around: 100 kB, some milliseconds of a connection."""

_MOST_RUNS = 64
"""A pack of which more ranges are needed is fetched whole, or ..."""

_MOST_SHARE = 0.6
"""... if more than this share of its bytes is needed."""

_TRIES = 3
"""Times to fetch what arrives damaged; twice if the same bytes come, which then lie so at the place."""

Checked = TypeVar("Checked")


class Listed(Struct, frozen=True):
    """The whole packs of a place.

    Attributes:
        usable: Sizes in bytes, 0 if not known, of the packs that this gitrag can use, by name.
        rows_bytes: Sizes of the vectors of usable packs, by name; 0 if not known.
    """

    usable: Mapping[str, int]
    other_models: tuple[str, ...]
    newer: tuple[str, ...]
    rows_bytes: Mapping[str, int]

    @property
    def count(self) -> int:
        """How many packs there are."""
        return len(self.usable) + len(self.other_models) + len(self.newer)


class Catalogue:
    """The packs at a place.

    Args:
        directory: The index's directory, for the keys that were fetched.
    """

    def __init__(self, place: Place, directory: Path, encoder: str) -> None:
        self.place = place
        self.encoder = encoder
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
            if packs.is_usable(name, self.encoder)
        }
        newer = tuple(name for name in whole if packs.format_of(name) > packs.FORMAT)
        others = tuple(name for name in whole if name not in usable and name not in newer)
        self.forget(usable)
        return Listed(usable, others, newer, {name: files[name + ROWS] for name in usable})

    def kept(self) -> set[str]:
        """Return the names of the packs whose keys were fetched before."""
        return {path.name.removesuffix(KEYS) for path in self._kept_files()}

    def prefetch(self, names: Sequence[str]) -> None:
        """Fetch the keys of several packs at once; errors as in `gitrag.sharing.place.Place.list`."""
        here = self.kept()
        self.place.prefetch({name + KEYS: MOST_KEYS_BYTES for name in names if name not in here})

    def keys(self, name: str) -> PackKeys:
        """Return the keys of a pack; errors also as in `gitrag.sharing.place.Place.get`.

        Raises:
            DamagedError: They are not what its name says, however often they are fetched.
            PackError: They are, but not in the format.
        """
        if name not in self._kept:
            path = self._folder / (name + KEYS)
            with suppress(OSError, packs.PackError):
                self._kept[name] = packs.read_keys(
                    name, read_regular(path, MOST_KEYS_BYTES + 1), self.encoder
                )
                return self._kept[name]
            self._kept[name] = _intact(
                lambda: self.place.get(name + KEYS, MOST_KEYS_BYTES),
                lambda data: packs.read_keys(name, data, self.encoder),
            )
            with suppress(OSError):  # next time they are fetched again
                make_private(self._folder)
                replace(path, self._kept[name].data, private_mode(self._folder), durable=False)
        return self._kept[name]

    def rows(self, index: PackKeys, wanted: NDArray[np.intp]) -> NDArray[np.int8]:
        """Return some rows, ascending, of a pack: int8 (n, 384); errors as in `keys`.

        Only the ranges that are needed are fetched where that is less.
        """
        runs = packs.runs_of(wanted, _GAP_BLOCKS)
        needed = sum(end - begin for begin, end in runs) * BLOCK_ROWS
        if not self.place.has_ranges or len(runs) > _MOST_RUNS or needed > _MOST_SHARE * len(index.keys):
            return self.whole(index).rows[wanted]
        parts = []
        for begin, end in runs:
            first, last = begin * BLOCK_ROWS, min(end * BLOCK_ROWS, len(index.keys))
            part = self._part(index, first, last)
            parts.append(part[wanted[(wanted >= first) & (wanted < last)] - first])
        return np.concatenate(parts)

    def _part(self, index: PackKeys, first: int, last: int) -> NDArray[np.int8]:
        """Return the rows of whole blocks, from the first to the one after the last."""

        def check(data: bytes) -> NDArray[np.int8]:
            part = packs.read_rows(index, data, first // BLOCK_ROWS)
            if len(part) != last - first:
                raise DamagedError("is cut short: a range of its vectors is not there")
            return part

        begin, length = first * DIMENSIONS, (last - first) * DIMENSIONS
        return _intact(lambda: self.place.read(index.name + ROWS, begin, length), check)

    def whole(self, index: PackKeys) -> Pack:
        """Return a whole pack; errors as in `keys`."""

        def check(data: bytes) -> Pack:
            if len(data) != index.rows_bytes:
                raise DamagedError(f"has {len(data)} bytes of vectors for {len(index.keys)} keys")
            return Pack(index, packs.read_rows(index, data))

        return _intact(lambda: self.place.get(index.name + ROWS, MOST_ROWS_BYTES), check)

    def forget(self, wanted: Collection[str]) -> None:
        """Remove the kept keys of all packs but the wanted ones."""
        for path in self._kept_files():
            if path.name.removesuffix(KEYS) not in wanted:
                with suppress(OSError):
                    path.unlink()

    def _kept_files(self) -> tuple[Path, ...]:
        if self._folder.is_symlink():  # somebody's: nothing of what is there is ours to read or remove
            return ()
        with suppress(OSError):
            return tuple(self._folder.glob("v*" + KEYS))
        return ()


def _intact(fetch: Callable[[], bytes], check: Callable[[bytes], Checked]) -> Checked:
    """Fetch bytes and return what ``check`` makes of them; again if they are damaged, as on the way.

    Raises:
        DamagedError: They are, however often they are fetched; the text says how often they were.
    """
    seen: list[bytes] = []
    while True:
        try:
            data = fetch()
        except TooLargeError as error:
            raise DamagedError("is larger than a pack may be") from error
        try:
            return check(data)
        except DamagedError as error:
            digest = hashlib.sha256(data).digest()
            again = digest in seen
            seen.append(digest)
            if again or len(seen) == _TRIES:
                raise DamagedError(f"{error} (fetched {len(seen)} times)") from error
