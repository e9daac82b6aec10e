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

Which issues block one, ``{number}/dependencies`` lists, which it blocks, ``{number}/blocks``; the listing
does not count them. So they are asked for of open issues alone, some at once, and only where the repository's
``internal_tracker.enable_issue_dependencies`` says that there may be any. A few are a page, so that what has
arrived is kept when time is up; the next sync, which lists everything again, asks for no links of an issue
whose copy is as new.

Not mapped: comments, milestones.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec.structs import replace

from gitrag.trackers.base import (
    IssuePage,
    Order,
    Registration,
    TrackerAuthError,
    TrackerSetting,
    TrackerSetupError,
)
from gitrag.trackers.fields import Json, as_object, count, objects, part, required, text
from gitrag.trackers.folder import IssueFolder, Meta
from gitrag.trackers.github import closed_by_merged, linked, to_issue
from gitrag.trackers.http import SEARCHED, Http, HttpTracker, ServerResponse, Walk
from gitrag.trackers.issue import Issue

_PAGE = 50
_LINKED = 8
"""Issues of a page that links were asked for: sixteen calls, four at once."""

_AT_ONCE = 4
"""Calls for links: a hundred open issues need two hundred, and a command that reads may wait for them."""


class Gitea(HttpTracker):
    """A repository's issues."""

    order = Order.ANY

    def __init__(self, setting: TrackerSetting) -> None:
        place, secret = setting.place, setting.secret
        self._project = place.project
        self._links: bool | None = None
        self._listed: tuple[int, ServerResponse] | None = None
        self._copies, self._asks_all = IssueFolder(setting.root), False
        authorization = f"token {secret.value}" if secret else ""
        self._http = Http(setting, authorization, TRACKER.check, base=f"{place.base}/api/v1")

    def _page(self, since: datetime | None, cursor: str | None) -> IssuePage:
        page, begin = map(int, (cursor or "1.0").split("."))
        if self._listed is None or self._listed[0] != page:
            params: dict[str, str | int] = {"state": "all", "limit": _PAGE, "page": page}
            if bound := Walk(since).bound:
                params["since"] = bound
            self._listed = page, self._http.get(f"/repos/{self._project}/issues", params)
            self._asks_all = since is None and (self._copies.read_meta() or Meta()).complete  # in full, again
        answer = self._listed[1]
        found = objects(answer.data, "the answer")
        more = answer.link("next") is not None and bool(found)
        own = [item for item in found if not item.get("pull_request")]
        issues, end = tuple(map(_to_issue, own)), len(own)
        if self._has_links(own):
            end = begin + _LINKED
            issues = self._all_with_links(own[begin:end])
        following = f"{page + 1}.0" if more else None
        return IssuePage(
            issues,
            others=tuple(
                required(item, "number") for item in found if item.get("pull_request") and not begin
            ),
            cursor=following if end >= len(own) else f"{page}.{end}",
            total=count(answer.headers.get("x-total-count", "")),
            is_upper_bound=any(item.get("pull_request") for item in found),
            merged=tuple(closed_by_merged(found, self._project)),
            at=answer.at,
        )

    def _has_links(self, found: list[Json]) -> bool:
        """Tell whether issues may block each other; asked once, if there is an open one.

        A token for issues alone may not ask that, and keeps its issues without links.
        """
        if self._links is None and any(map(_is_open, found)):
            try:
                about = as_object(self._http.get(f"/repos/{self._project}", {}).data, "the answer")
            except (TrackerAuthError, TrackerSetupError):
                about = {}
            self._links = part(about, "internal_tracker").get("enable_issue_dependencies") is True
        return bool(self._links)

    def _all_with_links(self, items: list[Json]) -> tuple[Issue, ...]:
        """Ask for the links of issues, of some at once; raise the first error.

        No ThreadPoolExecutor: whoever has given this up would wait for its threads at its end.
        """
        left = iter(enumerate(items))
        issues: dict[int, Issue] = {}
        failures: list[BaseException] = []
        turn = threading.Lock()

        def work() -> None:
            while not failures:
                with turn:
                    place, item = next(left, (-1, {}))
                if place < 0:
                    return
                try:
                    issues[place] = self._with_links(item)
                except BaseException as error:  # noqa: BLE001 - raised below, by who waits
                    failures.append(error)

        threads = [threading.Thread(target=work, daemon=True, name="links") for _ in range(_AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        return tuple(issues[place] for place in range(len(items)))

    def _with_links(self, item: Json) -> Issue:
        own, bare = required(item, "number"), _to_issue(item)
        if not (_is_open(item) and own.isdecimal()):
            return bare
        copy = None if self._asks_all else self._copies.read(own)
        if copy is not None and (copy.url, copy.updated) == (bare.url, bare.updated):
            return _to_issue(item, copy.references.blocks, copy.references.blocked_by)
        path = f"/repos/{self._project}/issues/{own}"
        try:
            blocks, blocked_by = (
                linked(self._http.get(f"{path}/{relation}", {"limit": _PAGE}), self._project)
                for relation in ("blocks", "dependencies")
            )
        except (TrackerAuthError, TrackerSetupError):  # Gitea before 1.20, or the issue was just deleted
            return bare
        return _to_issue(item, blocks, blocked_by)

    def _found(self, words: Sequence[str]) -> tuple[Issue, ...]:
        params: dict[str, str | int] = {"state": "all", "type": "issues", "q": words[0], "limit": SEARCHED}
        found = objects(self._http.get(f"/repos/{self._project}/issues", params).data, "the answer")
        return tuple(_to_issue(item) for item in found if not item.get("pull_request"))


def _is_open(item: Json) -> bool:
    return text(item, "state") != "closed"


def _to_issue(item: Json, blocks: Iterable[str] = (), blocked_by: Iterable[str] = ()) -> Issue:
    issue = to_issue(item, blocks, blocked_by, TRACKER.name)
    return replace(issue, author=text(item, "original_author") or issue.author)


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
    code="/src/commit/{commit}/{file}#L{first}-L{last}",
)
