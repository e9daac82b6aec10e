"""``gitrag ui``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import click

from gitrag.actions.requests import FETCHED, Scope
from gitrag.cli.findings import options
from gitrag.cli.frame import Example, command
from gitrag.cli.session import Session, pass_session
from gitrag.errors import OK, UsageError

if TYPE_CHECKING:
    from gitrag.actions.search import Searcher
    from gitrag.workspace import Workspace


@command(
    "ui",
    examples=[
        Example("gitrag ui", "type a question, see the files, open one"),
        Example('gitrag ui "where are retries"', "begin with a question"),
        Example("gitrag ui '/TODO|FIXME/ lang:python'", "lines that match, of one language"),
        Example("gitrag ui --everywhere", "in all repositories of this machine"),
    ],
)
@click.argument("query", nargs=-1)
@options(Scope, without=FETCHED)
@pass_session
def ui(session: Session, *, query: tuple[str, ...], asked: Scope) -> int:
    """Search as you type, in the whole terminal: see what is found, and open it in $VISUAL or $EDITOR.

    Up and down choose a file, with Shift they scroll the preview; Enter opens it at its best line and comes
    back, Esc or Ctrl-C ends. /…/ finds every line that matches, "…" every line with these words, exactly;
    lang:python, path:src and kind:method narrow it.

    With --everywhere, --repo, --group or --submodules, several repositories are asked; before each path
    stands its repository.
    """
    terminal = session.terminal
    if not (terminal.is_interactive and sys.stdin.isatty()) or session.environ.get("TERM") == "dumb":
        raise UsageError("gitrag ui needs a whole terminal.", 'Elsewhere: gitrag search "…"')
    heard: list[str] = []
    search, find = _asked(session, asked, heard.append)
    from gitrag.cli.picker import Picker

    text = " ".join(query)
    Picker(search, find, heard, session.start, session.environ, text, color=terminal.color).run()
    return OK


def _asked(
    session: Session, scope: Scope, say: Callable[[str], None]
) -> tuple[Searcher, Callable[[str], Workspace | None]]:
    """Return who answers, and who finds the repository of a hit: the one around, or several."""
    if not scope:
        from gitrag.actions.exact_search import either
        from gitrag.report.exact import all_notes
        from gitrag.workspace import Workspace

        session.index_first(session.workspace()).require_index()
        own = Workspace.open(session.start, environ=session.environ, say=say, resident=True)
        return partial(either, own, hear=lambda found: list(map(say, all_notes(found)))), lambda _name: own
    from gitrag.actions.repositories.chosen import choose
    from gitrag.actions.repositories.kept import KeptRepositories
    from gitrag.cli.several import around
    from gitrag.memory.registry import Registry

    here, _config = around(session)
    chosen = choose(scope, Registry(), session.start, here, session.terminal.note)
    kept = KeptRepositories(session.environ, say)
    return partial(kept.ask, chosen), kept.find
