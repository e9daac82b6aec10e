"""Bringing the files of ``.sdd/issues`` up to date with a tracker.

The next page is fetched while one is written. The cursor moves only past what is written, and never past the
tracker's own clock.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from gitrag.trackers.base import Order, Page, Place, Tracker, TrackerError
from gitrag.trackers.folder import Folder, Meta, is_file_name
from gitrag.trackers.issue import Issue, Status, read_moment, show_moment

_POLL_S = 0.1
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a tracker is waited for; as long as it takes where nothing is said.

    Attributes:
        limit_s: What is told where it was not enough, seconds.
        deadline: When a sync must be done, as of `time.monotonic`; None for any time.
    """

    limit_s: float | None = None
    deadline: float | None = None

    @property
    def left_s(self) -> float | None:
        """Seconds that the next page may take; None for any number."""
        return self.limit_s if self.deadline is None else self.deadline - time.monotonic()


UNLIMITED = Patience()


class LateError(Exception):
    """A page took longer than it may."""


_Item = Page | BaseException | None
"""A page, what was raised in its stead, or that there is none left."""


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync did.

    Attributes:
        tracker: The tracker's name.
        seen: Issues the tracker gave.
        written: Files that changed or are new.
        removed: Files of issues that are gone.
        odd: Lines about what was left out.
        whole: Whether every issue was asked for.
        seconds: How long it took.
    """

    tracker: str
    seen: int
    written: int
    removed: int
    odd: tuple[str, ...]
    whole: bool
    seconds: float


def sync(
    tracker: Tracker,
    place: Place,
    folder: Folder,
    *,
    full: bool = False,
    since: datetime | None = None,
    patience: Patience = UNLIMITED,
    begun: Callable[[str], None] = lambda _count: None,
    advance: Callable[[int, int | None], None] = lambda _done, _total: None,
) -> Synced:
    """Write what changed since the last sync; the folder must be locked.

    Args:
        tracker: Gives the issues.
        place: Where they are; a folder with another place's issues is synced in full.
        folder: Where the files are.
        full: Ask for every issue, and remove the files of those that are gone.
        since: Ask only for what was updated since then; the cursor stays behind what is not asked for.
        patience: How long the tracker is waited for.
        begun: Called once, with how many issues are coming: ``12``, or ``100+`` when nobody knows.
        advance: Called with how many came, of how many.

    Raises:
        TrackerError: The tracker does not answer, or not with issues; what was written stays.
        NetworkError: There is no way to it.
        StoreError: A file cannot be written.
    """
    begin = time.monotonic()
    known = folder.read_meta()
    meta = known if known is not None and known.place == str(place) else Meta(str(place), place.tracker)
    whole = since is None and (full or not meta.cursor or tracker.order is Order.WHOLE)
    start = None if whole else since or meta.since
    moves = since is None or (meta.since is not None and since <= meta.since)
    state = _State(folder, meta, known, ascending=tracker.order is Order.ASCENDING and moves)
    total: int | None = None
    done = 0
    for page in _within(patience, place.tracker, ahead(pages(tracker, start), lambda: patience.left_s)):
        if not state.pages:
            total = page.total
            begun(_count(page))
        state.take(page)
        done += len(page.issues) + page.others
        advance(done, None if total is None else max(done, total))
    removed = state.removed
    if whole:
        for issue_id in folder.ids():
            if issue_id not in state.seen:
                removed += folder.remove(issue_id)
    if moves:
        state.finish()
    return Synced(
        place.tracker,
        len(state.seen),
        state.written,
        removed,
        tuple(state.odd),
        whole,
        time.monotonic() - begin,
    )


class _State:
    """How far a sync is."""

    def __init__(self, folder: Folder, meta: Meta, known: Meta | None, *, ascending: bool) -> None:
        self.seen: set[str] = set()
        self.written = 0
        self.removed = 0
        self.pages = 0
        self.odd: dict[str, None] = {}  # each line once: an issue may come twice
        self._folder = folder
        self._meta = meta
        self._noted = known
        self._ascending = ascending
        self._merged = set(meta.merged)
        self._newest: datetime | None = None
        self._clock = datetime.now(UTC)

    def take(self, page: Page) -> None:
        """Write a page, and note that it is written."""
        self.pages += 1
        if self.pages == 1 or self._ascending:
            self._clock = page.at or self._clock
        if (
            self.pages == 1 and self._noted != self._meta
        ):  # another tracker's, or none: nothing is sure any more
            self._note(self._meta)
        self.odd.update(dict.fromkeys(page.odd))
        self._mark_merged(page.merged)
        for issue in page.issues:
            self._write(issue)
        for issue_id in page.gone:
            self.removed += self._folder.remove(issue_id)
        if self._ascending:
            self._note(replace(self._meta, cursor=self._cursor(), merged=self._merged_ids()))

    def finish(self) -> None:
        """Note that all has been written."""
        meta = replace(
            self._meta, cursor=self._cursor(), complete=True, synced=time.time(), merged=self._merged_ids()
        )
        self._note(meta)

    def _write(self, issue: Issue) -> None:
        if not is_file_name(issue.id):
            self.odd[f"left out, its id is no file name: {issue.id[:_SHOWN]!r}"] = None
            return
        if issue.status is Status.CLOSED and issue.id in self._merged:
            issue = replace(issue, status=Status.MERGED)
        self.seen.add(issue.id)
        self.written += self._folder.write(issue)
        if issue.updated:
            updated = read_moment(issue.updated)
            self._newest = max(self._newest or updated, updated)

    def _mark_merged(self, ids: tuple[str, ...]) -> None:
        """Note which issues a merged change closes, and mend the files of those that came before it."""
        for issue_id in set(ids) - self._merged:
            self._merged.add(issue_id)
            issue = self._folder.read(issue_id)
            if issue is not None and issue.status is Status.CLOSED:
                self.written += self._folder.write(replace(issue, status=Status.MERGED))

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


def pages(tracker: Tracker, since: datetime | None) -> Iterator[Page]:
    """Give a listing's pages, one after the other."""
    cursor: str | None = None
    while True:
        page = tracker.fetch(since, cursor)
        yield page
        if page.cursor is None:
            return
        if page.cursor == cursor:
            raise TrackerError("The tracker gives the same page again and again.", "Try again later.")
        cursor = page.cursor


def _count(first: Page) -> str:
    """Say how many issues are coming, from the first page."""
    if first.cursor is None:
        return f"{len(first.issues):,}"
    return f"{len(first.issues):,}+" if first.total is None else f"{first.total:,}"


def _within(patience: Patience, name: str, source: Iterator[Page]) -> Iterator[Page]:
    """Give the same pages, and raise an error once they take too long."""
    try:
        yield from source
    except LateError as error:
        raise TrackerError(
            f"{name} took longer than {patience.limit_s:g} s.",
            "What came is kept; `gitrag issues sync` takes the time it needs.",
        ) from error


def ahead(source: Iterator[Page], left_s: Callable[[], float | None] = lambda: None) -> Iterator[Page]:
    """Give the same pages, the next one being fetched while the caller is busy with one.

    Args:
        source: The pages.
        left_s: Says how many seconds the next one may take; None for any number.

    Raises:
        LateError: A page took longer. Whoever fetches it is left alone.
    """
    waiting: queue.Queue[_Item] = queue.Queue(maxsize=1)
    stopped = threading.Event()
    threading.Thread(target=_put_all, args=[source, waiting, stopped], daemon=True, name="fetch").start()
    try:
        while (item := _get(waiting, left_s())) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stopped.set()


def _get(waiting: queue.Queue[_Item], seconds: float | None) -> _Item:
    if seconds is not None and seconds <= 0:
        raise LateError
    try:
        return waiting.get(timeout=seconds)
    except queue.Empty as error:
        raise LateError from error


def _put_all(source: Iterator[Page], waiting: queue.Queue[_Item], stopped: threading.Event) -> None:
    """Put pages, and last None or what was raised, until nobody takes them."""

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
    except BaseException as error:  # noqa: BLE001 - raised where the pages are taken
        put(error)
    else:
        put(None)
