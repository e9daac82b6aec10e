"""The issues of a repository's tracker, kept as files in its working tree: when they are synced, and read."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from gitrag.actions.catch_up import refresh_after_write
from gitrag.actions.gitignore_entry import is_ignored
from gitrag.config.keys import find_key
from gitrag.config.rules import duration
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import ConfigError, GitragError, NetworkError, NotSetUpError, UsageError
from gitrag.git.commits import PLAIN_GRAPH
from gitrag.git.environment import GitTimeoutError
from gitrag.search.question import STOP_WORDS
from gitrag.trackers import detection
from gitrag.trackers.base import (
    IssuePage,
    Registration,
    Secret,
    Tracker,
    TrackerPlace,
    TrackerSetting,
    TrackerSetupError,
)
from gitrag.trackers.detection import TRACKERS, find_secret, may_have
from gitrag.trackers.folder import IssueFolder, Meta
from gitrag.trackers.issue import Issue as Issue  # noqa: PLC0414  # what is listed
from gitrag.trackers.issue import render
from gitrag.trackers.sync import Bound, LateError, SyncDeadline, ahead, sync
from gitrag.trackers.sync import Synced as Synced  # noqa: PLC0414  # what a sync did
from gitrag.words.numbers import age
from gitrag.words.spelling import did_you_mean
from gitrag.workspace import Workspace

RECENT_S = 300.0
"""A sync younger than this is not repeated by a command that only reads."""

SYNCING = "Syncing {count} issues from {tracker}…"
CHOOSE = "git config gitrag.tracker {}   (or {})".format(next(iter(TRACKERS)), ", ".join([*TRACKERS][1:]))
DEGRADED = "Issues sync failed — degrading to live tracker queries for this run"

_LOCK_TIMEOUT_S = 600.0
"""How long `gitrag issues sync` waits for another one, which may be the first of a large tracker."""

_LIVE = Bound(5.0, "a live query", "")
"""How long a tracker's own search may take where its listing failed: a command waits for it."""

_LIVE_SHOWN = 5
_PUSHED_S = 1.0
_LONGEST = duration(timedelta(days=36500))


class SyncListener(Struct, frozen=True):
    """Callbacks for the progress of a sync.

    Attributes:
        note: Called with a line that the user should see.
        advance: Called with how many issues have arrived, of how many.
    """

    note: Callable[[str], None]
    status: Callable[[str], None] = lambda _text: None
    advance: Callable[[int, int | None], None] = lambda _done, _total: None


class IssuesStatus(Struct, frozen=True):
    """The state of the local copies.

    Attributes:
        tracker: The tracker's name; empty if there is none.
        server: Its address; empty for a tracker in the repository.
        project: The project on that server.
        token: Where the token comes from; empty where there is none.
        token_withheld: Whether the environment has a token that is not sent to this server.
        problem: What is missing for a sync to succeed; empty if nothing is.
        ignored: Whether git ignores the copies; else only `gitrag issues sync` writes them.
        issues: How many have a file.
        open: How many of them are open.
        cursor: Everything updated before this time has a copy.
        complete: Whether every issue has been copied at least once.
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
        full: Ask for every issue, and remove the copies of deleted ones.
        tracker: Which tracker; None for the one of the settings.
    """
    place = _place(workspace, tracker=tracker, may_ask=True)
    if place is None:
        raise NotSetUpError("No tracker is known for this repository.", CHOOSE)
    found = _sync(
        workspace, place, listener, _sync_deadline(workspace), full=full, since=since, lock_s=_LOCK_TIMEOUT_S
    )
    if found is None:  # no sync counts as recent without `recent_s`
        raise AssertionError(place)
    if workspace.store.exists() and (found.written or found.removed):
        refresh_after_write(workspace, CollectionKind.ISSUES)
    return found


def sync_in_passing(workspace: Workspace, listener: SyncListener) -> Synced | None:
    """Sync as part of something else: a tracker that is set, was synced before, or lies in the working tree.

    A server is not synced merely because its token is at hand; `may_sync` names such a tracker. Nothing is
    written where git does not ignore it.

    Returns:
        What was done; None when there was nothing to do.
    """
    place = _quiet_place(workspace)
    if place is None or not _is_known(workspace, place):
        return None
    return _sync(workspace, place, listener, _sync_deadline(workspace, page="tracker_timeout_s"))


def may_sync(workspace: Workspace) -> str:
    """Return the name of a tracker that was never synced but whose token is at hand; empty if none."""
    place = _quiet_place(workspace)
    if (
        place is None
        or _is_known(workspace, place)
        or _secret(workspace, TRACKERS[place.tracker], place) is None
    ):
        return ""
    return f"{place.tracker} {place.project}"


def sync_before_reading(workspace: Workspace, listener: SyncListener, question: str = "") -> None:
    """Sync before a command reads issues, unless the last sync is recent; never fail.

    It is given up after the time limit ``tracker_timeout_s``. Where it fails and the copies are older than
    ``staleness_threshold``, the tracker's own search is asked, unless the tracker cannot be reached; what it
    finds is told, and not stored.

    Args:
        question: What issues are read for; empty to look for nothing in particular.
    """
    place = None
    deadline = _sync_deadline(workspace, whole="tracker_timeout_s")
    try:
        meta = None if workspace.repo.root is None else IssueFolder(workspace.repo.root).read_meta()
        if meta is not None and _is_recent(meta, RECENT_S) and workspace.config.tracker == detection.AUTO:
            return
        place = _quiet_place(workspace)
        if place is not None and (
            _is_known(workspace, place) or _secret(workspace, TRACKERS[place.tracker], place) is not None
        ):
            _sync(workspace, place, listener, deadline, recent_s=RECENT_S)
    except GitragError as error:
        listener.note(DEGRADED)
        listener.note(f"{error} {error.hint}".strip())
        if isinstance(error, NetworkError):  # nor can its search be reached, and whoever waits has waited
            place = None
        for line in _what_answers(workspace, place, question):
            listener.note(line)


def _what_answers(workspace: Workspace, place: TrackerPlace | None, question: str) -> Iterator[str]:
    """Say what a failed sync leaves to answer from: copies, and what the tracker's own search finds."""
    folder = _folder(workspace)
    number, meta = len(folder.ids()), folder.read_meta()
    asked = "no live query was made"
    hits: tuple[Issue, ...] = ()
    old_s = workspace.config.staleness_threshold.total_seconds()
    words = _telling(question)
    if place is not None and words and not (number and meta and _is_recent(meta, old_s)):
        if not place.base or may_have(TRACKERS[place.tracker], place, workspace.environ):
            asked, hits = _asked_live(workspace, place, words)
        else:  # what one looks for is no more for everybody than a token
            asked = f"{place.base} is asked for nothing in particular, since only the repository names it"
    if number:
        last = (
            f"synced {age(time.time() - meta.synced)} ago" if meta and meta.synced else "not all synced yet"
        )
        answer = "copy here answers" if number == 1 else "copies here answer"
        yield f"The {number:,} {answer}, {last}; {asked}."
    else:
        yield f"There is no copy of an issue here to answer from; {asked}."
    for issue in hits[:_LIVE_SHOWN]:
        yield f"live: {issue.id}  {' '.join(issue.title.split())}  ({issue.status.value})  {issue.url}"


def _telling(question: str) -> list[str]:
    """List the words of a question, the longest first: they tell most, and some searches take only one."""
    words = (word.lower() for word in re.findall(r"[^\W_]{3,40}", question))
    return sorted(
        dict.fromkeys(word for word in words if word not in STOP_WORDS), key=lambda word: -len(word)
    )


def _asked_live(workspace: Workspace, place: TrackerPlace, words: list[str]) -> tuple[str, tuple[Issue, ...]]:
    """Ask the tracker's own search; return what came of it, and the issues that have most of the words."""
    try:
        with _opened(workspace, place, lambda _text: None) as tracker:
            page = next(ahead(_searched(tracker, words), lambda: (_LIVE.most, _LIVE)), None)
    except LateError:
        return f"{place.tracker}'s own search took longer than {_LIVE.most:g} s", ()
    except GitragError as error:
        return f"{place.tracker}'s own search failed, too: {str(error).rstrip('.')}", ()
    if page is None:
        return f"{place.tracker} has no search to ask live", ()
    text = {issue.id: f"{issue.title} {issue.body}".lower() for issue in page.issues}
    found = sorted(page.issues, key=lambda issue: -sum(word in text[issue.id] for word in words))
    return f"{place.tracker}'s own search finds {len(found) or 'none'}", tuple(found)


def _searched(tracker: Tracker, words: list[str]) -> Iterator[IssuePage]:
    found = tracker.search(words)
    if found is not None:
        yield IssuePage(found)


def _quiet_place(workspace: Workspace) -> TrackerPlace | None:
    """Return where the issues are, if that is known without asking a server and git ignores their copies."""
    if workspace.repo.root is None:
        return None
    place = _place(workspace)
    return place if place is not None and is_ignored(workspace.repo) else None


def _is_known(workspace: Workspace, place: TrackerPlace) -> bool:
    meta = _folder(workspace).read_meta()
    return (
        not place.base
        or workspace.config.tracker != detection.AUTO
        or (meta is not None and meta.place == str(place))
    )


def status(workspace: Workspace) -> IssuesStatus:
    """Return the state of the local copies and what a sync would ask, without using the network."""
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
        ignored=is_ignored(workspace.repo),
        issues=len(found),
        open=sum(issue.status.value == "open" for issue in found),
        cursor=meta.cursor,
        complete=meta.complete,
        synced=meta.synced or None,
    )


def list_issues(workspace: Workspace) -> Iterator[Issue]:
    """Yield the local copies, sorted by number."""
    return _folder(workspace).all()


def read_issue(workspace: Workspace, issue_id: str) -> tuple[Issue, bytes]:
    """Return a local copy and the content of its file."""
    name = issue_id.removeprefix("#")
    found = _folder(workspace).read(name)
    if found is None:
        raise UsageError(
            f"There is no local copy of issue {issue_id[:60]}.", "`gitrag issues list` shows those there are."
        )
    return found, render(found)


def parse_since(text: str, now: datetime) -> datetime:
    """Parse a point in time: a date, a date and time (UTC unless it has an offset), or how long ago."""
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


def _sync_deadline(
    workspace: Workspace, *, page: str = "", whole: str = "tracker_sync_timeout_s"
) -> SyncDeadline:
    """Return the limits that the settings put on a sync: time for a page, time in all, number of pages."""

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
    deadline: SyncDeadline,
    *,
    full: bool = False,
    since: datetime | None = None,
    recent_s: float = 0.0,
    lock_s: float | None = None,
) -> Synced | None:
    folder = _folder(workspace)
    folder.make()
    over = False

    def note(text: str) -> None:
        if not over:  # else it belongs to a page that is no longer waited for
            listener.status(text)

    def begun(count: str) -> None:
        listener.note(SYNCING.format(count=count, tracker=place.tracker))

    def waiting() -> None:
        listener.status("waiting for another gitrag that syncs")

    if lock_s is None:
        left_s = deadline.nearest[0] if deadline.nearest else math.inf
        lock_s = min(workspace.config.lock_timeout_s, left_s)
    with folder.locked(lock_s, waiting):
        meta = folder.read_meta()  # another process may have synced while this one waited for the lock
        if meta is not None and meta.place == str(place) and _is_recent(meta, recent_s):
            return None
        with _opened(workspace, place, note) as tracker:
            try:
                return sync(
                    tracker,
                    place,
                    folder,
                    full=full,
                    since=since,
                    deadline=deadline,
                    begun=begun,
                    advance=listener.advance,
                )
            finally:
                over = True


@contextmanager
def _opened(workspace: Workspace, place: TrackerPlace, note: Callable[[str], None]) -> Iterator[Tracker]:
    registration = TRACKERS[place.tracker]
    secret = _secret(workspace, registration, place)
    environment = workspace.repo.configuration.guard(workspace.environ)
    setting = TrackerSetting(place, _root(workspace), environment, secret, note)
    with closing(registration.open(setting)) as tracker:
        yield tracker


def _folder(workspace: Workspace) -> IssueFolder:
    return IssueFolder(_root(workspace))


def _root(workspace: Workspace) -> Path:
    if workspace.repo.root is None:
        raise NotSetUpError("A bare repository has no place for issues.", "Run it in a working tree.")
    return workspace.repo.root


def _is_recent(meta: Meta, recent_s: float) -> bool:
    return 0 <= time.time() - meta.synced < recent_s


def _place(workspace: Workspace, *, tracker: str | None = None, may_ask: bool = False) -> TrackerPlace | None:
    """Return where the issues are; a server is asked which tracker it runs only on demand."""
    root = _root(workspace)
    config = workspace.config
    wanted = tracker or config.tracker
    if wanted not in {detection.AUTO, detection.NONE, *TRACKERS}:
        names = [detection.AUTO, detection.NONE, *TRACKERS]
        kind = UsageError if tracker else ConfigError
        raise kind(
            f'There is no tracker "{wanted}".',
            did_you_mean(wanted, names).strip() or f"One of {', '.join(names)}.",
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


def forge_address(workspace: Workspace, commit: str, path: str) -> str:
    """Return the address of lines ``{first}`` to ``{last}`` of a file in a commit at the forge of the remote.

    Nobody is asked. Empty where the host's name tells no forge, or no branch of a remote has the commit.
    """
    pattern = detection.code_address(detection.read_origin(workspace.repo.remote_url()), workspace.environ)
    if not pattern:
        return ""
    asked = ("rev-list", "--max-count=1", f"{commit}^{{commit}}", "--not", "--remotes", "--")
    try:
        done = workspace.repo.git(*asked, environment=PLAIN_GRAPH, timeout_s=_PUSHED_S)
    except GitTimeoutError:
        return ""
    if done.returncode or done.stdout:
        return ""
    return pattern.replace("{commit}", commit).replace("{file}", quote(os.fsencode(path)))


def _secret(workspace: Workspace, registration: Registration, place: TrackerPlace) -> Secret | None:
    def credentials(url: str) -> str:
        done = workspace.repo.git(
            "credential", "fill", stdin=f"url={url}\n\n".encode(), environment={"GIT_ASKPASS": "false"}
        )
        lines = done.stdout.decode("utf-8", "replace").splitlines()
        return next((line.partition("=")[2] for line in lines if line.startswith("password=")), "")

    asked = credentials if workspace.config.tracker_credentials == "git" else None
    return find_secret(registration, place, workspace.environ, asked)
