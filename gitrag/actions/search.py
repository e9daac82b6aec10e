"""Search the files as they are now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitrag.actions import catch_up
from gitrag.actions.current_view import CurrentView
from gitrag.actions.status import collection_names
from gitrag.errors import UsageError
from gitrag.indexing.worker import running
from gitrag.store.candidates import NO_FILTERS, Filters
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gitrag.actions.current_view import Read
    from gitrag.embedding.encoder import Encoder
    from gitrag.search.engine import Hit
    from gitrag.search.question import Question
    from gitrag.search.sections import AnswerSection, Sections, Wanted


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What a search is limited to, and how much it returns; ``limit`` applies to each section.

    With a revision, that revision is searched, whatever the worktree has checked out.
    """

    filters: Filters = NO_FILTERS
    wanted: Wanted | None = None
    limit: int | None = None
    min_score: float | None = None
    every_chunk: bool = False
    committed_only: bool = False
    revision: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, and the state of the files that they were found in.

    Attributes:
        query: The query as given.
        sections: The hits of each kind of collection, in the order the kinds were asked for.
        commit: HEAD's commit, or the revision's; None before the first commit, and for a tree.
        dirty: Paths with uncommitted changes that the answer includes.
        drafts: How many texts of the view have a draft vector instead of the model's.
        waiting: How many files' contents there was no time to index.
        model: Whether the model embedded the query; else a draft of its vector was used.
        drafted: Whether draft vectors exist; if not, texts without a vector are found by words alone.
    """

    query: str
    sections: tuple[AnswerSection, ...]
    commit: str | None
    dirty: int
    drafts: int
    waiting: int
    model: bool
    drafted: bool = True

    @property
    def hits(self) -> tuple[Hit, ...]:
        """All hits, best first; those of equal score in the order of the sections."""
        every = (hit for section in self.sections for hit in section.hits)
        return tuple(sorted(every, key=lambda hit: -hit.score))


_EVERYTHING = SearchOptions()


def search(workspace: Workspace, query: str, options: SearchOptions = _EVERYTHING) -> Answer:
    """Search the files as they are now.

    Raises:
        UsageError: The query has no words.
        NotSetUpError: There is no index, or it has none of the collections asked for.
    """
    from gitrag.embedding.draft import has_table
    from gitrag.search.sections import Wanted

    question, wanted = _read_question(query), options.wanted or Wanted()
    workspace.require_index()
    view = CurrentView(
        workspace,
        revision=options.revision,
        committed_only=options.committed_only,
        with_issues=wanted.issues,
    )
    encoder, vector = _question_vector(workspace, question.text)
    ask = _asking(workspace, question, vector, wanted, options)
    result = view.read(ask, encoder)
    result = view.refine(ask, result, result.found.chunk_ids, encoder, workspace.config.refine_s)
    refreshed, drafts = result.refreshed, result.unembedded
    # A running worker embeds the drafts of all views, but may not know of the files still to be indexed.
    if refreshed.waiting or (drafts and encoder is not None and running(workspace.store.directory) is None):
        catch_up.start_worker(workspace)
    if not result.found.collections:
        raise workspace.no_collections(collection_names(workspace))
    return Answer(
        query=question.text,
        sections=result.found.sections,
        commit=refreshed.head.commit,
        dirty=refreshed.dirty,
        drafts=drafts,
        waiting=refreshed.waiting,
        model=encoder is not None,
        drafted=has_table(),
    )


def _read_question(query: str) -> Question:
    """Read a query.

    Raises:
        UsageError: It has no words.
    """
    from gitrag.search.question import read

    question = read(query)
    if not question.words:
        raise UsageError(
            f"There is no word to search for in {query[:60]!r}.",
            'Ask in words, for example: gitrag search "where are retries implemented"',
        )
    return question


def _question_vector(workspace: Workspace, text: str) -> tuple[Encoder | None, NDArray[np.float32] | None]:
    """Embed a query with the model, else draft its vector; None when neither is possible."""
    from gitrag.embedding.draft import drafter, has_table

    encoder = workspace.encoder_if_ready()
    if encoder is not None:
        return encoder, encoder.encode_query(text)
    return None, drafter().draft([text])[0] if has_table() else None


def _asking(
    workspace: Workspace,
    question: Question,
    vector: NDArray[np.float32] | None,
    wanted: Wanted,
    options: SearchOptions,
) -> Read[Sections]:
    """Return what asks a view the question."""
    from gitrag.search import sections
    from gitrag.search.engine import Scoped

    config, store = workspace.config, workspace.store
    return lambda db, view_id, overlay: sections.ask(
        db,
        question,
        Scoped(view_id, overlay, options.filters),
        vector,
        wanted,
        limit=config.limit if options.limit is None else options.limit,
        min_score=config.min_score if options.min_score is None else options.min_score,
        every_chunk=options.every_chunk,
        memo=store.memo,
    )
