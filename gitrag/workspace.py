"""Put a repository, its configuration, its store and its model together: snapshot, update, embed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.config.keys import Config
from gitrag.config.loading import settings_of
from gitrag.corpus.layout import Places, slug
from gitrag.embedding import local_model
from gitrag.embedding.manifest import is_there
from gitrag.embedding.version import encoder_version
from gitrag.errors import BusyError, ModelError, NotSetUpError, RepositoryError, StoreError
from gitrag.git import DirtyPath, Repository, Untracked
from gitrag.git.discovery import SHARED_KEY, shared_mode
from gitrag.indexing import coverage, older_commits
from gitrag.indexing.history import is_read, read_few, read_history
from gitrag.indexing.known import Refreshed
from gitrag.indexing.notices import stale_line
from gitrag.indexing.recipe import recipe
from gitrag.indexing.refresh import refresh
from gitrag.indexing.snapshot import Options, Snapshot, look, look_at
from gitrag.indexing.worker import in_turn, processors
from gitrag.machine.environment import safe_environment
from gitrag.machine.files import PRIVATE
from gitrag.machine.refusals import require_memory
from gitrag.store.connection import Store, StoreMissingError
from gitrag.store.memo import Memo
from gitrag.store.views import ViewOverlay

if TYPE_CHECKING:
    from gitrag.embedding.encoder import Encoder
    from gitrag.git.commits import Tips
    from gitrag.store.connection import Connection
    from gitrag.store.inspection import ViewCounts


class LastSeen:
    """Remembers, for each worktree and for revisions, the view last read and the changes on top of it."""

    def __init__(self) -> None:
        self._states: dict[str, tuple[int, ViewOverlay]] = {}

    def remember(self, slot: str, view_id: int, overlay: ViewOverlay) -> None:
        """Remember a view and the changes on top of it.

        Args:
            slot: Whose view it is: a worktree's id, or ``REVISION``.
        """
        self._states[slot] = view_id, overlay

    def changes_on(self, slot: str, view_id: int) -> ViewOverlay:
        """Return the changes last seen on top of a view; none if that view was not the last one."""
        last_view, overlay = self._states.get(slot, (None, ViewOverlay()))
        return overlay if last_view == view_id else ViewOverlay()


class Indexed(Struct, frozen=True):
    """What an update did.

    Attributes:
        refreshed: The view after the update.
        counts: How many files, chunks and texts the view holds.
        unembedded: How many texts of all views and of the uncommitted changes have no vector.
        seconds: How long it took.
        notes: What the command says on stderr, a line each.
    """

    refreshed: Refreshed
    counts: ViewCounts
    unembedded: int
    seconds: float
    first: bool = False
    notes: tuple[str, ...] = ()

    @property
    def files(self) -> int:
        """Files indexed."""
        return self.counts.files

    @property
    def chunks(self) -> int:
        """Their chunks."""
        return self.counts.chunks

    @property
    def new_files(self) -> int:
        """How many were read now; the others were known by their content."""
        return self.refreshed.cut

    @property
    def dirty(self) -> int:
        """Paths with uncommitted changes, indexed too."""
        return self.refreshed.dirty


class Workspace:
    """gitrag at work on one worktree of one repository.

    Args:
        resident: Keep the index and the list of untracked files in memory while they do not change: for a
            process that answers many queries.

    Attributes:
        model: The user's own that its vectors are of: a directory or an address; empty for ours.
        older: The index of older commits, which only `gitrag history` asks.
        last_seen: The states of the files that questions were last answered from.
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
        store_directory: Path | None = None,
    ) -> None:
        self.repo = repo
        self.config = config
        self.model = config.model or ""
        self.say = say
        self.environ = safe_environment(environ)
        self._clock = clock
        self._in_background = False
        self.last_seen = LastSeen()
        self._seen: tuple[tuple[bool, bool], float, Snapshot] | None = None
        self._untracked: Untracked[DirtyPath] | None = Untracked(repo) if resident else None
        own = repo.own_store_directory  # its index is read until there is something to write
        seed = own if store_directory is None and repo.store_directory != own else None

        def file_mode() -> int:  # whom a repository is shared with is not for the user's cache
            return PRIVATE if seed is not None else shared_mode(repo.config(SHARED_KEY))

        older = older_commits.RECIPE + (f", {encoder_version(self.model)}" if self.model else "")
        self.store = Store(
            store_directory or repo.store_directory,
            seed=seed,
            recipe=recipe(self.model),
            model=self.model,
            lock_timeout_s=config.lock_timeout_s,
            say=say,
            resident=resident,
            file_mode=file_mode,
        )
        self.older = Store(
            self.store.directory / older_commits.OLDER,
            seed=seed and seed / older_commits.OLDER,
            recipe=older,
            model=self.model,
            lock_timeout_s=config.lock_timeout_s,
            say=say,
            file_mode=file_mode,
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
        store_directory: Path | None = None,
    ) -> Workspace:
        """Open the repository that a path lies in.

        Raises:
            RepositoryError: There is no repository, or it cannot be read.
        """
        require_memory()
        repo = Repository.discover(start, environ)
        return cls(
            repo,
            settings_of(repo, environ, flags),
            environ,
            say,
            resident=resident,
            clock=clock,
            store_directory=store_directory,
        )

    @cached_property
    def name(self) -> str:
        """The repository's slug: its directory's name in lower case, with ``-`` for all but ``[a-z0-9-]``."""
        return slug(self.repo.default_directory_name)

    @property
    def place(self) -> Path:
        """The worktree's top; of a bare repository, its directory."""
        return self.repo.root or self.repo.git_dir

    @property
    def model_dir(self) -> Path:
        """The directory of the model, whether or not it has been fetched."""
        return local_model.model_directory(self.config.model_dir)

    @cached_property
    def encoder(self) -> Encoder:
        """The model, loaded.

        Raises:
            ModelError: It is not there, or damaged.
        """
        from gitrag.embedding.brought import load_encoder

        return load_encoder(self.model_dir, self.model, threads=self._threads)

    def encoder_if_ready(self, question: str = "") -> Encoder | None:
        """Load the model if it is there, and embed a question; tell the user if it is damaged."""
        try:
            encoder = self.encoder
            if question:  # whose vector it keeps
                encoder.encode_query(question)
        except ModelError as error:
            self.forget_model()  # a server that does not answer may come back
            if self.model or is_there(self.model_dir):
                self.say(f"{error} {error.hint}".strip())
            return None
        return encoder

    def model_is_there(self, *, thorough: bool = False) -> bool:
        return local_model.status(self.model_dir, self.model, thorough=thorough).ready

    @cached_property
    def embedder(self) -> Encoder:
        """The model for long jobs: on a GPU if there is one that computes right and is faster."""
        from gitrag.embedding.brought import load_encoder
        from gitrag.embedding.encoder import has_gpu

        if self.model or not has_gpu():
            return self.encoder
        return load_encoder(self.model_dir, threads=self._threads, gpu=True)

    def forget_model(self) -> None:
        """Give back the memory that the model takes; it is loaded again when it is needed."""
        for name in ("embedder", "encoder"):
            self.__dict__.pop(name, None)

    def embeds_on_gpu(self) -> bool:
        """Return whether a GPU would embed; False without the model, since that cannot be tried then."""
        from gitrag.embedding.encoder import has_gpu

        return not self.model and has_gpu() and self.model_is_there() and self.embedder.on_gpu

    @property
    def _threads(self) -> int | None:
        return self.config.threads or (processors() if self._in_background else None)

    @property
    def options(self) -> Options:
        """Which files to leave out of the index, and how many processes may work on it."""
        return Options(
            self.config.max_file_bytes,
            self.config.exclude,
            Places(self.config.adrs, self.config.specs, self.config.modules),
            processes=(self._threads if self._in_background else None) or os.cpu_count() or 1,
            model=self.model,
        )

    def move_to_background(self) -> None:
        """Leave processors free for other work from now on, unless others wait for the index."""
        self._in_background = True
        self.store.while_locked(in_turn)
        self.older.while_locked(in_turn)

    def snapshot(
        self, *, committed_only: bool = False, with_issues: bool = True, seen_s: float = 0.0
    ) -> Snapshot:
        """Ask git for the worktree's commit and uncommitted changes.

        Args:
            with_issues: Look for issues in directories that git ignores.
            seen_s: For how many seconds git's last answer holds.
        """
        asked = committed_only, with_issues
        if seen_s and self._seen is not None and self._seen[0] == asked:
            _, since, snapshot = self._seen
            if time.monotonic() - since <= seen_s:
                return snapshot
        begin = time.monotonic()
        found = look(
            self.repo,
            self.options,
            committed_only=committed_only,
            untracked=self._untracked,
            with_issues=with_issues,
        )
        self._seen = asked, begin, found
        return found

    def look_anew(self) -> None:
        """Have the next snapshot ask git, however short ago that was done."""
        self._seen = None

    def update(
        self,
        *,
        budget_s: float | None = None,
        advance: Callable[[int, int], None] = lambda _done, _total: None,
        register: bool = True,
    ) -> Indexed:
        """Bring the text index up to date with HEAD and the uncommitted changes.

        Args:
            register: Whether a first index is to be asked by searches of all repositories.
        """
        from gitrag.store import inspection, vectors

        begin = time.monotonic()
        first = not self.store.exists()
        now = self.snapshot()
        refreshed = refresh(self.store, now, budget_s=budget_s, advance=advance)
        if first and register:
            self.register()
        with self.store.read() as db:
            memo = Memo(lasting=True)
            counts = inspection.count_view(db, refreshed.view, memo)
            unembedded = vectors.count_pending(db, refreshed.overlay.entries, memo=memo)
            history_is_read = is_read(db, self.repo, refreshed.head.commit)
        if not history_is_read:
            read_few(self.store, self.repo, refreshed.head.commit, self.older)
        self._note_coverage(counts)
        return Indexed(refreshed, counts, unembedded, time.monotonic() - begin, first)

    def register(self) -> None:
        """Have searches of all repositories ask this one too, if its index is in it."""
        from gitrag.memory import registry

        if self.store.directory == self.repo.store_directory:
            registry.remember(self.repo, self.say)

    def since(self, moment: float) -> timedelta:
        """Return how long ago a time in Unix seconds was."""
        return timedelta(seconds=max(0.0, self._clock() - moment))

    def stale_note(self, age: timedelta | None, refreshed: Refreshed) -> str | None:
        """Return the line about an index older than the threshold, which counts as fresh from now on."""
        from gitrag.store import views

        line = None if age is None else stale_line(age, self.config.staleness_threshold)
        if line and not refreshed.recorded:  # nothing has changed, so nothing was written
            noting = self.store.write("noting that the index is fresh", make=False, patience_s=0.0)
            with suppress(StoreError, BusyError), noting as db:
                views.touch(db, refreshed.view)
        return line

    def read_history(self, tips: Tips | str, stop: Callable[[], bool] = lambda: False) -> bool:
        """Read what the newest commits say; see `gitrag.indexing.history.read_history`."""
        return read_history(self.store, self.repo, tips, stop=stop, older=self.older)

    def moved_at(self, db: Connection) -> float | None:
        """Return when the worktree's view was last brought up to date, in Unix seconds."""
        from gitrag.store import views

        return views.updated_at(db, self.repo.worktree)

    def update_revision(self, revision: str, *, budget_s: float | None = None) -> None:
        """Index and embed the text of any revision; the model must be there for the vectors."""
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
        """Embed all texts without a vector, in the foreground; the model must be there."""
        from gitrag.indexing.embed_texts import embed_pending, record_rate

        begin = noted = time.monotonic()
        embedded = 0
        self.note_coverage()

        def told(done: int) -> None:
            nonlocal embedded, noted
            embedded += done
            now = time.monotonic()
            record_rate(self.store.directory, embedded, now - begin)
            if now - noted > coverage.EVERY_S:
                self.note_coverage()
                noted = now
            advance(done)

        done = embed_pending(
            self.store,
            self.embedder,
            entries=entries,
            view_id=view_id,
            oldest_first=oldest_first,
            advance=told,
            stop=stop,
        )
        self.note_coverage()
        return done

    def note_coverage(self) -> None:
        """Record how much of the worktree's view is refined now; while others write, leave it."""
        from gitrag.store import inspection, views

        with suppress(StoreError, BusyError), self.store.read(patience_s=0.0) as db:
            view = views.current(db, self.repo.worktree)
            if view is not None:
                self._note_coverage(inspection.count_view(db, view))

    def _note_coverage(self, counts: ViewCounts) -> None:
        now = coverage.Coverage(self._clock(), counts.chunks, counts.texts, counts.embedded)
        coverage.note(self.store.directory, self.repo.worktree, now)

    def uncommitted_entries(self) -> tuple[tuple[int, int], ...]:
        """Return path and content ids of the uncommitted changes and issues that are indexed here."""
        from gitrag.indexing.known import recorded
        from gitrag.store import views

        now = self.snapshot()
        with suppress(StoreMissingError), self.store.read() as db:
            view = views.current(db, self.repo.worktree)
            if view is not None:
                return tuple(recorded(db, now, view).entries)
        return ()

    def count_unembedded(self, entries: Sequence[tuple[int, int]] = ()) -> int:
        """Count the texts without a vector, of all views and of the uncommitted changes on top of one."""
        from gitrag.store import vectors

        try:
            with self.store.read() as db:
                return vectors.count_pending(db, entries)
        except StoreMissingError:
            return 0

    def require_repository(self) -> None:
        """Raise when the repository has been deleted: a long-running process may outlive it."""
        for place in (self.repo.root, self.repo.git_dir):
            if place is not None and not place.is_dir():
                raise RepositoryError(
                    f"The repository is gone: there is no directory {place} any more.",
                    "Start gitrag again in one that is there.",
                )

    def issues_home(self) -> str:
        """Return what the addresses of the repository's issues end with, by its remote: ``owner/name``."""
        from gitrag.words.commit_message import home_of

        return home_of(self.repo.config("remote.origin").get("remote.origin.url", ""))

    def require_index(self) -> None:
        """Raise when nothing has been indexed here."""
        self.require_repository()
        if not self.store.exists():
            raise self.no_collections()

    def no_collections(self) -> NotSetUpError:
        """Return the error for a repository without an index."""
        return NotSetUpError(
            f"No gitrag collections found for {self.name}. Run `gitrag index` first.",
            "`gitrag init` runs it, and keeps the index up to date.",
        )

    def age(self) -> timedelta | None:
        """Return how long ago the worktree's index was brought up to date.

        None if it never was, or if its time is in the future because the clock was changed.
        """
        with suppress(StoreMissingError), self.store.read() as db:
            moved = self.moved_at(db)
            return None if moved is None or moved > self._clock() else self.since(moved)
        return None
