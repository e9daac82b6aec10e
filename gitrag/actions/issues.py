"""The issues of a repository's tracker, kept as files in its working tree: when they are synced, and read."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gitrag.actions.gitignore_entry import IGNORED
from gitrag.config.keys import find_key, nearest
from gitrag.config.rules import Duration
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import ConfigError, GitragError, NotSetUpError, UsageError
from gitrag.trackers import detection
from gitrag.trackers.base import Registration, Secret, TrackerPlace, TrackerSetting, TrackerSetupError
from gitrag.trackers.folder import IssueFolder, Meta
from gitrag.trackers.issue import Issue as Issue  # noqa: PLC0414  # what is listed
from gitrag.trackers.registry import TRACKERS
from gitrag.trackers.rendering import render
from gitrag.trackers.sync import Bound, SyncDeadline, sync
from gitrag.trackers.sync import Synced as Synced  # noqa: PLC0414  # what a sync did
from gitrag.trackers.tokens import find_secret, may_have
from gitrag.workspace import Workspace

RECENT_S = 300.0
"""A sync younger than this is not repeated by a command that only reads."""

SYNCING = "Syncing {count} issues from {tracker}…"
CHOOSE = "git config gitrag.tracker github   (or gitea, gitlab, jira, linear, beads, tasks-md)"
DEGRADED = "Issues sync failed — degrading to live tracker queries for this run"

_PATIENCE_S = 600.0
"""How long `gitrag issues sync` waits for another one, which may be the first of a large tracker."""

_LONGEST = Duration(timedelta(days=36500))


@dataclass(frozen=True, slots=True)
class SyncListener:
    """Who listens to a sync.

    Attributes:
        note: Called with a line the user should know.
        status: Called with what is being waited for.
        advance: Called with how many issues came, of how many.
    """

    note: Callable[[str], None]
    status: Callable[[str], None] = lambda _text: None
    advance: Callable[[int, int | None], None] = lambda _done, _total: None


@dataclass(frozen=True, slots=True)
class IssuesStatus:
    """How the local copies stand.

    Attributes:
        tracker: The tracker's name; empty for none.
        server: Its address; empty for one in the repository.
        project: The project there.
        token: Where the token comes from; empty where there is none.
        token_withheld: Whether the environment has a token that this server does not get.
        problem: What is missing before a sync can succeed; empty for nothing.
        ignored: Whether git ignores the copies; else only `gitrag issues sync` writes them.
        issues: How many have a file.
        open: How many of them are open.
        cursor: All that was updated before this is there.
        complete: Whether every issue has been there once.
        synced: When the last sync succeeded, Unix seconds; None when none did.
    """

    tracker: str
    server: str
    project: str
    token: str
    token_withheld: bool
    problem: str
    ignored: bool
    issues: int
    open: int
    cursor: str
    complete: bool
    synced: float | None


def sync_issues(
    workspace: Workspace,
    listener: SyncListener,
    *,
    full: bool = False,
    tracker: str | None = None,
    since: datetime | None = None,
) -> Synced:
    """Bring the local copies up to date.

    Args:
        workspace: gitrag on the repository.
        listener: Who listens.
        full: Ask for every issue, and remove those that are gone.
        tracker: Which tracker; None for the one of the settings.
        since: Only what was updated since then.

    Raises:
        TrackerError: The tracker does not answer, or not with issues.
        NetworkError: There is no way to it.
        NotSetUpError: There is no tracker, or no working tree.
    """
    place = _place(workspace, tracker=tracker, may_ask=True)
    if place is None:
        raise NotSetUpError(
            "No tracker is known for this repository.",
            CHOOSE,
        )
    found = _sync(
        workspace, place, listener, _patience(workspace), full=full, since=since, lock_s=_PATIENCE_S
    )
    if found is None:  # not with a patience of its own: nothing was recent
        raise AssertionError(place)
    if workspace.store.exists() and (found.written or found.removed):
        workspace.refresh_after_write(CollectionKind.ISSUES)
    return found


def sync_in_passing(workspace: Workspace, listener: SyncListener) -> Synced | None:
    """Sync as part of something else: a tracker that is set, was synced before, or lies in the working tree.

    That a server's token is at hand is no wish for all its issues; `may_sync` tells of such a one. Nothing is
    written where git would take it for the user's.

    Args:
        workspace: gitrag on the repository.
        listener: Who listens.

    Returns:
        What was done; None when nothing was to be done.

    Raises:
        GitragError: The sync failed, or a page took longer than the setting ``tracker_timeout_s``.
    """
    place = _quiet_place(workspace)
    if place is None or not _is_known(workspace, place):
        return None
    return _sync(workspace, place, listener, _patience(workspace, page="tracker_timeout_s"))


def may_sync(workspace: Workspace) -> str:
    """Name a tracker that could be synced and never was, and whose token is at hand; empty for none."""
    place = _quiet_place(workspace)
    if (
        place is None
        or _is_known(workspace, place)
        or _secret(workspace, TRACKERS[place.tracker], place) is None
    ):
        return ""
    return f"{place.tracker} {place.project}"


def sync_before_reading(workspace: Workspace, listener: SyncListener) -> None:
    """Do what a command that reads issues does first: sync unless it was done lately; never fail.

    It is done within the setting ``tracker_timeout_s``, or given up.
    """
    patience = _patience(workspace, whole="tracker_timeout_s")
    try:
        meta = None if workspace.repo.root is None else IssueFolder(workspace.repo.root).read_meta()
        if meta is not None and _is_recent(meta, RECENT_S) and workspace.config.tracker == detection.AUTO:
            return
        place = _quiet_place(workspace)
        if place is not None and (
            _is_known(workspace, place) or _secret(workspace, TRACKERS[place.tracker], place) is not None
        ):
            _sync(workspace, place, listener, patience, recent_s=RECENT_S)
    except GitragError as error:
        listener.note(DEGRADED)
        listener.note(f"{error} {error.hint}".strip())


def _quiet_place(workspace: Workspace) -> TrackerPlace | None:
    """Say where the issues are, where no network need be probed and git ignores their copies."""
    if workspace.repo.root is None:
        return None
    place = _place(workspace)
    return place if place is not None and is_ignored(workspace) else None


def _is_known(workspace: Workspace, place: TrackerPlace) -> bool:
    meta = _folder(workspace).read_meta()
    return (
        not place.base
        or workspace.config.tracker != detection.AUTO
        or (meta is not None and meta.place == str(place))
    )


def status(workspace: Workspace) -> IssuesStatus:
    """Look at the local copies, and at what a sync would do, without the network."""
    folder = _folder(workspace)
    meta = folder.read_meta() or Meta()
    problem, withheld = "", False
    place: TrackerPlace | None = None
    secret: Secret | None = None
    try:
        place = _place(workspace)
    except GitragError as error:
        problem = f"{error} {error.hint}".strip()
    if place is not None:
        registration = TRACKERS[place.tracker]
        secret = _secret(workspace, registration, place)
        named = any(workspace.environ.get(name) for name in registration.variables)
        withheld = bool(
            secret is None and named and place.base and not may_have(registration, place, workspace.environ)
        )
    found = list(folder.all())
    return IssuesStatus(
        tracker=place.tracker if place else "",
        server=place.base if place else "",
        project=place.project if place else "",
        token=secret.origin if secret else "",
        token_withheld=withheld,
        problem=problem,
        ignored=is_ignored(workspace),
        issues=len(found),
        open=sum(issue.status.value == "open" for issue in found),
        cursor=meta.cursor,
        complete=meta.complete,
        synced=meta.synced or None,
    )


def list_issues(workspace: Workspace) -> Iterator[Issue]:
    """Give the local copies, in the order people count."""
    return _folder(workspace).all()


def read_issue(workspace: Workspace, issue_id: str) -> tuple[Issue, bytes]:
    """Give a local copy, and its file's content.

    Raises:
        UsageError: There is none of that id.
    """
    name = issue_id.removeprefix("#")
    found = _folder(workspace).read(name)
    if found is None:
        raise UsageError(
            f"There is no local copy of issue {issue_id[:60]}.", "`gitrag issues list` shows those there are."
        )
    return found, render(found)


def is_ignored(workspace: Workspace) -> bool:
    """Tell whether git ignores the copies, so that they are no part of the user's work."""
    return (
        workspace.repo.git("check-ignore", "--quiet", "--no-index", f"{IGNORED}issues/1.md").returncode == 0
    )


def parse_since(text: str, now: datetime) -> datetime:
    """Read a point in time: a date, a date and time (UTC unless it says), or how long ago.

    Raises:
        UsageError: It is none.
    """
    try:
        length = _LONGEST.parse(text)
    except ValueError:
        try:
            found = datetime.fromisoformat(text)
        except ValueError as error:
            raise UsageError(
                f'"{text[:60]}" is no point in time.', "Give 2026-01-31, 2026-01-31T12:00Z, or 30d, 12h."
            ) from error
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    try:
        return now - length
    except OverflowError as error:
        raise UsageError(f'"{text[:60]}" is too long ago.', "Give 30d, 12h.") from error


def _patience(workspace: Workspace, *, page: str = "", whole: str = "tracker_sync_timeout_s") -> SyncDeadline:
    """Listen to a tracker for as long, and as far, as these settings say."""

    def bound(setting: str) -> Bound:
        raised = f"to raise it: `git config {find_key(setting).git_name} NUMBER`."
        return Bound(getattr(workspace.config, setting), setting, raised)

    return SyncDeadline(
        page_s=bound(page) if page else None,
        whole_s=bound(whole),
        pages=bound("tracker_max_pages"),
    )


def _sync(
    workspace: Workspace,
    place: TrackerPlace,
    listener: SyncListener,
    patience: SyncDeadline,
    *,
    full: bool = False,
    since: datetime | None = None,
    recent_s: float = 0.0,
    lock_s: float | None = None,
) -> Synced | None:
    folder = _folder(workspace)
    folder.make()
    registration = TRACKERS[place.tracker]
    secret = _secret(workspace, registration, place)

    over = False

    def note(text: str) -> None:
        if not over:  # else of a page that is waited for no more
            listener.status(text)

    def begun(count: str) -> None:
        listener.note(SYNCING.format(count=count, tracker=place.tracker))

    def waiting() -> None:
        listener.status("waiting for another gitrag that syncs")

    if lock_s is None:
        left_s = patience.nearest[0] if patience.nearest else math.inf
        lock_s = min(workspace.config.lock_timeout_s, left_s)
    with folder.locked(lock_s, waiting):
        meta = folder.read_meta()  # another process may have synced while this one waited
        if meta is not None and meta.place == str(place) and _is_recent(meta, recent_s):
            return None
        setting = TrackerSetting(place, folder.root, workspace.environ, secret, note)
        with closing(registration.open(setting)) as tracker:
            try:
                return sync(
                    tracker,
                    place,
                    folder,
                    full=full,
                    since=since,
                    patience=patience,
                    begun=begun,
                    advance=listener.advance,
                )
            finally:
                over = True


def _folder(workspace: Workspace) -> IssueFolder:
    return IssueFolder(_root(workspace))


def _root(workspace: Workspace) -> Path:
    if workspace.repo.root is None:
        raise NotSetUpError("A bare repository has no place for issues.", "Run it in a working tree.")
    return workspace.repo.root


def _is_recent(meta: Meta, recent_s: float) -> bool:
    return 0 <= time.time() - meta.synced < recent_s


def _place(workspace: Workspace, *, tracker: str | None = None, may_ask: bool = False) -> TrackerPlace | None:
    """Say where the issues are; servers are asked what they are only on demand."""
    root = _root(workspace)
    config = workspace.config
    wanted = tracker or config.tracker
    if wanted not in {detection.AUTO, detection.NONE, *TRACKERS}:
        names = [detection.AUTO, detection.NONE, *TRACKERS]
        kind = UsageError if tracker else ConfigError
        raise kind(
            f'There is no tracker "{wanted}".',
            nearest(wanted, names).strip() or f"One of {', '.join(names)}.",
        )
    done = workspace.repo.git("remote", "get-url", "origin")
    origin = (
        None if done.returncode else detection.read_origin(done.stdout.decode("utf-8", "replace").strip())
    )
    meta = IssueFolder(root).read_meta()
    place = detection.find_place(
        detection.Wishes(wanted, config.tracker_url or "", config.tracker_project or ""),
        origin,
        root,
        workspace.environ,
        remembered=meta.tracker if meta else "",
        probe=detection.probe if may_ask else None,
    )
    if place is None and tracker == detection.NONE:
        raise TrackerSetupError("No tracker was chosen.", "gitrag issues sync --tracker github")
    return place


def _secret(workspace: Workspace, registration: Registration, place: TrackerPlace) -> Secret | None:
    def credentials(url: str) -> str:
        done = workspace.repo.git(
            "credential", "fill", stdin=f"url={url}\n\n".encode(), environment={"GIT_ASKPASS": "false"}
        )
        lines = done.stdout.decode("utf-8", "replace").splitlines()
        return next((line.partition("=")[2] for line in lines if line.startswith("password=")), "")

    asked = credentials if workspace.config.tracker_credentials == "git" else None
    return find_secret(registration, place, workspace.environ, asked)
