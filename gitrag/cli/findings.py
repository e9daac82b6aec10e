"""The options of a request; the three forms in which `check`, `prime` and `related` print what they find."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import wraps
from typing import Any

import click
from msgspec import Struct

from gitrag.actions.requests import Option, fields_of
from gitrag.cli.frame import NumberRange
from gitrag.cli.terminal import Terminal
from gitrag.errors import UsageError

FINDING_FORMS = ("text", "markdown", "json")

output_option = click.option(
    "-o",
    "--output",
    type=click.Choice(FINDING_FORMS),
    help="Form of the answer; text on a terminal, else markdown (setting output).",
)

hits_output_option = click.option(
    "-o",
    "--output",
    type=click.Choice([*FINDING_FORMS, "vimgrep", "paths"]),
    help="Form of the answer; text on a terminal, else markdown, or the setting output.",
)
"""The forms of hits: those of a finding, and two that editors and scripts read."""

json_alias = click.option("--json", "output", flag_value="json", help="The same as --output json.")
"""The word for JSON that every command takes, for those that have other forms too."""


def form_of(output: str | None, setting: str, terminal: Terminal) -> str:
    """Return the form of an answer: as asked for, else by the setting ``output``, else by where it goes."""
    chosen = output or setting
    if chosen != "auto":
        return chosen
    return "text" if terminal.is_interactive else "markdown"


def print_finding(terminal: Terminal, output: str | None, setting: str, found: object, row: str = "") -> None:
    """Print what was found in the form asked for, by the row of its class or another."""
    from gitrag.report import presented

    form = form_of(output, setting, terminal)
    if form == "json":
        terminal.print_document(found, row)
    elif form == "markdown":
        terminal.print(presented(found, form=row))
    else:
        terminal.print_folded(presented(found, terminal.role, row))


def options(
    request: type[Struct], *, only: Collection[str] = (), without: Collection[str] = ()
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Add a request's fields as options; the command is given the request that they make, as ``asked``.

    Args:
        without: Those to leave out, of the requests too that are fields of it.
    """
    fields = [each for each in _fields(request, without) if not only or each[0] in only]
    fields.sort(key=lambda each: not each[1].first)

    def add(function: Callable[..., int]) -> Callable[..., int]:
        @wraps(function)
        def asking(*args: Any, **given: Any) -> int:
            own = {name: given.pop(name) for name, _option, _default in fields}
            return function(*args, asked=_request(request, own), **given)

        command: Callable[..., int] = asking
        for each in reversed(fields):
            command = _click_option(*each)(command)
        return command

    return add


def _fields(request: type[Struct], without: Collection[str]) -> Iterator[tuple[str, Option, Any]]:
    for name, (option, default) in fields_of(request).items():
        if not isinstance(option, Option):
            yield from _fields(option, without)
        elif option.switches:
            yield from ((value, option.switch(value), False) for value in option.switches)
        elif name not in without:
            yield name, option, default


def _request(request: type[Struct], given: Mapping[str, Any]) -> Struct:
    """Make a request of what was given."""
    own: dict[str, Any] = {}
    for name, (option, _default) in fields_of(request).items():
        if not isinstance(option, Option):
            own[name] = _request(option, given)
        elif on := [value for value in option.switches if given.get(value)]:
            if len(on) > 1 and not option.all_switches:
                raise UsageError(f"--{on[0]} and --{on[1]} exclude each other.", "Give one of them.")
            own[name] = on[0] if len(on) == 1 else option.all_switches
        elif name in given:
            own[name] = given[name]
    return request(**own)


def _click_option(
    name: str, option: Option, default: Any
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    kind: click.ParamType[Any] | None = None
    if option.choices:
        kind = click.Choice(option.choices)
    elif option.least is not None:
        kind = (click.IntRange if option.number is int else NumberRange)(option.least, option.most)
    return click.option(
        *option.flags.split(),
        name,
        type=kind,
        default=default,
        is_flag=default is False or "/" in option.flags,
        multiple=default == (),
        hidden=option.is_hidden,
        metavar=option.metavar,
        help=option.help or None,
        show_default=type(default) is int,
    )
