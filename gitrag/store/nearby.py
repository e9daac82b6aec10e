"""The chunks of a scope that are nearest to a question by vector, each weighed with its path's words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from gitrag.late import np
from gitrag.model import DIMENSIONS
from gitrag.store import vectors
from gitrag.store.columns import distinct
from gitrag.store.memo import Memo
from gitrag.store.scopes import SearchScope

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

_T = TypeVar("_T")

SURPLUS = 16
"""How many times the requested number of chunks the sign bits preselect, for their vectors to decide.

Chosen while differing signs alone preselected: in 107,503 chunks the first ten files, unlikely ones too,
equalled those of the exact comparison for 96 of 100 questions; with 32 for 100, with 8 for 86, with 4 for 61
(`scripts/bench/scale.py`).
"""

PATH_WEIGHT = 0.5
"""A question is compared with normalise(chunk + 0.5 · path): one result per file, NDCG@10 0.836 with vectors
alone, against 0.722 without the path and 0.803 with the path's words in the embedded text."""

_AT_A_TIME = 1 << 16
"""Rows of a scope whose signs are compared at a time."""

_LENGTHS = 3
"""From so many questions of the same vectors on all lengths are kept: one asks before and after refining."""


class Near(Struct, frozen=True):
    """The chunks nearest to a question by vector, best first.

    Attributes:
        chunk_id: int32.
        file: int32, number of the file in the scope.
        cosine: float32, of the question with normalise(chunk + 0.5 · path).
    """

    chunk_id: NDArray[np.int32]
    file: NDArray[np.int32]
    cosine: NDArray[np.float32]


def nearest(
    db: DuckDBPyConnection,
    scope: SearchScope,
    question: NDArray[np.float32],
    limit: int,
    memo: Memo | None = None,
) -> Near:
    """Find the scope's chunks nearest to a question by vector.

    Where there are many, the sign bits of all vectors preselect chunks, whose vectors then decide. If the
    signs of two vectors differ in h of n components, the angle is about πh/n (Charikar, 2002).

    Args:
        question: float32 (384,), L2-normalised.
    """
    memo = memo or Memo()
    if np.count_nonzero(scope.text_id) > SURPLUS * limit:
        rows = _likeliest(db, scope, question, SURPLUS * limit, memo)
    else:
        rows = np.flatnonzero(scope.text_id)
    path_text = scope.path_text[scope.file[rows]]
    known = vectors.read(db, distinct(np.concatenate([scope.text_id[rows], path_text])), memo)
    there, place = known.find(scope.text_id[rows])
    rows, place, path_text = rows[there], place[there], path_text[there]
    with_path, path_place = known.find(path_text)
    paths, own = np.unique(path_place, return_inverse=True)
    weight = np.where(with_path, np.float32(PATH_WEIGHT), np.float32(0))
    near, apart = known.compare_both(question, place, path_place)
    near += weight * known.compare_with(question, paths)[own]
    cosine = near / np.sqrt(1 + weight * (weight + 2 * apart))
    chunk_id, file = scope.chunk_id[rows], scope.file[rows]
    order = np.lexsort((chunk_id, file, -cosine))[:limit]
    return Near(chunk_id[order], file[order], cosine[order].astype(np.float32))


def similarities(
    db: DuckDBPyConnection,
    scope: SearchScope,
    chunk_ids: NDArray[np.int32],
    questions: NDArray[np.float32],
    memo: Memo | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    """Compare some chunks with several questions.

    Args:
        questions: float32 (m, 384), each L2-normalised.

    Returns:
        Of each place (n) of these chunks that has a vector: the chunk, the number of the file, and its
        cosines float32 (n, m) as in ``nearest``.
    """
    rows = np.flatnonzero(np.isin(scope.chunk_id, chunk_ids) & (scope.text_id != 0))
    path_text = scope.path_text[scope.file[rows]]
    known = vectors.read(db, distinct(np.concatenate([scope.text_id[rows], path_text])), memo or Memo())
    there, place = known.find(scope.text_id[rows])
    rows, place, path_text = rows[there], place[there], path_text[there]
    with_path, path_place = known.find(path_text)
    weight = np.where(with_path, np.float32(PATH_WEIGHT), np.float32(0))
    both = known.small[place].astype(np.float32) * known.scale[place][:, None]
    paths, own = np.unique(path_place, return_inverse=True)
    both += weight[:, None] * (known.small[paths].astype(np.float32) * known.scale[paths][:, None])[own]
    both /= np.maximum(np.linalg.norm(both, axis=1, keepdims=True), 1e-9)
    return scope.chunk_id[rows], scope.file[rows], (both @ questions.T).astype(np.float32)


def _likeliest(
    db: DuckDBPyConnection,
    scope: SearchScope,
    question: NDArray[np.float32],
    many: int,
    memo: Memo,
) -> NDArray[np.intp]:
    """Preselect rows of a scope by the signs of their texts' vectors: ``many``, and those like the last.

    The first pass counts the signs that differ from the question's; the second, of those that are left, sums
    the question's components by them, which comes nearer to the cosine.
    """
    text_ids, signs = vectors.read_signs(db, memo)
    of_text, of_path = _of_index(scope, "places", text_ids, lambda: _look_up(scope, text_ids))
    if not len(text_ids):
        return np.flatnonzero(scope.text_id)
    table = vectors.sign_sums(question)
    with_path = of_path < len(text_ids)
    last = len(text_ids) - 1
    by_path = vectors.estimated(signs[:, np.minimum(of_path, last)], table) * np.float32(PATH_WEIGHT)
    by_path[~with_path] = 0
    rows = np.arange(len(of_text))
    about = np.append(_cosines(), np.array([-1, -np.inf], np.float32))  # no vector, no text
    wide = round(math.sqrt(len(rows) * many))
    if len(rows) > wide:
        differing = vectors.differing(signs, vectors.signs(question.reshape(1, -1))[0])
        differing = np.append(differing, np.array([DIMENSIONS + 1, DIMENSIONS + 2], np.uint16))
        # All these indices are valid; where NumPy has to see to that, it copies them first.
        near = np.take(about, np.take(differing, of_text, mode="clip"), mode="clip")
        near += np.take(np.maximum(by_path, 0), scope.file, mode="clip")
        rows = _best(near, wide)
    text, file = of_text[rows], scope.file[rows]

    def lengths(rows: NDArray[np.intp]) -> NDArray[np.float32]:
        return _lengths(signs, of_text[rows], of_path[scope.file[rows]])

    near = (
        vectors.estimated(np.take(signs, np.minimum(text, last), axis=1, mode="clip"), table) + by_path[file]
    )
    if scope.memo.count(("lengths", id(signs))) < _LENGTHS:
        near /= lengths(rows)
    else:
        near /= _of_index(scope, "lengths", signs, lambda: lengths(np.arange(len(of_text))))[rows]
    without = np.flatnonzero(text > last)
    near[without] = about[DIMENSIONS + 1 :][text[without] - len(text_ids)]
    return rows[_best(near, many)]


def _cosines() -> NDArray[np.float32]:
    """Return the cosines of two vectors by how many of their signs differ, about."""
    angles: NDArray[np.float32] = np.pi / DIMENSIONS * np.arange(DIMENSIONS + 1, dtype=np.float32)
    return np.cos(angles)


def _lengths(
    signs: NDArray[np.uint64], of_text: NDArray[np.int32], of_path: NDArray[np.int32]
) -> NDArray[np.float32]:
    """Estimate the length of chunk + 0.5 · path by the signs of both, whose places among them are given."""
    about, last = _cosines(), signs.shape[1] - 1
    weight = np.where(of_path <= last, np.float32(PATH_WEIGHT), np.float32(0))
    found = np.empty(len(of_text), np.float32)
    for start in range(0, len(found), _AT_A_TIME):
        block = slice(start, start + _AT_A_TIME)
        own, path = (signs[:, np.minimum(each[block], last)] for each in (of_text, of_path))
        apart = about[vectors.count_differing(own, path)]
        found[block] = np.sqrt(1 + weight[block] * (weight[block] + 2 * apart))
    return found


def _best(values: NDArray[np.float32], many: int) -> NDArray[np.intp]:
    """Return the indices of the highest values, ascending: so many, and those like the lowest of them."""
    if many >= len(values):
        return np.arange(len(values))
    return np.flatnonzero(values >= np.partition(values, len(values) - many)[len(values) - many])


def _of_index(scope: SearchScope, key: str, column: NDArray[Any], make: Callable[[], _T]) -> _T:
    """Return what a scope keeps of an index with this column, made anew where the index has changed since."""
    of, kept = scope.memo.get(key, lambda: (column, make()))
    if of is not column:
        scope.memo.forget(key)
        of, kept = scope.memo.get(key, lambda: (column, make()))
    return kept if of is column else make()


def _look_up(scope: SearchScope, text_ids: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return where the texts of a scope's chunks and of its files' paths are among some texts.

    The number of texts stands for one that is not among them, and one more for no text.
    """
    last = max(int(column.max(initial=0)) for column in (text_ids, scope.text_id, scope.path_text))
    place = np.full(1 + last, len(text_ids), dtype=np.int32)
    place[text_ids] = np.arange(len(text_ids), dtype=np.int32)
    place[0] = len(text_ids) + 1
    return place[scope.text_id], place[scope.path_text]
