"""``gitrag hook run``: what the installed hooks call; hidden, since nobody types it."""

from __future__ import annotations

import click

from gitrag.cli.frame import command, group
from gitrag.cli.session import Session, pass_session


@group("hook", hidden=True)
def hook() -> None:
    """Run what a git hook runs."""


@command("run", context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@pass_session
def run_hook(session: Session, name: str, args: tuple[str, ...]) -> None:
    """Bring the index up to date in the background, silently."""
    from gitrag.actions.run_hook import run
    from gitrag.cli.prime import keep

    run(name, args, start=session.start, environ=session.environ, keep=keep)


hook.add_command(run_hook)
