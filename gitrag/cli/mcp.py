"""``gitrag mcp``."""

from __future__ import annotations

import click

from gitrag.cli.frame import Example, command
from gitrag.cli.session import Session, pass_session
from gitrag.errors import OK


@command(
    "mcp",
    examples=[
        Example("gitrag mcp", "over standard streams, as clients start it"),
        Example("gitrag -C ~/src/shop mcp", "for another repository"),
        Example("gitrag mcp --http 127.0.0.1:8321", "over HTTP, at http://127.0.0.1:8321/mcp"),
    ],
)
@click.option("--http", metavar="127.0.0.1:PORT", help="Over HTTP, to this machine only.")
@pass_session
def mcp(session: Session, *, http: str | None) -> int:
    """Serve agents: a Model Context Protocol server for this repository."""
    from gitrag.mcp_server.server import serve_http, serve_stdio
    from gitrag.mcp_server.workbench import Workbench

    bench = Workbench(session.start, session.environ)
    if http is None:
        serve_stdio(bench)
    else:
        serve_http(bench, http, lambda address: session.terminal.note(f"Serving {address}"))
    return OK
