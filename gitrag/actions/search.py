"""Search the files as they are now."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from gitrag.errors import BusyError, StoreError, UsageError
from gitrag.indexing.known import Refreshed, Start, known, start_of
from gitrag.indexing.notices import stale_line
from gitrag.indexing.refresh import refresh
from gitrag.indexing.snapshot import REVISION, Snapshot, look_at
from gitrag.store.candidates import NO_FILTERS, Filters
from gitrag.store.connection import StoreMissingError
from gitrag.store.views import ViewOverlay
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gitrag.embedding.encoder import Encoder
    from gitrag.search.engine import Hit
    from gitrag.search.sections import AnswerSection, Sections, Wanted
    from gitrag.store.connection import Connection
    from gitrag.store.file_state import FileState

T = TypeVar("T")

INLINE_TEXTS = 24
"""Up to so many texts (an edited file's; a third of a second) are embedded before a search answers."""

_ATTEMPTS = 5
"""Attempts to catch up and answer; one is enough unless other processes remove the index at that time."""


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

_Ask: TypeAlias = "Callable[[Connection, int, ViewOverlay], Sections]"


@dataclass(frozen=True, slots=True)
class _StoreLag:
    """How far the store is behind what git reports, and how many texts have no vector."""

    refreshed: Refreshed
    unembedded: int

    @property
    def state(self) -> tuple[int, ViewOverlay]:
        """The view, and the uncommitted changes on top of it."""
        return self.refreshed.view.view_id, self.refreshed.overlay


class _Meanwhile(Generic[T]):
    """Work done in a thread while the caller waits for something else."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._outcome: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=[work], daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[], T]) -> None:
        try:
            self._outcome.append(work())
        except BaseException as error:  # noqa: BLE001 - raised where the result is asked for
            self._error = error

    def wait(self) -> None:
        """Wait until it is done."""
        self._thread.join()

    def result(self) -> T:
        """Wait for the result, or raise what the work raised."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._outcome[0]


def search(workspace: Workspace, query: str, options: SearchOptions = _EVERYTHING) -> Answer:
    """Search the files as they are now.

    Raises:
        UsageError: The query has no words.
        NotSetUpError: There is no index, or it has none of the collections asked for.
    """
    from gitrag.embedding.draft import has_table
    from gitrag.search import sections
    from gitrag.search.engine import Scoped
    from gitrag.search.question import read

    wanted = options.wanted or sections.Wanted()

    question = read(query)
    if not question.words:
        raise UsageError(
            f"There is no word to search for in {query[:60]!r}.",
            'Ask in words, for example: gitrag search "where are retries implemented"',
        )
    workspace.require_index()
    looking = _Meanwhile(lambda: _look(workspace, options, with_issues=wanted.issues))
    encoder, vector = _question_vector(workspace, question.text)

    def ask(db: Connection, view_id: int, overlay: ViewOverlay) -> Sections:
        return sections.ask(
            db,
            question,
            Scoped(view_id, overlay, options.filters),
            vector,
            wanted,
            limit=workspace.config.limit if options.limit is None else options.limit,
            min_score=workspace.config.min_score if options.min_score is None else options.min_score,
            every_chunk=options.every_chunk,
            memo=workspace.store.memo,
        )

    found: Sections | None = None
    standing: _StoreLag | None = None
    moved: float | None = None
    start: Start | None = None
    now: Snapshot | None = None
    slot = workspace.repo.worktree if options.revision is None else REVISION
    with suppress(StoreMissingError):
        guess = _guess(workspace, ask, slot)
        looking.wait()  # with the index closed, so that no writer has to wait for git
        with workspace.store.read() as db:
            standing = _standing(workspace, db, looking.result(), encoder)
            if standing is not None:
                workspace.last_state = standing.state
                known_already = guess is not None and guess[:2] == (workspace.store.state, standing.state)
                found = guess[2] if guess and known_already else ask(db, *standing.state)
            else:
                start = start_of(db, looking.result(), workspace.store.state)
                moved = workspace.moved_at(db) if options.revision is None else None
    if standing is None or found is None:
        now, standing, found = _ask_caught_up(
            workspace,
            ask,
            looking.result(),
            lambda: _look(workspace, options, with_issues=wanted.issues),
            encoder,
            moved,
            start,
        )
    refreshed, drafts = standing.refreshed, standing.unembedded
    if drafts and encoder is not None and (refined := _refine(workspace, found, encoder)):
        drafts -= refined
        found = _ask_standing(workspace, ask, now or looking.result(), standing) or found
    # A running worker embeds the drafts of all views, but may not know of the files still to be indexed.
    if refreshed.waiting or (drafts and encoder is not None and workspace.worker() is None):
        workspace.start_worker()
    if not found.collections:
        raise workspace.no_collections(workspace.collections())
    return Answer(
        query=question.text,
        sections=found.sections,
        commit=refreshed.head.commit,
        dirty=refreshed.dirty,
        drafts=drafts,
        waiting=refreshed.waiting,
        model=encoder is not None,
        drafted=has_table(),
    )


def _look(workspace: Workspace, options: SearchOptions, *, with_issues: bool) -> Snapshot:
    """Ask git for the files to search."""
    if options.revision is not None:
        return look_at(workspace.repo, workspace.options, options.revision)
    return workspace.snapshot(committed_only=options.committed_only, with_issues=with_issues)


def _ask_caught_up(
    workspace: Workspace,
    ask: _Ask,
    now: Snapshot,
    look_again: Callable[[], Snapshot],
    encoder: Encoder | None,
    moved: float | None,
    start: Start | None,
) -> tuple[Snapshot, _StoreLag, Sections]:
    """Catch up and search; repeat when another process has moved the view or removed the index in between.

    Git is asked again then, too: the other process may have seen a later commit, and if this one moved the
    view back to an earlier one, it would only be moved again.
    """
    with suppress(StoreMissingError):
        standing, found = _catch_up(workspace, now, encoder, moved, start, ask)
        found = found or _ask_standing(workspace, ask, now, standing)
        if found is not None:
            return now, standing, found
    for _ in range(_ATTEMPTS):
        now = look_again()
        with suppress(StoreMissingError):
            return now, *_ask_alone(workspace, ask, now)
    raise BusyError("Other processes removed the index again and again meanwhile.", "Try again.")


def _ask_standing(workspace: Workspace, ask: _Ask, now: Snapshot, standing: _StoreLag) -> Sections | None:
    """Search if the view is still where it was; return None when another process has moved it."""
    with suppress(StoreMissingError), workspace.store.read() as db:
        return _ask_if(db, ask, now, standing)
    return None


def _ask_if(db: Connection, ask: _Ask, now: Snapshot, standing: _StoreLag) -> Sections | None:
    refreshed = known(db, now)
    if refreshed is not None and (refreshed.view.view_id, refreshed.overlay) == standing.state:
        return ask(db, *standing.state)
    return None


def _ask_alone(workspace: Workspace, ask: _Ask, now: Snapshot) -> tuple[_StoreLag, Sections]:
    """Catch up and search while holding the lock, so that no other process can move the view in between."""
    from gitrag.store import vectors

    found: list[tuple[_StoreLag, Sections]] = []

    def answer(db: Connection, refreshed: Refreshed) -> None:
        own, view_id = refreshed.overlay.entries, refreshed.view.view_id
        standing = _StoreLag(refreshed, vectors.count_pending(db, own, view_id))
        found.append((standing, ask(db, *standing.state)))

    refresh(workspace.store, now, budget_s=workspace.config.catch_up_s, at_once=answer)
    return found[0]


def _guess(
    workspace: Workspace, ask: _Ask, slot: str
) -> tuple[FileState | None, tuple[int, ViewOverlay], Sections] | None:
    """Search the view git will most likely report, while `git status` still runs.

    Returns:
        The index file's state, the view searched with the changes on top of it, and the hits.
    """
    with workspace.store.read() as db:
        likely = _likely_state(workspace, db, slot)
        return None if likely is None else (workspace.store.state, likely, ask(db, *likely))


def _likely_state(workspace: Workspace, db: Connection, slot: str) -> tuple[int, ViewOverlay] | None:
    """Guess the view that git will report, with the changes on top of it: the last ones seen, else none."""
    from gitrag.store import views

    view = workspace.store.memo.get(("view", slot), lambda: views.current(db, slot))
    if view is None:
        return None
    last = workspace.last_state
    return last if last is not None and last[0] == view.view_id else (view.view_id, ViewOverlay())


def _question_vector(workspace: Workspace, text: str) -> tuple[Encoder | None, NDArray[np.float32] | None]:
    """Embed a query with the model, else draft its vector; None when neither is possible."""
    from gitrag.embedding.draft import drafter, has_table

    encoder = workspace.encoder_if_ready()
    if encoder is not None:
        return encoder, encoder.encode_query(text)
    return None, drafter().draft([text])[0] if has_table() else None


def _refine(workspace: Workspace, found: Sections, encoder: Encoder) -> int:
    """Replace draft vectors of the chunks shown by the model's, within the time budget; return how many."""
    from gitrag.indexing.embed_texts import embed_within
    from gitrag.store import vectors

    with workspace.store.read() as db:
        texts = vectors.drafts_among(db, found.chunk_ids)
    try:
        return embed_within(workspace.store, encoder, texts, workspace.config.refine_s)
    except (StoreError, BusyError) as error:  # the store cannot be written: the drafts are used
        workspace.say(str(error))
        return 0


def _standing(
    workspace: Workspace, db: Connection, now: Snapshot, encoder: Encoder | None
) -> _StoreLag | None:
    """Return how far the store is behind what git reports; None when it can be brought up to date now."""
    from gitrag.store import vectors

    def ask() -> tuple[Refreshed | None, int]:
        refreshed = known(db, now)
        if refreshed is None:
            return None, 0
        return refreshed, vectors.count_pending(db, refreshed.overlay.entries, refreshed.view.view_id)

    refreshed, unembedded = workspace.store.memo.get(("standing", now.key), ask)
    if refreshed is None or refreshed.waiting:
        return None
    if encoder is not None and 0 < unembedded <= INLINE_TEXTS:
        return None
    return _StoreLag(refreshed, unembedded)


def _catch_up(
    workspace: Workspace,
    now: Snapshot,
    encoder: Encoder | None,
    moved: float | None,
    start: Start | None,
    ask: _Ask,
) -> tuple[_StoreLag, Sections | None]:
    """Index what has changed since ``moved``, within the time budget, and embed it if there are few texts.

    Returns:
        How far the store is behind afterwards, and the hits if it could be searched on the way.
    """
    from gitrag.indexing.embed_texts import embed_pending
    from gitrag.store import vectors

    refreshed = refresh(workspace.store, now, budget_s=workspace.config.catch_up_s, start=start)
    if refreshed.recorded and moved is not None:
        line = stale_line(workspace.since(moved), workspace.config.staleness_threshold)
        if line:
            workspace.say(line)
    own, view_id = refreshed.overlay.entries, refreshed.view.view_id
    with workspace.store.read() as db:
        unembedded = vectors.count_pending(db, own, view_id)
        if encoder is None or not 0 < unembedded <= INLINE_TEXTS:
            standing = _StoreLag(refreshed, unembedded)
            return standing, _ask_if(db, ask, now, standing)
    try:
        unembedded -= embed_pending(workspace.store, encoder, entries=own, view_id=view_id, limit=unembedded)
    except (StoreError, BusyError) as error:  # the store cannot be written: search it as it is
        workspace.say(str(error))
    return _StoreLag(refreshed, unembedded), None
