"""Look at the packs that are shared, check them, tidy them up."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct, field

from gitrag.actions.sharing import pull, push
from gitrag.actions.sharing.shared import Shared
from gitrag.late import np
from gitrag.sharing.ledger import Refusal, Skipped
from gitrag.sharing.packs import KEYS, ROWS, Pack, PackError
from gitrag.store import shared
from gitrag.store.connection import StoreMissingError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Known = tuple[NDArray[np.int32], NDArray[np.bytes_]]


class SharedStatus(Struct, frozen=True):
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
        skipped: Packs there that were not looked at: their keys are damaged, or not there.
        left_out: Packs there not looked at, since the keys of all would be too much.
        checked: Packs there that were made here, or of which enough was compared here.
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
    skipped: list[Skipped]
    left_out: int
    checked: int
    failure: str


class Verified(Struct):
    """What was checked.

    Attributes:
        packs: Packs there.
        texts: Vectors in them.
        computed: Texts computed here and compared.
        partly: Packs of which too few texts are here for them to count as checked.
        partly_texts: Vectors in these.
        partly_computed: Texts of these that were computed here and compared.
        gone: Packs that are no longer there, or cannot be read, and that vectors here came from.
        gone_texts: These vectors.
        skipped: Packs that were not checked: damaged where they lie or on the way, or not there.
        left_out: Packs not looked at, since the keys of all would be too much.
        refused: Packs that are refused now.
    """

    packs: int = 0
    texts: int = 0
    computed: int = 0
    partly: int = 0
    partly_texts: int = 0
    partly_computed: int = 0
    gone: int = 0
    gone_texts: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    left_out: int = 0
    refused: list[Refusal] = field(default_factory=list)


class Tidied(Struct, frozen=True):
    """What is, or would be, tidied up.

    Attributes:
        merged: Packs to merge.
        into: Packs they become.
        refused: Refused packs to remove.
        others: Packs of other models to remove.
        damaged: Packs that lie there damaged, to remove.
        applied: Whether it was done.
    """

    merged: int = 0
    into: int = 0
    refused: int = 0
    others: int = 0
    damaged: int = 0
    applied: bool = False

    def __bool__(self) -> bool:
        return any((self.merged, self.refused, self.others, self.damaged))


def status(team: Shared) -> SharedStatus:
    """Say what is there; the keys of packs that are new are fetched."""
    return team.settled(lambda: _status(team))


def _status(team: Shared) -> SharedStatus:
    listed, names = team.usable()
    there = team.keys(names)
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
        list(team.skipped.values()),
        team.left_out,
        len(team.ledger.checked & there.keys()),
        team.ledger.failure,
    )


def verify(
    team: Shared, *, every: bool = False, advance: Callable[[int], None] = lambda _done: None
) -> Verified:
    """Fetch every pack, check all of it, and compute a sample of those of its texts that are here.

    Vectors here whose pack is no longer there are checked in the same way, pack by pack. A pack that does
    not check is refused, and what came from it is dropped.

    Args:
        advance: Called with the number of packs checked so far.
    """
    done = Verified()
    looked: set[str] = set()
    team.drop_refused()
    ids, keys = _known(team)
    team.settled(lambda: _verify(team, done, (ids, keys), looked, every, advance))
    taken: set[str] = set()
    with suppress(StoreMissingError), team.workspace.store.read() as db:
        taken = shared.packs_taken_from(db)
    for pack in sorted(taken - looked):
        _verify_taken(team, done, pack, every)
        advance(done.packs + done.gone)
    team.save()
    done.skipped = list(team.skipped.values())
    done.left_out = team.left_out
    done.refused = team.refused
    return done


def _known(team: Shared) -> Known:
    """Return all texts that are here and their keys, sorted by these."""
    try:
        with team.workspace.store.read() as db:
            ids, keys = shared.known(db)
    except StoreMissingError:  # checksums can be checked all the same
        return np.empty(0, np.int32), np.empty(0, "S16")
    order = np.argsort(keys)
    return ids[order], keys[order]


def _verify(
    team: Shared,
    done: Verified,
    known: Known,
    looked: set[str],
    every: bool,
    advance: Callable[[int], None],
) -> None:
    """Check the packs that are there and were not looked at yet."""
    _, names = team.usable()
    for name in team.keys([name for name in names if name not in looked]):
        try:
            pack = team.catalogue.whole(team.catalogue.keys(name))
        except PackError as error:
            team.reject(name, error)
            continue
        _verify_pack(team, done, known, pack, every)
        looked.add(name)
        advance(done.packs)


def _verify_pack(team: Shared, done: Verified, known: Known, pack: Pack, every: bool) -> None:
    ids, keys = known
    index = pack.index
    here = index.find(keys)
    own = ids[np.searchsorted(keys, index.keys[here])], pack.rows[here]
    compared, problem = pull.check(team, *own, every=every) if len(here) else (0, "")
    done.packs += 1
    done.texts += len(pack.rows)
    done.computed += compared
    team.ledger.damaged.discard(index.name)
    if problem:
        team.refuse(index.name, problem, own)
        return
    enough = pull.is_enough(compared, len(here), len(index.keys))
    team.ledger.compare(index.name, compared, enough=enough)
    if not enough:
        done.partly += 1
        done.partly_texts += len(index.keys)
        done.partly_computed += compared


def _verify_taken(team: Shared, done: Verified, pack: str, every: bool) -> None:
    """Check the vectors here that came from a pack which is not there any more, or cannot be read."""
    with team.workspace.store.read() as db:
        ids = shared.taken_from(db, pack)
        rows = shared.read(db, ids)
    compared, problem = pull.check(team, ids, rows, every=every)
    done.gone += 1
    done.gone_texts += len(ids)
    done.computed += compared
    if problem:
        team.refuse(pack, problem, (ids, rows))


def tidy(team: Shared, *, really: bool, other_models: bool = False, damaged: bool = False) -> Tidied:
    """Merge small packs, and remove refused ones."""
    push.require_writable(team)
    return team.settled(lambda: _tidy(team, really=really, other_models=other_models, damaged=damaged))


def _tidy(team: Shared, *, really: bool, other_models: bool, damaged: bool) -> Tidied:
    listed, names = team.usable()
    known = team.keys(names)
    push.find_damaged(team, listed, known)
    there = {name: len(index.keys) for name, index in known.items() if name not in team.unused()}
    groups = push.groups(team, there)
    refused = [name for name in listed.usable if name in team.ledger.refused]
    others = listed.other_models if other_models else ()
    bad = sorted(team.ledger.damaged & team.skipped.keys()) if damaged else []
    found = Tidied(sum(map(len, groups)), len(groups), len(refused), len(others), len(bad), really)
    if not really or not found:
        return found
    add, drop = push.merged(team, there, [])
    unwanted = [*drop, *refused, *others, *bad]
    team.place.change(push.files_of(add), [name + end for name in unwanted for end in (KEYS, ROWS)])
    push.record(team, add, drop)
    return found
