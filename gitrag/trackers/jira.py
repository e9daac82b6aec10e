"""Jira, Cloud and Data Center: REST, version 2, whose descriptions are wiki text; version 3's are read too.

``GET /rest/api/2/serverInfo`` says which it is (``deploymentType``: Cloud, or Server) and its clock
(``serverTime``).

Cloud: https://developer.atlassian.com/cloud/jira/platform/rest/v2/api-group-issue-search/
``GET /rest/api/2/search/jql`` with ``jql``, ``fields``, ``maxResults`` and ``nextPageToken``; the answer has
``issues`` (fewer than asked for where they are large) and, but on the last page, ``nextPageToken``. It does
not say how many there are.

Data Center: https://developer.atlassian.com/server/jira/platform/rest/ (search)
``GET /rest/api/2/search`` with ``startAt`` in its place; the answer has ``total`` and ``issues``.

A project that is not there, or not for this token, is an error of the query: 400, with ``errorMessages`` that
name it in the user's language.

An issue has ``key`` and ``fields``: ``summary``, ``description``, ``status`` with ``name`` and
``statusCategory.key`` (new, indeterminate, done), ``labels``, ``assignee``, ``creator`` (``displayName``;
Data Center: ``name``), ``created``, ``updated``, ``resolutiondate``, and ``issuelinks``: a link has
``type.outward`` ("blocks") with ``outwardIssue.key``, or ``type.inward`` ("is blocked by") with
``inwardIssue.key``.

JQL compares times to the minute, in the time zone of the user's profile; "-90m", minutes before now, has no
zone. ``text ~ "word"`` searches what an issue says.

Not mapped: comments, sprints, priorities, custom fields, attachments.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from gitrag.trackers.adf import to_markdown
from gitrag.trackers.base import Order, Page, Registration, TrackerAuthError, TrackerSetting
from gitrag.trackers.fields import (
    Json,
    as_object,
    items,
    names,
    number,
    objects,
    part,
    required,
    text,
    when,
)
from gitrag.trackers.http import MOST_WORDS, SEARCHED, Http, HttpTracker
from gitrag.trackers.issue import Issue, IssueState, find_references, read_moment

_PAGE = 100
_FIELDS = "summary,description,status,labels,assignee,creator,created,updated,resolutiondate,issuelinks"
_CLOUD = ".atlassian.net"
_LAG = timedelta(minutes=5)
"""Cloud's search index may lag a little; asking for more only lists some unchanged issues again."""

_OVERLAP = 10
"""Issues of a Data Center's page that are listed again on the next: up to so many updates in between, which
shift the pages, make no issue be missed."""


class Jira(HttpTracker):
    """A project's issues."""

    order = Order.ASCENDING

    def __init__(self, setting: TrackerSetting) -> None:
        self._place = setting.place
        self._http = Http(setting, _authorization(setting), TRACKER.check, meaning=self._meaning)
        self._server: Json | None = None
        self._bears_token = setting.secret is not None and not _account(setting)

    def _page(self, since: datetime | None, cursor: str | None) -> Page:
        try:
            server = self._known_server()
            at = _clock(server)
            jql = self._jql(since, at)
            params: dict[str, str | int] = {"jql": jql, "fields": _FIELDS, "maxResults": _PAGE}
            if _is_cloud(server):
                return self._token_page(params, cursor)
            return self._numbered_page(params, int(cursor or "0"))
        except TrackerAuthError as error:
            if not self._lacks_account:
                raise
            raise TrackerAuthError(
                str(error), f"Jira Cloud wants the token's account, too: set {_ACCOUNTS[0]}."
            ) from error

    def _found(self, words: Sequence[str]) -> tuple[Issue, ...]:
        wanted = " OR ".join(f'text ~ "{word}"' for word in words[:MOST_WORDS])
        jql = f'project = "{self._place.project}" AND ({wanted}) ORDER BY updated DESC'
        path = "/rest/api/2/search/jql" if _is_cloud(self._known_server()) else "/rest/api/2/search"
        answer = self._http.get(path, {"jql": jql, "fields": _FIELDS, "maxResults": SEARCHED})
        return self._issues(as_object(answer.data, "the answer"))

    def _known_server(self) -> Json:
        if self._server is None:
            self._server = as_object(self._http.get("/rest/api/2/serverInfo", {}).data, "the answer")
        return self._server

    def _token_page(self, params: dict[str, str | int], cursor: str | None) -> Page:
        answer = self._http.get(
            "/rest/api/2/search/jql", params | ({"nextPageToken": cursor} if cursor else {})
        )
        data = as_object(answer.data, "the answer")
        found = self._issues(data)
        following = text(data, "nextPageToken")
        total = len(found) if not cursor and not following else None
        return Page(found, cursor=following or None, total=total, at=answer.at)

    def _numbered_page(self, params: dict[str, str | int], start: int) -> Page:
        answer = self._http.get("/rest/api/2/search", params | {"startAt": start})
        data = as_object(answer.data, "the answer")
        found = self._issues(data)
        total = number(data, "total")
        end = start + len(found)
        more = bool(found) and end < total
        following = end - min(_OVERLAP, len(found) // 2)
        return Page(found, cursor=str(following) if more else None, total=total, at=answer.at)

    def _issues(self, data: Json) -> tuple[Issue, ...]:
        return tuple(self._to_issue(item) for item in objects(data.get("issues"), "issues"))

    @property
    def _lacks_account(self) -> bool:
        host = urlsplit(self._place.base).hostname or ""
        cloud = host.endswith(_CLOUD) if self._server is None else _is_cloud(self._server)
        return cloud and self._bears_token

    def _meaning(self, status: int, content: bytes) -> int:
        """Return the status that an answer really means."""
        named = f"'{self._place.project}'".encode() in content
        return 404 if status == 400 and named else status

    def _jql(self, since: datetime | None, at: datetime) -> str:
        bound = ""
        if since is not None:
            minutes = max(0, math.ceil((at - since + _LAG) / timedelta(minutes=1)))
            bound = f' AND updated >= "-{minutes}m"'
        return f'project = "{self._place.project}"{bound} ORDER BY updated ASC, key ASC'

    def _to_issue(self, item: Json) -> Issue:
        key, fields = required(item, "key"), part(item, "fields")
        title, body = text(fields, "summary"), _description(fields.get("description"))
        blocks, blocked_by = _links(fields)
        return Issue(
            id=key,
            title=title,
            status=_status(part(fields, "status")),
            labels=names(fields, "labels", "name"),
            assignees=names({"all": [part(fields, "assignee")]}, "all", "name", "displayName"),
            author=_person(part(fields, "creator")),
            created=when(fields, "created"),
            updated=when(fields, "updated"),
            closed=when(fields, "resolutiondate"),
            url=f"{self._place.base}/browse/{key}",
            tracker=TRACKER.name,
            references=find_references(key, title, body, blocks=blocks, blocked_by=blocked_by),
            body=body,
        )


def _authorization(setting: TrackerSetting) -> str:
    """Return Cloud's basic authentication if an account is named, else Data Center's personal token."""
    if setting.secret is None:
        return ""
    account = _account(setting)
    if not account:
        return f"Bearer {setting.secret.value}"
    return "Basic " + base64.b64encode(f"{account}:{setting.secret.value}".encode()).decode()


def _account(setting: TrackerSetting) -> str:
    return next((found for name in _ACCOUNTS if (found := setting.environ.get(name))), "")


def _is_cloud(server: Json) -> bool:
    return text(server, "deploymentType").lower() == "cloud"


def _clock(server: Json) -> datetime:
    told = when(server, "serverTime")
    return read_moment(told) if told else datetime.now(UTC)


def _description(value: Any) -> str:
    return to_markdown(value) if isinstance(value, dict) else text({"description": value}, "description")


def _status(status: Json) -> IssueState:
    if text(part(status, "statusCategory"), "key") == "done":
        return IssueState.CLOSED
    return IssueState.DRAFT if text(status, "name").lower() == "draft" else IssueState.OPEN


def _person(person: Json) -> str:
    return text(person, "name") or text(person, "displayName")


def _links(fields: Json) -> tuple[list[str], list[str]]:
    blocks, blocked_by = [], []
    for link in (as_object(each, "issuelinks") for each in items(fields, "issuelinks")):
        kind = part(link, "type")
        outward, inward = part(link, "outwardIssue"), part(link, "inwardIssue")
        if outward and text(kind, "outward").lower() == "blocks":
            blocks.append(required(outward, "key"))
        if inward and text(kind, "inward").lower() == "is blocked by":
            blocked_by.append(required(inward, "key"))
    return blocks, blocked_by


_ACCOUNTS = ("JIRA_EMAIL", "JIRA_USER", "JIRA_USERNAME")

TRACKER = Registration(
    name="jira",
    open=Jira,
    labels=("jira",),
    project="PROJ",
    variables=("JIRA_API_TOKEN", "JIRA_TOKEN", "JIRA_PAT"),
    server_variables=("JIRA_URL", "JIRA_SERVER", "JIRA_BASE_URL"),
)
