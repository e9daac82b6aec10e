"""Find chunks similar to a text by their vectors alone.

The cosine compares the texts only, without the path that a search mixes in: of copies edited later 99.5 %
have 0.7 or more, of two definitions of one repository 0.7 % (`scripts/bench/duplicates.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.late import np
from gitrag.model import Chunk, ChunkOfFile
from gitrag.search.collecting import allowed_paths
from gitrag.search.engine import Scoped
from gitrag.store import candidates, content, vectors
from gitrag.store.memo import Memo
from gitrag.store.source import IndexFile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.store.connection import Connection

_BLOCK = 4096


class SimilarChunk(ChunkOfFile, Struct, frozen=True):
    """A chunk that is similar to a text.

    Attributes:
        path: Its file.
        cosine: Between the two texts, in [-1, 1].
    """

    path: str
    chunk: Chunk
    cosine: float
    chunk_id: int


def similar_chunks(
    db: Connection, scoped: Scoped, texts: NDArray[np.float32], *, limit: int, at_least: float
) -> list[list[SimilarChunk]]:
    """Find the chunks most similar to each of some texts.

    Args:
        texts: Their vectors, float32 (n, 384), L2-normalised.
        at_least: Minimum cosine.

    Returns:
        For each text its chunks, best first; those of equal cosine by path and line.
    """
    allowed = allowed_paths(IndexFile(db), scoped.filters, Memo())
    scope = candidates.open_scope(db, scoped.view_id, scoped.overlay, scoped.filters, path_ids=allowed)
    rows = np.flatnonzero(scope.text_id)
    known = vectors.read(db, np.unique(scope.text_id[rows]), Memo())
    there, place = known.find(scope.text_id[rows])
    rows, place = rows[there], place[there]
    cosines = np.empty((len(texts), len(rows)), dtype=np.float32)
    for start in range(0, len(rows), _BLOCK):
        part = place[start : start + _BLOCK]
        own = known.small[part].astype(np.float32)
        cosines[:, start : start + _BLOCK] = texts @ own.T * known.scale[part]
    chosen = []
    for row in cosines:
        best = np.argsort(-row, kind="stable")[:limit]
        chosen.append([(int(rows[at]), float(row[at])) for at in best if row[at] >= at_least])
    chunks = content.read_chunks(db, {int(scope.chunk_id[at]) for own in chosen for at, _ in own})
    path_ids = {at: int(scope.files.path_id[scope.file[at]]) for own in chosen for at, _ in own}
    paths = candidates.read_paths(db, sorted(set(path_ids.values())))
    found = [
        [
            SimilarChunk(
                paths[path_ids[at]], chunks[int(scope.chunk_id[at])], cosine, int(scope.chunk_id[at])
            )
            for at, cosine in own
        ]
        for own in chosen
    ]
    return [
        sorted(each, key=lambda one: (-round(one.cosine, 6), one.path, one.chunk.line_start))
        for each in found
    ]
