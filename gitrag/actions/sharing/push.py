"""Put the vectors that were computed here where others find them, and merge small packs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.actions.sharing.pull import compare, is_enough, places_of, sample_size
from gitrag.actions.sharing.shared import Shared
from gitrag.late import np
from gitrag.sharing import packs
from gitrag.sharing.catalogue import Listed
from gitrag.sharing.packs import KEYS, MOST_ROWS, ROWS, DamagedError, Pack, PackError, PackKeys
from gitrag.sharing.place import GoneError, NoPlaceError
from gitrag.store import shared

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SCALED = 127


class Pushed(Struct, frozen=True):
    """What a push did.

    Attributes:
        texts: Texts whose vectors are there now and were not before.
        known: Texts of the tree whose vectors were there already.
        merged: Packs that were merged into larger ones.
        replaced: Damaged packs there all of whose vectors are there again, so that they could go.
        size_bytes: Size of the files that were added.
    """

    texts: int = 0
    known: int = 0
    merged: int = 0
    replaced: int = 0
    size_bytes: int = 0


def push(team: Shared, tree: str) -> Pushed:
    """Add the vectors of a commit's texts that were computed here and are not there yet.

    Texts of uncommitted changes are not pushed, nor vectors that came from a pack.
    """
    require_writable(team)
    files = list(team.workspace.repo.entries(tree))
    with team.workspace.store.read() as db:
        ids, keys = shared.to_share(db, [file.blob for file in files], [file.path for file in files])
    return team.settled(lambda: _push(team, ids, keys))


def require_writable(team: Shared) -> None:
    """Raise where a place can only be read."""
    if not team.place.is_writable:
        raise NoPlaceError(
            f"{team.place.address} can only be read.", "Push to the directory that is served there."
        )


def _push(team: Shared, ids: NDArray[np.int32], keys: NDArray[np.bytes_]) -> Pushed:
    listed, names = team.usable()
    there = team.keys(names)
    find_damaged(team, listed, there)
    there = {
        name: index
        for name, index in there.items()
        if name not in team.unused()
        and (name in team.ledger.checked or not _contradicts(team, index, ids, keys))
    }
    missing = ~np.isin(keys, np.concatenate([keys[:0], *(index.keys for index in there.values())]))
    known = int((~missing).sum())
    new: list[Pack] = []
    if missing.any():
        with team.workspace.store.read() as db:
            rows = shared.read(db, ids[missing])
        new = _packs_of(keys[missing], rows, team.catalogue.encoder)
    sure = [index for name, index in there.items() if name in team.ledger.checked]
    replaced = _replaced(team, listed, [*sure, *(pack.index for pack in new)])
    if not (new or replaced):
        return Pushed(known=known)
    sizes = {name: len(index.keys) for name, index in there.items()}
    add, drop = merged(team, sizes, new) if new else ([], [])
    files = files_of(add)
    team.place.change(files, [name + end for name in (*drop, *replaced) for end in (KEYS, ROWS)])
    team.ledger.damaged -= set(replaced)
    record(team, add, drop)
    texts, size_bytes = sum(len(pack.rows) for pack in new), sum(map(len, files.values()))
    return Pushed(texts, known, len(drop), len(replaced), size_bytes)


def record(team: Shared, add: Sequence[Pack], drop: Sequence[str]) -> None:
    """Record the packs that were made here, and those that are merged in them."""
    team.ledger.checked |= {pack.index.name for pack in add}
    team.ledger.checked -= set(drop)
    team.save()


def find_damaged(team: Shared, listed: Listed, there: Mapping[str, PackKeys]) -> None:
    """Leave out the packs that lie there damaged, as far as their sizes tell, or what was met before."""
    for name, index in there.items():
        try:
            if listed.rows_bytes[name] not in {0, index.rows_bytes} or name in team.ledger.damaged:
                team.catalogue.whole(index)
                team.ledger.damaged.discard(name)  # it was the way
        except PackError as error:
            team.reject(name, error)


def _replaced(team: Shared, listed: Listed, held: Sequence[PackKeys]) -> list[str]:
    """Return the damaged packs of a place that are no loss: other packs have all that they have.

    Args:
        held: The keys of packs that were checked or made here and are there, or are to be added.
    """
    damaged = sorted(team.ledger.damaged & team.skipped.keys() & listed.usable.keys())
    if not damaged:
        return []
    keys = np.concatenate([np.empty(0, "S16"), *(index.keys for index in held)])
    found = [name for name in damaged if any(index.name == name for index in held)]
    for name in damaged:
        with suppress(PackError):  # what it has cannot be known
            if name not in found and bool(np.isin(team.catalogue.keys(name).keys, keys).all()):
                found.append(name)
    return found


def files_of(some: Iterable[Pack]) -> dict[str, bytes]:
    """Return the files of packs by name, vectors before keys."""
    return {name: data for pack in some for name, data in pack.files.items()}


def groups(team: Shared, there: Mapping[str, int]) -> list[tuple[str, ...]]:
    """Return which packs there are to be merged, given their numbers of vectors by name.

    A pack that was neither made nor checked here stays as it is: merged, it would hide in one that was.
    """
    return packs.to_merge({name: count for name, count in there.items() if name in team.ledger.checked})


def merged(team: Shared, there: Mapping[str, int], new: Sequence[Pack]) -> tuple[list[Pack], list[str]]:
    """Merge small packs: those there that were made or checked here, and new ones.

    Args:
        there: The numbers of vectors of the packs there, by name.

    Returns:
        The packs to add, and the names of those to remove then.

    Raises:
        GoneError: A pack is not there any more.
    """
    sizes = {name: count for name, count in there.items() if name in team.ledger.checked}
    made = {pack.index.name: pack for pack in new if pack.index.name not in there}
    sizes |= {name: len(pack.rows) for name, pack in made.items()}
    drop: list[str] = []
    while found := packs.to_merge(sizes):
        for group in found:
            parts = []
            for name in group:
                del sizes[name]
                try:
                    parts.append(
                        made[name] if name in made else team.catalogue.whole(team.catalogue.keys(name))
                    )
                except DamagedError as error:  # since it was checked: what is here of it is pushed again
                    team.reject(name, error)
                    raise GoneError(name + ROWS) from error
            if parts:
                one = packs.merge(parts, team.catalogue.encoder)
                old = {part.index.name for part in parts} - {one.index.name}
                drop += sorted(old - made.keys())
                for name in old:
                    made.pop(name, None)
                made[one.index.name], sizes[one.index.name] = one, len(one.rows)
    return list(made.values()), drop


def _contradicts(team: Shared, index: PackKeys, ids: NDArray[np.int32], keys: NDArray[np.bytes_]) -> bool:
    """Compare a sample of a pack with vectors that were computed here; refuse it if they are others.

    Otherwise a pack of wrong vectors would keep everybody from pushing the right ones.

    Args:
        ids: Texts that were computed here, int32 (n,).
    """
    own = index.find(keys)
    here = len(own)
    if not here or team.ledger.compared.get(index.name, 0) >= sample_size(here):
        return False
    own = np.sort(np.random.default_rng().permutation(own)[: sample_size(here)])
    try:
        rows = team.catalogue.rows(index, own)
    except PackError as error:
        team.reject(index.name, error)
        return True
    texts = ids[places_of(index.keys[own], keys)]
    with team.workspace.store.read() as db:
        problem = compare(shared.read(db, texts), rows)
    if problem:
        team.refuse(index.name, problem)
    else:
        team.ledger.compare(index.name, len(own), enough=is_enough(len(own), here, len(index.keys)))
    return bool(problem)


def _packs_of(keys: NDArray[np.bytes_], rows: NDArray[np.int8], encoder: str) -> list[Pack]:
    whole = np.abs(rows.astype(np.int16)).max(axis=1) == _SCALED
    keys, rows = keys[whole], rows[whole]
    keys, first = np.unique(keys, return_index=True)
    rows = rows[first]
    return [
        packs.make(keys[start : start + MOST_ROWS], rows[start : start + MOST_ROWS], encoder)
        for start in range(0, len(keys), MOST_ROWS)
    ]
