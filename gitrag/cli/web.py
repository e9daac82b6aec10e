"""``gitrag web``."""

from __future__ import annotations

import atexit
import html
import os
import sys
import webbrowser
from contextlib import closing, suppress
from pathlib import Path

import click

from gitrag.cli.frame import Example, command
from gitrag.cli.session import Session, pass_session
from gitrag.errors import OK
from gitrag.machine.files import NO_LINK

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


_PAGE = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={address}">\n'


def open_in_browser(address: str, directory: Path) -> bool:
    """Open an address in the user's browser; return whether there is one.

    The browser gets a file that leads to the address, since the token is in the address, and others on the
    machine can see the arguments of programs. A browser in the terminal is none: it would take the terminal.

    Args:
        directory: A directory that only the user can read; the file is removed when this process ends.
    """
    if sys.platform.startswith("linux") and not any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    ):
        return False
    file = directory / f"web-{os.getpid()}.html"
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NO_LINK, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(_PAGE.format(address=html.escape(address)))
    except OSError:
        return False
    atexit.register(_remove, file)
    try:
        return webbrowser.open(file.absolute().as_uri())
    except (webbrowser.Error, OSError):
        return False


def _remove(file: Path) -> None:
    with suppress(OSError):
        file.unlink()
