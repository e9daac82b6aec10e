"""Look at the packs that are shared, check them, tidy them up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gitrag.actions.sharing import pull, push
from gitrag.actions.sharing.shared import Shared
from gitrag.errors import BusyError
from gitrag.sharing.ledger import Refusal
from gitrag.sharing.packs import KEYS, ROWS, PackError
from gitrag.sharing.place import GoneError
from gitrag.store import shared
from gitrag.store.connection import StoreMissingError


@dataclass(frozen=True, slots=True)
class SharedStatus:
    """What is shared, and what of it is of use here.

    Attributes:
        address: The place.
        packs: Packs of this model there.
        texts: Vectors in them; a text may be in several.
        size_bytes: Their size.
        other_models: Packs of other models there.
        newer: Packs in a newer format there.
        waiting: Texts here without a vector.
        available: How many of them have one there.
        refused: Packs there that are refused here.
        failure: Why the background worker could last not pull or push; empty if it could.
    """

    address: str
    packs: int
    texts: int
    size_bytes: int
    other_models: int
    newer: int
    waiting: int
    available: int
    refused: list[Refusal]
    failure: str


@dataclass(slots=True)
class Verified:
    """What was checked.

    Attributes:
        packs: Packs.
        texts: Vectors in them.
        computed: Texts computed here to compare.
        refused: Packs that are refused now.
    """

    packs: int = 0
    texts: int = 0
    computed: int = 0
    refused: list[Refusal] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Tidied:
    """What is, or would be, tidied up.

    Attributes:
        merged: Packs to merge.
        into: Packs they become.
        refused: Refused packs to remove.
        others: Packs of other models to remove.
        applied: Whether it was done.
    """

    merged: int = 0
    into: int = 0
    refused: int = 0
    others: int = 0
    applied: bool = False

    def __bool__(self) -> bool:
        return any((self.merged, self.refused, self.others))


def status(team: Shared) -> SharedStatus:
    """Say what is there; the keys of packs that are new are fetched.

    Raises:
        GitragError: The place cannot be read.
    """
    import numpy as np

    listed, names = team.usable()
    try:
        there = team.keys(names)
    except GoneError as error:
        raise _changing(team) from error
    ids, keys = np.empty(0, np.int32), np.empty(0, "S16")
    try:
        with team.workspace.store.read() as db:
            ids, keys = shared.waiting(db)
    except StoreMissingError:
        pass  # there is nothing here yet
    texts, size_bytes, available = 0, 0, np.zeros(len(keys), dtype=bool)
    for index in there.values():
        texts += len(index.keys)
        size_bytes += len(index.data) + index.rows_bytes
        available |= np.isin(keys, index.keys)
    refused = [team.ledger.refused[name] for name in listed.usable if name in team.ledger.refused]
    return SharedStatus(
        team.place.address,
        len(there),
        texts,
        size_bytes,
        len(listed.other_models),
        len(listed.newer),
        len(ids),
        int(available.sum()),
        refused,
        team.ledger.failure,
    )


def verify(
    team: Shared, *, every: bool = False, advance: Callable[[int], None] = lambda _done: None
) -> Verified:
    """Fetch every pack, check all of it, and compute a sample of those of its texts that are here.

    A pack that does not check is refused, and what came from it is dropped.

    Args:
        team: The place.
        every: Compute every text that is here, not a sample.
        advance: Called with the number of packs checked so far.

    Raises:
        GitragError: The place cannot be read, or the model not be loaded.
    """
    import numpy as np

    done = Verified()
    _, names = team.usable()
    ids, keys = np.empty(0, np.int32), np.empty(0, "S16")
    try:
        with team.workspace.store.read() as db:
            ids, keys = shared.known(db)
    except StoreMissingError:
        pass  # checksums can be checked all the same
    order = np.argsort(keys)
    for name in names:
        problem, known = "", None
        try:
            pack = team.catalogue.whole(team.catalogue.keys(name))
        except GoneError:
            continue
        except PackError as error:
            problem = str(error)
        else:
            done.texts += len(pack.rows)
            here = pack.index.find(keys)
            if len(here):
                known = (
                    ids[order[np.searchsorted(keys, pack.index.keys[here], sorter=order)]],
                    pack.rows[here],
                )
                computed, problem = pull.check(team, *known, every=every)
                done.computed += computed
                if computed and not problem:
                    team.ledger.checked.add(name)
        done.packs += 1
        if problem:
            done.refused.append(team.refuse(name, problem, known))
        advance(done.packs)
    team.save()
    return done


def tidy(team: Shared, *, really: bool, other_models: bool = False) -> Tidied:
    """Merge small packs, and remove refused ones.

    Args:
        team: The place.
        really: Do it, not only say what.
        other_models: Remove packs of other models too.

    Raises:
        GitragError: The place cannot be read or written.
        BusyError: Others change it at the same time.
    """
    push.require_writable(team)
    listed, names = team.usable()
    try:
        there = {name: len(index.keys) for name, index in team.keys(names).items()}
        groups = push.groups(team, there)
        refused = [name for name in listed.usable if name in team.ledger.refused]
        others = listed.other_models if other_models else ()
        found = Tidied(sum(map(len, groups)), len(groups), len(refused), len(others), really)
        if not really or not found:
            return found
        add, drop = push.merged(team, there, [])
    except GoneError as error:
        raise _changing(team) from error
    unwanted = [*drop, *refused, *others]
    team.place.change(push.files_of(add), [name + end for name in unwanted for end in (KEYS, ROWS)])
    team.ledger.checked |= {pack.index.name for pack in add}
    team.ledger.checked -= set(drop)
    team.save()
    return found


def _changing(team: Shared) -> BusyError:
    return BusyError(f"Somebody else changes the packs at {team.place.address}.", "Try again.")
