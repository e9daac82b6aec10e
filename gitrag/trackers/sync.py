"""Bring the files of ``.sdd/issues`` up to date with a tracker.

The next page is fetched while one is written. The cursor moves only past what is written, and never past the
tracker's own clock.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime

from msgspec import Struct, field
from msgspec.structs import replace

from gitrag.trackers.base import IssuePage, Order, Tracker, TrackerError, TrackerPlace
from gitrag.trackers.folder import IssueFolder, Meta, is_file_name
from gitrag.trackers.issue import Issue, IssueState, read_moment, show_moment

_POLL_S = 0.1
_SHOWN = 60

_FEW = 10
"""Repeated entries that are tolerated before the listing is suspected of going round in circles."""

_KEPT = "What came is kept, and the next sync goes on from there."
_KEPT_ANEW = "What came is kept; the next sync begins anew."


class Bound(Struct, frozen=True):
    """A limit on a sync, in time or in pages.

    Attributes:
        most: Seconds, or pages.
    """

    most: float
    setting: str
    raised: str


class SyncDeadline(Struct, frozen=True):
    """The limits of a sync, in time and in pages; none by default.

    Attributes:
        whole_s: Time limit of all pages together, counted from ``began``.
        began: When this was created, by `time.monotonic`.
    """

    page_s: Bound | None = None
    whole_s: Bound | None = None
    pages: Bound | None = None
    began: float = field(default_factory=time.monotonic)

    @property
    def nearest(self) -> tuple[float, Bound] | None:
        """Seconds that the next page may take, and the limit that applies; None if there is no limit."""
        bounds = [] if self.page_s is None else [(self.page_s.most, self.page_s)]
        if self.whole_s is not None:
            bounds.append((self.began + self.whole_s.most - time.monotonic(), self.whole_s))
        return min(bounds, key=lambda each: each[0], default=None)


class LateError(Exception):
    """A page took too long; the error names the limit."""

    def __init__(self, bound: Bound) -> None:
        super().__init__(bound.setting)
        self.bound = bound


_Item = IssuePage | BaseException | None
"""A page, the exception raised instead, or None after the last page."""


class Synced(Struct, frozen=True):
    """What a sync did.

    Attributes:
        tracker: The tracker's name.
        seen: Issues that the tracker returned.
        written: Files that changed or are new.
        removed: Files removed because their issues were deleted.
        left_out: Lines about entries that were left out.
        whole: Whether every issue was asked for.
        seconds: How long it took.
    """

    tracker: str
    seen: int
    written: int
    removed: int
    left_out: tuple[str, ...]
    whole: bool
    seconds: float


def sync(
    tracker: Tracker,
    place: TrackerPlace,
    folder: IssueFolder,
    *,
    full: bool = False,
    since: datetime | None = None,
    deadline: SyncDeadline | None = None,
    begun: Callable[[str], None] = lambda _count: None,
    advance: Callable[[int, int | None], None] = lambda _done, _total: None,
) -> Synced:
    """Write the issues that changed since the last sync; the folder must be locked.

    Args:
        place: Where they are; a folder with another place's issues is synced in full.
        full: Ask for every issue, and remove the files of deleted ones.
        since: Ask only for what was updated since then; the cursor stays behind what is not asked for.
        deadline: Limits in time and in pages; none by default.
        begun: Called once, with how many issues are coming: ``12``, ``up to 300`` where the tracker counts
            more than issues, ``100+`` where it does not say.
    """
    begin = time.monotonic()
    known = folder.read_meta()
    meta = known if known is not None and known.place == str(place) else Meta(str(place), place.tracker)
    whole = since is None and (full or not meta.cursor or tracker.order is Order.WHOLE)
    start = None if whole else since or meta.since
    moves = since is None or (meta.since is not None and since <= meta.since)
    state = _SyncProgress(folder, meta, known, ascending=tracker.order is Order.ASCENDING and moves)
    total: int | None = None
    done = 0
    kept = _KEPT if tracker.order is Order.ASCENDING and moves else _KEPT_ANEW
    for page in _within(deadline or SyncDeadline(), place.tracker, kept, pages(tracker, start)):
        if not state.pages:
            total = page.total
            begun(_count(page))
        state.take(page)
        if state.goes_round:
            raise TrackerError(
                f"{place.tracker} gives the same issues again and again: "
                f"{state.pages} pages, {state.entries} entries.",
                f"{kept} Its server, or a proxy before it, does not turn its pages.",
            )
        done += len(page.issues) + len(page.others)
        advance(done, None if total is None else max(done, total))
    removed = state.removed
    if whole:
        for issue_id in folder.ids():
            if issue_id not in state.seen:
                removed += folder.remove(issue_id)
    if moves:
        state.finish()
    left_out, took = tuple(state.left_out), time.monotonic() - begin
    return Synced(place.tracker, len(state.seen), state.written, removed, left_out, whole, took)


class _SyncProgress:
    """The progress of a sync."""

    def __init__(self, folder: IssueFolder, meta: Meta, known: Meta | None, *, ascending: bool) -> None:
        self.seen: set[str] = set()
        self.written = 0
        self.removed = 0
        self.pages = 0
        self._entries: set[str] = set()
        self._known_again = 0
        self.left_out: dict[str, None] = {}  # each line once, since an issue may be listed twice
        self._folder = folder
        self._meta = meta
        self._noted = known
        self._ascending = ascending
        self._merged = set(meta.merged)
        self._newest: datetime | None = None
        self._clock = datetime.now(UTC)

    @property
    def entries(self) -> int:
        """How many distinct entries have arrived."""
        return len(self._entries)

    @property
    def goes_round(self) -> bool:
        """Whether the listing repeats itself: nothing new has arrived for a long time.

        Pages may overlap, and the issues of one second may be listed twice, but not all of them.
        """
        return self._known_again > max(len(self._entries), _FEW)

    def take(self, page: IssuePage) -> None:
        """Write a page's issues, and then the progress."""
        self.pages += 1
        entries = {*(issue.id for issue in page.issues), *page.others, *page.gone}
        self._known_again = 0 if entries - self._entries else self._known_again + max(1, len(entries))
        self._entries |= entries
        if self.pages == 1 or self._ascending:
            self._clock = page.at or self._clock
        if self.pages == 1 and self._noted != self._meta:  # of another tracker, or none: start afresh
            self._note(self._meta)
        self.left_out.update(dict.fromkeys(page.left_out))
        self._mark_merged(page.merged)
        for issue in page.issues:
            self._write(issue)
        for issue_id in page.gone:
            self.removed += self._folder.remove(issue_id)
        if self._ascending:
            self._note(replace(self._meta, cursor=self._cursor(), merged=self._merged_ids()))

    def finish(self) -> None:
        """Record that the sync is complete."""
        meta = replace(
            self._meta, cursor=self._cursor(), complete=True, synced=time.time(), merged=self._merged_ids()
        )
        self._note(meta)

    def _write(self, issue: Issue) -> None:
        if not is_file_name(issue.id):
            self.left_out[f"left out, its id is no file name: {issue.id[:_SHOWN]!r}"] = None
            return
        if issue.status is IssueState.CLOSED and issue.id in self._merged:
            issue = replace(issue, status=IssueState.MERGED)
        self.seen.add(issue.id)
        self.written += self._folder.write(issue)
        if issue.updated:
            updated = read_moment(issue.updated)
            self._newest = max(self._newest or updated, updated)

    def _mark_merged(self, ids: tuple[str, ...]) -> None:
        """Record which issues a merged change closes, and update the files of those written before it."""
        for issue_id in set(ids) - self._merged:
            self._merged.add(issue_id)
            issue = self._folder.read(issue_id)
            if issue is not None and issue.status is IssueState.CLOSED:
                self.written += self._folder.write(replace(issue, status=IssueState.MERGED))

    def _cursor(self) -> str:
        if self._newest is None:
            return self._meta.cursor
        reached = min(self._newest, self._clock)
        before = self._meta.since
        return show_moment(reached if before is None else max(reached, before))

    def _merged_ids(self) -> tuple[str, ...]:
        return tuple(sorted(self._merged))

    def _note(self, meta: Meta) -> None:
        if meta != self._noted:
            self._folder.write_meta(meta)
            self._noted = meta
        self._meta = meta


def pages(tracker: Tracker, since: datetime | None) -> Iterator[IssuePage]:
    cursor: str | None = None
    while True:
        page = tracker.fetch(since, cursor)
        yield page
        if page.cursor is None:
            return
        if page.cursor == cursor:
            raise TrackerError("The tracker gives the same page again and again.", "Try again later.")
        cursor = page.cursor


def _count(first: IssuePage) -> str:
    """Return how many issues to expect, judging by the first page."""
    if first.cursor is None:
        return f"{len(first.issues):,}"
    if first.total is None:
        return f"{len(first.issues):,}+"
    return f"up to {first.total:,}" if first.is_upper_bound else f"{first.total:,}"


def _within(deadline: SyncDeadline, name: str, kept: str, source: Iterator[IssuePage]) -> Iterator[IssuePage]:
    """Yield the same pages; raise an error once they take too long or are too many."""
    number = 0
    try:
        for number, page in enumerate(ahead(source, lambda: deadline.nearest), 1):
            yield page
            if deadline.pages is not None and number >= deadline.pages.most and page.cursor is not None:
                raise TrackerError(
                    f"{name} has more than {deadline.pages.most} pages.", _told(deadline.pages, kept)
                )
    except LateError as error:
        raise TrackerError(
            f"{name} took longer than {error.bound.most:g} s.", _told(error.bound, kept)
        ) from error


def _told(bound: Bound, kept: str) -> str:
    return f"{kept} {bound.setting} is {bound.most:.10g}; {bound.raised}"


def ahead(
    source: Iterator[IssuePage], nearest: Callable[[], tuple[float, Bound] | None] = lambda: None
) -> Iterator[IssuePage]:
    """Yield the same pages, and fetch the next one while the caller works on one.

    Args:
        nearest: Returns how many seconds the next page may take, and the limit that applies; None for none.

    Raises:
        LateError: A page took longer. The thread that fetches it is abandoned.
    """
    waiting: queue.Queue[_Item] = queue.Queue(maxsize=1)
    stopped = threading.Event()
    threading.Thread(target=_put_all, args=[source, waiting, stopped], daemon=True, name="fetch").start()
    try:
        while (item := _get(waiting, nearest())) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stopped.set()


def _get(waiting: queue.Queue[_Item], nearest: tuple[float, Bound] | None) -> _Item:
    if nearest is None:
        return waiting.get()
    seconds, bound = nearest
    if seconds <= 0:
        raise LateError(bound)
    try:
        return waiting.get(timeout=seconds)
    except queue.Empty as error:
        raise LateError(bound) from error


def _put_all(source: Iterator[IssuePage], waiting: queue.Queue[_Item], stopped: threading.Event) -> None:
    """Put pages into the queue, and at the end None or the exception raised, until told to stop."""

    def put(item: _Item) -> None:
        while not stopped.is_set():
            with suppress(queue.Full):
                waiting.put(item, timeout=_POLL_S)
                return

    try:
        for page in source:
            put(page)
            if stopped.is_set():
                return
    except BaseException as error:  # noqa: BLE001 - raised again by the consumer of the queue
        put(error)
    else:
        put(None)
