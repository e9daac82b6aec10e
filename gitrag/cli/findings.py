"""The three forms in which `check`, `prime` and `related` print what they find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from gitrag.cli.terminal import Terminal
from gitrag.model import Kind
from gitrag.words.control_characters import Text

if TYPE_CHECKING:
    from gitrag.report import Style

_STYLES = {
    "title": ("bold",),
    "path": ("magenta",),
    "name": ("bold",),
    "score": ("green",),
    "dim": ("dim",),
}

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

path_option = click.option(
    "--path", "globs", multiple=True, metavar="GLOB", help="Only paths like this, as in .gitignore."
)
language_option = click.option(
    "--lang", "languages", multiple=True, metavar="NAME", help="Only this language, or suffix."
)
kind_option = click.option(
    "--kind", "kinds", multiple=True, type=click.Choice([k.value for k in Kind]), help="Only this kind."
)
budget_option = click.option(
    "--budget",
    type=click.IntRange(1, 100_000),
    metavar="N",
    help="Passages that answer best, of whatever file, as many as fit into N tokens.",
)

json_alias = click.option("--json", "output", flag_value="json", help="The same as --output json.")
"""The word for JSON that every command takes, for those that have other forms too."""


def form_of(output: str | None, setting: str, terminal: Terminal) -> str:
    """Return the form of an answer: as asked for, else by the setting ``output``, else by where it goes."""
    chosen = output or setting
    if chosen != "auto":
        return chosen
    return "text" if terminal.is_interactive else "markdown"


def print_finding(
    terminal: Terminal,
    output: str | None,
    setting: str,
    *,
    text: Callable[[Style], Text],
    markdown: Callable[[], Text],
    answer: object,
) -> None:
    """Print a finding in the form asked for."""
    form = form_of(output, setting, terminal)
    if form == "json":
        terminal.print_document(answer)
    elif form == "markdown":
        terminal.print(markdown())
    else:
        terminal.print_folded(text(lambda part, role: terminal.style(part, *_STYLES.get(role, ()))))


_OF_KNOWN = (
    click.option("--everywhere", is_flag=True, help="Ask all repositories that gitrag knows."),
    click.option(
        "--repo",
        "repositories",
        multiple=True,
        metavar="NAME",
        help="Ask this one: a name or glob of gitrag repos list, or a path.",
    ),
    click.option(
        "--group",
        "groups",
        multiple=True,
        metavar="NAME",
        help="Ask those of this group: gitrag repos.",
    ),
    click.option("--submodules", is_flag=True, help="Ask this one, and submodules and clones inside of it."),
)
_OF_FETCHED = (
    click.option(
        "--git-url",
        "git_urls",
        multiple=True,
        metavar="URL",
        help="Ask what is at this https, ssh or file URL: fetched without history, kept for a day.",
    ),
    click.option(
        "--dep",
        "dependencies",
        multiple=True,
        metavar="NAME",
        help="Ask the source of this installed dependency of the project: Python's or npm's.",
    ),
)


def known_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options that ask several repositories of this machine."""
    return _with(_OF_KNOWN, function)


def several_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options that ask several repositories, those fetched for it included."""
    *most, last = _OF_KNOWN
    return _with((*most, *_OF_FETCHED, last), function)


def _with(
    options: Sequence[Callable[[Callable[..., int]], Callable[..., int]]], function: Callable[..., int]
) -> Callable[..., int]:
    for option in reversed(options):
        function = option(function)
    return function
