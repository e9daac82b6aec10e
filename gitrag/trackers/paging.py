"""Walking a listing that is ordered by time of update and numbered in pages, while it changes. Pure.

A page's number shifts when an issue on an earlier page is updated and moves to the end: one slips through.
So the next page is asked for by time, as the first page of what was updated since the last one seen; only
where a whole page bears one time stamp is its number counted up, or asked for what comes after it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gitrag.trackers.issue import read_moment, show_moment

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STAMP = timedelta(seconds=1)
"""Time stamps are cut to the second, and whether the bound itself is included is documented nowhere."""


@dataclass(frozen=True, slots=True)
class Walk:
    """Where a listing is.

    Attributes:
        since: What is asked for: updated at or after; None from the beginning.
        page: 1-based.
        after: What the server names the place by, in the page's stead; empty where it does not.
    """

    since: datetime | None
    page: int = 1
    after: str = ""

    @classmethod
    def start(cls, since: datetime | None, cursor: str | None) -> Walk:
        """Begin, or go on from what `next` gave."""
        if cursor is None:
            return cls(since)
        bound, page, after = json.loads(cursor)
        return cls(read_moment(bound) if bound else None, page, after)

    @property
    def bound(self) -> str | None:
        """What to ask the server for: a second earlier, so that the time itself is included in any case."""
        return show_moment((max(self.since, _EPOCH) - _STAMP).replace(microsecond=0)) if self.since else None

    def next(self, last_updated: str, after: str = "") -> str:
        """Give the cursor of what follows a page whose last issue was updated then."""
        last = read_moment(last_updated) if last_updated else None
        moved = last is not None and (self.since is None or last - self.since > _STAMP)
        following = Walk(last) if moved else Walk(self.since, self.page + 1, after)
        bound = show_moment(following.since) if following.since else ""
        return json.dumps([bound, following.page, following.after])
