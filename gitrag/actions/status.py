"""What is indexed, how fresh it is, and who is working: what ``gitrag status`` prints."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gitrag.callgraph.facts import FAILURE_MARK
from gitrag.corpus import issues
from gitrag.corpus.layout import CollectionKind, kind_of, module_of
from gitrag.embedding import local_model
from gitrag.indexing.difference import manifest_modules_of
from gitrag.indexing.known import known, recorded
from gitrag.indexing.worker import REFINING, last_failure, running
from gitrag.machine.locks import Holder
from gitrag.store.connection import StoreMissingError
from gitrag.store.inspection import CollectionCounts, StoreCounts, TableSize, Unread, ViewCounts
from gitrag.store.memo import Memo
from gitrag.words.numbers import age
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from gitrag.indexing.snapshot import Snapshot
    from gitrag.store.views import View


class WorkspaceStatus(Struct, frozen=True):
    """What is indexed, how fresh and large it is, how much is embedded, and who is working.

    Attributes:
        name: The repository's slug.
        commit: HEAD's commit.
        branch: HEAD's branch, None when detached.
        fresh: Whether the index has HEAD's tree, by the settings of now.
        behind: In what it lags: ``HEAD``, ``the settings``; empty where it does not, or is being filled.
        whole: Whether the uncommitted changes and issues are indexed too.
        unembedded: Texts of the files as they are now, uncommitted ones included, without a vector.
        unembedded_chunks: How many of them are chunks, not words of a path.
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
        refined_in_s: Seconds until all vectors are refined, at the rate last measured; None if none was.
        failure: Why the last background worker failed; empty if it did not.
    """

    name: str
    commit: str | None
    branch: str | None
    fresh: bool
    behind: str
    whole: bool
    unembedded: int
    unembedded_chunks: int
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
    refined_in_s: float | None = None

    @property
    def state(self) -> str:
        """Whether it is up to date, or why it is not."""
        return "up to date" if self.fresh else f"behind {self.behind}" if self.behind else "not complete yet"

    @property
    def work(self) -> str:
        """What the background worker does now, how far it is, and how long that takes."""
        if self.worker is None:
            return "nobody"
        doing = f"{self.worker.purpose} in the background"
        if self.worker.purpose == REFINING and self.view is not None and self.unembedded:
            done = int(100 * self.view.embedded / max(self.view.texts, 1))
            left = f", about {age(self.refined_in_s)} left" if self.refined_in_s is not None else ""
            doing += f", {done} %{left}"
        return f"{doing} (process {self.worker.pid})"


def read_status(workspace: Workspace) -> WorkspaceStatus:
    """Return the state of the index, without changing it."""
    from gitrag.indexing.embed_texts import measured_rate
    from gitrag.store import inspection, vectors, views

    now = workspace.snapshot()
    head = now.head
    view = counts = store = updated = None
    whole, unembedded, chunks = False, 0, 0
    collections: list[CollectionCounts] = []
    unread: list[Unread] = []
    with suppress(StoreMissingError), workspace.store.read() as db:
        memo = workspace.store.memo if workspace.store.memo.lasting else Memo(lasting=True)
        view = views.current(db, workspace.repo.worktree)
        store = inspection.count_store(db)
        if view is not None:
            counts = inspection.count_view(db, view, memo)
            updated = views.updated_at(db, workspace.repo.worktree)
            overlay = recorded(db, now, view)
            collections = inspection.count_collections(db, view, overlay, memo)
            unread = inspection.unread(db, view, overlay, FAILURE_MARK)
            unembedded, chunks = vectors.pending_counts(db, overlay.entries, view.view_id, memo)
            there = known(db, now)
            whole = there is not None and not there.waiting
    behind = _behind(view, now)
    return WorkspaceStatus(
        name=workspace.name,
        commit=head.commit,
        branch=head.branch,
        fresh=view is not None and not behind and not (counts and counts.waiting),
        behind=behind,
        whole=whole,
        unembedded=unembedded,
        unembedded_chunks=chunks,
        dirty=now.dirty,
        updated=updated,
        view=counts,
        store=store,
        size_bytes=workspace.store.size_bytes() + workspace.older.size_bytes(),
        worker=running(workspace.store.directory),
        model=local_model.status(workspace.model_dir, workspace.model, thorough=False),
        collections=tuple(
            replace(each, updated=max(each.updated or 0.0, _issues_changed(workspace)))
            if kind_of(each.name) is CollectionKind.ISSUES
            else each
            for each in sorted(collections, key=_order)
        ),
        notes=(*manifest_modules_of(now)[1], *filter(None, [workspace.repo.unconverted])),
        unread=tuple(unread),
        failure=last_failure(workspace.store.directory),
        refined_in_s=unembedded / rate if (rate := measured_rate(workspace.store.directory)) else None,
    )


def table_sizes(workspace: Workspace) -> tuple[TableSize, ...]:
    """Return how much room each table of the index takes on disk, the largest first."""
    from gitrag.store import inspection

    with suppress(StoreMissingError), workspace.store.read() as db:
        return tuple(inspection.table_sizes(db))
    return ()


def collection_names(workspace: Workspace) -> list[str]:
    """Return the names of the indexed collections, each with the repository's slug in front."""
    return [f"{workspace.name}-{each.name}" for each in read_status(workspace).collections]


def count_indexed(workspace: Workspace, directory: str = "") -> tuple[int, int]:
    """Count the indexed files and their chunks: all, or those at or below a path."""
    from gitrag.store import scopes, views

    now = workspace.snapshot()
    with workspace.store.read() as db:
        view = views.current(db, workspace.repo.worktree)
        if view is None:
            return 0, 0
        files = scopes.open_scope(db, view.view_id, recorded(db, now, view)).files
        names = scopes.read_paths(db, files.path_id.tolist())
        counts = [
            int(chunks)
            for path_id, chunks in zip(files.path_id.tolist(), files.chunks.tolist(), strict=True)
            if not directory or names[path_id] == directory or names[path_id].startswith(f"{directory}/")
        ]
    return len(counts), sum(counts)


def _behind(view: View | None, now: Snapshot) -> str:
    """Return what has changed since a view was made: HEAD, or the settings."""
    if view is None:
        return ""
    if view.tree != now.head.tree:
        return "HEAD"
    return "the settings" if view.rules != now.rules_key else ""


def _order(counts: CollectionCounts) -> tuple[str, int]:
    """Order collections by module, the repository's own first, then by kind."""
    return module_of(counts.name), list(CollectionKind).index(kind_of(counts.name))


def _issues_changed(workspace: Workspace) -> float:
    """Return when the issues' directory was last written to, in Unix seconds; 0 if there is none."""
    try:
        return workspace.place.joinpath(issues.DIRECTORY).stat().st_mtime
    except OSError:
        return 0.0
