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
from gitrag.errors import NOTHING, OK, NotSetUpError, UsageError

if TYPE_CHECKING:
    from gitrag.agents.clients import Client
    from gitrag.agents.setup import FileStep
    from gitrag.report.documents import AgentsDocument


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
def install(session: Session, *, clients: tuple[str, ...], for_user: bool, dry_run: bool) -> int:
    """Write what agents need to find gitrag: named ones, all, or those in use.

    Where none is in use it asks which; without a terminal it says what it would write, and exit status is 1.

    In a repository: the server, a short block in their guide, skills, the search strategy; the files are for
    the team, and to be committed. With --user: the server alone, in files of your own.

    A repository that was never indexed is indexed when an agent asks its first question (setting auto_index).
    """
    return _change(session, clients, for_user=for_user, dry_run=dry_run)


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
def remove(session: Session, *, clients: tuple[str, ...], for_user: bool) -> int:
    """Take out what was written: each file is again what it was."""
    return _change(session, clients, for_user=for_user, taking_out=True)


for _each in (install, remove):
    agents.add_command(_each)


def _change(
    session: Session,
    names: Sequence[str],
    *,
    for_user: bool,
    dry_run: bool = False,
    taking_out: bool = False,
) -> int:
    from gitrag.agents.clients import command_for
    from gitrag.agents.setup import chosen_of_user

    if taking_out:
        names = names or ["all"]
    if for_user:
        started = command_for(session.environ, shared=False)
        clients = [client.started_by(started) for client in chosen_of_user(names, _home(session))]
    else:
        clients = choose(session, names)
    done = carry_out(
        session,
        clients,
        for_user=for_user,
        dry_run=dry_run,
        taking_out=taking_out,
        quiet=session.terminal.is_json,
    )
    session.terminal.answered(done)
    return OK if clients else NOTHING


def carry_out(
    session: Session,
    clients: Sequence[Client],
    *,
    for_user: bool = False,
    dry_run: bool = False,
    taking_out: bool = False,
    quiet: bool = False,
) -> AgentsDocument:
    """Write, show or remove what clients need to find gitrag; say so, unless ``quiet``, and return it."""
    from gitrag.agents.setup import apply, plan, plan_of_user

    terminal = session.terminal
    root = _home(session) if for_user else _root(session)
    steps = (plan_of_user if for_user else plan)(root, clients, remove=taking_out)
    if not dry_run:
        apply(root, steps, private=for_user)
    if not quiet:
        for step in steps:
            if step.changes:
                _show(step, terminal, done=not dry_run, prefix="~/" if for_user else "")
            elif step.note:
                terminal.warn(f"{step.path} is left alone: {step.note}.")
        if clients and not any(step.changes for step in steps):
            left = sum(bool(step.note) for step in steps)
            but = f" but {'what is' if left == 1 else 'those that are'} left alone" if left else ""
            terminal.print(f"Nothing to do for {', '.join(client.name for client in clients)}{but}.")
        elif clients and not (dry_run or taking_out):
            terminal.hint("`gitrag doctor` starts what was written, and asks it a question")
    return _document(steps, clients, done=not dry_run)


def choose(
    session: Session, names: Sequence[str], http: str | None = None, token_env: str | None = None
) -> list[Client]:
    """Return the clients of these names, each with how it reaches the server.

    Without a name, those used here; where none is, those that the user names on the terminal. Without one it
    is said what would be written for which, and none is returned.

    Args:
        names: The agents; an empty name stands for those in use here.
        http: The URL of a running server; None if the agent starts its own.
        token_env: The environment variable that holds the server's token.

    Raises:
        NotSetUpError: The repository has no working tree.
    """
    from gitrag.agents.clients import CLIENTS
    from gitrag.agents.setup import chosen, had_by_user
    from gitrag.config.loading import TEAM_FILE

    terminal, root = session.terminal, _root(session)
    variable = _checked(http, token_env)
    found = chosen(names, root)
    if not found:
        own = [client for client in CLIENTS if client.file]
        likely = [client for client in had_by_user(_home(session)) if client.file]
        terminal.note(f"No agent's files are found in {root}.")
        if terminal.can_ask:
            suggested = " ".join(client.name for client in likely) or "none"
            every = ", ".join(client.name for client in own)
            answer = terminal.ask(f"Which are to be set up here: {every}? [{suggested}]")
            answer = "none" if answer is None else answer or suggested
            found = chosen([answer], root) if answer != "none" else []
        else:
            for client in likely or own:
                files = f"{client.file}, {client.guide}, {client.skills}/gitrag-*, {TEAM_FILE}"
                terminal.note(f"{client.name:<9} {files}")
            named = " ".join(client.name for client in likely) or "NAME"
            terminal.hint(f"`gitrag agents install {named}` writes these")
    return _reached(session, found, http, variable)


def _home(session: Session) -> Path:
    return Path(session.environ.get("HOME") or Path.home())


def _root(session: Session) -> Path:
    root = session.repository().root
    if root is None:
        raise NotSetUpError("A bare repository has no files to write to.", "Run this in a worktree.")
    return root


def _reached(session: Session, clients: Sequence[Client], http: str | None, variable: str) -> list[Client]:
    """Return clients with how they reach the server: at an address, or by starting it."""
    from gitrag.agents.clients import command_for

    if not http:
        started = command_for(session.environ, shared=True)
        return [client.started_by(started) for client in clients]
    reached = [client.at(http, variable) for client in clients if client.remote]
    if clients and not reached:
        raise UsageError("This client takes no variable for a token.", "Leave --http out.")
    return reached


def _document(steps: Sequence[FileStep], clients: Sequence[Client], *, done: bool) -> AgentsDocument:
    """Return what happened to each file, for programs."""
    from gitrag.report.documents import AgentsDocument

    return AgentsDocument(tuple(client.name for client in clients), done and bool(clients), tuple(steps))


def _show(step: FileStep, terminal: Terminal, *, done: bool, prefix: str = "") -> None:
    if done:
        terminal.print(f"{step.action} {prefix}{step.path}")
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
