"""The repository's one background worker: start it; its work on text, vectors and call facts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from gitrag.actions.model import fetch_in_background
from gitrag.actions.progress import ShowProgress
from gitrag.config.loading import settings_of
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import GitragError
from gitrag.indexing import worker
from gitrag.indexing.known import Refreshed
from gitrag.indexing.notices import failed_line
from gitrag.indexing.refresh import refresh
from gitrag.indexing.snapshot import REVISION, Snapshot, look_at
from gitrag.indexing.turn import EmbeddingTurn, Strain
from gitrag.machine.isolation import reason_of
from gitrag.machine.refusals import refusal
from gitrag.words.numbers import count
from gitrag.workspace import Workspace

_FEW_TEXTS = 256
"""Up to so many texts (a commit's; a second or two) are embedded before the call graph is made. With more, as
for a whole repository, the call graph comes first: it takes less time."""

_MACHINE = Strain()
"""One for the process: a worker that is asked again and again is patient with a busy machine but once."""


def start_worker(workspace: Workspace) -> None:
    """Start the background worker on a worktree, detached; it exits at once if one is running.

    ``-P`` keeps Python from putting the working directory, the user's repository, on its module path. A
    shell in between detaches the worker, so that a long-running parent is not left with a zombie.
    """
    command = [sys.executable, "-P", "-m", "gitrag", "-C", str(workspace.place), "hook", "run", "worker"]
    if sys.platform == "win32":  # there is no zombie to leave
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        null = subprocess.DEVNULL
        subprocess.Popen(
            command, env=workspace.environ, stdin=null, stdout=null, stderr=null, creationflags=flags
        )
        return
    subprocess.run(
        ["/bin/sh", "-c", '"$@" &', "sh", *command],
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=workspace.environ,
    )


def refresh_after_write(workspace: Workspace, kind: CollectionKind) -> bool:
    """Bring the index up to date after a write to a collection; tell the user only when that fails.

    Returns:
        Whether it is up to date. A failure here does not undo the write.
    """
    try:
        refreshed = refresh(workspace.store, workspace.snapshot(), budget_s=workspace.config.catch_up_s)
        if refreshed.waiting:
            start_worker(workspace)
    except GitragError:
        workspace.say(failed_line(f"{workspace.name}-{kind.value}"))
        return False
    return True


def run_worker(
    workspace: Workspace,
    settled: Callable[[], None] = lambda: None,
    keep: Callable[[Workspace], None] = lambda _workspace: None,
) -> bool:
    """Be the background worker: bring text and vectors up to date, for all worktrees that ask while it runs.

    Args:
        keep: Called on each once its text and calls are up to date.

    Returns:
        Whether this process did the work; False when another worker was running: it has been told
        to include this worktree.
    """
    worker.lower_priority()
    worker.end_on_request()

    def work(place: Path, asked: Callable[[], bool]) -> None:
        at = (
            workspace
            if place == workspace.place
            else Workspace.open(place, environ=workspace.environ, say=workspace.say)
        )
        if at.repo.common_dir == workspace.repo.common_dir:  # marks may have come with an archive
            catch_up(at, asked, keep=keep)

    return worker.Worker(workspace.store.directory).run(workspace.place, work, settled)


def _told(directory: Path, stage: str, error: Exception) -> GitragError:
    """Return why a stage failed; what is nobody's but ours goes into the log with its traceback."""
    known = refusal(error)
    if known is None:
        from gitrag.machine.log import logged

        with logged(directory) as log:
            log.error("%s failed", stage, exc_info=error)
    return known or StageError(f"{stage} failed: {reason_of(error)}")


@contextmanager
def _stage(directory: Path, failures: list[GitragError], name: str) -> Iterator[None]:
    """Keep why a stage fails for later: the next one may well succeed."""
    worker.tell(directory, name)
    try:
        yield
    except Exception as error:  # noqa: BLE001 - raised once all stages had their turn
        failures.append(_told(directory, name, error))


class StageError(GitragError):
    """A stage of the background work failed unexpectedly; the log has the traceback."""


def catch_up(
    workspace: Workspace,
    asked: Callable[[], bool],
    strain: Strain | None = None,
    keep: Callable[[Workspace], None] = lambda _: None,
) -> None:
    """Bring a worktree's text, facts and vectors up to date; a stage that fails does not stop the next.

    Args:
        asked: Tells whether another request has come: new text is indexed before vectors are computed.
        strain: What more than a commit's vectors wait for; the machine's own by default.
        keep: Called once text and calls are up to date.
    """
    workspace.move_to_background()
    is_first = not workspace.store.exists()
    now = workspace.snapshot()
    failures: list[GitragError] = []
    stage = partial(_stage, workspace.store.directory, failures)
    refreshed = revision = few = None
    with stage(worker.CUTTING):
        refreshed = refresh(workspace.store, now)
        if is_first:
            workspace.register()
    with stage("cutting a revision"):
        revision = _finish_revision(workspace)
    if refreshed is not None:
        with stage("reading commits"):
            _read_commits(workspace, now, revision, asked)
    own = refreshed.overlay.entries if refreshed is not None else ()
    with stage("pulling shared vectors"):
        from gitrag.actions.sharing.background import pull_first

        pull_first(workspace, own, asked)
    with stage("looking for draft vectors"):
        few = workspace.count_unembedded(own) <= _FEW_TEXTS
    if few:
        with stage(worker.REFINING):
            _embed_waiting(workspace, own, asked)
    with stage("keeping chunks for questions"):
        workspace.store.cache_chunks(asked)
    if refreshed is not None:
        with stage("reading who calls whom"):
            _make_facts(workspace, now, refreshed, keep)
        with stage("reading older commits"):
            _read_older(workspace, now, asked)
    with stage(worker.REFINING):
        _embed_waiting(workspace, own, asked, strain or partial(_strain, workspace))
    with stage("counting vectors"):
        workspace.note_coverage()
    with stage("pushing vectors"):
        from gitrag.actions.sharing.background import push_after

        push_after(workspace, asked)
    if failures:
        raise failures[0]


def _make_facts(
    workspace: Workspace, now: Snapshot, refreshed: Refreshed, keep: Callable[[Workspace], None]
) -> None:
    """Extract the facts about calls in advance, so that nobody has to wait for them."""
    from gitrag.indexing.call_facts import facts_of, rows_of

    with workspace.store.read() as db:
        rows = rows_of(db, refreshed.view.view_id, refreshed.overlay, missing_only=True)
    facts_of(workspace.store, now, rows)
    keep(workspace)


def _embed_waiting(
    workspace: Workspace,
    entries: Sequence[tuple[int, int]],
    asked: Callable[[], bool],
    strain: Callable[[], str] | None = None,
) -> None:
    """Embed, while no worker of another repository does; one without strain waits for nothing."""
    if not workspace.count_unembedded(entries) or asked():
        return
    if not workspace.model_is_there():
        worker.tell(workspace.store.directory, "fetching the model")
    if fetch_in_background(workspace):
        import platformdirs

        place = platformdirs.user_cache_path("gitrag") / "turn"
        turn = EmbeddingTurn(place, workspace.name, strain or _calm)
        _in_turn(workspace, entries, asked, turn, waits=strain is not None)


def awaited(workspace: Workspace, texts: int) -> str:
    """Return what the worker waits for now with so many texts, but its turn; empty for nothing."""
    return Strain()() if texts > _FEW_TEXTS and workspace.config.embed_when == "auto" else ""


def _strain(workspace: Workspace) -> str:
    """Ask as the settings are now: it may be hours since the worker was started."""
    settings = settings_of(workspace.repo, workspace.environ)
    return _MACHINE() if settings.embed_when == "auto" else ""


def _calm() -> str:
    return ""


def _in_turn(
    workspace: Workspace,
    entries: Sequence[tuple[int, int]],
    asked: Callable[[], bool],
    turn: EmbeddingTurn,
    *,
    waits: bool,
) -> None:
    directory = workspace.store.directory
    refused = makes_way = False

    def stop() -> bool:
        nonlocal makes_way
        makes_way = turn.must_end()
        return makes_way or asked()

    def waiting(what: str) -> None:
        nonlocal refused
        refused = not waits
        if waits:
            worker.tell(directory, worker.WAITING + what)

    if waits:
        turn.ask()
    while workspace.count_unembedded(entries) and turn.take(lambda: asked() or refused, waiting):
        try:
            worker.tell(directory, worker.REFINING)
            workspace.embed(entries=entries, stop=stop)
        finally:
            turn.release()
        if asked() or not makes_way:  # who wished to be next may have begun by now, or given up
            return
        workspace.forget_model()


def _read_commits(
    workspace: Workspace, now: Snapshot, revision: str | None, asked: Callable[[], bool]
) -> None:
    """Read what the commits say that lead to HEAD, and to the revision asked for last."""
    from gitrag.store import views

    for commit in dict.fromkeys([now.head.commit, revision]):
        if commit is not None:
            workspace.read_history(commit, asked)
    if now.head.commit is not None:
        with workspace.store.read() as db:
            view = views.current(db, now.slot)
        if view is not None and view.tree == now.head.tree and view.commit != now.head.commit:
            with workspace.store.write("naming the commit of a view", make=False) as db:
                views.name_commit(db, now.slot, now.head.tree, now.head.commit)


def _read_older(workspace: Workspace, now: Snapshot, asked: Callable[[], bool]) -> None:
    """Read commits beyond the newest, which only `gitrag history` asks, and make the drafts that are missing.

    Beyond the newest of HEAD, and of other revisions, or all refs, that it was asked about.
    """
    from gitrag.indexing import older_commits
    from gitrag.indexing.history import draft

    store, older, repo = workspace.store, workspace.older, workspace.repo
    if not draft(store, stop=asked):
        return
    wanted = older_commits.wanted(older)
    head = [] if now.head.commit is None else [now.head.commit]
    is_read = True
    for own in dict.fromkeys([*head, *wanted]):
        if is_read and (tips := older_commits.tips_of(repo, own)) is not None:
            is_read = workspace.read_history(tips, asked)
            is_read = is_read and older_commits.read_older(older, store, repo, tips, stop=asked)
        if is_read and own in wanted:
            older_commits.unwant(older, own)
    draft(older, stop=asked)


def _finish_revision(workspace: Workspace) -> str | None:
    """Index the files of a revision that a search had no time for; return its commit."""
    from gitrag.store import views

    with workspace.store.read() as db:
        view = views.current(db, REVISION)
    if view is not None and workspace.repo.has_object(view.tree):
        refresh(workspace.store, look_at(workspace.repo, workspace.options, view.commit or view.tree))
        return view.commit
    return None


def index_first(workspace: Workspace, progress: ShowProgress, *, for_agents: bool = False) -> bool:
    """Index text and drafts if there is no index yet and the setting ``auto_index`` wants it.

    It takes as long as a search may take to catch up; the rest follows in the background. The user is told.

    Args:
        for_agents: Whether an agent asks, which does not run `gitrag init`: ``auto`` then means yes.

    Returns:
        Whether it was indexed now.
    """
    wanted = workspace.config.auto_index
    if workspace.store.exists() or not (wanted == "on" or (for_agents and wanted == "auto")):
        return False
    from gitrag.machine.prerequisites import check_writable, require

    workspace.require_repository()
    require([check_writable(workspace.store.directory)])
    with progress("Indexing", None) as shown:
        indexed = workspace.update(budget_s=workspace.config.catch_up_s, advance=shown.update)
    if indexed.refreshed.waiting:
        start_worker(workspace)
    workspace.say(
        f"Indexed {count(indexed.counts.chunks, 'chunk')} from {count(indexed.counts.files, 'file')}"
        f" in {indexed.seconds:.1f} s; `gitrag init` installs hooks that keep the index up to date."
    )
    return True
