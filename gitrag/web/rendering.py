"""Fill in the templates: whatever is put into one is text, made visible where it would steer a reader."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from gitrag.report.parts import day, shown
from gitrag.web import addresses
from gitrag.words.control_characters import sanitise
from gitrag.words.numbers import age, count, size

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
