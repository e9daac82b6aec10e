"""``gitrag init`` and ``gitrag uninstall``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gitrag.actions.requests import InitRequest
from gitrag.cli.findings import options
from gitrag.cli.frame import Example, command, json_option
from gitrag.cli.session import Session, pass_session
from gitrag.cli.terminal import Terminal
from gitrag.errors import NOTHING, OK, RepositoryError, StoreError, UsageError
from gitrag.words.numbers import count

if TYPE_CHECKING:
    from gitrag.actions.init import InitStep
    from gitrag.actions.uninstall import InstalledPiece, Left
    from gitrag.git import Repository
    from gitrag.hooking.status import HookReport
    from gitrag.report.documents import AgentsDocument, InitDocument


@command(
    "init",
    examples=[
        Example("gitrag init", "all of it; vectors follow in the background"),
        Example("gitrag init --foreground", "wait for the vectors too"),
        Example("gitrag init --no-hooks", "leave git's hooks alone; searches catch up by themselves"),
        Example("gitrag init --agents", "set the agents up that are used here, too"),
        Example("gitrag init --agents claude", "set this one up"),
        Example("gitrag init --agents all --remove", "take out what was written for agents"),
    ],
)
@options(InitRequest)
@click.option(
    "--agents",
    is_flag=False,
    flag_value="",
    multiple=True,
    metavar="[NAME]",
    help="Also set agents up: claude, codex, cursor, … or all; else those used here.",
)
@click.option("--http", metavar="URL", help="With --agents: the address of `gitrag mcp --http` to use.")
@click.option("--token-env", metavar="NAME", help="With --http: the environment variable with its token.")
@click.option("--remove", is_flag=True, help="With --agents: only take out what was written for them.")
@json_option
@pass_session
def init(
    session: Session,
    *,
    asked: InitRequest,
    agents: tuple[str, ...],
    http: str | None,
    token_env: str | None,
    remove: bool,
) -> int:
    """Set a repository up: hooks, .gitignore, first index.

    Prerequisites are checked first: nothing is written when one is missing. The hooks keep the index up to
    date; .sdd/, where copies of the tracker's issues go, is kept out of git. Running it again changes
    nothing more.

    With --agents, the agents' own files are written last; `gitrag agents install --dry-run` shows them.
    """
    from gitrag.cli.agents import carry_out, choose

    if (remove or http or token_env) and not agents:
        raise UsageError("--remove, --http and --token-env are for --agents.", "gitrag init --agents")
    clients = (
        choose(session, agents if any(agents) or not remove else ["all"], http, token_env) if agents else []
    )
    if remove:
        removed = carry_out(session, clients, taking_out=True, quiet=session.terminal.is_json)
        session.terminal.answered(removed)
        return OK
    from gitrag.actions.init import initialise

    terminal = session.terminal.without_result() if session.terminal.is_json else session.terminal
    steps = []
    for step in initialise(session.workspace, session.environ, terminal.progress, asked):
        _say(step, terminal)
        steps.append(step)
    written = carry_out(session, clients, quiet=session.terminal.is_json) if agents else None
    session.terminal.answered(_document(steps, written))
    terminal.print()
    terminal.print('Next: gitrag search "where is …"')
    terminal.print("      gitrag status   how far the vectors are, and what was left out")
    return OK


def _document(steps: Sequence[InitStep], agents: AgentsDocument | None) -> InitDocument:
    """Return what was done, for programs."""
    from gitrag.actions.embed import EmbeddedHere, EmbeddingInBackground
    from gitrag.report.documents import InitDocument, vectors_document
    from gitrag.workspace import Indexed

    installed, foreign = _hooks(next((step for step in steps if isinstance(step, list)), []))
    vectors = [step for step in steps if isinstance(step, EmbeddedHere | EmbeddingInBackground)]
    return InitDocument(
        hooks=installed,
        foreign_hooks=foreign,
        gitignore_added=any(step is True for step in steps),
        indexed=next((step for step in steps if isinstance(step, Indexed)), None),
        vectors=vectors_document(vectors) if vectors else None,
        agents=agents,
    )


def _hooks(reports: Sequence[HookReport]) -> tuple[tuple[str, ...], int]:
    """Return which hooks are installed, and how many are not gitrag's to change."""
    from gitrag.hooking.status import HookState

    installed = tuple(report.name for report in reports if report.state is HookState.INSTALLED)
    return installed, len(reports) - len(installed)


def _say(step: InitStep, terminal: Terminal) -> None:
    from gitrag.cli.index import say_embedding, say_indexed
    from gitrag.workspace import Indexed

    match step:
        case list():
            names, foreign = _hooks(step)
            terminal.print(f"Hooks: {', '.join(names) or 'none installed'}")
            if foreign:
                are = "is" if foreign == 1 else "are"
                terminal.warn(f"{count(foreign, 'hook')} {are} not gitrag's to change.")
                terminal.hint("`gitrag hooks status` says why, and what to add.")
        case StoreError():
            terminal.warn(f"{step} {step.hint}")
        case bool():
            done = "added, where copies of the tracker's issues go" if step else "is in it"
            terminal.print(f".gitignore: .sdd/ {done}")
        case Indexed():
            say_indexed(step, terminal)
        case None:
            terminal.print("Embed skipped per --skip-embed flag")
        case _:
            say_embedding(step, terminal)


@command(
    "uninstall",
    examples=[
        Example("gitrag uninstall", "show what would go, and ask"),
        Example("gitrag uninstall --yes", "take it out of this repository"),
        Example("gitrag uninstall --all", "of all repositories and this machine"),
    ],
)
@click.option("--all", "everywhere", is_flag=True, help="Of all repositories that gitrag knows, and yours.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@pass_session
def uninstall(session: Session, *, everywhere: bool, yes: bool) -> int:
    """Take gitrag out of this repository: hooks, files for agents, the line in .gitignore, the index.

    What would go is shown first, then asked for; without a terminal nothing goes unless --yes is given, and
    exit status is 1. What stays is named: what is yours, and what others may need. With --all, out of every
    repository that gitrag knows, and your own files: servers of agents, the model, the list of repositories.
    """
    from gitrag.actions import uninstall as action

    if everywhere:
        found = [*action.of_repositories(_own(session), session.environ), *action.of_machine(session.environ)]
    else:
        found = list(action.of_repository(session.repository(), session.environ))
    found += action.of_user(session.environ)
    pieces = [each for each in found if isinstance(each, action.InstalledPiece)]
    left = [each for each in found if isinstance(each, action.Left)]
    terminal = session.terminal
    if not session.terminal.is_json:
        _show(pieces, left, terminal)
    agreed = yes or (bool(pieces) and not session.terminal.is_json and _agreed(terminal))
    if agreed:
        action.take_out(pieces)
    if session.terminal.is_json:
        from gitrag.report.documents import UninstallDocument

        terminal.print_document(UninstallDocument(agreed, tuple(pieces), tuple(left)))
    elif agreed and pieces:
        terminal.print("Removed.")
    return OK if agreed or not pieces else NOTHING


def _show(pieces: Sequence[InstalledPiece], left: Sequence[Left], terminal: Terminal) -> None:
    for piece in pieces:
        terminal.print(f"goes   {piece.what}  {piece.place}")
    if not pieces:
        terminal.print("There is nothing of gitrag's to remove here.")
    for each in left:
        terminal.print(f"stays  {each.what}  {each.place}  ({each.how})")


def _agreed(terminal: Terminal) -> bool:
    if not terminal.can_ask:
        terminal.hint("Nothing was removed: --yes does it.")
        return False
    return terminal.ask("Remove what goes? [y/N]") in {"y", "yes"}


def _own(session: Session) -> Repository | None:
    try:
        return session.repository()
    except RepositoryError:
        return None
