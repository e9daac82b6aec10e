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
        Example("gitrag prime", "all decisions and specifications, a line each"),
        Example("gitrag prime authentication", "those on a topic, in full"),
        Example("gitrag prime -o json", "for a script"),
    ],
)
@click.argument("topic", nargs=-1)
@output_option
@json_alias
@pass_session
def prime(session: Session, *, topic: tuple[str, ...], output: str | None) -> int:
    """Say what a session should know at its start.

    Brings the index up to date first, silently. Without TOPIC: every decision and specification, a line each.
    With TOPIC: those on it, in full.
    """
    from gitrag.actions.prime import prime as gather
    from gitrag.report.prime import as_json, as_markdown, as_text

    workspace = session.index_first(session.workspace())
    primed = gather(workspace, " ".join(topic), session.core_files())
    print_finding(
        session.terminal,
        output,
        workspace.config.output,
        text=lambda style: as_text(primed, style),
        markdown=lambda: as_markdown(primed),
        structured=lambda: as_json(primed),
    )
    return OK
