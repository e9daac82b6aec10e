"""The addresses of the page, and what answers at each."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from importlib import resources
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from gitrag.callgraph.extraction import unsupported
from gitrag.chunking.languages import is_code
from gitrag.errors import NOTHING, USAGE
from gitrag.machine.refusals import refusal
from gitrag.report.parts import day, shown
from gitrag.web import addresses
from gitrag.web.addresses import REPOSITORY, Addresses
from gitrag.web.calls_page import calls_page
from gitrag.web.desk import Desk
from gitrag.web.facets import Choices
from gitrag.web.file_page import (
    LONGEST,
    calls_beside,
    depth,
    documents_beside,
    file_page,
    files_in,
    files_meant,
    history_beside,
    references_to,
)
from gitrag.web.map_page import COLOURS, map_page
from gitrag.web.repositories import Repositories
from gitrag.web.search_page import USUAL, search_page
from gitrag.web.state_page import MOST_MOMENTS, MOST_UNREAD, repositories_page, state_page
from gitrag.words.control_characters import sanitise
from gitrag.words.numbers import age, count, size

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    Answer = Callable[[Repositories, Request], "Response"]

STATIC = {
    "style.css": ("gitrag.web", "static/style.css", "text/css"),
    "theme.js": ("gitrag.web", "static/theme.js", "text/javascript"),
    "search.js": ("gitrag.web", "static/search.js", "text/javascript"),
    "file.js": ("gitrag.web", "static/file.js", "text/javascript"),
    "state.js": ("gitrag.web", "static/state.js", "text/javascript"),
    "icon.svg": ("gitrag.web", "static/icon.svg", "image/svg+xml"),
    "picture.css": ("gitrag.report.pictures", "picture.css", "text/css"),
    "picture.js": ("gitrag.report.pictures", "page.js", "text/javascript"),
}
"""The files that a browser may ask for: package, file, and what they are."""


def render(template: str, **values: Any) -> str:
    """Return a template filled in: nothing in it, markup of ours or not, has a control character."""
    return sanitise(_environment().get_template(template).render(values))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("gitrag.web"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_some,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    shared = {each.__name__: each for each in (count, size, age, day, shown)}
    environment.globals.update(shared, search_address=addresses.search)
    return environment


def _some(value: Any) -> Any:
    """Return a value for a template; nothing for None."""
    return "" if value is None else value


@cache
def static(name: str) -> tuple[bytes, str]:
    """Return a file of `STATIC`, and what it is."""
    package, file, kind = STATIC[name]
    return resources.files(package).joinpath(file).read_bytes(), kind


_PAGES = tuple((name, f"/{name.lower()}") for name in ("Search", "Files", "Calls", "Map", "State"))
"""What every page links to, in order."""

_MOST_DIGITS = 4


def application(repositories: Repositories) -> Starlette:
    """Return the pages of repositories; who may see them is the guard's business."""
    from starlette.applications import Starlette
    from starlette.convertors import PathConvertor, register_url_convertor
    from starlette.exceptions import HTTPException
    from starlette.routing import Route

    class AnyPath(PathConvertor):
        regex = "(?s:.*)"  # a line end included

    register_url_convertor("any", AnyPath())

    def route(path: str, answer: Answer) -> Route:
        return Route(path, _told(repositories, answer), methods=["GET"])

    def missing(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        return _problem(repositories.here, status, f"There is no page {request.url.path}.", "")

    return Starlette(
        routes=[
            route("/", _start),
            route("/search", _search),
            route("/file/{path:any}", _file),
            route("/beside/{what}/{path:any}", _beside),
            route("/files", _files),
            route("/references", _references),
            route("/calls", _calls),
            route("/map", _map),
            route("/state", _state),
            route("/repositories", _repositories),
            route("/static/{name}", _static),
        ],
        exception_handlers={HTTPException: missing},
    )


def _told(repositories: Repositories, answer: Answer) -> Callable[[Request], Response]:
    """Return an answer that says what went wrong, in one line; Starlette runs it in a thread."""

    @wraps(answer)
    def told(request: Request) -> Response:
        try:
            return answer(repositories, request)
        except Exception as error:  # noqa: BLE001 - the boundary: logged, and said without the exception's text
            known = refusal(error)
            if known is not None:
                status = 404 if known.exit_code in {NOTHING, USAGE} else 503
                return _problem(repositories.here, status, str(known), known.hint)
            said = repositories.here.log_bug(request.url.path, error)
            return _problem(repositories.here, 500, "gitrag hit a bug.", said)

    return told


def _problem(desk: Desk, status: int, message: str, hint: str) -> Response:
    return _page(desk, "problem.html", status=status, message=message, hint=hint)


def _page(desk: Desk, template: str, *, status: int = 200, repository: str = "", **values: Any) -> Response:
    from starlette.responses import HTMLResponse

    name, address = desk.name, desk.address
    if repository:
        name, address = repository, Addresses(repository)
    hidden = Markup('<input type="hidden" name="%s" value="%s">') % (REPOSITORY, address.repository)
    shared = {
        "repository": name,
        "address": address,
        "same_repository": hidden if address.repository else "",
        "pages": [(title, address.page(path)) for title, path in _PAGES],
    }
    return HTMLResponse(render(template, **shared, **values), status)


def _desk(repositories: Repositories, request: Request) -> Desk:
    """Return the repository that an address names."""
    return repositories.desk(request.query_params.get(REPOSITORY, ""))


def _start(repositories: Repositories, request: Request) -> Response:
    del request
    page = search_page(repositories, "", Choices(), USUAL)
    return _page(repositories.here, "search.html", page=page)


def _search(repositories: Repositories, request: Request) -> Response:
    asked = request.query_params
    choices = Choices.read(asked.multi_items())
    most, unfinished = _number(asked.get("n"), USUAL), "x-gitrag-unfinished" in request.headers
    names = choices.of(REPOSITORY)
    is_of_one = len(names) == 1 and not choices.is_everywhere
    if is_of_one:
        repositories.require(names[0])
    page = search_page(repositories, asked.get("q", ""), choices, most, unfinished=unfinished)
    return _page(repositories.here, "search.html", page=page, repository=names[0] if is_of_one else "")


def _file(repositories: Repositories, request: Request) -> Response:
    desk = _desk(repositories, request)
    path = addresses.path_of(request.scope["raw_path"])
    asked = request.query_params
    page = file_page(desk, path, asked.get("rev", ""), with_blame="blame" in asked)
    language = page["view"].language
    has_calls = not page["view"].commit and is_code(language) and not list(unsupported([(path, language)]))
    return _page(desk, "file.html", page=page, depth=depth, has_calls=has_calls)


def _beside(repositories: Repositories, request: Request) -> Response:
    desk = _desk(repositories, request)
    what = request.path_params["what"]
    read = _BESIDE.get(what)
    if read is None:
        return _problem(desk, 404, f"There is nothing called {what}.", "")
    path = addresses.path_of(request.scope["raw_path"], f"/beside/{what}/")
    return _page(desk, "beside.html", what=what, path=path, found=read(desk, path))


def _files(repositories: Repositories, request: Request) -> Response:
    desk = _desk(repositories, request)
    asked = request.query_params
    folder, typed = asked.get("in", "").strip("/"), asked.get("q", "")[:LONGEST].strip()
    found, more = files_meant(desk, folder, typed) if typed else files_in(desk, folder)
    return _page(desk, "files.html", folder=folder, typed=typed, found=found, more=more)


def _references(repositories: Repositories, request: Request) -> Response:
    desk = _desk(repositories, request)
    target = request.query_params.get("target", "")[:LONGEST].strip()
    found, notes = references_to(desk, target)
    return _page(desk, "references.html", target=target, found=found, notes=notes)


def _calls(repositories: Repositories, request: Request) -> Response:
    desk = _desk(repositories, request)
    asked = request.query_params
    page = calls_page(desk, asked.get("target", "").strip(), _number(asked.get("depth"), 1))
    return _page(desk, "calls.html", page=page)


def _map(repositories: Repositories, request: Request) -> Response:
    desk = _desk(repositories, request)
    asked = request.query_params
    page = map_page(desk, asked.get("by", ""), asked.get("in", ""), asked.get("q", ""))
    return _page(desk, "map.html", page=page, colours=COLOURS)


def _state(repositories: Repositories, request: Request) -> Response:
    desk = _desk(repositories, request)
    # Checks start programs: not by a link on a page of another server of this machine
    is_own = request.headers.get("sec-fetch-site", "none") in {"same-origin", "none"}
    page = state_page(desk, with_checks="checks" in request.query_params and is_own)
    are_several = len(repositories.known()) > 1 or bool(repositories.problem)
    return _page(
        desk,
        "state.html",
        page=page,
        are_several=are_several,
        most_unread=MOST_UNREAD,
        most_moments=MOST_MOMENTS,
    )


def _repositories(repositories: Repositories, request: Request) -> Response:
    del request
    stands, gone, more = repositories_page(repositories)

    def state_of(name: str) -> str:
        return Addresses(name).page("/state")

    return _page(
        repositories.here,
        "repositories.html",
        stands=stands,
        gone=gone,
        more=more,
        problem=repositories.problem,
        state_of=state_of,
    )


_BESIDE: dict[str, Callable[[Desk, str], Any]] = {
    "history": history_beside,
    "documents": documents_beside,
    "calls": calls_beside,
}


def _static(repositories: Repositories, request: Request) -> Response:
    from starlette.responses import Response

    name = request.path_params["name"]
    if name not in STATIC:
        return _problem(repositories.here, 404, f"There is no file {name}.", "")
    content, kind = static(name)
    return Response(content, media_type=kind)


def _number(given: str | None, otherwise: int) -> int:
    """Return a number from an address; another where it is none."""
    if given is None or len(given) > _MOST_DIGITS or not (given.isascii() and given.isdigit()):
        return otherwise
    return int(given)
