"""Linear: GraphQL.

https://linear.app/developers/graphql and its schema (Query.issues, Issue, IssueFilter, IssueRelation):
https://github.com/linear/linear/blob/master/packages/sdk/src/schema.graphql

``issues(first, after, filter, orderBy: updatedAt, includeArchived)`` gives ``nodes`` and ``pageInfo`` with
``hasNextPage`` and ``endCursor``; which end comes first is not said. A node's fields: ``identifier``,
``title``, ``description`` (Markdown), ``url``, ``createdAt``, ``updatedAt``, ``completedAt``, ``canceledAt``,
``state.type`` (triage, backlog, unstarted, started, completed, canceled, duplicate), ``labels.nodes.name``,
``assignee`` and ``creator`` with ``displayName``, ``relations.nodes`` (``type`` blocks, with
``relatedIssue``) and ``inverseRelations.nodes`` (with ``issue``), and ``trashed``: deleted, but not for good.
Issues that are done are archived by and by.

``searchIssues(term, first, filter)`` gives such nodes, the best match first.

https://linear.app/developers/rate-limiting

What failed stands in ``errors``, by ``extensions.code``: RATELIMITED (with status 400), AUTHENTICATION_ERROR.

Not mapped: comments, projects, cycles, priorities, estimates; labels and links after the 25th.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from gitrag.trackers.base import (
    IssuePage,
    Order,
    Registration,
    TrackerError,
    TrackerSetting,
    TrackerSetupError,
)
from gitrag.trackers.fields import Json, as_object, names, objects, part, required, text, when
from gitrag.trackers.http import MOST_WORDS, SEARCHED, Http, HttpTracker
from gitrag.trackers.issue import Issue, IssueState, find_references, show_moment

_PAGE = 50
"""A query may cost 10,000 points; an issue with its lists costs some 100."""

_NODES = """
    nodes {
      identifier title description url createdAt updatedAt completedAt canceledAt trashed
      state { type }
      labels(first: 25) { nodes { name } }
      assignee { displayName }
      creator { displayName }
      relations(first: 25) { nodes { type relatedIssue { identifier } } }
      inverseRelations(first: 25) { nodes { type issue { identifier } } }
    }
"""
_QUERY = f"""
query Issues($first: Int!, $after: String, $filter: IssueFilter) {{
  issues(first: $first, after: $after, filter: $filter, orderBy: updatedAt, includeArchived: true) {{
    {_NODES}
    pageInfo {{ hasNextPage endCursor }}
  }}
}}
"""
_SEARCH = f"""
query Search($term: String!, $first: Int!, $filter: IssueFilter) {{
  searchIssues(term: $term, first: $first, filter: $filter) {{
    {_NODES}
  }}
}}
"""
_DONE = {"completed", "canceled", "duplicate"}
_API_KEY = "lin_api_"


class Linear(HttpTracker):
    """A team's issues."""

    order = Order.ANY

    def __init__(self, setting: TrackerSetting) -> None:
        self._place = setting.place
        token = setting.secret.value if setting.secret else ""
        is_key = token.startswith(_API_KEY) or not token
        self._http = Http(setting, token if is_key else f"Bearer {token}", TRACKER.check, meaning=_meaning)

    def _page(self, since: datetime | None, cursor: str | None) -> IssuePage:
        wanted: dict[str, Any] = {"team": {"key": {"eq": self._place.project}}}
        if since:
            wanted["updatedAt"] = {"gte": show_moment(since)}
        variables = {"first": _PAGE, "after": cursor, "filter": wanted}
        connection, at = self._connection("issues", _QUERY, variables)
        info = part(connection, "pageInfo")
        nodes = objects(connection.get("nodes"), "nodes")
        found = tuple(_to_issue(item) for item in nodes if not item.get("trashed"))
        more = required(info, "endCursor") if info.get("hasNextPage") else None
        if not nodes and cursor is None and since is None:
            self._must_exist()
        total = len(found) if cursor is None and more is None else None
        gone = tuple(required(item, "identifier") for item in nodes if item.get("trashed"))
        return IssuePage(found, cursor=more, total=total, gone=gone, at=at)

    def _found(self, words: Sequence[str]) -> tuple[Issue, ...]:
        wanted = {"team": {"key": {"eq": self._place.project}}}
        variables = {"term": " ".join(words[:MOST_WORDS]), "first": SEARCHED, "filter": wanted}
        connection, _at = self._connection("searchIssues", _SEARCH, variables)
        nodes = objects(connection.get("nodes"), "nodes")
        return tuple(_to_issue(item) for item in nodes if not item.get("trashed"))

    def _connection(self, name: str, query: str, variables: Json) -> tuple[Json, datetime | None]:
        """Ask; return what the answer has under a name, and the server's clock."""
        answer = self._http.post("/graphql", {"query": query, "variables": variables})
        data = as_object(answer.data, "the answer")
        if data.get("errors"):
            said = "; ".join(text(error, "message") for error in objects(data["errors"], "errors"))
            raise TrackerError(f"{TRACKER.name} refuses the question: {said}.")
        return part(part(data, "data"), name), answer.at

    def _must_exist(self) -> None:
        """Raise an error if the team does not exist: the listing is empty then, as for one without issues."""
        question = "query Team($filter: TeamFilter) { teams(filter: $filter) { nodes { key } } }"
        wanted = {"key": {"eq": self._place.project}}
        answer = self._http.post("/graphql", {"query": question, "variables": {"filter": wanted}})
        teams = part(part(as_object(answer.data, "the answer"), "data"), "teams")
        if not objects(teams.get("nodes"), "nodes"):
            raise TrackerSetupError(
                f'{TRACKER.name} has no team "{self._place.project}" that this token may see.',
                "git config gitrag.trackerProject ENG",
            )


def _to_issue(item: Json) -> Issue:
    key, title, body = required(item, "identifier"), text(item, "title"), text(item, "description")
    blocks = _blocking(part(item, "relations"), "relatedIssue")
    blocked_by = _blocking(part(item, "inverseRelations"), "issue")
    return Issue(
        id=key,
        title=title,
        status=IssueState.CLOSED if text(part(item, "state"), "type") in _DONE else IssueState.OPEN,
        labels=names(part(item, "labels"), "nodes", "name"),
        assignees=tuple(filter(None, [text(part(item, "assignee"), "displayName")])),
        author=text(part(item, "creator"), "displayName"),
        created=when(item, "createdAt"),
        updated=when(item, "updatedAt"),
        closed=when(item, "completedAt") or when(item, "canceledAt"),
        url=text(item, "url"),
        tracker=TRACKER.name,
        references=find_references(key, title, body, blocks=blocks, blocked_by=blocked_by),
        body=body,
    )


def _blocking(relations: Json, other: str) -> list[str]:
    return [
        required(part(relation, other), "identifier")
        for relation in objects(relations.get("nodes") or [], "nodes")
        if text(relation, "type") == "blocks"
    ]


def _meaning(status: int, content: bytes) -> int:
    """Return the status that an answer really means: GraphQL reports errors in the body."""
    try:
        errors = json.loads(content)["errors"]
        codes = {error["extensions"]["code"] for error in errors}
    except (ValueError, KeyError, TypeError, RecursionError):
        return status
    if "RATELIMITED" in codes:
        return 429
    return 401 if "AUTHENTICATION_ERROR" in codes else status


TRACKER = Registration(
    name="linear",
    open=Linear,
    hosts=("api.linear.app",),
    aliases=("linear.app",),
    project="ENG",
    variables=("LINEAR_API_KEY", "LINEAR_TOKEN"),
)
