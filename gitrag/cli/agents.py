"""``gitrag agents``, and ``gitrag init --agents``: the agents' own files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gitrag.cli.frame import Example, command, group, json_option
from gitrag.cli.session import Session, pass_session
from gitrag.cli.terminal import Terminal
from gitrag.errors import OK, NotSetUpError, UsageError
from gitrag.words.numbers import count

if TYPE_CHECKING:
    from gitrag.agents.clients import Client
    from gitrag.agents.setup import FileStep


_VARIABLE = "GITRAG_MCP_TOKEN"


@group(
    "agents",
    examples=[
        Example("gitrag agents install", "the agents used in this repository"),
        Example("gitrag agents install --user", "yours, for every repository"),
        Example("gitrag doctor", "does what was written start, and answer?"),
    ],
)
def agents() -> None:
    """Set agents up: Claude Code, Codex, Cursor, VS Code, Gemini, OpenCode and six more.

    Each gets an entry that starts gitrag's server. Whatever else is in a file stays as it is, byte for byte.
    """


_SCOPE = click.option(
    "--user/--project",
    "for_user",
    default=False,
    help="Your own files, for every repository, or this repository's.  [default: project]",
)


@command(
    "install",
    examples=[
        Example("gitrag agents install", "the agents used in this repository"),
        Example("gitrag agents install claude codex", "these"),
        Example("gitrag agents install --user", "those that you have, for every repository"),
        Example("gitrag agents install --dry-run all", "show what would be written"),
    ],
)
@click.argument("clients", nargs=-1)
@_SCOPE
@click.option("--dry-run", is_flag=True, help="Show what would be written; write nothing.")
@json_option
@pass_session
def install(
    session: Session, *, clients: tuple[str, ...], for_user: bool, dry_run: bool, as_json: bool
) -> int:
    """Write what agents need to find gitrag: named ones, all, or those in use.

    In a repository: the server, a short block in their guide, skills, the search strategy; the files are for
    the team, and to be committed. With --user: the server alone, in files of your own.

    A repository that was never indexed is indexed when an agent asks its first question (setting auto_index).
    """
    return _change(session, clients, for_user=for_user, dry_run=dry_run, as_json=as_json)


@command(
    "remove",
    examples=[
        Example("gitrag agents remove all", "all that was written into this repository"),
        Example("gitrag agents remove --user cursor", "one of your own"),
    ],
)
@click.argument("clients", nargs=-1)
@_SCOPE
@json_option
@pass_session
def remove(session: Session, *, clients: tuple[str, ...], for_user: bool, as_json: bool) -> int:
    """Take out what was written: each file is again what it was."""
    return _change(session, clients, for_user=for_user, taking_out=True, as_json=as_json)


for _each in (install, remove):
    agents.add_command(_each)


def _change(
    session: Session,
    names: Sequence[str],
    *,
    for_user: bool,
    dry_run: bool = False,
    taking_out: bool = False,
    as_json: bool,
) -> int:
    from gitrag.agents.launch import command_for
    from gitrag.agents.setup import apply, chosen, chosen_of_user, plan, plan_of_user

    started = command_for(session.environ, shared=not for_user)
    if for_user:
        root = Path(session.environ.get("HOME") or Path.home())
        clients = [client.started_by(started) for client in chosen_of_user(names, root)]
        steps = plan_of_user(root, clients, remove=taking_out)
    else:
        root = _root(session)
        clients = [client.started_by(started) for client in chosen(names, root)]
        steps = plan(root, clients, remove=taking_out)
    if not dry_run:
        apply(root, steps, private=for_user)
    if as_json:
        _print_steps(steps, clients, session.terminal, done=not dry_run)
        return OK
    for step in steps:
        if step.changes:
            _show(step, session.terminal, done=not dry_run, prefix="~/" if for_user else "")
        elif step.note:
            session.terminal.warn(f"{step.path} is left alone: {step.note}.")
    if not any(step.changes for step in steps):
        session.terminal.print(f"Nothing to do for {', '.join(client.name for client in clients)}.")
    elif not (dry_run or taking_out):
        session.terminal.hint("`gitrag doctor` starts what was written, and asks it a question")
    return OK


def _root(session: Session) -> Path:
    root = session.repository().root
    if root is None:
        raise NotSetUpError("A bare repository has no files to write to.", "Run this in a worktree.")
    return root


def set_up(
    session: Session,
    names: Sequence[str],
    *,
    write: bool,
    remove: bool,
    http: str | None = None,
    token_env: str | None = None,
    as_json: bool = False,
) -> int:
    """Show, write or remove what agents need to find gitrag.

    Args:
        session: The session of the command.
        names: The agents; an empty name stands for those in use here.
        write: Write the files.
        remove: Remove what was written.
        http: The URL of a running server; None if the agent starts its own.
        token_env: The environment variable that holds the server's token.
        as_json: Print JSON.

    Raises:
        UsageError: The options contradict each other, or there is no such agent.
        NotSetUpError: The repository has no working tree.
        StoreError: A file cannot be written.
    """
    from gitrag.agents.setup import apply, chosen, plan

    if not names or (write and remove):
        raise UsageError("--agents takes either --write or --remove.", "gitrag init --agents --write")
    terminal = session.terminal
    root = _root(session)
    clients = _reached(session, chosen(names, root), http, _checked(http, token_env))
    steps = plan(root, clients, remove=remove)
    changes = [step for step in steps if step.changes]
    if write or remove:
        apply(root, steps)
    if as_json:
        _print_steps(steps, clients, terminal, done=write or remove)
        return OK
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


def _reached(session: Session, clients: Sequence[Client], http: str | None, variable: str) -> list[Client]:
    """Return clients with how they reach the server: at an address, or by starting it."""
    from gitrag.agents.launch import command_for

    if not http:
        started = command_for(session.environ, shared=True)
        return [client.started_by(started) for client in clients]
    reached = [client.at(http, variable) for client in clients if client.remote]
    if not reached:
        raise UsageError("This client takes no variable for a token.", "Leave --http out.")
    return reached


def _print_steps(
    steps: Sequence[FileStep], clients: Sequence[Client], terminal: Terminal, *, done: bool
) -> None:
    """Print what happened to each file, for programs."""
    from gitrag.report.documents import AgentsDocument, FileChange

    files = (
        FileChange(step.path, _action(step) if step.changes else "left" if step.note else "none", step.note)
        for step in steps
    )
    terminal.print_document(AgentsDocument(tuple(client.name for client in clients), done, tuple(files)))


def _action(step: FileStep) -> str:
    return "written" if step.before is None else "removed" if step.after is None else "changed"


def _show(step: FileStep, terminal: Terminal, *, done: bool, prefix: str = "") -> None:
    if done:
        terminal.print(f"{_action(step)} {prefix}{step.path}")
        return
    old, new = ((text or "").splitlines() for text in (step.before, step.after))
    origin = "/dev/null" if step.before is None else f"a/{step.path}"
    for line in unified_diff(old, new, origin, f"b/{step.path}", lineterm=""):
        terminal.print(terminal.style(line, {"+": "green", "-": "red"}.get(line[:1], "dim")))


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
