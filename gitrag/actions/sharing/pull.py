"""Take the vectors that are missing here from packs that others have made, after a sample was checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from gitrag.actions.sharing.shared import Shared
from gitrag.indexing.embed_texts import encode_texts
from gitrag.late import np
from gitrag.sharing.ledger import Refusal, Skipped
from gitrag.sharing.packs import ROWS, PackError, PackKeys
from gitrag.store import shared, vectors
from gitrag.store.vectors import PendingText

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.embedding.encoder import Encoder

SAMPLE_ONE_IN = 500
SAMPLE_LEAST = 29
"""Of a pack of which one text in ten is wrong, a sample of so many meets one with a probability of 0.95."""

CHECKED_SHARE = 0.5
"""Share of a pack's texts that must be here, a sample of them right, for it to count as checked: merged with
others, what is wrong in the rest would no longer be known by where it came from."""

NOISE_COSINE = 0.95
"""Least cosine of two computations of one text. The int8 model has 0.987 at least to the float32 one
(`gitrag.embedding.sessions`), so two machines whose int8 differs, each as far from it on its own side, have
0.949; two on the same side more. Other texts have 0.1 to 0.6."""

MIDDLE_COSINE = 0.98
"""Least median cosine of a sample: noise is far smaller; vectors that all lean one way a little are not."""

_ROUND = 8192
"""Vectors per transaction: some tenths of a second."""


class Pulled(Struct):
    """What a pull brought.

    Attributes:
        texts: Texts that have their vectors from packs now.
        packs: Packs that were used.
        computed: Texts computed here to check packs.
        refused: Packs refused in this pull.
        skipped: Packs that were not used this time: damaged where they lie or on the way, or not there.
        left_out: Packs not looked at, since the keys of all would be too much.
        listed: Packs at the place, those of other models and formats included.
        other_models: Packs of other models.
        newer: Packs in a newer format.
        received: Bytes of files received.
        left: Texts that are left to embed here, where that was counted.
    """

    texts: int = 0
    packs: int = 0
    computed: int = 0
    refused: list[Refusal] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    left_out: int = 0
    listed: int = 0
    other_models: int = 0
    newer: int = 0
    received: int = 0
    left: int = 0


def pull(
    team: Shared,
    *,
    entries: Sequence[tuple[int, int]] = (),
    advance: Callable[[int], None] = lambda _done: None,
    stop: Callable[[], bool] = lambda: False,
) -> Pulled:
    """Take vectors for the texts that have none; the model must be there, to check a sample of each pack.

    Args:
        entries: Path and content ids of the uncommitted changes, whose texts may have vectors too.
        advance: Called with the number of texts after each transaction.
    """
    done = Pulled()
    team.drop_refused()
    team.settled(lambda: _pull(team, done, entries, advance, stop))
    team.save()
    done.received = team.place.received
    done.refused = team.refused
    done.skipped = list(team.skipped.values())
    done.left_out = team.left_out
    return done


def _pull(
    team: Shared,
    done: Pulled,
    entries: Sequence[tuple[int, int]],
    advance: Callable[[int], None],
    stop: Callable[[], bool],
) -> None:
    listed, names = team.usable()
    done.listed, done.other_models, done.newer = listed.count, len(listed.other_models), len(listed.newer)
    store = team.workspace.store
    with store.read() as db:
        ids, keys = shared.waiting(db, entries)
    if not len(ids):
        return
    there = team.keys(names)
    plan = _plan(there.values(), keys)
    while plan:
        team.place.prefetch({index.name + ROWS: index.rows_bytes for index in plan})
        for index in plan:
            if stop():
                return
            del there[index.name]
            found = _take(team, done, index, (ids, keys), advance)
            left = ~np.isin(ids, found)
            ids, keys = ids[left], keys[left]
        plan = _plan(there.values(), keys)  # what refused packs did not give, others may


def _plan(there: Iterable[PackKeys], keys: NDArray[np.bytes_]) -> list[PackKeys]:
    """Choose packs that have the vectors of some keys, S16 (n,): largest first, none in vain."""
    chosen = []
    for index in there:
        if not len(keys):
            break
        wanted = index.find(keys)
        if len(wanted):
            chosen.append(index)
            keys = keys[~np.isin(keys, index.keys[wanted])]
    return chosen


def _take(
    team: Shared,
    done: Pulled,
    index: PackKeys,
    waiting: tuple[NDArray[np.int32], NDArray[np.bytes_]],
    advance: Callable[[int], None],
) -> NDArray[np.int32]:
    """Take the vectors of waiting texts from a pack, or refuse it; return the texts, int32 (n,)."""
    ids, keys = waiting
    nothing = ids[:0]
    wanted = index.find(keys)
    try:
        rows = team.catalogue.rows(index, wanted)
    except PackError as error:
        team.reject(index.name, error)
        return nothing
    found = ids[places_of(index.keys[wanted], keys)]
    checked, problem = check(team, found, rows)
    done.computed += checked
    if problem:
        team.refuse(index.name, problem)
    if problem or not checked:
        return nothing
    for start in range(0, len(found), _ROUND):
        part = slice(start, start + _ROUND)
        with team.workspace.store.write("writing shared vectors", make=False) as db:
            taken = shared.take(db, found[part], rows[part], index.name)
        done.texts += taken
        advance(taken)
    done.packs += 1
    team.ledger.compare(index.name, checked, enough=is_enough(checked, len(found), len(index.keys)))
    return found


def check(
    team: Shared, text_ids: NDArray[np.int32], rows: NDArray[np.int8], *, every: bool = False
) -> tuple[int, str]:
    """Compute a random sample of texts here and compare it with a pack's vectors, int8 (n, 384).

    Args:
        text_ids: The texts, int32 (n,).

    Returns:
        How many were computed, and what is wrong with the pack, as the end of the sentence "The pack …";
        empty for nothing.
    """
    size = len(text_ids) if every else sample_size(len(text_ids))
    # Unseeded: whoever made the pack must not know which texts are looked at.
    chosen = np.random.default_rng().permutation(len(text_ids))[:size]
    with team.workspace.store.read() as db:
        texts = vectors.sources_of(db, np.sort(text_ids[chosen]))
    ids, computed = _computed(team.workspace.encoder, texts)
    if not len(ids):
        return 0, ""
    return len(ids), compare(computed, rows[places_of(ids, text_ids)])


def places_of(wanted: NDArray[Any], among: NDArray[Any]) -> NDArray[np.intp]:
    """Return where each of some values stands among others, in whatever order; all do."""
    order = np.argsort(among)
    return order[np.searchsorted(among, wanted, sorter=order)]


def sample_size(count: int) -> int:
    """Return how many of so many texts to compare."""
    return min(count, max(SAMPLE_LEAST, -(-count // SAMPLE_ONE_IN)))


def is_enough(compared: int, here: int, count: int) -> bool:
    """Tell whether a pack counts as checked: half of it is here, and a whole sample of that was right."""
    return here >= CHECKED_SHARE * count and compared >= sample_size(here)


def compare(ours: NDArray[np.float32] | NDArray[np.int8], theirs: NDArray[np.int8]) -> str:
    """Compare vectors (n, 384) that were computed here with a pack's, in the same order.

    Returns:
        What is wrong, as the end of the sentence "The pack …"; empty for nothing.
    """
    mine, other = ours.astype(np.float32), theirs.astype(np.float32)
    lengths = np.linalg.norm(mine, axis=1) * np.linalg.norm(other, axis=1)
    cosines = np.einsum("ij,ij->i", mine, other) / np.maximum(lengths, 1e-12)
    wrong = int((cosines < NOISE_COSINE).sum())
    if not wrong:
        middle = float(np.median(cosines))
        told = f"has vectors that differ from the model's throughout: a median cosine of {middle:.3f}"
        return told if middle < MIDDLE_COSINE else ""
    return (
        f"has other vectors than the model gives here: of {len(cosines)} texts that were compared {wrong},"
        f" the worst with a cosine of {float(cosines.min()):.2f}"
    )


def _computed(
    encoder: Encoder, texts: Sequence[PendingText]
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    ids, computed, _failures = encode_texts(encoder, texts)
    return np.array(ids, dtype=np.int32), computed
