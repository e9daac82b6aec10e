"""``gitrag ui``."""

from __future__ import annotations

import sys

import click

from gitrag.cli.frame import Example, command
from gitrag.cli.session import Session, pass_session
from gitrag.errors import OK, UsageError


@command(
    "ui",
    examples=[
        Example("gitrag ui", "type a question, see the files, open one"),
        Example('gitrag ui "where are retries"', "begin with a question"),
    ],
)
@click.argument("query", nargs=-1)
@pass_session
def ui(session: Session, *, query: tuple[str, ...]) -> int:
    """Search as you type, in the whole terminal: see what is found, and open it in $VISUAL or $EDITOR.

    Up and down choose a file, Enter opens it at its best line and comes back, Esc or Ctrl-C ends.
    """
    terminal = session.terminal
    if not (terminal.is_interactive and sys.stdin.isatty()) or session.environ.get("TERM") == "dumb":
        raise UsageError("gitrag ui needs a whole terminal.", 'Elsewhere: gitrag search "…"')
    workspace = session.index_first(session.workspace())
    workspace.require_index()
    from gitrag.cli.picker import Picker

    Picker(session.start, session.environ, " ".join(query), color=terminal.color).run()
    return OK
