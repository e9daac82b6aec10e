"""Questions answered about the files as they are now."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from gitrag.errors import BusyError, StoreError, UsageError
from gitrag.indexing.notices import stale_line
from gitrag.indexing.refresh import Refreshed, Start, known, refresh, start_of
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
"""Texts that a search embeds before it answers: an edited file's, a third of a second."""

_ATTEMPTS = 5
"""To catch up and answer; one is enough unless others remove the index meanwhile."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What a search is limited to, and how much it gives; a limit is of each section.

    With a revision, it is that which is asked, whatever the worktrees stand on.
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
    """Hits, and what they are about.

    Attributes:
        query: The question as asked.
        sections: What each kind of collection answers, in the order they were asked for.
        commit: HEAD's commit, or the revision's; None before the first, and of a bare tree.
        dirty: Paths with uncommitted changes that the answer includes.
        drafts: Texts of the view that have a draft vector, not yet the model's own.
        waiting: Contents that there was no time to index.
        model: Whether the model was there to read the question; else it was compared by its draft.
        drafted: Whether there are draft vectors; else what has none of the model's is found by words alone.
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
        """All hits, best first; of equal ones, those of the earlier section."""
        every = (hit for section in self.sections for hit in section.hits)
        return tuple(sorted(every, key=lambda hit: -hit.score))


_EVERYTHING = SearchOptions()

_Ask: TypeAlias = "Callable[[Connection, int, ViewOverlay], Sections]"


@dataclass(frozen=True, slots=True)
class _StoreLag:
    """How the store stands to what git says, and how many texts have no vector."""

    refreshed: Refreshed
    unembedded: int

    @property
    def state(self) -> tuple[int, ViewOverlay]:
        """The view and what lies on top of it."""
        return self.refreshed.view.view_id, self.refreshed.overlay


class _Meanwhile(Generic[T]):
    """Work that is done in a thread while something else is waited for."""

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
    """Answer a question about the files as they are now.

    Raises:
        UsageError: The question has no words.
        NotSetUpError: There is no index, or none of the collections asked for.
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
        looking.wait()  # without the index: nobody who writes has to wait for git
        with workspace.store.read() as db:
            standing = _standing(workspace, db, looking.result(), encoder)
            if standing is not None:
                workspace.last_state = standing.state
                known_already = guess is not None and guess[:2] == (workspace.store.state, standing.state)
                found = guess[2] if guess and known_already else ask(db, *standing.state)
            else:
                start = start_of(db, looking.result())
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
    # One that runs embeds the drafts of all views; of what waits it may not know.
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
    """Ask git for what is to be searched."""
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
    """Catch up and ask; again where another process has moved the view, or removed the index, since.

    git is asked again then, too: the other one may have seen a later commit, and to move the view back to
    an earlier one would only have it moved again.
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
    """Ask if the index still stands as it did: None when another process has moved the view."""
    with suppress(StoreMissingError), workspace.store.read() as db:
        return _ask_if(db, ask, now, standing)
    return None


def _ask_if(db: Connection, ask: _Ask, now: Snapshot, standing: _StoreLag) -> Sections | None:
    refreshed = known(db, now)
    if refreshed is not None and (refreshed.view.view_id, refreshed.overlay) == standing.state:
        return ask(db, *standing.state)
    return None


def _ask_alone(workspace: Workspace, ask: _Ask, now: Snapshot) -> tuple[_StoreLag, Sections]:
    """Catch up and ask before anybody else can move the view: others wait meanwhile."""
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
    """Ask, while git looks, of what it will most likely find; give what was asked of which index, too."""
    with workspace.store.read() as db:
        likely = _likely_state(workspace, db, slot)
        return None if likely is None else (workspace.store.state, likely, ask(db, *likely))


def _likely_state(workspace: Workspace, db: Connection, slot: str) -> tuple[int, ViewOverlay] | None:
    """Guess the view, and what lies on top of it, that git will name: the last one, else a clean one."""
    from gitrag.store import views

    view = workspace.store.memo.get(("view", slot), lambda: views.current(db, slot))
    if view is None:
        return None
    last = workspace.last_state
    return last if last is not None and last[0] == view.view_id else (view.view_id, ViewOverlay())


def _question_vector(workspace: Workspace, text: str) -> tuple[Encoder | None, NDArray[np.float32] | None]:
    """Embed a question with the model, or draft its vector where there is none; None without either."""
    from gitrag.embedding.draft import drafter, has_table

    encoder = workspace.encoder_if_ready()
    if encoder is not None:
        return encoder, encoder.encode_query(text)
    return None, drafter().draft([text])[0] if has_table() else None


def _refine(workspace: Workspace, found: Sections, encoder: Encoder) -> int:
    """Give the shown chunks that have drafts their vectors, within the budget; count them."""
    from gitrag.indexing.embed_texts import embed_within
    from gitrag.store import vectors

    with workspace.store.read() as db:
        texts = vectors.drafts_among(db, found.chunk_ids)
    try:
        return embed_within(workspace.store, encoder, texts, workspace.config.refine_s)
    except (StoreError, BusyError) as error:  # nothing can be written: drafts still answer
        workspace.say(str(error))
        return 0


def _standing(
    workspace: Workspace, db: Connection, now: Snapshot, encoder: Encoder | None
) -> _StoreLag | None:
    """Say how the store stands to what git says; None when something can be done about it at once."""
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
    """Index what has changed since ``moved``, within the budget, and embed it if it is little.

    Returns:
        How the store then stands, and what it answers if it could be asked in passing.
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
    except (StoreError, BusyError) as error:  # nothing can be written: words still answer
        workspace.say(str(error))
    return _StoreLag(refreshed, unembedded), None
