"""Post a text as a comment on the pull request that continuous integration runs for.

Where that is, and of which request, the runner says in the environment:
docs.github.com/en/actions/reference/workflows-and-actions/variables,
docs.gitlab.com/ci/variables/predefined_variables.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitrag.errors import NetworkError, NotSetUpError

if TYPE_CHECKING:
    import httpx2

MARK = "<!-- gitrag impact -->"
"""The first line, by which the comment is found again; a forge does not show it."""

_A_PAGE, _MOST_PAGES = 100, 50
_TIMEOUT_S = 30.0
_MAY_WRITE = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})


def post(environ: Mapping[str, str], text: str) -> bool:
    """Post a text, or put it in place of the one that was posted before.

    The token is sent to the address that the runner names, and nowhere else: redirects are not followed.

    Returns:
        Whether the token may comment; that of a fork's request may not.
    """
    import httpx2

    at = _github if environ.get("GITHUB_ACTIONS") == "true" else _gitlab
    try:
        headers, all_comments, one_comment, method, user = at(environ)
    except (KeyError, TypeError, OSError, ValueError) as error:
        raise NotSetUpError(
            "There is no pull request to comment on.",
            "--comment is for a job of GitHub or GitLab that runs for one; on GitLab, GITLAB_TOKEN is a"
            " token of the project with the scope api.",
        ) from error
    try:
        with httpx2.Client(headers=headers, timeout=_TIMEOUT_S) as client:
            is_own = _is_of_ci if user is None else _is_of(_answer(client, "GET", user)["id"])
            posted = (each["id"] for each in _comments(client, all_comments) if is_own(each))
            earlier = next(posted, None)
            said = {"body": f"{MARK}\n{text}"}
            if earlier is None:
                _answer(client, "POST", all_comments, json=said)
            else:
                _answer(client, method, f"{one_comment}/{int(earlier)}", json=said)
    except httpx2.HTTPStatusError as error:
        if error.response.status_code in {401, 403}:
            return False
        raise NetworkError(f"The comment was not taken: HTTP {error.response.status_code}.") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, KeyError, TypeError, ValueError) as error:
        raise NetworkError(f"The comment was not taken: {type(error).__name__}.") from error
    return True


Place = tuple[Mapping[str, str], str, str, str, str | None]
"""Headers; the address of all comments, and of one; the method that changes one; where it is told whose the
token is, if it must be asked."""


def _github(environ: Mapping[str, str]) -> Place:
    event = json.loads(Path(environ["GITHUB_EVENT_PATH"]).read_text("utf-8"))
    issues = f"{environ['GITHUB_API_URL']}/repos/{environ['GITHUB_REPOSITORY']}/issues"
    number = int(event["pull_request"]["number"])
    headers = {"Authorization": f"Bearer {environ['GITHUB_TOKEN']}", "Accept": "application/vnd.github+json"}
    return headers, f"{issues}/{number}/comments", f"{issues}/comments", "PATCH", None


def _gitlab(environ: Mapping[str, str]) -> Place:
    api = environ["CI_API_V4_URL"]
    request = (
        f"projects/{int(environ['CI_PROJECT_ID'])}/merge_requests/{int(environ['CI_MERGE_REQUEST_IID'])}"
    )
    notes = f"{api}/{request}/notes"
    return {"PRIVATE-TOKEN": environ["GITLAB_TOKEN"]}, notes, notes, "PUT", f"{api}/user"


def _comments(client: httpx2.Client, address: str) -> Iterator[Mapping[str, Any]]:
    for page in range(1, _MOST_PAGES + 1):
        comments = _answer(client, "GET", address, params={"per_page": _A_PAGE, "page": page})
        yield from (each for each in comments if str(each["body"]).startswith(MARK))
        if len(comments) < _A_PAGE:
            return


def _is_of_ci(comment: Mapping[str, Any]) -> bool:
    """Return whether a program or a member wrote it: anybody may begin a comment with the mark."""
    return comment["user"]["type"] == "Bot" or comment["author_association"] in _MAY_WRITE


def _is_of(user: object) -> Callable[[Mapping[str, Any]], bool]:
    return lambda comment: comment["author"]["id"] == user


def _answer(client: httpx2.Client, method: str, address: str, **more: Any) -> Any:
    return client.request(method, address, **more).raise_for_status().json()
