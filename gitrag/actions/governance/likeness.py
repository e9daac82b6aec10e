"""The chunks most similar to a text, in the files as they are now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gitrag.actions.current_view import CurrentView
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import ModelError
from gitrag.late import np
from gitrag.search.bearing import DocumentPart, Documents
from gitrag.search.engine import Scoped
from gitrag.search.similar_chunks import SimilarChunk, similar_chunks
from gitrag.store.candidates import NO_FILTERS, Filters
from gitrag.store.views import ViewOverlay
from gitrag.words.numbers import count
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from gitrag.store.connection import Connection

_LOOKED_AT = 3
"""Multiple of the limit: drafts among so many candidates get the model's vectors before ranking."""

_MARGIN = 0.2
"""How far below the least cosine a draft may be and still get the model's vector: a draft's cosine with the
model's vector is 0.82 on average."""

_MOST_TEXTS = 10
"""The time for replacing drafts grows with the number of texts up to this one."""


_KINDS = (CollectionKind.ADRS, CollectionKind.SPECS, CollectionKind.ISSUES)

_TITLES = 20
"""Titles, the nearest by draft, that get the model's vector."""


def like(
    workspace: Workspace, texts: Sequence[str], *, filters: Filters, limit: int, at_least: float
) -> list[list[SimilarChunk]]:
    """Find what is most similar to each of some texts, by cosine alone.

    Args:
        texts: As they are embedded (``chunk_text`` for code).

    Raises:
        NotSetUpError: There is no index.
    """
    return _compare(workspace, texts, filters, limit, at_least).near


def covering(workspace: Workspace, text: str, *, limit: int, at_least: float) -> list[SimilarChunk]:
    """Find what covers a text: chunks, and documents by their title or as a whole.

    Returns:
        Best first. A document found as a whole is its first chunk, named by the document's heading.
    """
    compared = _compare(workspace, [text], NO_FILTERS, limit, at_least, with_documents=True)
    best = {(each.path, each.chunk_id): each for each in compared.near[0]}
    for each in _documents_like(workspace, text, compared.documents, at_least):
        known = best.get((each.path, each.chunk_id))
        if known is None or known.cosine < each.cosine:
            best[each.path, each.chunk_id] = each
    order = sorted(best.values(), key=lambda each: (-round(each.cosine, 6), each.path, each.chunk.line_start))
    return order[:limit]


class _Compared(Struct, frozen=True):
    """Chunks like each text, best first, and every document of the same view if asked for."""

    near: list[list[SimilarChunk]]
    documents: Documents | None


def _compare(
    workspace: Workspace,
    texts: Sequence[str],
    filters: Filters,
    limit: int,
    at_least: float,
    *,
    with_documents: bool = False,
) -> _Compared:
    from gitrag.embedding.draft import drafter
    from gitrag.search.document_parts import read_with_parts

    workspace.require_index()
    if not texts:
        return _Compared([], None)
    view = CurrentView(workspace)
    try:
        encoder = workspace.encoder
    except ModelError:
        encoder = None
    own = drafter(workspace.model).draft(list(texts)) if encoder is None else encoder.encode(list(texts))

    def ask(db: Connection, view_id: int, overlay: ViewOverlay) -> _Compared:
        scoped = Scoped(view_id, overlay, filters)
        near = similar_chunks(db, scoped, own, limit=limit * _LOOKED_AT, at_least=at_least - _MARGIN)
        return _Compared(near, read_with_parts(db, view_id, overlay, _KINDS) if with_documents else None)

    result = view.read(ask)
    candidates = [each.chunk_id for found in result.found.near for each in found]
    budget_s = workspace.config.refine_s * min(len(texts), _MOST_TEXTS)
    result = view.refine(ask, result, candidates, encoder, budget_s)
    near = [[each for each in found if each.cosine >= at_least][:limit] for found in result.found.near]
    if result.unembedded and not all(near):  # a draft too far away to be replaced may be wrong
        drafts = count(result.unembedded, "text")
        workspace.say(f"{drafts} compared by draft vectors: `gitrag index embed` computes the model's.")
    return _Compared(near, result.found.documents)


def _documents_like(
    workspace: Workspace, text: str, documents: Documents | None, at_least: float
) -> list[SimilarChunk]:
    """Find the decisions, specifications and issues whose title, or whose text as a whole, is like a text.

    Each has the higher of the two cosines.
    """
    from gitrag.embedding.draft import drafter

    if documents is None or not documents.documents:
        return []
    titles = [document.title for document in documents.documents]
    encoder = workspace.encoder_if_ready()
    own = drafter(workspace.model).draft([text, *titles])
    cosines = own[1:] @ own[0]
    if encoder is not None:
        places = np.argsort(-cosines, kind="stable")[:_TITLES]
        own = encoder.encode([text, *(titles[place] for place in places)])
        cosines = np.full(len(titles), -1.0, dtype=np.float32)
        cosines[places] = own[1:] @ own[0]
    first: dict[int, DocumentPart] = {}
    for part in documents.parts:
        known = first.get(part.document)
        if known is None or part.chunk.line_start < known.chunk.line_start:
            first[part.document] = part
    whole = documents.as_wholes()
    if whole is not None:
        cosines = np.maximum(cosines, whole @ own[0])
    return [
        SimilarChunk(
            documents.documents[number].path,
            replace(part.chunk, qualified_name=part.chunk.qualified_name.partition(" > ")[0]),
            float(cosines[number]),
            part.chunk_id,
        )
        for number, part in first.items()
        if cosines[number] >= at_least
    ]
