"""``gitrag web``."""

from __future__ import annotations

from contextlib import closing

import click

from gitrag.cli.browser import open_in_browser
from gitrag.cli.frame import Example, command
from gitrag.cli.session import Session, pass_session
from gitrag.errors import OK

_LAST_PORT = 65_535


@command(
    "web",
    examples=[
        Example("gitrag web", "search and look around in the browser"),
        Example("gitrag web --no-browser", "only print the address"),
        Example("gitrag -C ~/src/shop web --port 8321", "another repository, at a port of your choice"),
    ],
)
@click.option(
    "--port",
    type=click.IntRange(0, _LAST_PORT),
    default=0,
    metavar="N",
    help="The port on 127.0.0.1; a free one if not given.",
)
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
@pass_session
def web(session: Session, *, port: int, no_browser: bool) -> int:
    """Open a page of this repository in the browser: search it as you type, and look around.

    The first line is its address, on this machine only. The token in it lets you in and nobody else: whoever
    has it reads the repository. The page ends with this command (Ctrl-C), or an hour after its last use.
    """
    terminal = session.terminal
    workspace = session.index_first(session.workspace())
    workspace.require_index()
    from gitrag.web.desk import Desk
    from gitrag.web.server import serve

    desk = Desk(session.start, session.environ)

    def ready(address: str) -> None:
        terminal.print(address)
        terminal.out.flush()
        if not no_browser and not open_in_browser(address, desk.workspace.store.directory):
            terminal.note("No browser could be opened here: open the address above in one.")

    with closing(desk):
        is_idle = serve(desk, port, ready)
    if is_idle:
        terminal.note("Nobody has used the page for an hour: it ends.")
    return OK
