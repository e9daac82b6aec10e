"""The packs at a place: their keys, fetched once and kept beside the index, their vectors; those refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct, field

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

NAME = "share.json"
_MOST_BYTES = 64 << 20

MOST_REFUSED = 20_000
"""The latest ones are kept, and those that are listed count as such: twice as many as a listing has."""

_SAID_CHARACTERS = 300
"""How much is kept of a place's address, and of why a pack was refused."""


class Refusal(Struct, frozen=True):
    """A pack that is not used.

    Attributes:
        pack: Its name.
        origin: The place it came from.
        why: As the end of the sentence "The pack …".
    """

    pack: str
    origin: str
    why: str


class Skipped(Struct, frozen=True):
    """A pack that is not used this time, which is not recorded.

    Attributes:
        pack: Its name.
        origin: The place.
        why: As the end of the sentence "The pack …".
        damaged: Whether it arrived damaged, rather than not at all.
    """

    pack: str
    origin: str
    why: str
    damaged: bool


class Ledger(Struct):
    """The record; `save` writes it.

    Attributes:
        refused: Refused packs by name.
        checked: Packs that were made here, or of which enough was computed and compared here.
        compared: How many texts of a pack were compared here, at most at a time, by name.
        damaged: Packs of which bytes came that were not theirs: the next push looks whether they lie so.
        asked: When the background worker last pulled from a place, or pushed to it, Unix seconds.
        pushed: The tree that the background worker pushed last to each place.
        failure: Why the background worker could last not pull or push; empty if it could.
    """

    path: Path
    refused: dict[str, Refusal] = field(default_factory=dict)
    checked: set[str] = field(default_factory=set)
    compared: dict[str, int] = field(default_factory=dict)
    damaged: set[str] = field(default_factory=set)
    asked: dict[str, float] = field(default_factory=dict)
    pushed: dict[str, str] = field(default_factory=dict)
    failure: str = ""

    @classmethod
    def load(cls, directory: Path) -> Ledger:
        """Read the record of a repository; one that cannot be read counts as empty."""
        ledger = cls(directory / NAME)
        with suppress(OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            data: Any = json.loads(read_regular(ledger.path, _MOST_BYTES))
            refused = [Refusal(*(str(part) for part in each)) for each in data["refused"]]
            return cls(
                ledger.path,
                {each.pack: each for each in refused if packs.is_pack(each.pack)},
                _names(data["checked"]),
                {str(name): int(count) for name, count in data.get("compared", {}).items()},
                _names(data.get("damaged", ())),
                {str(address): float(at) for address, at in data["asked"].items()},
                {str(address): str(tree) for address, tree in data["pushed"].items()},
                str(data["failure"]),
            )
        return ledger

    def refuse(self, pack: str, origin: str, why: str) -> Refusal:
        """Record that a pack is not to be used, and return the record."""
        refusal = Refusal(pack, origin[:_SAID_CHARACTERS], why[:_SAID_CHARACTERS])
        self.refused.pop(pack, None)
        self.refused[pack] = refusal
        self.checked.discard(pack)
        return refusal

    def compare(self, pack: str, compared: int, *, enough: bool) -> None:
        """Record that texts of a pack were compared and found right, and whether they were enough."""
        self.compared[pack] = max(compared, self.compared.get(pack, 0))
        if enough:
            self.checked.add(pack)

    def see(self, listed: Collection[str]) -> None:
        """Forget what is known of packs that are not listed, except refusals: the oldest of them go first."""
        self.checked.intersection_update(listed)
        self.damaged.intersection_update(listed)
        self.compared = {name: count for name, count in self.compared.items() if name in listed}
        for name in [name for name in self.refused if name in listed]:
            self.refused[name] = self.refused.pop(name)

    def save(self) -> None:
        """Write the record; what another process refused meanwhile stays refused."""
        others = Ledger.load(self.path.parent).refused
        self.refused = {name: others[name] for name in others if name not in self.refused} | self.refused
        self.checked -= self.refused.keys()
        refused = list(self.refused.values())[-MOST_REFUSED:]
        data = {
            "refused": [[each.pack, each.origin, each.why] for each in refused],
            "checked": sorted(self.checked),
            "compared": self.compared,
            "damaged": sorted(self.damaged),
            "asked": self.asked,
            "pushed": self.pushed,
            "failure": self.failure,
        }
        make_private(self.path.parent)
        replace(self.path, json.dumps(data).encode(), private_mode(self.path.parent), durable=False)


def _names(given: Any) -> set[str]:
    return {str(name) for name in given if packs.is_pack(str(name))}


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
