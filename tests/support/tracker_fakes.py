"""Servers that answer as the trackers do, on this machine: pages, orders, filters and errors as documented.

What each field means, and where that is documented, stands in the module of the tracker in gitrag/trackers.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

TOKEN = "sEcReT-t0ken-9f8e7d"  # noqa: S105
NOON = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Ticket:
    """An issue on a server."""

    id: str
    title: str = ""
    body: str | None = ""
    closed: bool = False
    labels: tuple[str, ...] = ()
    assignee: str = ""
    author: str = "ada"
    minute: float = 0
    """Of its last update, after noon."""
    pull: bool = False
    merged: bool = False
    trashed: bool = False
    blocked_by: tuple[str, ...] = ()
    """Ids, or of another repository ``owner/name#1``."""

    @property
    def updated(self) -> datetime:
        return NOON + timedelta(minutes=self.minute)


@dataclass(frozen=True, slots=True)
class Fault:
    """What a server answers instead: a status with headers, or its answer cut short."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b'{"message": "no"}'
    cut: str = ""
    """``connection``: fewer bytes than announced; ``json``: half of the JSON, announced so."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request."""

    path: str
    query: Mapping[str, str]
    authorization: str
    body: Any = None


class Fake:
    """A server with tickets."""

    name: ClassVar[str]
    project: ClassVar[str] = "team/project"
    variable: ClassVar[str]

    def __init__(self) -> None:
        self.tickets: list[Ticket] = []
        self.asked: list[Asked] = []
        self.faults: list[Fault | None] = []
        self.page_size = 3
        self.redirect_to = ""
        self.elsewhere = False
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                fake.handle(self)

            do_POST = do_GET  # noqa: N815

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=[0.01], daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def put(self, ticket: Ticket) -> None:
        """Add a ticket, or replace the one with its id."""
        self.tickets = [*(each for each in self.tickets if each.id != ticket.id), ticket]

    def touch(self, ticket_id: str, minute: float, **changes: Any) -> None:
        """Update a ticket."""
        old = next(each for each in self.tickets if each.id == ticket_id)
        self.put(replace(old, minute=minute, **changes))

    def drop(self, *ids: str) -> None:
        """Delete tickets, or transfer them away."""
        self.tickets = [each for each in self.tickets if each.id not in ids]

    def handle(self, request: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(request.path)
        length = int(request.headers.get("Content-Length") or 0)
        body = json.loads(request.rfile.read(length)) if length else None
        query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        asked = Asked(parts.path, query, request.headers.get("Authorization", ""), body)
        self.asked.append(asked)
        if self.redirect_to:
            self._send(request, 302, {"Location": self.redirect_to + request.path}, b"{}")
            return
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None and not fault.cut:
            self._send(request, fault.status, fault.headers, fault.body)
            return
        status, headers, data = self.answer(asked)
        content = json.dumps(data).encode()
        if fault is not None and fault.cut == "json":
            content = content[: len(content) // 2]
        announced = len(content) + (20 if fault is not None and fault.cut == "connection" else 0)
        self._send(request, status, {**headers, "Content-Length": str(announced)}, content)
        if announced != len(content):
            request.close_connection = True

    def _send(
        self, request: BaseHTTPRequestHandler, status: int, headers: Mapping[str, str], body: bytes
    ) -> None:
        request.send_response(status)
        for key, value in {"Content-Length": str(len(body)), **headers}.items():
            request.send_header(key, value)
        request.end_headers()
        request.wfile.write(body)

    def answer(self, asked: Asked) -> tuple[int, Mapping[str, str], Any]:
        """Give status, headers and JSON."""
        raise NotImplementedError

    def one(self, ticket: Ticket) -> dict[str, Any]:
        """Give a ticket as the server shows it."""
        raise NotImplementedError

    def having(self, words: str) -> list[Ticket]:
        """List the tickets that have one of some words, as the tracker's own search does."""
        wanted = set(re.findall(r"\w+", words.lower())) - {"or"}
        return [each for each in self.tickets if wanted & {*f"{each.title} {each.body}".lower().split()}]

    def ascending(self, since: str | None) -> list[Ticket]:
        found = sorted(self.tickets, key=lambda each: each.updated)
        return [each for each in found if since is None or each.updated >= datetime.fromisoformat(since)]


def stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


class GitHubFake(Fake):
    """GitHub: numbered pages, the header Link.

    Of a large listing the first pages alone have numbers; what follows is asked for with ``after``, and the
    header Link does not name the last page.
    """

    name = "github"
    variable = "GITHUB_TOKEN"
    prefix = "/api/v3"
    size_name = "per_page"
    large = False

    def answer(self, asked: Asked) -> tuple[int, Mapping[str, str], Any]:
        issues = f"{self.prefix}/repos/{self.project}/issues"
        if found := re.fullmatch(rf"{issues}/(\d+)/dependencies/(blocked_by|blocking)", asked.path):
            own = next(each for each in self.tickets if each.id == found[1])
            return 200, {}, [self.linked(each) for each in getattr(self, found[2])(own)]
        if asked.path == f"{self.prefix}/search/issues":
            words, _, qualifiers = asked.query["q"].partition(") ")
            assert qualifiers == f"repo:{self.project} is:issue"
            return 200, {}, {"items": [self.one(each) for each in self.having(words)]}
        if asked.path != issues:
            return 404, {}, {"message": "Not Found"}
        assert asked.query["state"] == "all"
        found = self.ordered(asked)
        page, size = int(asked.query.get("page", "1")), min(self.page_size, int(asked.query[self.size_name]))
        if self.large and "after" in asked.query:
            page = int(asked.query["after"].removeprefix("Y3Vyc29y")) + 1
        elif self.large and page > 2:
            message = "Pagination with the page parameter is not supported for large datasets"
            return 422, {}, {"message": message}
        last = max(1, -(-len(found) // size))
        links = []
        for relation, number in (("next", page + 1), ("last", last)):
            if page < last and not (self.large and relation == "last"):
                after = {"after": f"Y3Vyc29y{page}"} if self.large else {}
                query = urlencode({**asked.query, **after, "page": number})
                links.append(f'<{self.url}{asked.path}?{query}>; rel="{relation}"')
        headers = {"Link": ", ".join(links)} if links else {}
        return 200, headers, [self.one(each) for each in found[(page - 1) * size : page * size]]

    def blocked_by(self, ticket: Ticket) -> list[str]:
        return list(ticket.blocked_by)

    def blocking(self, ticket: Ticket) -> list[str]:
        return [each.id for each in self.tickets if ticket.id in each.blocked_by]

    def linked(self, name: str) -> dict[str, Any]:
        project, _, number = name.rpartition("#")
        return {
            "number": int(number),
            "html_url": f"{self.url}/{project or self.project}/issues/{number}",
        }

    def ordered(self, asked: Asked) -> list[Ticket]:
        assert (asked.query["sort"], asked.query["direction"]) == ("updated", "asc")
        return self.ascending(asked.query.get("since"))

    def one(self, ticket: Ticket) -> dict[str, Any]:
        kind = "pull" if ticket.pull else "issues"
        item = {
            "id": 9_000_000 + len(ticket.id),
            "number": int(ticket.id) if ticket.id.isdigit() else ticket.id,
            "title": ticket.title,
            "body": ticket.body,
            "state": "closed" if ticket.closed else "open",
            "labels": [{"id": 1, "name": name, "color": "ff0000"} for name in ticket.labels],
            "assignees": [{"login": ticket.assignee, "id": 2}] if ticket.assignee else [],
            "user": {"login": ticket.author, "id": 3} if ticket.author else None,
            "created_at": stamp(NOON),
            "updated_at": stamp(ticket.updated),
            "closed_at": stamp(ticket.updated) if ticket.closed else None,
            "html_url": f"{self.url}/{self.project}/{kind}/{ticket.id}",
        }
        if self.name == "github":
            item["issue_dependencies_summary"] = {
                "total_blocked_by": len(self.blocked_by(ticket)),
                "total_blocking": len(self.blocking(ticket)),
            }
        if ticket.pull:
            merged = stamp(ticket.updated) if ticket.merged else None
            item["pull_request"] = {"url": f"{self.url}/pulls/{ticket.id}", "merged_at": merged}
        return item


class GiteaFake(GitHubFake):
    """Gitea: newest first, whatever was updated; a total."""

    has_links = True

    name = "gitea"
    variable = "GITEA_TOKEN"
    prefix = "/api/v1"
    size_name = "limit"

    def ordered(self, asked: Asked) -> list[Ticket]:
        return sorted(self.ascending(asked.query.get("since")), key=lambda each: each.id, reverse=True)

    def answer(self, asked: Asked) -> tuple[int, Mapping[str, str], Any]:
        if asked.path == "/api/v1/version":
            return 200, {}, {"version": "1.24.0"}
        if asked.path == f"/api/v1/repos/{self.project}":
            return 200, {}, {"internal_tracker": {"enable_issue_dependencies": self.has_links}}
        if found := re.fullmatch(
            rf"/api/v1/repos/{self.project}/issues/(\d+)/(dependencies|blocks)", asked.path
        ):
            own = next(each for each in self.tickets if each.id == found[1])
            named = self.blocking(own) if found[2] == "blocks" else self.blocked_by(own)
            return 200, {}, [self.linked(each) for each in named]
        if "q" in asked.query:
            return 200, {}, [self.one(each) for each in self.having(asked.query["q"])]
        status, headers, data = super().answer(asked)
        total = {"X-Total-Count": str(len(self.ordered(asked)))} if status == 200 else {}
        return status, {**headers, **total}, data


class GitLabFake(Fake):
    """GitLab: numbered pages, the header X-Next-Page."""

    name = "gitlab"
    variable = "GITLAB_TOKEN"

    def answer(self, asked: Asked) -> tuple[int, Mapping[str, str], Any]:
        if unquote(asked.path) != f"/api/v4/projects/{self.project}/issues":
            return 404, {}, {"message": "404 Project Not Found"}
        assert quote(self.project, safe="") in asked.path
        if "search" in asked.query:
            return 200, {}, [self.one(each) for each in self.having(asked.query["search"])]
        assert (asked.query["order_by"], asked.query["sort"]) == ("updated_at", "asc")
        found = self.ascending(asked.query.get("updated_after"))
        page, size = int(asked.query["page"]), min(self.page_size, int(asked.query["per_page"]))
        more = page * size < len(found)
        headers = {"X-Next-Page": str(page + 1) if more else "", "X-Total": str(len(found))}
        return 200, headers, [self.one(each) for each in found[(page - 1) * size : page * size]]

    def one(self, ticket: Ticket) -> dict[str, Any]:
        millis = "%Y-%m-%dT%H:%M:%S.000Z"
        return {
            "id": 76,
            "iid": int(ticket.id) if ticket.id.isdigit() else ticket.id,
            "title": ticket.title,
            "description": ticket.body,
            "state": "closed" if ticket.closed else "opened",
            "labels": list(ticket.labels),
            "assignees": [{"username": ticket.assignee}] if ticket.assignee else [],
            "author": {"username": ticket.author} if ticket.author else None,
            "created_at": NOON.strftime(millis),
            "updated_at": ticket.updated.strftime(millis),
            "closed_at": ticket.updated.strftime(millis) if ticket.closed else None,
            "web_url": f"{self.url}/{self.project}/-/issues/{ticket.id}",
        }


class JiraFake(Fake):
    """Jira Data Center: startAt."""

    name = "jira"
    project = "PROJ"
    variable = "JIRA_TOKEN"
    deployment = "Server"
    clock = NOON + timedelta(days=10)

    def answer(self, asked: Asked) -> tuple[int, Mapping[str, str], Any]:
        if asked.path == "/rest/api/2/serverInfo":
            time = self.clock.strftime("%Y-%m-%dT%H:%M:%S.000+0000")
            return 200, {}, {"baseUrl": self.url, "deploymentType": self.deployment, "serverTime": time}
        if asked.path != self.search_path():
            return 404, {}, {"errorMessages": ["no such resource"]}
        wanted = asked.query["jql"].split('"')[1]
        if wanted != self.project:
            said = f"The value '{wanted}' does not exist for the field 'project'."
            return 400, {}, {"errorMessages": [said], "warningMessages": []}
        return 200, {}, self.search(asked, self.matching(asked.query["jql"]))

    def search_path(self) -> str:
        return "/rest/api/2/search"

    def matching(self, jql: str) -> list[Ticket]:
        assert jql.startswith(f'project = "{self.project}"')
        if "text ~ " in jql:
            return self.having(" ".join(re.findall('text ~ "(.*?)"', jql)))
        assert jql.endswith(" ORDER BY updated ASC, key ASC")
        since = None
        if "updated >= " in jql:
            minutes = int(jql.partition('updated >= "-')[2].partition("m")[0])
            since = (self.clock - timedelta(minutes=minutes)).isoformat()
        return self.ascending(since)

    def search(self, asked: Asked, found: list[Ticket]) -> dict[str, Any]:
        start, size = int(asked.query.get("startAt", 0)), min(self.page_size, int(asked.query["maxResults"]))
        shown = [self.one(each) for each in found[start : start + size]]
        return {"startAt": start, "maxResults": size, "total": len(found), "issues": shown}

    def one(self, ticket: Ticket) -> dict[str, Any]:
        millis = "%Y-%m-%dT%H:%M:%S.000+0000"
        return {
            "id": "10001",
            "key": ticket.id,
            "fields": {
                "summary": ticket.title,
                "description": self.description(ticket),
                "status": {
                    "name": "Done" if ticket.closed else "In Progress",
                    "statusCategory": {"key": "done" if ticket.closed else "indeterminate"},
                },
                "labels": list(ticket.labels),
                "assignee": {"name": ticket.assignee, "displayName": "B"} if ticket.assignee else None,
                "creator": {"name": ticket.author} if ticket.author else None,
                "created": NOON.strftime(millis),
                "updated": ticket.updated.strftime(millis),
                "resolutiondate": ticket.updated.strftime(millis) if ticket.closed else None,
                "issuelinks": self.links(ticket),
            },
        }

    def description(self, ticket: Ticket) -> Any:
        return ticket.body

    def links(self, ticket: Ticket) -> list[dict[str, Any]]:
        kind = {"name": "Blocks", "inward": "is blocked by", "outward": "blocks"}
        if ticket.id == "PROJ-1":
            return [{"type": kind, "outwardIssue": {"key": "PROJ-2"}}]
        return [{"type": kind, "inwardIssue": {"key": "PROJ-1"}}] if ticket.id == "PROJ-2" else []


class JiraCloudFake(JiraFake):
    """Jira Cloud: nextPageToken."""

    deployment = "Cloud"
    variable = "JIRA_API_TOKEN"

    def search_path(self) -> str:
        return "/rest/api/2/search/jql"

    def search(self, asked: Asked, found: list[Ticket]) -> dict[str, Any]:
        start = int(asked.query.get("nextPageToken", "t0")[1:])
        end = start + min(self.page_size, int(asked.query["maxResults"]))
        shown: dict[str, Any] = {"issues": [self.one(each) for each in found[start:end]]}
        last = end >= len(found)
        return {**shown, "isLast": last} | ({} if last else {"nextPageToken": f"t{end}"})


class LinearFake(Fake):
    """Linear: GraphQL, the latest update first."""

    name = "linear"
    project = "ENG"
    variable = "LINEAR_API_KEY"

    def answer(self, asked: Asked) -> tuple[int, Mapping[str, str], Any]:
        assert asked.path == "/graphql"
        variables = asked.body["variables"]
        if "teams(" in asked.body["query"]:
            key = variables["filter"]["key"]["eq"]
            teams = [{"key": key}] if key == self.project else []
            return 200, {}, {"data": {"teams": {"nodes": teams}}}
        wanted = variables["filter"]
        if "searchIssues(" in asked.body["query"]:
            assert wanted["team"]["key"]["eq"] == self.project
            nodes = [self.one(each) for each in self.having(variables["term"])]
            return 200, {}, {"data": {"searchIssues": {"nodes": nodes}}}
        found = self.ascending(wanted.get("updatedAt", {}).get("gte"))[::-1]
        if wanted["team"]["key"]["eq"] != self.project:
            found = []
        start = int(variables["after"] or 0)
        end = start + min(self.page_size, variables["first"])
        info = {"hasNextPage": end < len(found), "endCursor": str(end)}
        nodes = [self.one(each) for each in found[start:end]]
        return 200, {}, {"data": {"issues": {"nodes": nodes, "pageInfo": info}}}

    def one(self, ticket: Ticket) -> dict[str, Any]:
        millis = "%Y-%m-%dT%H:%M:%S.000Z"
        return {
            "identifier": ticket.id,
            "title": ticket.title,
            "description": ticket.body,
            "url": f"https://linear.app/acme/issue/{ticket.id}",
            "createdAt": NOON.strftime(millis),
            "updatedAt": ticket.updated.strftime(millis),
            "completedAt": ticket.updated.strftime(millis) if ticket.closed else None,
            "canceledAt": None,
            "state": {"type": "completed" if ticket.closed else "started"},
            "labels": {"nodes": [{"name": name} for name in ticket.labels]},
            "assignee": {"displayName": ticket.assignee} if ticket.assignee else None,
            "creator": {"displayName": ticket.author} if ticket.author else None,
            "relations": {"nodes": []},
            "inverseRelations": {"nodes": []},
            "trashed": ticket.trashed or None,
        }


FAKES: tuple[type[Fake], ...] = (GitHubFake, GiteaFake, GitLabFake, JiraFake, JiraCloudFake, LinearFake)
