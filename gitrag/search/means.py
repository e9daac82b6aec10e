"""One number for each file, of those of its chunks or of its place among the files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gitrag.late import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_RANKS = 10.0
"""Places after which a reciprocal rank has halved."""


def mean_of_best(
    values: NDArray[np.floating[Any]],
    file: NDArray[np.int32],
    files: int,
    most: int,
    chunks: NDArray[np.int32] | None = None,
    least: float = 0.0,
) -> NDArray[np.float64]:
    """Return for each file the mean of its best chunks' values, of at most ``most`` chunks.

    With ``chunks``, the number of chunks per file, chunks that are not listed count as the minimum.
    """
    sorted_file, best_first = _best_first(values.astype(np.float32), file)
    count = np.bincount(sorted_file, minlength=files)
    first = np.cumsum(count) - count
    chosen = np.arange(len(sorted_file)) - first[sorted_file] < most
    sums = np.bincount(sorted_file[chosen], best_first[chosen], files)
    listed = np.minimum(count, most)
    wanted = listed if chunks is None else np.minimum(chunks, most)
    return (sums + least * (wanted - listed)) / np.maximum(wanted, 1)


def by_rank(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return reciprocal ranks, 1 for the highest value; equals have the same (Cormack et al., 2009)."""
    values = values.round(6)  # the last bits depend on the order of a sum
    better = len(values) - np.sort(values).searchsorted(values, "right")
    return np.asarray(_RANKS / (_RANKS + better))


def _best_first(
    values: NDArray[np.float32], file: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Sort values by file, the largest of each first.

    Both are packed into one integer, which takes a thirtieth of the time that sorting by two columns does.
    """
    bits = values.view(np.int32)
    rising = bits ^ ((bits >> 31) & 0x7FFFFFFF)  # as integers, floats are in order but for the negative ones
    both = np.sort(file.astype(np.int64) << 32 | (~rising).view(np.uint32) ^ np.uint32(1 << 31))
    rising = ~((both & 0xFFFFFFFF).astype(np.uint32) ^ np.uint32(1 << 31)).view(np.int32)
    return both >> 32, (rising ^ ((rising >> 31) & 0x7FFFFFFF)).view(np.float32)
