"""``gitrag lsp``."""

from __future__ import annotations

import click

from gitrag.cli.frame import Example, command
from gitrag.cli.session import Session, pass_session
from gitrag.errors import OK, NotSetUpError


@command(
    "lsp",
    examples=[
        Example("gitrag lsp", "over standard streams, as editors start it"),
        Example('pip install "gitrag[lsp]"', "what it needs"),
    ],
)
@click.option("--stdio", is_flag=True, hidden=True, help="What some editors add; there is no other way.")
@pass_session
def lsp(session: Session, *, stdio: bool) -> int:
    """Serve an editor: a language server for the repositories that it has open.

    Symbols of the workspace are found by meaning; references, callers and callees are those of the call
    graph; a hover says why a line is as it is and what bears on the file, a lens how many call a definition.
    On lines of an unsaved buffer that are not so on the disk nothing is said.
    """
    del stdio
    try:
        from gitrag.lsp.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"pygls", "lsprotocol"}:
            raise
        raise NotSetUpError(
            "The language server needs pygls, which is not here.", 'pip install "gitrag[lsp]"'
        ) from error
    serve(session.environ)
    return OK
