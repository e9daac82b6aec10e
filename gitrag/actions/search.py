"""Search the files as they are now."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gitrag.actions import catch_up
from gitrag.actions.current_view import CurrentView
from gitrag.actions.status import collection_names
from gitrag.errors import UsageError
from gitrag.indexing.worker import running
from gitrag.search import wording
from gitrag.search.wording import NOTHING_TO_SAY, Wording
from gitrag.store.candidates import NO_FILTERS, Filters
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gitrag.actions.current_view import Read
    from gitrag.embedding.encoder import Encoder
    from gitrag.search.engine import Hit, Scoped
    from gitrag.search.question import Question
    from gitrag.search.sections import AnswerSection, Sections, Wanted
    from gitrag.store.connection import Connection
    from gitrag.store.views import ViewOverlay


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What a search is limited to, and how much it returns; ``limit`` applies to each section.

    With a revision, that revision is searched, whatever the worktree has checked out. Relative paths in a
    question start in ``directory``, itself relative to the worktree's top; empty for the top. A text that no
    user asked is taken ``as_it_is``: it names nothing, and no word of it is corrected or called missing.
    """

    filters: Filters = NO_FILTERS
    wanted: Wanted | None = None
    limit: int | None = None
    min_score: float | None = None
    every_chunk: bool = False
    committed_only: bool = False
    revision: str | None = None
    directory: str = ""
    as_it_is: bool = False


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
        wording: What is to be said of the question's words, where no hit is likely.
    """

    query: str
    sections: tuple[AnswerSection, ...]
    commit: str | None
    dirty: int
    drafts: int
    waiting: int
    model: bool
    drafted: bool = True
    wording: Wording = NOTHING_TO_SAY

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
    ask = _asking(workspace, question, vector, wanted, options, encoder)
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
        wording=result.found.wording,
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
    encoder = workspace.encoder_if_ready()
    return encoder, _vector(encoder, text)


def _vector(encoder: Encoder | None, text: str) -> NDArray[np.float32] | None:
    from gitrag.embedding.draft import drafter, has_table

    if encoder is not None:
        return encoder.encode_query(text)
    return drafter().draft([text])[0] if has_table() else None


def _asking(
    workspace: Workspace,
    question: Question,
    vector: NDArray[np.float32] | None,
    wanted: Wanted,
    options: SearchOptions,
    encoder: Encoder | None,
) -> Read[Sections]:
    """Return what asks a view the question, and asks again where it has to be read otherwise."""
    from gitrag.search import rewording, sections
    from gitrag.search.engine import Scoped

    config, store = workspace.config, workspace.store
    vectors = {question.text: vector}  # the view may be read several times
    min_score = config.min_score if options.min_score is None else options.min_score

    def ask(db: Connection, scoped: Scoped, asked: Question) -> Sections:
        if asked.text not in vectors:
            vectors[asked.text] = _vector(encoder, asked.text)
        return sections.ask(
            db,
            asked,
            scoped,
            vectors[asked.text],
            wanted,
            limit=config.limit if options.limit is None else options.limit,
            min_score=min_score,
            every_chunk=options.every_chunk,
            memo=store.memo,
        )

    def ask_well(db: Connection, view_id: int, overlay: ViewOverlay) -> Sections:
        directory = None if options.as_it_is else options.directory
        scoped = Scoped(view_id, overlay, options.filters, directory)
        found = ask(db, scoped, question)
        if options.as_it_is:
            return found
        other = rewording.reword(db, question, found.occurrences, _is_known, store.memo)
        if other is None:
            return found
        if other.corrected:
            again = ask(db, scoped, _read_question(other.text))
            return replace(again, wording=replace(again.wording, searched_for=other.text))
        if other.text != question.text:
            asked = replace(_read_question(other.text), is_name=False)
            found = sections.lowered(ask(db, scoped, asked), min_score)
        return replace(found, wording=wording.of_foreign(other.text if other.text != question.text else ""))

    return ask_well


def _is_known(word: str) -> bool:
    """Tell whether a word is in the vocabulary of the model."""
    from gitrag.embedding.draft import drafter

    return drafter().knows(word)
