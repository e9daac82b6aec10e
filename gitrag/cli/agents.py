"""``gitrag init --agents``: the agents' own files, shown first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING

from gitrag.cli.session import Session
from gitrag.cli.terminal import Terminal
from gitrag.errors import OK, NotSetUpError, UsageError
from gitrag.words.control_characters import sanitise
from gitrag.words.numbers import count

if TYPE_CHECKING:
    from gitrag.agents.setup import FileStep


_VARIABLE = "GITRAG_MCP_TOKEN"


def set_up(
    session: Session,
    names: Sequence[str],
    *,
    write: bool,
    remove: bool,
    http: str | None = None,
    token_env: str | None = None,
) -> int:
    """Show, write or remove what agents need to find gitrag.

    Args:
        session: The session of the command.
        names: The agents; an empty name stands for those in use here.
        write: Write the files.
        remove: Remove what was written.
        http: The URL of a running server; None if the agent starts its own.
        token_env: The environment variable that holds the server's token.

    Raises:
        UsageError: The options contradict each other, or there is no such agent.
        NotSetUpError: The repository has no working tree.
        StoreError: A file cannot be written.
    """
    from gitrag.agents.setup import apply, chosen, plan

    if not names or (write and remove):
        raise UsageError("--agents takes either --write or --remove.", "gitrag init --agents --write")
    variable = _checked(http, token_env)
    terminal = session.terminal
    root = session.repository().root
    if root is None:
        raise NotSetUpError("A bare repository has no files to write to.", "Run this in a worktree.")
    clients = chosen(names, root)
    if http:
        clients = [client.at(http, variable) for client in clients]
    steps = plan(root, clients, remove=remove)
    changes = [step for step in steps if step.changes]
    if write or remove:
        apply(root, steps)
    for step in changes:
        _show(step, terminal, done=write or remove)
    for step in steps:
        if step.note:
            terminal.warn(f"{step.path} is left alone: {step.note}.")
    agents = ", ".join(client.name for client in clients)
    if not changes:
        left = sum(bool(step.note) for step in steps)
        but = f" but {'what is' if left == 1 else 'those that are'} left alone" if left else ""
        terminal.print(f"Nothing to do for {agents}{but}.")
    elif not (write or remove):
        terminal.hint(
            f"`gitrag init --agents {agents.replace(' ', '')} --write` writes {count(len(changes), 'file')}"
        )
    return OK


def _show(step: FileStep, terminal: Terminal, *, done: bool) -> None:
    if done:
        verb = "written" if step.before is None else "removed" if step.after is None else "changed"
        terminal.print(f"{verb} {sanitise(step.path)}")
        return
    old, new = ((text or "").splitlines() for text in (step.before, step.after))
    origin = "/dev/null" if step.before is None else f"a/{step.path}"
    for line in unified_diff(old, new, origin, f"b/{step.path}", lineterm=""):
        style = {"+": "green", "-": "red"}.get(line[:1], "dim")
        terminal.print(terminal.style(sanitise(line), style))


def _checked(http: str | None, token_env: str | None) -> str:
    """Return the variable of a server's token; raise an error for an invalid URL or variable name."""
    if token_env and not http:
        raise UsageError("--token-env is for --http.", "Give the server's address with --http.")
    variable = token_env or _VARIABLE
    if http and not re.fullmatch(r"http://(?:127\.0\.0\.1|localhost):\d{1,5}/mcp", http):
        raise UsageError(f"{http[:60]!r} is no address of `gitrag mcp --http`.", "http://127.0.0.1:8377/mcp")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", variable):
        raise UsageError(f"{variable[:60]!r} is no name of an environment variable.", f"Such as {_VARIABLE}.")
    return variable
