"""``gitrag uninstall``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gitrag.cli.frame import Example, command, json_option
from gitrag.cli.session import Session, pass_session
from gitrag.cli.terminal import Terminal
from gitrag.errors import NOTHING, OK, RepositoryError

if TYPE_CHECKING:
    from gitrag.actions.uninstall import InstalledPiece, Left
    from gitrag.git import Repository


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
