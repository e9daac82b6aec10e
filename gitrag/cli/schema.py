"""``gitrag schema``."""

from __future__ import annotations

import json

import click

from gitrag.cli.frame import Example, command, json_option
from gitrag.cli.session import Session, pass_session


@command(
    "schema",
    examples=[
        Example("gitrag schema", "the commands that print JSON"),
        Example("gitrag schema search", "what `gitrag search --json` prints"),
        Example("gitrag schema index status", "of a command of a group"),
    ],
)
@click.argument("words", nargs=-1, metavar="[COMMAND]")
@json_option
@pass_session
def schema(session: Session, *, words: tuple[str, ...]) -> None:
    """Print the JSON Schema of what a command prints with --json.

    Its $id ends with a version, which is raised when a key changes its meaning or goes. New keys may come.
    """
    from gitrag.report.schema import commands, schema_of

    terminal = session.terminal
    if words:
        terminal.print_json_text(json.dumps(schema_of(" ".join(words)), ensure_ascii=False, indent=2))
    elif session.terminal.is_json:
        terminal.print_document(commands())
    else:
        for each in commands():
            terminal.print(f"{each.command:<16} {terminal.style(each.id, 'dim')}")
