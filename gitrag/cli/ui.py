"""``gitrag ui``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from gitrag.actions.requests import FETCHED, Scope
from gitrag.cli.findings import options
from gitrag.cli.frame import Example, command
from gitrag.cli.session import Session, pass_session
from gitrag.errors import OK, UsageError

if TYPE_CHECKING:
    from gitrag.cli.asked import Asked


@command(
    "ui",
    examples=[
        Example("gitrag ui", "type a question, see the files, open one"),
        Example('gitrag ui "where are retries"', "begin with a question"),
        Example("gitrag ui --everywhere", "in all repositories of this machine"),
    ],
)
@click.argument("query", nargs=-1)
@options(Scope, without=FETCHED)
@pass_session
def ui(session: Session, *, query: tuple[str, ...], asked: Scope) -> int:
    """Search as you type, in the whole terminal: see what is found, and open it in $VISUAL or $EDITOR.

    Up and down choose a file, Enter opens it at its best line and comes back, Esc or Ctrl-C ends.

    With --everywhere, --repo, --group or --submodules, several repositories are asked; before each path
    stands its repository.
    """
    terminal = session.terminal
    if not (terminal.is_interactive and sys.stdin.isatty()) or session.environ.get("TERM") == "dumb":
        raise UsageError("gitrag ui needs a whole terminal.", 'Elsewhere: gitrag search "…"')
    from gitrag.cli.picker import Picker

    Picker(
        _asked(session, asked), session.start, session.environ, " ".join(query), color=terminal.color
    ).run()
    return OK


def _asked(session: Session, scope: Scope) -> Asked:
    if not scope:
        session.index_first(session.workspace()).require_index()
        from gitrag.cli.asked import AskedOne

        return AskedOne(session.start, session.environ)
    from gitrag.actions.repositories.chosen import choose
    from gitrag.cli.asked import AskedSeveral
    from gitrag.cli.several import around
    from gitrag.memory.registry import Registry

    here, _config = around(session)
    return AskedSeveral(
        choose(scope, Registry(), session.start, here, session.terminal.note), session.environ
    )
