"""``gitrag mcp``."""

from __future__ import annotations

from collections.abc import Mapping

import click

from gitrag.cli.frame import Example, command
from gitrag.cli.session import Session, pass_session
from gitrag.errors import OK, UsageError
from gitrag.mcp_server.bearer import SHORTEST_TOKEN_CHARS, new_token


@command(
    "mcp",
    examples=[
        Example("gitrag mcp", "over standard streams, as clients start it"),
        Example("gitrag mcp --tools core", "six tools, for agents with little room"),
        Example("gitrag -C ~/src/shop mcp", "for another repository"),
        Example("gitrag mcp --everywhere", "code is searched in all repositories of this machine"),
        Example("gitrag mcp --http 127.0.0.1:8321", "over HTTP, with a token that it prints"),
        Example("gitrag mcp --http 127.0.0.1:8321 --token-env GITRAG_MCP_TOKEN", "with a token of your own"),
    ],
)
@click.option("--http", metavar="127.0.0.1:PORT", help="Over HTTP, to this machine only.")
@click.option(
    "--token-env", metavar="NAME", help="Over HTTP: the environment variable that holds the token to ask for."
)
@click.option("--no-token", is_flag=True, help="Over HTTP: let every user of this machine in.")
@click.option(
    "--tools",
    type=click.Choice(["all", "core"]),
    default="all",
    show_default=True,
    help="Every tool, or the six used most: search_code, get, call_graph, related, check, prime.",
)
@click.option("--everywhere", is_flag=True, help="search_code asks all repositories that gitrag knows.")
@pass_session
def mcp(
    session: Session,
    *,
    http: str | None,
    token_env: str | None,
    no_token: bool,
    tools: str,
    everywhere: bool,
) -> int:
    """Serve agents: a Model Context Protocol server for this repository."""
    from gitrag.mcp_server.server import serve_http, serve_stdio
    from gitrag.mcp_server.workbench import Workbench

    if (token_env or no_token) and http is None:
        raise UsageError(
            "--token-env and --no-token are for --http.", "Over standard streams nobody else is let in."
        )
    if token_env and no_token:
        raise UsageError("Either --token-env or --no-token.", "Leave one out.")
    if http is None:
        bench = Workbench(session.start, session.environ, everywhere=everywhere)
        serve_stdio(bench, core_only=tools == "core")
        return OK
    token = None if no_token else _own_token(token_env, session.environ) if token_env else new_token()

    def tell(address: str) -> None:
        terminal = session.terminal
        terminal.note(f"Serving {address}")
        if token is None:
            terminal.warn("Every user of this machine can read this repository through the server.")
        elif not token_env:
            terminal.note(f"Token (requests need `Authorization: Bearer TOKEN`): {token}")

    bench = Workbench(session.start, session.environ, everywhere=everywhere)
    serve_http(bench, http, tell, token, core_only=tools == "core")
    return OK


def _own_token(name: str, environ: Mapping[str, str]) -> str:
    token = environ.get(name, "").strip()
    if len(token) < SHORTEST_TOKEN_CHARS or not token.isascii() or not token.isprintable() or " " in token:
        found = f"{len(token)} characters" if token else "nothing"
        raise UsageError(
            f"{name[:60]} is to hold the token and holds {found}: at least {SHORTEST_TOKEN_CHARS} are needed,"
            " of ASCII without spaces.",
            f"export {name[:60]}=$(openssl rand -hex 32)",
        )
    return token
