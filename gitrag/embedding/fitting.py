"""Vectors of any dimensions as ones of 384, as everything that keeps vectors has them.

Where a model has fewer, they are turned in space, which keeps every cosine, and spreads what there is over
all sign bits. Where it has more, those directions are kept in which vectors of words are longest, and turned
so, too: other libraries than ours may find them in another order or the other way round, and vectors may be
shared with who has those.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from gitrag.embedding.version import own_cache
from gitrag.late import np
from gitrag.machine.files import replace
from gitrag.model import DIMENSIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

MOST_DIMENSIONS = 8_192
"""More than models have: to find directions takes the cube of their number."""

_SAMPLE = 1_024
"""Words whose vectors say which directions of a large model are kept; at most a row of a static one each."""


def fitted(vectors: Vectors, fit: Vectors) -> Vectors:
    """Return vectors (n, dimensions) as ones of 384, L2-normalised; zeros stay zeros.

    What is not finite becomes zeros: models in float16 overflow at some texts.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        found = vectors @ fit
        lengths = np.sqrt(np.einsum("ij,ij->i", found, found))
        made: Vectors = found / np.maximum(lengths, 1e-12)[:, None]
    made[~np.isfinite(lengths)] = 0
    return made


def sampled(words: Sequence[str]) -> Sequence[str]:
    """Return some words of many, from all over their order."""
    return words[:: max(len(words) // _SAMPLE, 1)][:_SAMPLE]


def fitting(dimensions: int, version: str, sample: Callable[[], Vectors]) -> Vectors:
    """Return the matrix (dimensions, 384) that vectors are fitted by: rows or columns are orthonormal.

    Args:
        version: Of the model, by which the matrix is kept in the user's cache.
        sample: Returns vectors of words, asked where there are too many dimensions.

    Raises:
        ValueError: There are more than `MOST_DIMENSIONS`, or the words' vectors have none that is longest.
    """
    if dimensions <= DIMENSIONS:
        drawn = np.random.default_rng(DIMENSIONS).standard_normal((DIMENSIONS, DIMENSIONS))
        turned: Vectors = np.linalg.qr(drawn)[0][:dimensions].astype(np.float32)
        return turned
    if dimensions > MOST_DIMENSIONS:
        raise ValueError(f"it has {dimensions} dimensions: {MOST_DIMENSIONS} are the most")
    kept = own_cache(f"{version.replace('/', '-')}.f4")
    if kept.is_file() and kept.stat().st_size == 4 * dimensions * DIMENSIONS:
        return np.fromfile(kept, "<f4").reshape(dimensions, DIMENSIONS)
    found = _directions(sample())
    with suppress(OSError):  # it is found again then
        kept.parent.mkdir(parents=True, exist_ok=True)
        replace(kept, found.astype("<f4").tobytes(), 0o600, durable=False)
    return found


def _directions(sample: Vectors) -> Vectors:
    """Return the 384 directions in which vectors (n, dimensions) are longest, turned, as columns."""
    lengths = np.sqrt(np.einsum("ij,ij->i", sample, sample))
    own = sample / np.maximum(lengths, 1e-12)[:, None]
    return _turned(np.linalg.eigh(own.T @ own)[1][:, -DIMENSIONS:])


def _turned(kept: NDArray[Any]) -> Vectors:
    """Return those directions in the same space that are nearest to drawn ones, whichever span it."""
    drawn = np.random.default_rng(DIMENSIONS).standard_normal((len(kept), DIMENSIONS))
    left, _, right = np.linalg.svd(kept.T @ drawn)
    turned: Vectors = (kept @ (left @ right)).astype(np.float32)
    return turned
