"""Walk through the pages of a listing that is sorted by update time and may change meanwhile. Pure.

When an issue of an earlier page is updated, it moves to the end; the pages shift, and an issue is missed. So
the next page is requested by time: the first page of what was updated since the last issue seen. Only if all
issues of a page have the same time stamp is the next page number, or what comes after the page, requested.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from gitrag.trackers.issue import read_moment, show_moment

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STAMP = timedelta(seconds=1)
"""Time stamps are truncated to the second, and it is not documented whether the bound itself is included."""


class Walk(Struct, frozen=True):
    """The position in a listing.

    Attributes:
        since: Issues updated at or after this time are requested; None for all.
        page: 1-based.
        after: The server's own cursor, used instead of the page number; empty if it has none.
    """

    since: datetime | None
    page: int = 1
    after: str = ""

    @classmethod
    def start(cls, since: datetime | None, cursor: str | None) -> Walk:
        """Begin, or continue from a cursor that `next` returned."""
        if cursor is None:
            return cls(since)
        bound, page, after = json.loads(cursor)
        return cls(read_moment(bound) if bound else None, page, after)

    @property
    def bound(self) -> str | None:
        """The time to send to the server: a second earlier, so that ``since`` itself is always included."""
        return show_moment((max(self.since, _EPOCH) - _STAMP).replace(microsecond=0)) if self.since else None

    def next(self, last_updated: str, after: str = "") -> str:
        """Return the cursor for what follows a page, given when its last issue was updated."""
        last = read_moment(last_updated) if last_updated else None
        moved = last is not None and (self.since is None or last - self.since > _STAMP)
        following = Walk(last) if moved else Walk(self.since, self.page + 1, after)
        bound = show_moment(following.since) if following.since else ""
        return json.dumps([bound, following.page, following.after])
