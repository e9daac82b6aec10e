"""The chunks most similar to a text, in the files as they are now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from gitrag.errors import BusyError, ModelError, StoreError
from gitrag.indexing.notices import stale_line
from gitrag.indexing.reading import read_view
from gitrag.indexing.refresh import refresh
from gitrag.search.engine import Scoped
from gitrag.search.similar_chunks import SimilarChunk, similar_chunks
from gitrag.store.candidates import Filters
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from gitrag.store.connection import Connection

T = TypeVar("T")

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
    from gitrag.indexing.embed_texts import embed_within
    from gitrag.store import vectors

    workspace.require_index()
    _bring_up_to_date(workspace)
    if not texts:
        return []

    def ask(read: Callable[[Connection, Scoped], T]) -> T:
        return read_view(
            workspace.store,
            workspace.snapshot,
            lambda db, _now, seen: read(db, Scoped(seen.view.view_id, seen.overlay, filters)),
            budget_s=workspace.config.catch_up_s,
        )

    try:
        encoder = workspace.encoder
    except ModelError:
        encoder = None
    own = drafter().draft(list(texts)) if encoder is None else encoder.encode(list(texts))
    if encoder is not None:
        pending = ask(
            lambda db, scoped: vectors.drafts_among(
                db,
                [
                    each.chunk_id
                    for found in similar_chunks(
                        db, scoped, own, limit=limit * _LOOKED_AT, at_least=at_least - _MARGIN
                    )
                    for each in found
                ],
            )
        )
        try:
            embed_within(
                workspace.store, encoder, pending, workspace.config.refine_s * min(len(texts), _MOST_TEXTS)
            )
        except (StoreError, BusyError) as error:  # the store cannot be written: the drafts are used
            workspace.say(str(error))
    return ask(lambda db, scoped: similar_chunks(db, scoped, own, limit=limit, at_least=at_least))


def _bring_up_to_date(workspace: Workspace) -> None:
    """Index what has changed, within the time budget; report when the index was older than the threshold."""
    age = workspace.age()
    refreshed = refresh(workspace.store, workspace.snapshot(), budget_s=workspace.config.catch_up_s)
    if refreshed.recorded and age is not None:
        line = stale_line(age, workspace.config.staleness_threshold)
        if line:
            workspace.say(line)
