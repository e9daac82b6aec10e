"""GitLab: REST, version 4.

https://docs.gitlab.com/api/issues/#list-project-issues

``GET /api/v4/projects/{id}/issues`` (the id is the path, percent-encoded) with ``scope=all``,
``order_by=updated_at``, ``sort=asc``, ``updated_after``, ``per_page`` (100 at most) and ``page``; the header
``X-Next-Page`` is empty on the last page, ``X-Total`` is left out above 10,000
(https://docs.gitlab.com/api/rest/#pagination-response-headers). An item's fields: ``iid``, ``title``,
``description``, ``state`` (opened, closed), ``labels`` (texts), ``assignees`` and ``author`` with
``username``, ``created_at``, ``updated_at``, ``closed_at``, ``web_url``. Merge requests are another listing.

``search`` finds those whose title or description have all that is given: it is asked for one word.

``glab config get token --host {host}`` prints the token, or nothing:
https://docs.gitlab.com/cli/config/get/

Not mapped: comments, milestones, weights, linked issues and which merge request closes one (a call an issue:
an issue is closed here, never merged).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from urllib.parse import quote

from gitrag.trackers.base import IssuePage, Order, Registration, TrackerSetting
from gitrag.trackers.fields import Json, count, objects, when
from gitrag.trackers.github import to_issue
from gitrag.trackers.http import SEARCHED, Http, HttpTracker, Walk
from gitrag.trackers.issue import Issue

_PAGE = 100


class GitLab(HttpTracker):
    """A project's issues."""

    order = Order.ASCENDING

    def __init__(self, setting: TrackerSetting) -> None:
        place, secret = setting.place, setting.secret
        self._path = f"/projects/{quote(place.project, safe='')}/issues"
        authorization = f"Bearer {secret.value}" if secret else ""
        self._http = Http(setting, authorization, TRACKER.check, base=f"{place.base}/api/v4")

    def _page(self, since: datetime | None, cursor: str | None) -> IssuePage:
        walk = Walk.start(since, cursor)
        params: dict[str, str | int] = {"scope": "all", "order_by": "updated_at", "sort": "asc"}
        params |= {"per_page": _PAGE, "page": walk.page}
        if walk.bound:
            params["updated_after"] = walk.bound
        answer = self._http.get(self._path, params)
        found = objects(answer.data, "the answer")
        more = bool(answer.headers.get("x-next-page", "").strip()) and bool(found)
        return IssuePage(
            issues=tuple(_to_issue(item) for item in found),
            cursor=walk.next(when(found[-1], "updated_at")) if more else None,
            total=count(answer.headers.get("x-total", "")),
            at=answer.at,
        )

    def _found(self, words: Sequence[str]) -> tuple[Issue, ...]:
        params: dict[str, str | int] = {"scope": "all", "search": words[0], "per_page": SEARCHED}
        return tuple(
            _to_issue(item) for item in objects(self._http.get(self._path, params).data, "the answer")
        )


def _to_issue(item: Json) -> Issue:
    return to_issue(item, (), (), TRACKER.name, ("iid", "description", "author", "username", "web_url"))


TRACKER = Registration(
    name="gitlab",
    open=GitLab,
    hosts=("gitlab.com",),
    aliases=("www.gitlab.com", "altssh.gitlab.com"),
    labels=("gitlab",),
    project="group/name",
    variables=("GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN"),
    server_variables=("GITLAB_HOST", "GITLAB_URI", "GL_HOST"),
    cli=("glab", "config", "get", "token", "--host", "{host}"),
    probe=("/api/v4/version", "x-gitlab-meta"),
    check="glab auth status",
    code="/-/blob/{commit}/{file}#L{first}-{last}",
)
