"""What says the same as a text, in the files as they are now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from gitrag.errors import BusyError, ModelError, StoreError
from gitrag.indexing.notices import stale_line
from gitrag.indexing.reading import read_view
from gitrag.indexing.refresh import refresh
from gitrag.search.alike import Alike, alike
from gitrag.search.engine import Scoped
from gitrag.store.candidates import Filters
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from gitrag.store.connection import Connection

T = TypeVar("T")

_LOOKED_AT = 3
"""Times the limit: drafts among so many get their own vectors before the best are chosen."""

_MARGIN = 0.2
"""How far below the least cosine a draft may be and still be given its own vector: a draft's cosine with the
true one is 0.82 in the mean."""

_MOST_TEXTS = 10
"""Texts whose drafts' budgets add up; a change that adds more waits no longer."""


def like(
    workspace: Workspace, texts: Sequence[str], *, filters: Filters, limit: int, at_least: float
) -> list[list[Alike]]:
    """Find what is most like each of some texts, by the unmixed cosine.

    Args:
        workspace: gitrag on the repository.
        texts: As they are embedded (``chunk_text`` for code).
        filters: Where to look.
        limit: How many a text at most.
        at_least: The least cosine.

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
                    for found in alike(db, scoped, own, limit=limit * _LOOKED_AT, at_least=at_least - _MARGIN)
                    for each in found
                ],
            )
        )
        try:
            embed_within(
                workspace.store, encoder, pending, workspace.config.refine_s * min(len(texts), _MOST_TEXTS)
            )
        except (StoreError, BusyError) as error:  # nothing can be written: drafts still answer
            workspace.say(str(error))
    return ask(lambda db, scoped: alike(db, scoped, own, limit=limit, at_least=at_least))


def _bring_up_to_date(workspace: Workspace) -> None:
    """Index what has changed, within the budget, and say so when the index was old (§3.7)."""
    age = workspace.age()
    refreshed = refresh(workspace.store, workspace.snapshot(), budget_s=workspace.config.catch_up_s)
    if refreshed.recorded and age is not None:
        line = stale_line(age, workspace.config.staleness_threshold)
        if line:
            workspace.say(line)
