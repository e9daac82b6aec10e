"""``gitrag hooks``: install, uninstall, status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitrag.cli.frame import Example, command, group, json_option
from gitrag.cli.session import Session, pass_session
from gitrag.cli.terminal import Terminal
from gitrag.errors import NOTHING, OK
from gitrag.words.control_characters import Text, joined

if TYPE_CHECKING:
    from gitrag.hooking.status import HookReport


@group(
    "hooks",
    examples=[
        Example("gitrag hooks install", "index after every commit, merge, switch and rebase"),
        Example("gitrag hooks status", "do they work here, and if not, why not?"),
        Example("GITRAG=0 git commit", "skip them once"),
    ],
)
def hooks() -> None:
    """Install, remove or inspect the git hooks.

    The hooks keep the index up to date in the background and never delay git. They are a marked block in each
    hook's file; a hook of your own works as before.
    """


@command("install", examples=[Example("gitrag hooks install", "install or update them")])
@json_option
@pass_session
def install_hooks(session: Session) -> int:
    """Install the hooks, or update them.

    A hook manager's file, a hook in another language, a symbolic link, and a core.hooksPath outside the
    repository are left unchanged. There, an entry in the repository's configuration makes git 2.54 or later
    run gitrag as well; for an older git, the lines to add are printed, and on a terminal it is asked whether
    to add them to shell scripts and to a manager's YAML. Exit status 1 unless all are there.
    """
    from gitrag.hooking.install import add_lines, can_be_added, install, is_left

    repository, terminal = session.repository(), session.terminal
    reports = install(repository)
    if session.terminal.is_json:
        return _print_rows(reports, terminal, with_changes=True)
    status = _show(reports, terminal)
    files = list(dict.fromkeys(str(report.path) for report in reports if can_be_added(report)))
    for report in filter(is_left, reports):
        terminal.hint(f"{report.path}: the {report.name} lines go among its own, not at its end.")
    if files and terminal.can_ask:
        terminal.note(joined(files))
        if terminal.ask("Write these lines into these files, for git to run them? [y/N]") in {"y", "yes"}:
            return _show(add_lines(repository, reports), terminal)
    return status


@command("uninstall", examples=[Example("gitrag hooks uninstall", "restore the hooks as they were before")])
@json_option
@pass_session
def uninstall_hooks(session: Session) -> int:
    """Remove the hooks; your own part of a hook stays as it is, byte for byte."""
    from gitrag.hooking.install import uninstall
    from gitrag.hooking.status import HookState

    terminal = session.terminal
    reports = uninstall(session.repository(), shared=True)
    if session.terminal.is_json:
        _print_rows(reports, terminal, with_changes=True)
        return OK
    for report in reports:
        name = f"{report.name:<14}"
        if report.state is HookState.INSTALLED:
            terminal.print(f"{name} stays: {report.detail}")
        else:
            terminal.print(f"{name} {'removed' if report.changed else 'was not there'}")
    return OK


@command(
    "status",
    examples=[
        Example("gitrag hooks status", "the state of each hook"),
        Example("gitrag hooks status --json", "the same, for programs"),
    ],
)
@json_option
@pass_session
def status_of_hooks(session: Session) -> int:
    """Show the state of each hook, and what to do where one is not installed.

    Exit status 1 unless all are installed.
    """
    from gitrag.hooking.status import status

    reports = status(session.repository())
    if not session.terminal.is_json:
        return _show(reports, session.terminal, for_older=True)
    return _print_rows(reports, session.terminal)


def _print_rows(reports: Sequence[HookReport], terminal: Terminal, *, with_changes: bool = False) -> int:
    """Print the status of each hook for programs, and whether it was changed."""
    from msgspec import UNSET
    from msgspec.structs import replace

    from gitrag.hooking.status import HookState

    terminal.print_document(reports if with_changes else [replace(each, changed=UNSET) for each in reports])
    return OK if all(report.state is HookState.INSTALLED for report in reports) else NOTHING


def _show(reports: Sequence[HookReport], terminal: Terminal, *, for_older: bool = False) -> int:
    """Print the status of each hook; ``for_older``: also the lines for a git without configured hooks."""
    from gitrag.hooking.status import HookState
    from gitrag.hooking.table import HOOKS

    does = {hook.name: hook.does for hook in HOOKS}
    for report in reports:
        good = report.state is HookState.INSTALLED
        state = terminal.style(f"{report.state.value:<14}", "green" if good else "magenta")
        detail = report.detail or does[report.name]
        terminal.print(f"{report.name:<14} {state} {detail}")
        if report.commands and (for_older or not good):
            terminal.print("    to run both, in a shell:")
            terminal.print(report.commands)
        elif report.lines and (for_older or not good):
            why = "for git before 2.54" if good else "to install it"
            terminal.print(f"    {why}, add to {report.path}:")
            terminal.print(Text(report.lines))  # as they are to be pasted: not indented
    for advice in dict.fromkeys(report.advice for report in reports if report.advice):
        terminal.hint(advice)
    return OK if all(report.state is HookState.INSTALLED for report in reports) else NOTHING


for each in (install_hooks, uninstall_hooks, status_of_hooks):
    hooks.add_command(each)
