"""``gitrag prime``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitrag.cli.findings import form_of, json_alias, output_option, print_finding
from gitrag.cli.frame import Example, command
from gitrag.cli.session import Session, pass_session
from gitrag.errors import OK

if TYPE_CHECKING:
    from gitrag.actions.prime import SessionStart
    from gitrag.workspace import Workspace


@command(
    "prime",
    examples=[
        Example(
            "gitrag prime", "an overview: decisions, languages, entry points, core files, changes, tests"
        ),
        Example("gitrag prime authentication", "those on a topic, in full"),
        Example("gitrag prime --since", "what happened since your last commit, in ten lines, and the rest"),
        Example("gitrag prime --since=2026-01-31", "since then; or since a revision"),
        Example("gitrag prime -o json", "for a script"),
    ],
)
@click.argument("topic", nargs=-1)
@click.option(
    "--since",
    is_flag=False,
    flag_value="",
    metavar="[TIME|REV]",
    help="Say first what happened since then; alone, since your last commit here.",
)
@output_option
@json_alias
@pass_session
def prime(session: Session, *, topic: tuple[str, ...], since: str | None, output: str | None) -> int:
    """Say what a session should know at its start.

    Brings the index up to date first, silently. Without TOPIC: every decision and specification, a line each,
    and an overview of the repository, from its files and commits. With TOPIC: the decisions on it, in full.
    """
    from gitrag.actions import prime as action

    workspace, core = session.workspace(), session.core_files()
    form = form_of(output, workspace.config.output, session.terminal)
    is_start = form == "markdown" and not topic and since is None
    if is_start and (known := action.known_text(workspace, core)):
        told, is_whole = known
        session.terminal.print(told)
        if not is_whole:
            action.want_text(workspace)
        return OK
    primed = action.prime(session.index_first(workspace), " ".join(topic), core, since=since)
    print_finding(session.terminal, output, workspace.config.output, primed)
    if is_start:
        action.want_text(workspace)
    return OK


def keep(workspace: Workspace) -> None:
    """Keep what a session is told at its start, where sessions were told before."""
    from msgspec.structs import replace

    from gitrag.actions.prime import keep_text, prime
    from gitrag.memory.core_files import CoreFiles
    from gitrag.memory.projects import home_directory
    from gitrag.report.prime import as_markdown

    core = CoreFiles(home_directory(workspace.environ))

    def make() -> tuple[str, SessionStart]:
        primed = prime(workspace, core=core)
        return as_markdown(replace(primed, notes=())), primed

    keep_text(workspace, core, make)
