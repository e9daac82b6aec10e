"""The place that a repository's vectors are shared at, opened; refusing a pack."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitrag.embedding.draft import drafter
from gitrag.embedding.version import ENCODER_VERSION
from gitrag.errors import DiskFullError, NotSetUpError
from gitrag.indexing.embed_texts import text_of
from gitrag.model import DIMENSIONS
from gitrag.sharing.addresses import open_place
from gitrag.sharing.catalogue import Catalogue, Listed
from gitrag.sharing.ledger import Ledger, Refusal
from gitrag.sharing.packs import PackError, PackKeys
from gitrag.sharing.place import Place
from gitrag.store import shared, vectors
from gitrag.store.connection import StoreMissingError
from gitrag.store.vectors import shrink
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OFF = "off"

SET_IT = "git config --global gitrag.share git: with those who have origin; or git:REMOTE, file:///directory"


@dataclass(frozen=True, slots=True)
class Shared:
    """A repository and the place its vectors are shared at.

    Attributes:
        workspace: The repository.
        place: The place.
        catalogue: The packs there.
        ledger: What is known of packs here.
    """

    workspace: Workspace
    place: Place
    catalogue: Catalogue
    ledger: Ledger

    @classmethod
    def open(cls, workspace: Workspace) -> Shared:
        """Open the place that the user has set; nothing is asked over a network yet.

        Raises:
            NotSetUpError: None is set, or there is no such remote.
        """
        address = workspace.config.share
        if address == OFF:
            raise NotSetUpError("No vectors are shared: the setting share is off.", SET_IT)
        directory = workspace.store.directory
        place = open_place(address, workspace.repo, directory, workspace.environ)
        return cls(workspace, place, Catalogue(place, directory, ENCODER_VERSION), Ledger.load(directory))

    def usable(self) -> tuple[Listed, list[str]]:
        """List what is there, and the names of the packs that may be used."""
        listed = self.catalogue.list()
        self.ledger.checked &= listed.usable.keys()
        return listed, [name for name in listed.usable if name not in self.ledger.refused]

    def keys(self, names: Sequence[str]) -> dict[str, PackKeys]:
        """Return the keys of packs by name, largest first; packs whose keys do not check are refused.

        Raises:
            GoneError: One of them is not there any more.
            GitragError: The place cannot be read.
        """
        self.catalogue.prefetch(names)
        found = []
        for name in names:
            try:
                found.append(self.catalogue.keys(name))
            except PackError as error:
                self.refuse(name, str(error))
        found.sort(key=lambda index: (-len(index.keys), index.name))
        return {index.name: index for index in found}

    def refuse(
        self, pack: str, why: str, known: tuple[NDArray[np.int32], NDArray[np.int8]] | None = None
    ) -> Refusal:
        """Record that a pack is not to be used, and drop every vector that came from it.

        Args:
            pack: Its name.
            why: As the end of the sentence "The pack …".
            known: Texts here that it has, int32 (n,), and their vectors in it, int8 (n, 384). Dropped, too,
                where they came from other packs: it may be merged of those.
        """
        import numpy as np

        ids, rows = known or (np.empty(0, np.int32), np.empty((0, DIMENSIONS), np.int8))
        refusal = self.ledger.refuse(pack, self.place.address, why)
        self.save()
        store = self.workspace.store
        with suppress(StoreMissingError):
            with store.read() as db:
                sources = vectors.sources_of(db, shared.taken_from(db, pack, ids, rows))
            if sources:
                drafts = shrink(drafter().draft([text_of(item) for item in sources]))
                with store.write("dropping a refused pack's vectors", make=False) as db:
                    shared.give_back(db, [item.text_id for item in sources], drafts)
                store.forget_vectors()
        return refusal

    def save(self) -> None:
        """Write the record of packs.

        Raises:
            DiskFullError: It cannot be written.
        """
        try:
            self.ledger.save()
        except OSError as error:
            raise DiskFullError(
                f"Cannot write {self.ledger.path}: {error.strerror}.", "Free some space and try again."
            ) from error
