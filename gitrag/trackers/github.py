"""GitHub, and GitHub Enterprise: REST.

https://docs.github.com/en/rest/issues/issues#list-repository-issues

``GET /repos/{owner}/{repo}/issues`` with ``state=all``, ``sort=updated``, ``direction=asc``, ``since``,
``per_page`` (100 at most) and ``page``. An item's fields: ``number``, ``title``, ``body`` (null when empty),
``state`` (open, closed), ``labels`` (objects with ``name``, or texts), ``assignees`` and ``user`` with
``login`` (null for a deleted account), ``created_at``, ``updated_at``, ``closed_at``, ``html_url``.

https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api

The header Link names the next page and, where it can be computed, the last. Of a large listing the pages
from some number on are refused (422); the link to the next has ``after`` in its place:
https://github.com/google/go-github/issues/3565

https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue

The listing holds pull requests too: they have ``pull_request``, whose ``merged_at`` is null until they are
merged. Which issues one closes stands in its body. (GitHub heeds that of those into the default branch alone;
which branch it is, the listing does not tell.)

https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api

403 and 429 may both be a rate limit; of the secondary one perhaps only ``message`` tells.

No version is asked for: one that is retired answers 410, no version gives the oldest there is
(https://docs.github.com/en/rest/about-the-rest-api/api-versions), and these fields are in all of them.

https://docs.github.com/en/rest/issues/issue-dependencies

An item's ``issue_dependencies_summary`` counts what blocks it (``total_blocked_by``) and what it blocks
(``total_blocking``). Which these are, ``{number}/dependencies/blocked_by`` and ``…/blocking`` list; asked
only where there are any, and for the first hundred of them.

https://docs.github.com/en/rest/search/search#search-issues-and-pull-requests

``GET /search/issues`` with ``q`` gives ``items`` like the listing's, the best match first.

Not mapped: comments, milestones, reactions, sub-issues and pull requests linked by hand in the sidebar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from urllib.parse import urlsplit

from gitrag.trackers.base import IssuePage, Order, Registration, TrackerSetting
from gitrag.trackers.fields import Json, as_object, count, names, number, objects, part, required, text, when
from gitrag.trackers.http import MOST_WORDS, SEARCHED, Http, HttpTracker, ServerResponse, Walk
from gitrag.trackers.issue import Issue, IssueState, find_references

_PAGE = 100
_API = "https://api.github.com"
_TENANTS = ".ghe.com"
_CLOSES = re.compile(
    r"(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+"
    r"(?:(?P<repository>[\w.-]+/[\w.-]+)?#|https?://[^\s/]+/(?P<linked>[\w.-]+/[\w.-]+)/issues/)(?P<number>\d+)"
)


class GitHub(HttpTracker):
    """A repository's issues."""

    order = Order.ASCENDING

    def __init__(self, setting: TrackerSetting) -> None:
        place, secret = setting.place, setting.secret
        self._project = place.project
        authorization = f"Bearer {secret.value}" if secret else ""
        self._http = Http(setting, authorization, TRACKER.check, base=api_of(place.base), meaning=_meaning)

    def _page(self, since: datetime | None, cursor: str | None) -> IssuePage:
        walk = Walk.start(since, cursor)
        params: dict[str, str | int] = {"state": "all", "sort": "updated", "direction": "asc"}
        params |= {"per_page": _PAGE}
        params |= {"after": walk.after} if walk.after else {"page": walk.page}
        if walk.bound:
            params["since"] = walk.bound
        answer = self._http.get(f"/repos/{self._project}/issues", params)
        found = objects(answer.data, "the answer")
        following = answer.link("next") if found else None
        last = when(found[-1], "updated_at") if found else ""
        issues = tuple(self._with_links(item) for item in found if not item.get("pull_request"))
        return IssuePage(
            issues,
            others=tuple(required(item, "number") for item in found if item.get("pull_request")),
            cursor=None if following is None else walk.next(last, following.get("after", "")),
            total=_total(answer, len(found)) if cursor is None else None,
            is_upper_bound=True,  # of whole pages, with the pull requests
            merged=tuple(closed_by_merged(found, self._project)),
            at=answer.at,
        )

    def _found(self, words: Sequence[str]) -> tuple[Issue, ...]:
        wanted = f"({' OR '.join(words[:MOST_WORDS])}) repo:{self._project} is:issue"
        params: dict[str, str | int] = {"q": wanted, "advanced_search": "true", "per_page": SEARCHED}
        data = as_object(self._http.get("/search/issues", params).data, "the answer")
        return tuple(map(to_issue, objects(data.get("items"), "items")))

    def _with_links(self, item: Json) -> Issue:
        counted, own = part(item, "issue_dependencies_summary"), required(item, "number")
        blocks, blocked_by = (
            self._linked(own, relation) if own.isdecimal() and number(counted, f"total_{relation}") else ()
            for relation in ("blocking", "blocked_by")
        )
        return to_issue(item, blocks, blocked_by)

    def _linked(self, own: str, relation: str) -> tuple[str, ...]:
        path = f"/repos/{self._project}/issues/{own}/dependencies/{relation}"
        return linked(self._http.get(path, {"per_page": _PAGE}), self._project)


def linked(answer: ServerResponse, project: str) -> tuple[str, ...]:
    """Return the numbers of those issues of an answer that are in the repository."""
    return tuple(
        required(each, "number")
        for each in objects(answer.data, "the answer")
        if f"/{project}/issues/".lower() in text(each, "html_url").lower()
    )


def to_issue(
    item: Json,
    blocks: Iterable[str] = (),
    blocked_by: Iterable[str] = (),
    tracker: str = "github",
    keys: tuple[str, str, str, str, str] = ("number", "body", "user", "login", "html_url"),
) -> Issue:
    """Convert an item of the listing to an issue, with the links that the tracker keeps.

    Args:
        keys: Of its number, its text, its author, what people are called by, and its page.
    """
    key, text_of, author, person, url = keys
    own, title, body = required(item, key), text(item, "title"), text(item, text_of)
    return Issue(
        id=own,
        title=title,
        status=IssueState.CLOSED if text(item, "state") == "closed" else IssueState.OPEN,
        labels=names(item, "labels", "name"),
        assignees=names(item, "assignees", person),
        author=text(part(item, author), person),
        created=when(item, "created_at"),
        updated=when(item, "updated_at"),
        closed=when(item, "closed_at"),
        url=text(item, url),
        tracker=tracker,
        references=find_references(own, title, body, blocks=blocks, blocked_by=blocked_by),
        body=body,
    )


def closed_by_merged(found: Iterable[Json], project: str) -> Iterable[str]:
    """Yield the numbers of the issues that the merged pull requests among the items say they close."""
    for item in found:
        if text(part(item, "pull_request"), "merged_at"):
            for mention in _CLOSES.finditer(text(item, "body")):
                other = mention["repository"] or mention["linked"] or project
                if other.lower() == project.lower():
                    yield mention["number"]


def api_of(base: str) -> str:
    """Return the URL of a server's REST API.

    Enterprise Server has it under ``/api/v3``, each tenant of Enterprise Cloud at a host of its own:
    https://docs.github.com/en/enterprise-cloud@latest/admin/data-residency/network-details-for-ghecom
    """
    host = urlsplit(base).hostname or ""
    if host in TRACKER.hosts:
        return _API
    if host.endswith(_TENANTS):
        return f"https://api.{host}"
    return base if base.endswith("/api/v3") else f"{base}/api/v3"


def _total(answer: ServerResponse, found: int) -> int | None:
    """Return an upper bound on the number of items; None if no last page is named."""
    if answer.link("next") is None:
        return found
    pages = count((answer.link("last") or {}).get("page", ""))
    return None if pages is None else pages * _PAGE


def _meaning(status: int, content: bytes) -> int:
    """Return the status that an answer really means: 429 for a 403 by the secondary rate limit."""
    return 429 if status == 403 and b"secondary rate limit" in content.lower() else status


TRACKER = Registration(
    name="github",
    open=GitHub,
    hosts=("github.com",),
    aliases=("www.github.com", "api.github.com", "ssh.github.com"),
    labels=("github",),
    project="owner/name",
    variables=("GH_TOKEN", "GITHUB_TOKEN"),
    other_variables=("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"),
    server_variables=("GH_HOST",),
    cli=("gh", "auth", "token", "--hostname", "{host}"),
    probe=("/api/v3/meta", "x-github-request-id"),
    check="gh auth status",
    code="/blob/{commit}/{file}#L{first}-L{last}",
)
