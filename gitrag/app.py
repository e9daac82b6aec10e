"""The composition root: the only place that puts a repository, a store and an encoder together."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from gitrag.config import Config
from gitrag.corpus import issues
from gitrag.corpus.layout import CollectionKind, Places, kind_of, module_of, slug
from gitrag.embedding import weights
from gitrag.embedding.manifest import MANIFEST
from gitrag.errors import BusyError, GitragError, ModelError, NotSetUpError, StoreError, UsageError
from gitrag.git import DirtyPath, Repository, Untracked
from gitrag.indexing import worker as background
from gitrag.indexing.planning import workspace
from gitrag.indexing.refresh import Refreshed, Start, known, recorded, refresh, start_of
from gitrag.indexing.snapshot import REVISION, Options, Snapshot, look, look_at
from gitrag.recipe import RECIPE
from gitrag.settings import settings_of
from gitrag.staleness import failed_line, stale_line
from gitrag.store.candidates import NO_FILTERS, Filters
from gitrag.store.connection import Store, StoreMissingError
from gitrag.store.lock import Holder
from gitrag.store.views import Overlay

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gitrag.corpus.documents import Document
    from gitrag.embedding.encoder import Encoder
    from gitrag.search.engine import Hit
    from gitrag.search.sections import Section, Sections, Wanted
    from gitrag.store.connection import Connection
    from gitrag.store.inspection import CollectionCounts, StoreCounts, ViewCounts
    from gitrag.store.state import State

T = TypeVar("T")

INLINE_TEXTS = 24
"""Texts that a search embeds before it answers: an edited file's, a third of a second."""

_FEW_TEXTS = 256
"""Texts that the background worker embeds before it reads who calls whom: a commit's, a second or two.
A whole repository's call graph comes before its vectors: it is sooner done."""

_ATTEMPTS = 5
"""To catch up and answer; one is enough unless others remove the index meanwhile."""

_FETCH_AGAIN_S = 3600.0
"""After the background worker failed to fetch the model, it tries no sooner than this."""


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
    sections: tuple[Section, ...]
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


@dataclass(frozen=True, slots=True)
class Indexed:
    """What an update did.

    Attributes:
        refreshed: Where the view stands.
        counts: What it holds.
        seconds: How long it took.
    """

    refreshed: Refreshed
    counts: ViewCounts
    seconds: float


@dataclass(frozen=True, slots=True)
class Status:
    """What is indexed, how fresh, how much embedded, how large, who is working.

    Attributes:
        name: The repository's slug.
        commit: HEAD's commit.
        branch: HEAD's branch, None when detached.
        fresh: Whether the index has HEAD's tree.
        dirty: Paths with uncommitted changes.
        updated: When the view was last moved, Unix seconds; None without an index.
        view: What the view holds; None without an index.
        store: What the store holds in all; None without an index.
        size_bytes: The store on disk.
        worker: Who works in the background.
        model: The model's state.
        collections: What each collection holds, by kind and module.
        notes: What is odd about the workspace's manifests.
    """

    name: str
    commit: str | None
    branch: str | None
    fresh: bool
    dirty: int
    updated: float | None
    view: ViewCounts | None
    store: StoreCounts | None
    size_bytes: int
    worker: Holder | None
    model: weights.ModelStatus
    collections: tuple[CollectionCounts, ...] = ()
    notes: tuple[str, ...] = ()


_EVERYTHING = SearchOptions()

_Ask: TypeAlias = "Callable[[Connection, int, Overlay], Sections]"


@dataclass(frozen=True, slots=True)
class _Standing:
    """How the store stands to what git says, and how many texts have no vector."""

    refreshed: Refreshed
    unembedded: int

    @property
    def state(self) -> tuple[int, Overlay]:
        """The view and what lies on top of it."""
        return self.refreshed.view.view_id, self.refreshed.overlay


def _order(counts: CollectionCounts) -> tuple[str, int]:
    """Order collections by module, the repository's own first, then by kind."""
    return module_of(counts.name), list(CollectionKind).index(kind_of(counts.name))


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


class App:
    """gitrag at work on one worktree of one repository.

    Args:
        repo: The repository.
        config: Its settings.
        environ: The environment, for the processes that are started.
        say: Called with one line on what the user should know.
        resident: Keep the index in memory, and what is untracked, while they do not change: for a process
            that answers many questions.
        clock: Tells the time, Unix seconds.
    """

    def __init__(
        self,
        repo: Repository,
        config: Config,
        environ: Mapping[str, str],
        say: Callable[[str], None],
        *,
        resident: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.repo = repo
        self.config = config
        self.say = say
        self.environ = environ
        self._clock = clock
        self._in_background = False
        self._last_state: tuple[int, Overlay] | None = None
        self._untracked: Untracked[DirtyPath] | None = Untracked(repo) if resident else None
        self.store = Store(
            repo.store_directory,
            recipe=RECIPE,
            lock_timeout_s=config.lock_timeout_s,
            say=say,
            resident=resident,
        )

    @classmethod
    def open(
        cls,
        start: Path,
        *,
        environ: Mapping[str, str],
        flags: Mapping[str, object] = MappingProxyType({}),
        say: Callable[[str], None] = lambda _line: None,
        resident: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> App:
        """Open the repository that a path lies in.

        Raises:
            RepositoryError: There is none, or it cannot be read.
            ConfigError: A setting is wrong.
        """
        repo = Repository.discover(start, environ)
        return cls(repo, settings_of(repo, environ, flags), environ, say, resident=resident, clock=clock)

    @cached_property
    def name(self) -> str:
        """The repository's slug: its directory's name, lower-case, all but ``[a-z0-9-]`` as ``-``."""
        return slug(self.repo.default_directory_name)

    @property
    def model_dir(self) -> Path:
        """Where the model lies, or will."""
        return weights.model_directory(self.config.model_dir)

    @cached_property
    def encoder(self) -> Encoder:
        """The model, loaded.

        Raises:
            ModelError: It is not there, or damaged.
        """
        from gitrag.embedding.encoder import Encoder

        return Encoder.load(self.model_dir, threads=self._threads)

    @property
    def _threads(self) -> int | None:
        return self.config.threads or (background.processors() if self._in_background else None)

    @property
    def options(self) -> Options:
        """What to leave out of the index, and how many processes may work on it."""
        return Options(
            self.config.max_file_bytes,
            self.config.exclude,
            Places(self.config.adrs, self.config.specs, self.config.modules),
            processes=(self._threads if self._in_background else None) or os.cpu_count() or 1,
        )

    # what the commands do

    def snapshot(self, *, committed_only: bool = False, with_issues: bool = True) -> Snapshot:
        """Ask git where the worktree stands."""
        return look(
            self.repo,
            self.options,
            committed_only=committed_only,
            untracked=self._untracked,
            with_issues=with_issues,
        )

    def update(
        self,
        *,
        budget_s: float | None = None,
        advance: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> Indexed:
        """Bring the text index up to date with HEAD and the uncommitted changes."""
        from gitrag.store import inspection

        begin = time.monotonic()
        now = self.snapshot()
        refreshed = refresh(self.store, now, budget_s=budget_s, advance=advance)
        with self.store.read() as db:
            counts = inspection.count_view(db, refreshed.view)
        return Indexed(refreshed, counts, time.monotonic() - begin)

    def refresh_after_write(self, kind: CollectionKind) -> bool:
        """Bring the index up to date after a write to a collection; say so only when that fails.

        Returns:
            Whether it is up to date. What was written counts in any case.
        """
        try:
            refreshed = refresh(self.store, self.snapshot(), budget_s=self.config.catch_up_s)
            if refreshed.waiting:
                self.start_worker()
        except GitragError:
            self.say(failed_line(f"{self.name}-{kind.value}"))
            return False
        return True

    def search(self, query: str, options: SearchOptions = _EVERYTHING) -> Answer:
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
        self.require_index()
        looking = _Meanwhile(lambda: self._look(options, with_issues=wanted.issues))
        encoder, vector = self._question_vector(question.text)

        def ask(db: Connection, view_id: int, overlay: Overlay) -> Sections:
            return sections.ask(
                db,
                question,
                Scoped(view_id, overlay, options.filters),
                vector,
                wanted,
                limit=self.config.limit if options.limit is None else options.limit,
                min_score=self.config.min_score if options.min_score is None else options.min_score,
                every_chunk=options.every_chunk,
                memo=self.store.memo,
            )

        found: Sections | None = None
        standing: _Standing | None = None
        moved: float | None = None
        start: Start | None = None
        now: Snapshot | None = None
        slot = self.repo.worktree if options.revision is None else REVISION
        with suppress(StoreMissingError):
            guess = self._guess(ask, slot)
            looking.wait()  # without the index: nobody who writes has to wait for git
            with self.store.read() as db:
                standing = self._standing(db, looking.result(), encoder)
                if standing is not None:
                    self._last_state = standing.state
                    known_already = guess is not None and guess[:2] == (self.store.state, standing.state)
                    found = guess[2] if guess and known_already else ask(db, *standing.state)
                else:
                    start = start_of(db, looking.result())
                    moved = self._moved_at(db) if options.revision is None else None
        if standing is None or found is None:
            now, standing, found = self._ask_caught_up(
                ask,
                looking.result(),
                lambda: self._look(options, with_issues=wanted.issues),
                encoder,
                moved,
                start,
            )
        refreshed, drafts = standing.refreshed, standing.unembedded
        if drafts and encoder is not None and (refined := self._refine(found, encoder)):
            drafts -= refined
            found = self._ask_standing(ask, now or looking.result(), standing) or found
        # One that runs embeds the drafts of all views; of what waits it may not know.
        if refreshed.waiting or (drafts and encoder is not None and self.worker() is None):
            self.start_worker()
        if not found.collections:
            raise self._no_collections(self.collections())
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

    def _look(self, options: SearchOptions, *, with_issues: bool) -> Snapshot:
        """Ask git for what is to be searched."""
        if options.revision is not None:
            return look_at(self.repo, self.options, options.revision)
        return self.snapshot(committed_only=options.committed_only, with_issues=with_issues)

    def _ask_caught_up(
        self,
        ask: _Ask,
        now: Snapshot,
        look_again: Callable[[], Snapshot],
        encoder: Encoder | None,
        moved: float | None,
        start: Start | None,
    ) -> tuple[Snapshot, _Standing, Sections]:
        """Catch up and ask; again where another process has moved the view, or removed the index, since.

        git is asked again then, too: the other one may have seen a later commit, and to move the view back to
        an earlier one would only have it moved again.
        """
        with suppress(StoreMissingError):
            standing, found = self._catch_up(now, encoder, moved, start, ask)
            found = found or self._ask_standing(ask, now, standing)
            if found is not None:
                return now, standing, found
        for _ in range(_ATTEMPTS):
            now = look_again()
            with suppress(StoreMissingError):
                return now, *self._ask_alone(ask, now)
        raise BusyError("Other processes removed the index again and again meanwhile.", "Try again.")

    def _ask_standing(self, ask: _Ask, now: Snapshot, standing: _Standing) -> Sections | None:
        """Ask if the index still stands as it did: None when another process has moved the view."""
        with suppress(StoreMissingError), self.store.read() as db:
            return self._ask_if(db, ask, now, standing)
        return None

    def _ask_if(self, db: Connection, ask: _Ask, now: Snapshot, standing: _Standing) -> Sections | None:
        refreshed = known(db, now)
        if refreshed is not None and (refreshed.view.view_id, refreshed.overlay) == standing.state:
            return ask(db, *standing.state)
        return None

    def _ask_alone(self, ask: _Ask, now: Snapshot) -> tuple[_Standing, Sections]:
        """Catch up and ask before anybody else can move the view: others wait meanwhile."""
        from gitrag.store import vectors

        found: list[tuple[_Standing, Sections]] = []

        def answer(db: Connection, refreshed: Refreshed) -> None:
            own, view_id = refreshed.overlay.entries, refreshed.view.view_id
            standing = _Standing(refreshed, vectors.count_pending(db, own, view_id))
            found.append((standing, ask(db, *standing.state)))

        refresh(self.store, now, budget_s=self.config.catch_up_s, at_once=answer)
        return found[0]

    def _guess(self, ask: _Ask, slot: str) -> tuple[State | None, tuple[int, Overlay], Sections] | None:
        """Ask, while git looks, of what it will most likely find; give what was asked of which index, too."""
        with self.store.read() as db:
            likely = self._likely_state(db, slot)
            return None if likely is None else (self.store.state, likely, ask(db, *likely))

    def _likely_state(self, db: Connection, slot: str) -> tuple[int, Overlay] | None:
        """Guess the view, and what lies on top of it, that git will name: the last one, else a clean one."""
        from gitrag.store import views

        view = self.store.memo.get(("view", slot), lambda: views.current(db, slot))
        if view is None:
            return None
        last = self._last_state
        return last if last is not None and last[0] == view.view_id else (view.view_id, Overlay())

    def _question_vector(self, text: str) -> tuple[Encoder | None, NDArray[np.float32] | None]:
        """Embed a question with the model, or draft its vector where there is none; None without either."""
        from gitrag.embedding.draft import drafter, has_table

        encoder = self.encoder_if_ready()
        if encoder is not None:
            return encoder, encoder.encode_query(text)
        return None, drafter().draft([text])[0] if has_table() else None

    def _refine(self, found: Sections, encoder: Encoder) -> int:
        """Give the shown chunks that have drafts their vectors, within the budget; count them."""
        from gitrag.indexing.embedding import embed_within
        from gitrag.store import vectors

        with self.store.read() as db:
            texts = vectors.drafts_among(db, found.chunk_ids)
        try:
            return embed_within(self.store, encoder, texts, self.config.refine_s)
        except (StoreError, BusyError) as error:  # nothing can be written: drafts still answer
            self.say(str(error))
            return 0

    def _standing(self, db: Connection, now: Snapshot, encoder: Encoder | None) -> _Standing | None:
        """Say how the store stands to what git says; None when something can be done about it at once."""
        from gitrag.store import vectors

        def ask() -> tuple[Refreshed | None, int]:
            refreshed = known(db, now)
            if refreshed is None:
                return None, 0
            return refreshed, vectors.count_pending(db, refreshed.overlay.entries, refreshed.view.view_id)

        refreshed, unembedded = self.store.memo.get(("standing", now.key), ask)
        if refreshed is None or refreshed.waiting:
            return None
        if encoder is not None and 0 < unembedded <= INLINE_TEXTS:
            return None
        return _Standing(refreshed, unembedded)

    def _catch_up(
        self,
        now: Snapshot,
        encoder: Encoder | None,
        moved: float | None,
        start: Start | None,
        ask: _Ask,
    ) -> tuple[_Standing, Sections | None]:
        """Index what has changed since ``moved``, within the budget, and embed it if it is little.

        Returns:
            How the store then stands, and what it answers if it could be asked in passing.
        """
        from gitrag.indexing.embedding import embed_pending
        from gitrag.store import vectors

        refreshed = refresh(self.store, now, budget_s=self.config.catch_up_s, start=start)
        if refreshed.recorded and moved is not None:
            line = stale_line(self._since(moved), self.config.staleness_threshold)
            if line:
                self.say(line)
        own, view_id = refreshed.overlay.entries, refreshed.view.view_id
        with self.store.read() as db:
            unembedded = vectors.count_pending(db, own, view_id)
            if encoder is None or not 0 < unembedded <= INLINE_TEXTS:
                standing = _Standing(refreshed, unembedded)
                return standing, self._ask_if(db, ask, now, standing)
        try:
            unembedded -= embed_pending(self.store, encoder, entries=own, view_id=view_id, limit=unembedded)
        except (StoreError, BusyError) as error:  # nothing can be written: words still answer
            self.say(str(error))
        return _Standing(refreshed, unembedded), None

    def _since(self, moment: float) -> timedelta:
        """Tell how long ago a moment in Unix seconds was."""
        return timedelta(seconds=max(0.0, self._clock() - moment))

    def _moved_at(self, db: Connection) -> float | None:
        """Tell when the worktree's view was last brought up to date, in Unix seconds."""
        from gitrag.store import inspection, views

        view = views.current(db, self.repo.worktree)
        return None if view is None else inspection.updated_at(db, view)

    def update_revision(self, revision: str, *, budget_s: float | None = None) -> None:
        """Bring text and vectors of any revision up to date; the model must be there for the vectors."""
        refreshed = refresh(self.store, look_at(self.repo, self.options, revision), budget_s=budget_s)
        deadline = None if budget_s is None else time.monotonic() + budget_s
        self.embed(
            view_id=refreshed.view.view_id, stop=lambda: deadline is not None and time.monotonic() > deadline
        )

    def embed(
        self,
        *,
        advance: Callable[[int], None] = lambda _done: None,
        stop: Callable[[], bool] = lambda: False,
        entries: Sequence[tuple[int, int]] = (),
        view_id: int | None = None,
        oldest_first: bool = False,
    ) -> int:
        """Embed all that waits for its vector, in the foreground; the model must be there."""
        from gitrag.indexing.embedding import embed_pending, record_rate

        begin = time.monotonic()
        done = embed_pending(
            self.store,
            self.embedder,
            entries=entries,
            view_id=view_id,
            oldest_first=oldest_first,
            advance=advance,
            stop=stop,
        )
        record_rate(self.store.directory, done, time.monotonic() - begin)
        return done

    def count_unembedded(self, entries: Sequence[tuple[int, int]] = ()) -> int:
        """Count the texts, of all views and of what lies on top of one, that wait for their vector."""
        from gitrag.store import vectors

        try:
            with self.store.read() as db:
                return vectors.count_pending(db, entries)
        except StoreMissingError:
            return 0

    def status(self) -> Status:
        """Look at the index without changing it."""
        from gitrag.store import inspection, views

        now = self.snapshot()
        head = now.head
        view = counts = store = updated = None
        collections: list[CollectionCounts] = []
        with suppress(StoreMissingError), self.store.read() as db:
            view = views.current(db, self.repo.worktree)
            store = inspection.count_store(db)
            if view is not None:
                counts = inspection.count_view(db, view)
                updated = inspection.updated_at(db, view)
                collections = inspection.count_collections(db, view, recorded(db, now, view))
        return Status(
            name=self.name,
            commit=head.commit,
            branch=head.branch,
            fresh=view is not None and view.tree == head.tree and not (counts and counts.waiting),
            dirty=now.dirty,
            updated=updated,
            view=counts,
            store=store,
            size_bytes=self.store.size_bytes(),
            worker=self.worker(),
            model=weights.status(self.model_dir),
            collections=tuple(
                replace(each, updated=max(each.updated or 0.0, self._issues_changed()))
                if kind_of(each.name) is CollectionKind.ISSUES
                else each
                for each in sorted(collections, key=_order)
            ),
            notes=workspace(self.repo, self.options, head.tree).notes,
        )

    def _issues_changed(self) -> float:
        """Tell when the issues' directory was last written to, in Unix seconds; 0 where there is none."""
        try:
            return (self.repo.root or self.repo.git_dir).joinpath(issues.DIRECTORY).stat().st_mtime
        except OSError:
            return 0.0

    def model_is_there(self) -> bool:
        """Tell whether the model is there and whole."""
        return weights.status(self.model_dir).ready

    @cached_property
    def embedder(self) -> Encoder:
        """The model for long jobs: on a GPU where there is one that is right and faster.

        Raises:
            ModelError: It is not there, or damaged.
        """
        from gitrag.embedding.encoder import Encoder, has_gpu

        if not has_gpu():
            return self.encoder
        return Encoder.load(self.model_dir, threads=self._threads, gpu=True)

    def embeds_on_gpu(self) -> bool:
        """Tell whether a GPU would embed; without the model nobody knows, and the answer is no."""
        from gitrag.embedding.encoder import has_gpu

        return has_gpu() and self.model_is_there() and self.embedder.on_gpu

    def require_index(self) -> None:
        """Raise when nothing has been indexed here."""
        if not self.store.exists():
            raise self._no_collections()

    def _no_collections(self, there: Sequence[str] = ()) -> NotSetUpError:
        return NotSetUpError(
            f"No gitrag collections found for {self.name}. Run `gitrag index` first.",
            f"There are: {', '.join(there)}" if there else "",
        )

    def wanted(self, names: Sequence[str], module: str, *, with_issues: bool = False) -> Wanted:
        """Say which collections to ask.

        Args:
            names: Of collections, with the repository's slug before them or without; none means all.
            module: The only module; empty for all.
            with_issues: Whether issues are among the kinds to ask.
        """
        from gitrag.search.sections import USUAL_KINDS, Wanted

        own = [name.removeprefix(f"{self.name}-") for name in names]
        kinds = (*USUAL_KINDS, CollectionKind.ISSUES) if with_issues else USUAL_KINDS
        return Wanted(kinds, slug(module), tuple(own))

    def count_indexed(self, directory: str = "") -> tuple[int, int]:
        """Count the indexed files and their chunks: all, or those at or below a path."""
        from gitrag.store import candidates, views

        now = self.snapshot()
        with self.store.read() as db:
            view = views.current(db, self.repo.worktree)
            if view is None:
                return 0, 0
            files = candidates.open_scope(db, view.view_id, recorded(db, now, view)).files
            names = candidates.read_paths(db, files.path_id.tolist())
            counts = [
                int(chunks)
                for path_id, chunks in zip(files.path_id.tolist(), files.chunks.tolist(), strict=True)
                if not directory or names[path_id] == directory or names[path_id].startswith(f"{directory}/")
            ]
        return len(counts), sum(counts)

    def age(self) -> timedelta | None:
        """Tell how long ago the worktree's index was brought up to date; None when it never was."""
        with suppress(StoreMissingError), self.store.read() as db:
            moved = self._moved_at(db)
            return None if moved is None else self._since(moved)
        return None

    def texts_per_s(self) -> float:
        """Tell how many texts a second this machine embeds."""
        from gitrag.indexing.embedding import texts_per_s

        return texts_per_s(self.store.directory)

    def documents(self, kinds: Sequence[CollectionKind]) -> list[tuple[CollectionKind, Document, str]]:
        """Read the indexed documents of some kinds of collection, of all modules, by kind and path.

        Returns:
            Kind, document and text of each.

        Raises:
            StoreMissingError: There is no index.
        """
        from gitrag.search.sections import read_documents
        from gitrag.store import views

        now = self.snapshot()
        with self.store.read() as db:
            view = views.current(db, self.repo.worktree)
            if view is None:
                return []
            overlay = recorded(db, now, view)
            return read_documents(db, view.view_id, overlay, kinds)

    def collections(self) -> list[str]:
        """Name the collections that the index has, the repository's slug before each.

        Raises:
            StoreMissingError: There is no index.
        """
        return [f"{self.name}-{each.name}" for each in self.status().collections]

    # the background

    def worker(self) -> Holder | None:
        """Tell who works in the background, if anybody does."""
        return background.running(self.store.directory)

    def start_worker(self) -> None:
        """Start the background worker on this worktree, detached; it goes at once when one is running.

        Python is kept from putting the working directory, the user's repository, on its path (``-P``). A
        shell in between makes it nobody's child, so that a long-lived process is left with no dead one.
        """
        worker = [sys.executable, "-P", "-m", "gitrag", "-C", str(self._place), "hook", "run", "worker"]
        subprocess.run(
            ["sh", "-c", '"$@" &', "sh", *worker],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=dict(self.environ),
        )

    def run_worker(self, settled: Callable[[], None] = lambda: None) -> bool:
        """Be the background worker: bring text and vectors up to date, for all worktrees that ask meanwhile.

        Args:
            settled: Called when this process is the worker.

        Returns:
            Whether this process did the work; False when another one was at it and has been told.
        """
        self._in_background = True
        background.lower_priority()
        background.end_on_request()
        return background.Worker(self.store.directory).run(self._place, self._work, settled)

    @property
    def _place(self) -> Path:
        return self.repo.root or self.repo.git_dir

    def _work(self, place: Path, asked: Callable[[], bool]) -> None:
        from gitrag.indexing.facts import facts_of, rows_of

        app = self if place == self._place else App.open(place, environ=self.environ, say=self.say)
        app._in_background = True  # noqa: SLF001 - this class's own, as the next
        app.store.while_locked(background.in_turn)
        now = app.snapshot()
        refreshed = refresh(app.store, now)
        app._finish_revision()  # noqa: SLF001
        own = refreshed.overlay.entries
        few = app.count_unembedded(own) <= _FEW_TEXTS
        if few:
            app._embed_waiting(own, asked)  # noqa: SLF001
        with app.store.read() as db:
            rows = rows_of(db, refreshed, missing_only=True)
        facts_of(app.store, now, rows)  # no question has to wait for them then
        if not few:
            app._embed_waiting(own, asked)  # noqa: SLF001

    def _embed_waiting(self, entries: Sequence[tuple[int, int]], asked: Callable[[], bool]) -> None:
        if self.count_unembedded(entries) and not asked() and self.have_model():
            self.embed(entries=entries, stop=asked)

    def _finish_revision(self) -> None:
        """Cut what a search of a revision had no time for."""
        from gitrag.store import views

        with self.store.read() as db:
            view = views.current(db, REVISION)
        if view is not None and self.repo.has_object(view.tree):
            refresh(self.store, look_at(self.repo, self.options, view.commit or view.tree))

    def have_model(self) -> bool:
        """Have the model, fetched if need be; False when it was tried in vain a short time ago."""
        if self.model_is_there():
            return True
        failed = self._fetch_failure
        if failed.exists() and time.time() - failed.stat().st_mtime < _FETCH_AGAIN_S:
            return False
        try:
            weights.fetch(self.model_dir)
        except GitragError as error:
            failed.write_text(str(error), "utf-8", errors="backslashreplace")
            raise
        self.forget_fetch_failure()
        return True

    def fetch_failure(self) -> str:
        """Say why the model could not be fetched in the background; empty when it could, or was not tried."""
        try:
            return self._fetch_failure.read_text("utf-8")
        except (OSError, ValueError):
            return ""

    def forget_fetch_failure(self) -> None:
        """Let the background worker try again at once."""
        with suppress(OSError):
            self._fetch_failure.unlink(missing_ok=True)

    @property
    def _fetch_failure(self) -> Path:
        return self.store.directory / "model.failed"

    def encoder_if_ready(self) -> Encoder | None:
        """Load the model if it is there; say so when it is there but damaged."""
        try:
            return self.encoder
        except ModelError as error:
            if (self.model_dir / MANIFEST).exists():
                self.say(f"{error} {error.hint}".strip())
            return None
