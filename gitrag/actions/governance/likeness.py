"""The chunks most similar to a text, in the files as they are now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitrag.actions.current_view import CurrentView
from gitrag.errors import ModelError
from gitrag.search.engine import Scoped
from gitrag.search.similar_chunks import SimilarChunk, similar_chunks
from gitrag.store.candidates import Filters
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


def like(
    workspace: Workspace, texts: Sequence[str], *, filters: Filters, limit: int, at_least: float
) -> list[list[SimilarChunk]]:
    """Find what is most similar to each of some texts, by cosine alone.

    Args:
        workspace: gitrag on the repository.
        texts: As they are embedded (``chunk_text`` for code).
        filters: What to search.
        limit: At most so many for each text.
        at_least: Minimum cosine.

    Raises:
        NotSetUpError: There is no index.
    """
    from gitrag.embedding.draft import drafter

    workspace.require_index()
    if not texts:
        return []
    view = CurrentView(workspace)
    try:
        encoder = workspace.encoder
    except ModelError:
        encoder = None
    own = drafter().draft(list(texts)) if encoder is None else encoder.encode(list(texts))

    def ask(db: Connection, view_id: int, overlay: ViewOverlay) -> list[list[SimilarChunk]]:
        scoped = Scoped(view_id, overlay, filters)
        return similar_chunks(db, scoped, own, limit=limit * _LOOKED_AT, at_least=at_least - _MARGIN)

    result = view.read(ask)
    near = [each.chunk_id for found in result.found for each in found]
    budget_s = workspace.config.refine_s * min(len(texts), _MOST_TEXTS)
    result = view.refine(ask, result, near, encoder, budget_s)
    kept = [[each for each in found if each.cosine >= at_least][:limit] for found in result.found]
    if result.unembedded and not all(kept):  # a draft too far away to be replaced may be wrong
        drafts = count(result.unembedded, "text")
        workspace.say(f"{drafts} compared by draft vectors: `gitrag index embed` computes the model's.")
    return kept
