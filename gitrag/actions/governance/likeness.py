"""The chunks most similar to a text or to a definition, in the files as they are now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from gitrag.actions.current_view import CurrentView
from gitrag.actions.touched import Touched
from gitrag.corpus.layout import DOCUMENTS
from gitrag.embedding.text import chunk_text
from gitrag.errors import ModelError
from gitrag.late import np
from gitrag.model import DEFINITIONS, Kind
from gitrag.search.bearing import DocumentPart, Documents
from gitrag.search.engine import Scoped
from gitrag.search.similar_chunks import SimilarChunk, similar_chunks
from gitrag.store.scopes import NO_FILTERS, Filters
from gitrag.store.views import ViewOverlay
from gitrag.words.numbers import count
from gitrag.words.path_traits import Trait, traits
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

_TITLES = 20
"""Titles, the nearest by draft, that get the model's vector."""

HELPERS = 5
"""Existing definitions shown for each added one. Of 20 added definitions that were later merged with an
existing one, 19 have it among these, 18 with the default threshold (`scripts/bench/related.py`)."""

TWIN = 0.8
"""Least cosine of what is nearly like a changed definition: a mend of one is often one of its twin too."""

NAMED_ALIKE = 0.65
"""Least cosine of one with the same name in another class."""

MOST_COMPARED = 40
"""Added definitions, and changed ones, that are compared: a change with more is an import of foreign code."""

_MAKERS = frozenset({"__construct", "__init__", "constructor", "init", "initialize", "main", "new"})
"""Names that every class or program has."""

_MIN_WORDS = 8
"""Shorter definitions are all alike, and not compared."""

_NEAREST_CHUNKS = 40
"""Nearest chunks to look at: the added ones themselves and tests are among them, and skipped."""


def like(
    workspace: Workspace, texts: Sequence[str], *, filters: Filters, limit: int, at_least: float
) -> list[list[SimilarChunk]]:
    """Find what is most similar to each of some texts, by cosine alone.

    Args:
        texts: As they are embedded (``chunk_text`` for code).
    """
    return _compare(workspace, texts, filters, limit, at_least)[0]


def covering(workspace: Workspace, text: str, *, limit: int, at_least: float) -> list[SimilarChunk]:
    """Find what covers a text: chunks, and documents by their title or as a whole.

    Returns:
        Best first. A document found as a whole is its first chunk, named by the document's heading.
    """
    (near,), documents = _compare(workspace, [text], NO_FILTERS, limit, at_least, with_documents=True)
    best = {(each.path, each.chunk_id): each for each in near}
    for each in _documents_like(workspace, text, documents, at_least):
        known = best.get((each.path, each.chunk_id))
        if known is None or known.cosine < each.cosine:
            best[each.path, each.chunk_id] = each
    order = sorted(best.values(), key=lambda each: (-round(each.cosine, 6), each.path, each.chunk.line_start))
    return order[:limit]


_Compared: TypeAlias = "tuple[list[list[SimilarChunk]], Documents | None]"
"""Chunks like each text, best first, and every document of the same view if asked for."""


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
    from gitrag.search.similar_chunks import read_with_parts

    workspace.require_index()
    if not texts:
        return [], None
    view = CurrentView(workspace)
    try:
        encoder = workspace.encoder
    except ModelError:
        encoder = None
    own = drafter(workspace.model).draft(list(texts)) if encoder is None else encoder.encode(list(texts))

    def ask(db: Connection, view_id: int, overlay: ViewOverlay) -> _Compared:
        scoped = Scoped(view_id, overlay, filters)
        near = similar_chunks(db, scoped, own, limit=limit * _LOOKED_AT, at_least=at_least - _MARGIN)
        return near, read_with_parts(db, view_id, overlay, DOCUMENTS) if with_documents else None

    result = view.read(ask)
    candidates = [each.chunk_id for found in result.found[0] for each in found]
    budget_s = workspace.config.refine_s * min(len(texts), _MOST_TEXTS)
    result = view.refine(ask, result, candidates, encoder, budget_s)
    every, documents = result.found
    near = [[each for each in found if each.cosine >= at_least][:limit] for found in every]
    if result.unembedded and not all(near):  # a draft too far away to be replaced may be wrong
        drafts = count(result.unembedded, "text")
        workspace.say(f"{drafts} compared by draft vectors: `gitrag index embed` computes the model's.")
    return near, documents


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


def is_compared(each: Touched) -> bool:
    """Tell whether a definition of a change is compared with what exists: tests and short ones are not."""
    return len(each.text.split()) >= _MIN_WORDS and not traits(each.path) & Trait.TEST


def alike(
    workspace: Workspace, touched: Sequence[Touched], new: Sequence[Touched], threshold: float
) -> Iterator[Touched]:
    """Yield those that are like existing ones, of what a change adds and of the functions that it changes.

    Args:
        touched: All that it adds, changes and removes.
        new: What it adds, as far as that is compared.
    """
    kept = [each for each in touched if each.how != "removed"]
    changed = [
        each
        for each in kept
        if each.how == "changed"
        and is_compared(each)
        and each.chunk.kind is not Kind.CLASS
        and each.chunk.name not in _MAKERS
    ][:MOST_COMPARED]
    yield from with_like(workspace, new[:MOST_COMPARED], threshold)
    if changed:
        yield from with_like(workspace, changed, max(threshold, TWIN), NAMED_ALIKE, kept)


def with_like(
    workspace: Workspace,
    definitions: Sequence[Touched],
    threshold: float,
    named_alike: float = 1.0,
    own: Iterable[Touched] = (),
) -> Iterator[Touched]:
    """Yield definitions of a change that are like existing ones, with these.

    Args:
        named_alike: Least cosine of those with its own name, where that is lower.
        own: Others that are not told either.
    """
    mine = {(each.path, each.name) for each in (*definitions, *own)}
    found = like(
        workspace,
        [chunk_text(each.chunk) for each in definitions],
        filters=Filters(kinds=DEFINITIONS),
        limit=_NEAREST_CHUNKS,
        at_least=min(threshold, named_alike),
    )
    for each, near in zip(definitions, found, strict=True):
        others: dict[tuple[str, str], SimilarChunk] = {}  # several chunks of one may be near
        for other in near:
            if (
                (other.path, other.name) not in mine
                and (other.chunk.kind is Kind.CLASS) == (each.chunk.kind is Kind.CLASS)
                and not traits(other.path) & Trait.TEST
                and other.cosine >= (named_alike if other.chunk.name == each.chunk.name else threshold)
            ):
                others.setdefault((other.path, other.name), other)
        if others:
            yield replace(each, existing=tuple(others.values())[:HELPERS])
