"""The addresses of the page, and what answers at each."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from gitrag.errors import BusyError, GitragError, NoRepositoryError, UsageError
from gitrag.web.desk import Desk
from gitrag.web.facets import TITLES, Choices
from gitrag.web.rendering import STATIC, render, static
from gitrag.web.search_page import USUAL, search_page

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    Answer = Callable[[Desk, Request], "Response"]

_OF_ERRORS: tuple[tuple[type[GitragError], int], ...] = (
    (NoRepositoryError, 410),
    (UsageError, 404),
    (BusyError, 503),
)
_PAGES = (("Search", "/"),)
"""What every page links to, in order."""

_MOST_DIGITS = 4


def application(desk: Desk) -> Starlette:
    """Return the pages of a repository; who may see them is the guard's business."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.routing import Route

    def route(path: str, answer: Answer) -> Route:
        return Route(path, _told(desk, answer), methods=["GET"])

    def missing(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        return _problem(desk, status, f"There is no page {request.url.path}.", "")

    return Starlette(
        routes=[
            route("/", _start),
            route("/search", _search),
            route("/static/{name}", _static),
        ],
        exception_handlers={HTTPException: missing},
    )


def _told(desk: Desk, answer: Answer) -> Callable[[Request], Response]:
    """Return an answer that says what went wrong, in one line; Starlette runs it in a thread."""

    @wraps(answer)
    def told(request: Request) -> Response:
        try:
            return answer(desk, request)
        except GitragError as error:
            status = next((status for kind, status in _OF_ERRORS if isinstance(error, kind)), 500)
            return _problem(desk, status, str(error), error.hint)
        except Exception as error:  # noqa: BLE001 - the boundary: logged, and said without the exception's text
            return _problem(desk, 500, "gitrag hit a bug.", desk.log_bug(request.url.path, error))

    return told


def _problem(desk: Desk, status: int, message: str, hint: str) -> Response:
    return _page(desk, "problem.html", status=status, message=message, hint=hint)


def _page(desk: Desk, template: str, *, status: int = 200, **values: Any) -> Response:
    from starlette.responses import HTMLResponse

    return HTMLResponse(render(template, repository=desk.workspace.name, pages=_PAGES, **values), status)


def _start(desk: Desk, request: Request) -> Response:
    del request
    return _page(desk, "search.html", page=search_page(desk, "", Choices(), USUAL))


def _search(desk: Desk, request: Request) -> Response:
    asked = request.query_params
    chosen = tuple((name, value) for name, value in asked.multi_items() if name in TITLES and value)
    page = search_page(desk, asked.get("q", ""), Choices(chosen), _number(asked.get("n"), USUAL))
    return _page(desk, "search.html", page=page)


def _static(desk: Desk, request: Request) -> Response:
    from starlette.responses import Response

    name = request.path_params["name"]
    if name not in STATIC:
        return _problem(desk, 404, f"There is no file {name}.", "")
    return Response(static(name), media_type=STATIC[name])


def _number(given: str | None, otherwise: int) -> int:
    """Return a number from an address; another where it is none."""
    if given is None or len(given) > _MOST_DIGITS or not (given.isascii() and given.isdigit()):
        return otherwise
    return int(given)
