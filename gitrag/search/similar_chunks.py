"""Find chunks, and parts of documents, similar to a text by their vectors alone.

The cosine compares the texts only, without the path that a search mixes in: of copies edited later 99.5 %
have 0.7 or more, of two definitions of one repository 0.7 % (`scripts/bench/duplicates.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.corpus.documents import Document
from gitrag.corpus.layout import READERS, CollectionKind
from gitrag.late import np
from gitrag.model import Chunk, ChunkOfFile
from gitrag.search.bearing import DocumentPart, Documents
from gitrag.search.collecting import allowed_paths
from gitrag.search.engine import Scoped
from gitrag.search.sections import Wanted, choose, with_ids_of_folders
from gitrag.store import content, scopes, vectors
from gitrag.store.memo import Memo
from gitrag.store.scopes import Filters, SearchScope
from gitrag.store.source import IndexFile
from gitrag.store.views import ViewOverlay

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
    scope = scopes.open_scope(db, scoped.view_id, scoped.overlay, scoped.filters, path_ids=allowed)
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
    paths = scopes.read_paths(db, sorted(set(path_ids.values())))
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


def read_with_parts(
    db: Connection, view_id: int, overlay: ViewOverlay, kinds: Sequence[CollectionKind]
) -> Documents:
    """Read the documents in some kinds of collection with their parts, by kind and path."""
    source = IndexFile(db)
    present = {*source.touched(view_id), *overlay.collections}
    held: list[tuple[CollectionKind, Document, str]] = []
    parts: list[DocumentPart] = []
    known: list[NDArray[np.float32]] = []
    for kind, names in choose(Wanted(tuple(kinds)), present).items():
        scope = scopes.open_scope(db, view_id, overlay, Filters(collections=names))
        path_ids, content_ids = (column.tolist() for column in (scope.files.path_id, scope.files.content_id))
        paths = scopes.read_paths(db, path_ids)
        texts = content.read_texts(db, content_ids)
        order = sorted(range(len(path_ids)), key=lambda file: paths[path_ids[file]])
        documents = [READERS[kind](paths[path_ids[file]], texts.get(content_ids[file], "")) for file in order]
        if kind is CollectionKind.SPECS:
            documents = with_ids_of_folders(source, Scoped(view_id, overlay, Filters()), documents)
        number = {file: len(held) + place for place, file in enumerate(order)}
        rows = sorted(range(len(scope.chunk_id)), key=lambda row: number[int(scope.file[row])])
        chunks = content.read_chunks(db, scope.chunk_id.tolist())
        ids = [int(scope.chunk_id[row]) for row in rows]
        owners = [number[int(scope.file[row])] for row in rows]
        parts += [DocumentPart(own, chunks[each], each) for own, each in zip(owners, ids, strict=True)]
        known.append(_vectors(db, scope)[rows])
        held += [
            (kind, document, texts.get(content_ids[file], ""))
            for file, document in zip(order, documents, strict=True)
        ]
    every = np.concatenate(known) if known else np.zeros((0, 0), dtype=np.float32)
    return Documents(
        tuple(kind for kind, _, _ in held),
        tuple(document for _, document, _ in held),
        tuple(text for _, _, text in held),
        tuple(parts),
        every if every.any() else None,
    )


def _vectors(db: Connection, scope: SearchScope) -> NDArray[np.float32]:
    """Return the vector or draft of each of a scope's chunks, float32 (n, 384); zeros where there is none."""
    known = vectors.read(db, np.unique(scope.text_id), Memo())
    there, place = known.find(scope.text_id)
    found = np.zeros((len(scope.text_id), known.small.shape[1]), dtype=np.float32)
    found[there] = known.small[place[there]].astype(np.float32) * known.scale[place[there], None]
    return found
