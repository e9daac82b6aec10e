"""``gitrag prime``."""

from __future__ import annotations

import click

from gitrag.cli.findings import json_alias, output_option, print_finding
from gitrag.cli.frame import Example, command
from gitrag.cli.session import Session, pass_session
from gitrag.errors import OK


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
    from gitrag.actions.prime import prime as gather

    workspace = session.index_first(session.workspace())
    primed = gather(workspace, " ".join(topic), session.core_files(), since=since)
    print_finding(session.terminal, output, workspace.config.output, primed)
    return OK
