"""What the commits of a branch say, packed for a hub and read back (`gitrag/store/commit_evidence.py`)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from gitrag.late import np
from gitrag.model import DIMENSIONS
from gitrag.store.columns import runs
from gitrag.store.commit_evidence import FEW_PATHS, BranchHistory, Messages, nearness

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HEAD = struct.Struct("<qqdqqq")
_WORDS = DIMENSIONS // 64
_YEAR_S = 365 * 24 * 3600.0

_COLUMNS = ("<i8", "<i4", "<i4", "<u8", "<i4", "<i4", "<i1", "<f8")
"""Of a ``BranchHistory``, from ``committed`` to ``file_length``."""

_PACKED = BranchHistory.__struct_fields__[3 : 3 + len(_COLUMNS)]


def pack(history: BranchHistory) -> bytes:
    """Return a history, without its words, as bytes."""
    many = (len(history.committed), len(history.commit), len(history.file_length))
    head = _HEAD.pack(history.latest, history.telling, history.mean_length, *many)
    columns = zip(_PACKED, _COLUMNS, strict=True)
    return head + b"".join(getattr(history, name).astype(kind).tobytes() for name, kind in columns)


def words(history: BranchHistory) -> dict[int, bytes]:
    """Return where each term occurs, by its hash: commits and frequencies, int32 each."""
    order = np.lexsort((history.word_commit, history.term))
    terms, first = np.unique(history.term[order], return_index=True)
    both = np.stack([history.word_commit[order], history.word_frequency[order]], axis=1).astype("<i4")
    ends = np.append(first, len(order))[1:]  # also where no commit of it says anything
    return {int(term): both[begin:end].tobytes() for term, begin, end in zip(terms, first, ends, strict=True)}


def unpack(data: bytes) -> BranchHistory | None:
    """Read a history back, without its words; None where it is none: who pushes may send anything."""
    if len(data) < _HEAD.size:
        return None
    latest, telling, mean_length, commits, changes, files = _HEAD.unpack_from(data)
    many = (commits, commits, commits, _WORDS * commits, changes, changes, changes, files)
    kinds = list(zip(_COLUMNS, many, strict=True))
    sizes = [np.dtype(kind).itemsize * size for kind, size in kinds]
    if min(commits, changes, files, telling) < 0 or sum(sizes) != len(data) - _HEAD.size:
        return None
    ends = np.cumsum([_HEAD.size, *sizes]).tolist()
    columns = [
        np.frombuffer(data, dtype=kind, count=size, offset=at)
        for (kind, size), at in zip(kinds, ends[:-1], strict=True)
    ]
    columns[3] = columns[3].reshape(-1, _WORDS)
    found = BranchHistory(latest, telling, mean_length, *columns, *[np.empty(0, np.int32)] * 3)
    ascending = bool((np.diff(found.commit) >= 0).all())
    if not (ascending and _within(found.commit, commits) and _within(found.place, files)):
        return None
    if not (np.isfinite(found.file_length).all() and np.isfinite(mean_length) and (found.changed > 0).all()):
        return None
    return found if (found.length >= 0).all() else None


def _within(numbers: NDArray[np.int32], end: int) -> bool:
    return not len(numbers) or bool(numbers.min() >= 0 and numbers.max() < end)


def messages(
    history: BranchHistory,
    found: list[tuple[int, bytes]],
    file_of: NDArray[np.int64],
    lengths: NDArray[np.float64],
    files: int,
    vector: NDArray[np.float32] | None,
) -> Messages:
    """Return what the messages say of a question.

    Args:
        found: Index of a term in the question, and where it occurs (``words``).
        file_of: int64, the number of the file in the scope at each place of the view; -1 for none.
        lengths: float64, the length of all messages of the file at each place of the view.
        vector: The question's vector; None to go by words alone.
    """
    pairs = [np.frombuffer(own, dtype="<i4").reshape(-1, 2) for _term, own in found]
    term = np.repeat(np.array([each for each, _own in found], dtype=np.int32), [len(own) for own in pairs])
    both = np.concatenate(pairs) if pairs else np.empty((0, 2), np.int32)
    ours = (both[:, 0] >= 0) & (both[:, 0] < len(history.committed)) & (both[:, 1] > 0)
    term, both = term[ours], both[ours]
    rows, at = np.unique(both[:, 0], return_inverse=True)
    begin = np.searchsorted(history.commit, rows, "left")
    many = np.searchsorted(history.commit, rows, "right") - begin
    changes = runs(begin, many)
    file = file_of[history.place[changes]]
    own = np.bincount(np.repeat(np.arange(len(rows)), many)[file >= 0], minlength=len(rows))
    there = np.flatnonzero(file_of >= 0)
    meaning, meant = np.empty(0, np.float32), np.empty(0, np.int32)
    if vector is not None:
        few = (history.changed <= FEW_PATHS) & history.signs.any(axis=1)
        by_few = few[history.commit]
        said = (np.cumsum(few) - 1)[history.commit[by_few]].astype(np.int32)
        meaning, meant = nearness(history.signs[few].T, vector, said, file_of[history.place[by_few]])
    return Messages(
        term=term,
        commit=at.astype(np.int32),
        frequency=both[:, 1].astype(np.int32),
        age_s=np.maximum(history.latest - history.committed[rows], 0),
        changed=history.changed[rows],
        length=history.length[rows],
        first=np.cumsum(own) - own,
        files=own,
        file=file[file >= 0].astype(np.int32),
        file_length=np.bincount(file_of[there], lengths[there], files).astype(np.float32),
        telling=history.telling,
        mean_length=history.mean_length,
        meaning=meaning,
        meant=meant,
    )


def activity(history: BranchHistory, places: NDArray[np.int32]) -> list[float]:
    """Return how many commits changed the file at each place, one a year old counting half."""
    age_s = np.maximum(history.latest - history.committed[history.commit], 0)
    weight = np.exp2(-age_s / _YEAR_S) * history.as_named
    return [float(weight[history.place == place].sum()) for place in places.tolist()]
