"""The place that a repository's vectors are shared at, opened; refusing a pack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct, field

from gitrag.embedding.draft import drafter
from gitrag.embedding.version import encoder_version
from gitrag.errors import BusyError, DiskFullError, NotSetUpError
from gitrag.indexing.embed_texts import text_of
from gitrag.late import np
from gitrag.sharing.addresses import open_place
from gitrag.sharing.catalogue import Catalogue, Listed
from gitrag.sharing.ledger import Ledger, Refusal, Skipped
from gitrag.sharing.packs import MOST_KEYS_BYTES, MOST_KEYS_TOTAL_BYTES, DamagedError, PackError, PackKeys
from gitrag.sharing.place import GoneError, Place
from gitrag.store import shared, vectors
from gitrag.store.connection import StoreMissingError
from gitrag.store.vectors import shrink
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from numpy.typing import NDArray

OFF = "off"

SET_IT = "git config --global gitrag.share git: with those who have origin; or git:REMOTE, file:///directory"

_MOST_MISSES = 50
"""Times that the place is listed anew since a pack that was listed is not there."""

Result = TypeVar("Result")


class Shared(Struct):
    """A repository and the place its vectors are shared at.

    Attributes:
        refused: Packs that were found wrong since the place was opened.
        skipped: Packs that are not used this time, by name: damaged, or listed and not there.
        left_out: How many were not looked at, since the keys of all would be too much.
    """

    workspace: Workspace
    place: Place
    catalogue: Catalogue
    ledger: Ledger
    refused: list[Refusal] = field(default_factory=list)
    skipped: dict[str, Skipped] = field(default_factory=dict)
    left_out: int = 0

    @classmethod
    def open(cls, workspace: Workspace) -> Shared:
        """Open the place that the user has set; nothing is asked over a network yet."""
        address = workspace.config.share
        if address == OFF:
            raise NotSetUpError("No vectors are shared: the setting share is off.", SET_IT)
        directory = workspace.store.directory
        place = open_place(address, workspace.repo, directory, workspace.environ)
        return cls(
            workspace,
            place,
            Catalogue(place, directory, encoder_version(workspace.model)),
            Ledger.load(directory),
        )

    def usable(self) -> tuple[Listed, list[str]]:
        """List what is there, and the names of the packs that may be used."""
        listed = self.catalogue.list()
        self.ledger.see(listed.usable)
        unused = self.unused()
        return listed, [name for name in listed.usable if name not in unused]

    def unused(self) -> set[str]:
        """Return the names of the packs that are refused, or left out this time."""
        return self.ledger.refused.keys() | self.skipped.keys()

    def keys(self, names: Sequence[str]) -> dict[str, PackKeys]:
        """Return the keys of packs by name, largest first; packs whose keys cannot be used are left out.

        Where they are too much for all, packs that were checked here come first, then those known here.

        Raises:
            GoneError: One of them is not there any more.
        """
        checked, kept = self.ledger.checked, self.catalogue.kept()
        waiting = sorted(names, key=lambda name: (name not in checked, name not in kept))
        found: list[PackKeys] = []
        room = MOST_KEYS_TOTAL_BYTES
        while waiting and room >= MOST_KEYS_BYTES:
            some = room // MOST_KEYS_BYTES  # whatever sizes they turn out to have, they fit
            batch, waiting = waiting[:some], waiting[some:]
            self.catalogue.prefetch(batch)
            for name in batch:
                try:
                    found.append(self.catalogue.keys(name))
                except PackError as error:
                    self.reject(name, error)
                else:
                    room -= len(found[-1].data)
        self.left_out = len(waiting)
        if waiting:
            self.catalogue.forget({index.name for index in found})
        found.sort(key=lambda index: (-len(index.keys), index.name))
        return {index.name: index for index in found}

    def settled(self, act: Callable[[], Result]) -> Result:
        """Act, and again with a new list where a pack is not there: mostly it was merged meanwhile.

        One that is still listed then, as where a merge was cut off, is left out.
        """
        missed: set[str] = set()
        for _ in range(_MOST_MISSES):
            try:
                return act()
            except GoneError as error:
                pack = str(error).rpartition(".")[0]
                if pack and pack in missed:
                    self._skip(pack, "is listed, and not there", damaged=False)
                missed.add(pack)
        raise BusyError(f"The packs at {self.place.address} change faster than they are read.", "Try again.")

    def reject(self, pack: str, error: PackError) -> None:
        """Refuse a pack for what is in it, or leave it out this time if it arrived damaged.

        What arrives damaged may lie there intact, so nothing is held against the pack, and nothing dropped.
        """
        if isinstance(error, DamagedError):
            self.ledger.damaged.add(pack)
            self._skip(pack, str(error), damaged=True)
        else:
            self.refuse(pack, str(error))

    def _skip(self, pack: str, why: str, *, damaged: bool) -> None:
        self.skipped[pack] = Skipped(pack, self.place.address, why, damaged)

    def refuse(
        self, pack: str, why: str, known: tuple[NDArray[np.int32], NDArray[np.int8]] | None = None
    ) -> Refusal:
        """Record that a pack is not to be used, and drop every vector that came from it.

        Args:
            known: Texts here that it has, int32 (n,), and their vectors in it, int8 (n, 384). Dropped, too,
                where they came from other packs: it may be merged of those.
        """
        refusal = self.ledger.refuse(pack, self.place.address, why)
        self.refused.append(refusal)
        self.save()
        self._drop(pack, known)
        return refusal

    def drop_refused(self) -> None:
        """Drop what is here from refused packs: another process may have taken it at that moment."""
        with suppress(StoreMissingError):
            with self.workspace.store.read() as db:
                taken = shared.packs_taken_from(db)
            for pack in taken & self.ledger.refused.keys():
                self._drop(pack, None)

    def _drop(self, pack: str, known: tuple[NDArray[np.int32], NDArray[np.int8]] | None) -> None:
        store = self.workspace.store
        with suppress(StoreMissingError):
            with store.read() as db:
                ids = shared.taken_from(db, pack, known)
                sources = vectors.sources_of(db, ids)
            if len(ids):
                drafts = shrink(drafter(store.model).draft([text_of(source) for _, source in sources]))
                with store.write("dropping a refused pack's vectors", make=False) as db:
                    shared.give_back(db, ids, [text_id for text_id, _ in sources], drafts)
                store.forget_vectors()

    def save(self) -> None:
        """Write the record of packs."""
        try:
            self.ledger.save()
        except OSError as error:
            raise DiskFullError(
                f"Cannot write {self.ledger.path}: {error.strerror}.", "Free some space and try again."
            ) from error
