"""Gitea and Forgejo (Codeberg): REST, version 1.

https://docs.gitea.com/api/ (issueListIssues), and the server's modules/structs/issue.go

``GET /api/v1/repos/{owner}/{repo}/issues`` with ``state=all``, ``since``, ``limit`` (the server caps it, at
50 unless configured) and ``page``; the header Link names the next page, ``X-Total-Count`` counts all.
There is no order by update: newest first. An item's fields are those of GitHub's listing (``number``,
``title``, ``body``, ``state``, ``labels``, ``assignees``, ``user``, ``created_at``, ``updated_at``,
``closed_at``, ``html_url``), and ``original_author``, who wrote what was imported; a pull request has
``pull_request`` with ``merged_at``.

The same with ``type=issues`` and ``q`` searches, by some servers for all of it as it stands: for one word.

``tea login helper get`` is a credential helper (https://gitea.com/gitea/tea, cmd/login/helper.go): it finds
a login by host and port.

Not mapped: comments, milestones, dependencies (the listing does not even count them: two calls an issue).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from gitrag.trackers.base import Order, Page, Registration, TrackerPlace, TrackerSetting
from gitrag.trackers.fields import Json, count, objects, required, text
from gitrag.trackers.github import closed_by_merged, to_issue
from gitrag.trackers.http import SEARCHED, Http, HttpTracker
from gitrag.trackers.issue import Issue
from gitrag.trackers.paging import Walk

_PAGE = 50


class Gitea(HttpTracker):
    """A repository's issues."""

    order = Order.ANY

    def __init__(self, setting: TrackerSetting) -> None:
        place, secret = setting.place, setting.secret
        self._project = place.project
        self._http = Http(
            TrackerPlace(place.tracker, f"{place.base}/api/v1", place.project),
            f"token {secret.value}" if secret else "",
            check=TRACKER.check,
            note=setting.note,
        )

    def _page(self, since: datetime | None, cursor: str | None) -> Page:
        page = int(cursor or "1")
        params: dict[str, str | int] = {"state": "all", "limit": _PAGE, "page": page}
        if bound := Walk(since).bound:
            params["since"] = bound
        answer = self._http.get(f"/repos/{self._project}/issues", params)
        found = objects(answer.data, "the answer")
        more = answer.link("next") is not None and bool(found)
        issues = tuple(_to_issue(item) for item in found if not item.get("pull_request"))
        return Page(
            issues,
            others=tuple(required(item, "number") for item in found if item.get("pull_request")),
            cursor=str(page + 1) if more else None,
            total=count(answer.headers.get("x-total-count", "")),
            is_upper_bound=any(item.get("pull_request") for item in found),
            merged=tuple(closed_by_merged(found, self._project)),
            at=answer.at,
        )

    def _found(self, words: Sequence[str]) -> tuple[Issue, ...]:
        params: dict[str, str | int] = {"state": "all", "type": "issues", "q": words[0], "limit": SEARCHED}
        found = objects(self._http.get(f"/repos/{self._project}/issues", params).data, "the answer")
        return tuple(_to_issue(item) for item in found if not item.get("pull_request"))


def _to_issue(item: Json) -> Issue:
    issue = to_issue(item)
    return replace(issue, author=text(item, "original_author") or issue.author, tracker=TRACKER.name)


TRACKER = Registration(
    name="gitea",
    open=Gitea,
    hosts=("gitea.com", "codeberg.org"),
    labels=("gitea", "forgejo"),
    project="owner/name",
    variables=("GITEA_TOKEN", "FORGEJO_TOKEN"),
    server_variables=("GITEA_SERVER_URL", "GITEA_HOST", "FORGEJO_HOST"),
    cli=("tea", "login", "helper", "get"),
    cli_input="protocol=https\nhost={address}\n\n",
    probe=("/api/v1/version", "version"),
    check="tea login list",
)
