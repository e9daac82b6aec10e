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
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from gitrag.trackers.base import IssuePage, Order, Registration, TrackerAuthError, TrackerSetting
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

_DEEPEST = 60
"""Deepest nesting that is read: lists in tables in panels need ten levels. Below Python's recursion limit."""

_MARKS = {"strong": "**", "em": "_", "code": "`", "strike": "~~"}


def to_markdown(document: Any) -> str:
    """Return a document as Markdown; an empty string for anything that is not a document."""
    return "\n\n".join(_blocks(document, 0)).strip()


def _blocks(node: Any, depth: int) -> list[str]:
    return [text for child in _content(node, depth) if (text := _block(child, depth + 1))]


def _block(node: Any, depth: int) -> str:
    kind = node.get("type")
    attributes = _attributes(node)
    inner = _block_writers().get(kind)
    if inner:
        return inner(node, depth)
    if kind == "heading":
        level = attributes.get("level")
        return "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1) + " " + _inline(node, depth)
    if kind == "codeBlock":
        language = attributes.get("language")
        return f"```{language if isinstance(language, str) else ''}\n{_plain(node, depth)}\n```"
    if kind == "rule":
        return "---"
    if kind in {"blockCard", "embedCard"}:
        return str(attributes.get("url", ""))
    return _joined(node, depth) if any(map(_is_block, _content(node, depth))) else _inline(node, depth)


def _block_writers() -> dict[str, Callable[[Any, int], str]]:
    return {
        "paragraph": _inline,
        "bulletList": lambda node, depth: _list(node, depth, lambda _place, _item: "- "),
        "orderedList": lambda node, depth: _list(node, depth, lambda place, _item: f"{place}. "),
        "taskList": lambda node, depth: _list(node, depth, _task_mark),
        "decisionList": lambda node, depth: _list(node, depth, lambda _place, _item: "- "),
        "blockquote": lambda node, depth: _indent(_joined(node, depth), "> ", "> "),
        "panel": lambda node, depth: _indent(_joined(node, depth), "> ", "> "),
        "table": _table,
    }


def _joined(node: Any, depth: int) -> str:
    return "\n\n".join(_blocks(node, depth))


def _task_mark(_place: int, item: Any) -> str:
    return "- [x] " if _attributes(item).get("state") == "DONE" else "- [ ] "


def _list(node: Any, depth: int, mark: Callable[[int, Any], str]) -> str:
    lines = []
    for place, item in enumerate(_content(node, depth), 1):
        blocks = (
            _blocks(item, depth + 1) if any(map(_is_block, _content(item, depth))) else [_inline(item, depth)]
        )
        bullet = mark(place, item)
        lines.append(_indent("\n".join(blocks), bullet, " " * len(bullet)))
    return "\n".join(lines)


def _table(node: Any, depth: int) -> str:
    rows = []
    for row in _content(node, depth):
        cells = [" ".join(_joined(cell, depth + 2).split()) for cell in _content(row, depth + 1)]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        if len(rows) == 1:
            rows.append("|" + " --- |" * len(cells))
    return "\n".join(rows)


def _inline(node: Any, depth: int) -> str:
    return "".join(_span(child, depth + 1) for child in _content(node, depth))


def _span(node: Any, depth: int) -> str:
    kind, attributes = node.get("type"), _attributes(node)
    if kind == "text":
        return _marked(node)
    if kind == "hardBreak":
        return "\n"
    if kind in {"mention", "emoji", "status", "date", "inlineCard"}:
        names = ("text", "shortName", "url", "timestamp")
        return next((str(attributes[name]) for name in names if attributes.get(name)), "")
    return _inline(node, depth)


def _marked(node: Any) -> str:
    text = str(node.get("text", ""))
    marks = node.get("marks")
    for mark in marks if isinstance(marks, list) else []:
        if not isinstance(mark, dict):
            continue
        sign = _MARKS.get(str(mark.get("type")), "")
        text = f"{sign}{text}{sign}"
        if mark.get("type") == "link":
            text = f"[{text}]({_attributes(mark).get('href', '')})"
    return text


def _plain(node: Any, depth: int) -> str:
    return "".join(str(child.get("text", "")) for child in _content(node, depth))


def _is_block(node: Any) -> bool:
    return node.get("type") not in {"text", "hardBreak", "mention", "emoji", "status", "date", "inlineCard"}


def _content(node: Any, depth: int) -> list[Any]:
    children = node.get("content") if isinstance(node, dict) and depth < _DEEPEST else None
    return [child for child in children if isinstance(child, dict)] if isinstance(children, list) else []


def _attributes(node: Any) -> dict[str, Any]:
    found = node.get("attrs")
    return found if isinstance(found, dict) else {}


def _indent(text: str, first: str, rest: str) -> str:
    head, *tail = text.split("\n")
    return "\n".join([first + head, *(rest + line if line else line for line in tail)])


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

    def _page(self, since: datetime | None, cursor: str | None) -> IssuePage:
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

    def _token_page(self, params: dict[str, str | int], cursor: str | None) -> IssuePage:
        answer = self._http.get(
            "/rest/api/2/search/jql", params | ({"nextPageToken": cursor} if cursor else {})
        )
        data = as_object(answer.data, "the answer")
        found = self._issues(data)
        following = text(data, "nextPageToken")
        total = len(found) if not cursor and not following else None
        return IssuePage(found, cursor=following or None, total=total, at=answer.at)

    def _numbered_page(self, params: dict[str, str | int], start: int) -> IssuePage:
        answer = self._http.get("/rest/api/2/search", params | {"startAt": start})
        data = as_object(answer.data, "the answer")
        found = self._issues(data)
        total = number(data, "total")
        end = start + len(found)
        more = bool(found) and end < total
        following = end - min(_OVERLAP, len(found) // 2)
        return IssuePage(found, cursor=str(following) if more else None, total=total, at=answer.at)

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
