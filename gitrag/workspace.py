"""The composition root: the only place that puts a repository, a store and an encoder together."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from gitrag.callgraph.facts import FAILURE_MARK
from gitrag.config.keys import Config
from gitrag.config.of_repository import settings_of
from gitrag.corpus import issues
from gitrag.corpus.layout import CollectionKind, Places, kind_of, module_of, slug
from gitrag.embedding import local_model
from gitrag.embedding.manifest import is_there
from gitrag.errors import GitragError, ModelError, NotSetUpError, RepositoryError
from gitrag.git import DirtyPath, Repository, Untracked, sharing
from gitrag.indexing.known import Refreshed, recorded
from gitrag.indexing.notices import failed_line
from gitrag.indexing.recipe import RECIPE
from gitrag.indexing.refresh import refresh
from gitrag.indexing.rules_and_modules import manifest_modules_of
from gitrag.indexing.snapshot import Options, Snapshot, look, look_at
from gitrag.indexing.worker import last_failure, processors, running
from gitrag.machine.environment import safe_environment
from gitrag.machine.files import write_private
from gitrag.machine.locks import Holder
from gitrag.machine.memory_limit import require_memory
from gitrag.store.connection import Store, StoreMissingError
from gitrag.store.views import ViewOverlay

if TYPE_CHECKING:
    from gitrag.corpus.documents import Document
    from gitrag.embedding.encoder import Encoder
    from gitrag.search.sections import Wanted
    from gitrag.store.connection import Connection
    from gitrag.store.inspection import CollectionCounts, StoreCounts, Unread, ViewCounts

_FETCH_AGAIN_S = 3600.0
"""Pause of the background worker after it failed to fetch the model."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """What an update did.

    Attributes:
        refreshed: The view after the update.
        counts: How many files, chunks and texts the view holds.
        seconds: How long it took.
    """

    refreshed: Refreshed
    counts: ViewCounts
    seconds: float


@dataclass(frozen=True, slots=True)
class WorkspaceStatus:
    """What is indexed, how fresh and large it is, how much is embedded, and who is working.

    Attributes:
        name: The repository's slug.
        commit: HEAD's commit.
        branch: HEAD's branch, None when detached.
        fresh: Whether the index has HEAD's tree.
        dirty: Paths with uncommitted changes.
        updated: When the view was last moved, Unix seconds; None without an index.
        view: How much the view holds; None without an index.
        store: How much the store holds in all; None without an index.
        size_bytes: Size of the store on disk.
        worker: The running background worker, if any.
        model: The model's state.
        collections: What each collection holds, by kind and module.
        notes: Problems with the workspace's manifests, and what git could not do.
        unread: Files that could not be read in full.
        failure: Why the last background worker failed; empty if it did not.
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
    model: local_model.ModelStatus
    collections: tuple[CollectionCounts, ...] = ()
    notes: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()
    failure: str = ""


def _order(counts: CollectionCounts) -> tuple[str, int]:
    """Order collections by module, the repository's own first, then by kind."""
    return module_of(counts.name), list(CollectionKind).index(kind_of(counts.name))


class Workspace:
    """gitrag at work on one worktree of one repository.

    Args:
        repo: The repository.
        config: Its settings.
        environ: The environment of the processes it starts.
        say: Called with a line that the user should see.
        resident: Keep the index and the list of untracked files in memory while they do not change: for a
            process that answers many queries.
        clock: Tells the time, Unix seconds.

    Attributes:
        in_background: Whether to leave processors free for other work.
        last_state: The last view searched, and the changes on top of it; None before the first search.
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
        self.environ = safe_environment(environ)
        self._clock = clock
        self.in_background = False
        self.last_state: tuple[int, ViewOverlay] | None = None
        self._untracked: Untracked[DirtyPath] | None = Untracked(repo) if resident else None
        self.store = Store(
            repo.store_directory,
            recipe=RECIPE,
            lock_timeout_s=config.lock_timeout_s,
            say=say,
            resident=resident,
            file_mode=lambda: sharing.file_mode(repo.config(sharing.KEY)),
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
    ) -> Workspace:
        """Open the repository that a path lies in.

        Raises:
            RepositoryError: There is no repository, or it cannot be read.
            ConfigError: A setting is wrong.
            OutOfMemoryError: There is too little memory to import the libraries.
        """
        require_memory()
        repo = Repository.discover(start, environ)
        return cls(repo, settings_of(repo, environ, flags), environ, say, resident=resident, clock=clock)

    @cached_property
    def name(self) -> str:
        """The repository's slug: its directory's name in lower case, with ``-`` for all but ``[a-z0-9-]``."""
        return slug(self.repo.default_directory_name)

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
        from gitrag.embedding.encoder import Encoder

        return Encoder.load(self.model_dir, threads=self._threads)

    @property
    def _threads(self) -> int | None:
        return self.config.threads or (processors() if self.in_background else None)

    @property
    def options(self) -> Options:
        """Which files to leave out of the index, and how many processes may work on it."""
        return Options(
            self.config.max_file_bytes,
            self.config.exclude,
            Places(self.config.adrs, self.config.specs, self.config.modules),
            processes=(self._threads if self.in_background else None) or os.cpu_count() or 1,
        )

    # what the commands do

    def snapshot(self, *, committed_only: bool = False, with_issues: bool = True) -> Snapshot:
        """Ask git for the worktree's commit and uncommitted changes."""
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
        """Bring the index up to date after a write to a collection; tell the user only when that fails.

        Returns:
            Whether it is up to date. A failure here does not undo the write.
        """
        try:
            refreshed = refresh(self.store, self.snapshot(), budget_s=self.config.catch_up_s)
            if refreshed.waiting:
                self.start_worker()
        except GitragError:
            self.say(failed_line(f"{self.name}-{kind.value}"))
            return False
        return True

    def since(self, moment: float) -> timedelta:
        """Return how long ago a time in Unix seconds was."""
        return timedelta(seconds=max(0.0, self._clock() - moment))

    def moved_at(self, db: Connection) -> float | None:
        """Return when the worktree's view was last brought up to date, in Unix seconds."""
        from gitrag.store import inspection, views

        view = views.current(db, self.repo.worktree)
        return None if view is None else inspection.updated_at(db, view)

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
        """Count the texts without a vector, of all views and of the uncommitted changes on top of one."""
        from gitrag.store import vectors

        try:
            with self.store.read() as db:
                return vectors.count_pending(db, entries)
        except StoreMissingError:
            return 0

    def status(self) -> WorkspaceStatus:
        """Return the state of the index, without changing it."""
        from gitrag.store import inspection, views

        now = self.snapshot()
        head = now.head
        view = counts = store = updated = None
        collections: list[CollectionCounts] = []
        unread: list[Unread] = []
        with suppress(StoreMissingError), self.store.read() as db:
            view = views.current(db, self.repo.worktree)
            store = inspection.count_store(db)
            if view is not None:
                counts = inspection.count_view(db, view)
                updated = inspection.updated_at(db, view)
                overlay = recorded(db, now, view)
                collections = inspection.count_collections(db, view, overlay)
                unread = inspection.unread(db, view, overlay, FAILURE_MARK)
        return WorkspaceStatus(
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
            model=local_model.status(self.model_dir),
            collections=tuple(
                replace(each, updated=max(each.updated or 0.0, self._issues_changed()))
                if kind_of(each.name) is CollectionKind.ISSUES
                else each
                for each in sorted(collections, key=_order)
            ),
            notes=(*manifest_modules_of(now).notes, *filter(None, [self.repo.unconverted])),
            unread=tuple(unread),
            failure=last_failure(self.store.directory),
        )

    def _issues_changed(self) -> float:
        """Return when the issues' directory was last written to, in Unix seconds; 0 if there is none."""
        try:
            return (self.repo.root or self.repo.git_dir).joinpath(issues.DIRECTORY).stat().st_mtime
        except OSError:
            return 0.0

    def model_is_there(self) -> bool:
        """Return whether the model is there and complete."""
        return local_model.status(self.model_dir).ready

    @cached_property
    def embedder(self) -> Encoder:
        """The model for long jobs: on a GPU if there is one that computes right and is faster.

        Raises:
            ModelError: It is not there, or damaged.
        """
        from gitrag.embedding.encoder import Encoder, has_gpu

        if not has_gpu():
            return self.encoder
        return Encoder.load(self.model_dir, threads=self._threads, gpu=True)

    def embeds_on_gpu(self) -> bool:
        """Return whether a GPU would embed; False without the model, since that cannot be tried then."""
        from gitrag.embedding.encoder import has_gpu

        return has_gpu() and self.model_is_there() and self.embedder.on_gpu

    def require_repository(self) -> None:
        """Raise when the repository has been deleted: a long-running process may outlive it.

        Raises:
            RepositoryError: The repository is gone.
        """
        for place in (self.repo.root, self.repo.git_dir):
            if place is not None and not place.is_dir():
                raise RepositoryError(
                    f"The repository is gone: there is no directory {place} any more.",
                    "Start gitrag again in one that is there.",
                )

    def require_index(self) -> None:
        """Raise when nothing has been indexed here."""
        self.require_repository()
        if not self.store.exists():
            raise self.no_collections()

    def no_collections(self, there: Sequence[str] = ()) -> NotSetUpError:
        """Return the error for a search without any of its collections; it names the existing ones."""
        return NotSetUpError(
            f"No gitrag collections found for {self.name}. Run `gitrag index` first.",
            f"There are: {', '.join(there)}" if there else "",
        )

    def wanted(self, names: Sequence[str], module: str, *, with_issues: bool = False) -> Wanted:
        """Return which collections to search.

        Args:
            names: Names of collections, with or without the repository's slug in front; none means all.
            module: Only this module; empty for all.
            with_issues: Whether issues are among the kinds to search.
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
        """Return how long ago the worktree's index was brought up to date.

        None if it never was, or if its time is in the future because the clock was changed.
        """
        with suppress(StoreMissingError), self.store.read() as db:
            moved = self.moved_at(db)
            return None if moved is None or moved > self._clock() else self.since(moved)
        return None

    def texts_per_s(self) -> float:
        """Return how many texts a second this machine embeds."""
        from gitrag.indexing.embed_texts import texts_per_s

        return texts_per_s(self.store.directory)

    def documents(self, kinds: Sequence[CollectionKind]) -> list[tuple[CollectionKind, Document, str]]:
        """Return the indexed documents of some kinds of collection, of all modules, sorted by kind and path.

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
        """Return the names of the indexed collections, each with the repository's slug in front.

        Raises:
            StoreMissingError: There is no index.
        """
        return [f"{self.name}-{each.name}" for each in self.status().collections]

    # the background

    def worker(self) -> Holder | None:
        """Return the running background worker, or None."""
        return running(self.store.directory)

    def start_worker(self) -> None:
        """Start the background worker on this worktree, detached; it exits at once if one is running.

        ``-P`` keeps Python from putting the working directory, the user's repository, on its module path. A
        shell in between detaches the worker, so that a long-running parent is not left with a zombie.
        """
        worker = [sys.executable, "-P", "-m", "gitrag", "-C", str(self.place), "hook", "run", "worker"]
        subprocess.run(
            ["/bin/sh", "-c", '"$@" &', "sh", *worker],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=self.environ,
        )

    @property
    def place(self) -> Path:
        """The worktree's top; of a bare repository, its directory."""
        return self.repo.root or self.repo.git_dir

    def have_model(self) -> bool:
        """Fetch the model unless it is there; return False if that failed within the last hour."""
        if self.model_is_there():
            return True
        failed = self._fetch_failure
        if failed.exists() and time.time() - failed.stat().st_mtime < _FETCH_AGAIN_S:
            return False
        from gitrag.embedding import fetching

        try:
            fetching.fetch(self.model_dir)
        except GitragError as error:
            write_private(failed, str(error))
            raise
        self.forget_fetch_failure()
        return True

    def fetch_failure(self) -> str:
        """Return why fetching the model in the background failed; empty if it did not, or was not tried."""
        try:
            return self._fetch_failure.read_text("utf-8")
        except (OSError, ValueError):
            return ""

    def forget_fetch_failure(self) -> None:
        """Let the background worker try to fetch the model again at once."""
        with suppress(OSError):
            self._fetch_failure.unlink(missing_ok=True)

    @property
    def _fetch_failure(self) -> Path:
        return self.store.directory / "model.failed"

    def encoder_if_ready(self) -> Encoder | None:
        """Load the model if it is there; tell the user if it is damaged."""
        try:
            return self.encoder
        except ModelError as error:
            if is_there(self.model_dir):
                self.say(f"{error} {error.hint}".strip())
            return None
