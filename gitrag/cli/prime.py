"""``gitrag prime``."""

from __future__ import annotations

import click

from gitrag.cli.frame import Example, command
from gitrag.cli.session import Session, pass_session
from gitrag.cli.terminal import sanitise
from gitrag.errors import OK


@command(
    "prime",
    examples=[
        Example("gitrag prime", "all decisions and specifications, a line each"),
        Example("gitrag prime authentication", "those on a topic, in full"),
    ],
)
@click.argument("topic", nargs=-1)
@pass_session
def prime(session: Session, *, topic: tuple[str, ...]) -> int:
    """Say what a session should know at its start.

    Brings the index up to date first, silently. Without TOPIC: every decision and specification, a line each.
    With TOPIC: those on it, in full.
    """
    from gitrag.prime import as_markdown
    from gitrag.prime import prime as gather

    primed = gather(session.app(), " ".join(topic), session.core_files())
    session.terminal.print(sanitise(as_markdown(primed)))
    return OK
