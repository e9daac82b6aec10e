"""``gitrag issues``: sync, status, list, show."""

from __future__ import annotations

import time
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click
from msgspec import UNSET, structs

from gitrag.cli.frame import Example, command, group, json_option
from gitrag.cli.session import Session, pass_session
from gitrag.cli.terminal import Terminal
from gitrag.errors import NOTHING, OK, GitragError
from gitrag.words.control_characters import Text
from gitrag.words.numbers import age, count

if TYPE_CHECKING:
    from gitrag.actions.issues import Synced, SyncListener
    from gitrag.workspace import Workspace

_LEFT_OUT_SHOWN = 5
_LEAST_TITLE = 20
_ENDLESS = 1 << 30

no_sync_option = click.option(
    "--no-sync", is_flag=True, help="Show the local copies without asking the tracker."
)


@group(
    "issues",
    examples=[
        Example("gitrag issues sync", "fetch what changed since the last sync"),
        Example("gitrag issues status", "which tracker, which token, when last synced"),
        Example("gitrag issues show 142", "one issue"),
    ],
)
def issues() -> None:
    """Keep local copies of the tracker's issues, and read them.

    One file per issue in .sdd/issues, from GitHub, Gitea, GitLab, Jira, Linear, Beads or tasks.md. The
    setting tracker says which; the default is found from origin's host, or the files in the working tree.
    """


@command(
    "sync",
    examples=[
        Example("gitrag issues sync", "what changed since the last sync"),
        Example("gitrag issues sync --full", "everything, and remove what was deleted there"),
        Example("gitrag issues sync --since 30d", "what changed in the last 30 days"),
        Example("git config gitrag.tracker jira", "choose the tracker"),
    ],
)
@click.option("--full", is_flag=True, help="Fetch every issue, and remove copies of deleted ones.")
@click.option("--tracker", metavar="NAME", help="Use this tracker, whatever the settings say.")
@click.option("--since", metavar="WHEN", help="Only issues updated since then: a date, or 12h, 30d.")
@json_option
@pass_session
def sync(session: Session, *, full: bool, tracker: str | None, since: str | None) -> int:
    """Bring the local copies up to date with the tracker.

    A copy is overwritten, never merged; one that is up to date is not rewritten.
    """
    from gitrag.actions.gitignore_entry import is_ignored
    from gitrag.actions.issues import parse_since, sync_issues

    if full and since:
        raise click.UsageError("--full asks for everything, --since does not: give one of them.")
    workspace = session.workspace()
    begin = parse_since(since, datetime.now(UTC)) if since else None
    with ExitStack() as stack:
        listener = _listener(session.terminal, stack)
        done = sync_issues(workspace, listener, full=full, tracker=tracker, since=begin)
    if not session.terminal.answered(done):
        _say_synced(done, session.terminal)
    if not is_ignored(workspace.repo):
        session.terminal.hint("git does not ignore .sdd/ yet; `gitrag init` sets that up")
    return OK


@command(
    "status",
    examples=[
        Example("gitrag issues status", "which tracker, which token, when last synced"),
        Example("gitrag issues status --json", "for programs"),
    ],
)
@json_option
@pass_session
def status(session: Session) -> int:
    """Show the tracker, where its token comes from, and when copies were last synced. Asks no server."""
    from gitrag.actions.issues import CHOOSE
    from gitrag.actions.issues import status as issues_status

    terminal = session.terminal
    found = issues_status(session.workspace())
    if terminal.answered(found):
        return OK

    def line(label: str, text: str) -> None:
        terminal.print(f"{terminal.style(f'{label:<8}', 'bold')} {text}")

    line("tracker", " ".join(part for part in (found.tracker, found.server, found.project) if part) or "none")
    if found.server:
        line("token", f"from {found.token}" if found.token else "none")
    line("issues", f"{found.issues:,}, {found.open:,} of them open" if found.issues else "none")
    ago = f"{age(time.time() - found.synced)} ago" if found.synced else "never"
    line("synced", ago + ("" if found.complete or not found.synced else ", not all of them yet"))
    if found.problem:
        terminal.warn(found.problem)
    if not found.tracker and not found.problem:
        terminal.hint(CHOOSE)
    elif not found.ignored:
        terminal.hint("once git ignores .sdd/ (`gitrag init`), issues are synced when they are read")
    if found.token_withheld:
        terminal.hint(
            f"the environment's token is not sent to {found.server} unless you name the server:"
            f" git config --global gitrag.trackerUrl {found.server}"
        )
    return OK


@command(
    "list",
    examples=[
        Example("gitrag issues list", "open issues"),
        Example("gitrag issues list --status all --label bug", "all issues with a label"),
        Example("gitrag issues list --json", "for programs"),
    ],
)
@click.option(
    "--status",
    "state",
    type=click.Choice(["open", "closed", "merged", "draft", "all"]),
    default="open",
    show_default=True,
    help="Only issues of this status.",
)
@click.option("--label", "labels", multiple=True, metavar="LABEL", help="Only issues with this label.")
@no_sync_option
@json_option
@pass_session
def list_(session: Session, *, state: str, labels: tuple[str, ...], no_sync: bool) -> int:
    """List the issues, from the local copies. Exit status 1 when there are none."""
    from gitrag.actions.issues import list_issues
    from gitrag.report.parts import cut

    workspace = synced_for_reading(session, no_sync=no_sync)
    found = [
        issue
        for issue in list_issues(workspace)
        if state in {"all", issue.status.value} and set(labels) <= set(issue.labels)
    ]
    if session.terminal.answered([structs.replace(issue, body=UNSET) for issue in found]):
        return OK if found else NOTHING
    width = max((len(issue.id) for issue in found), default=0)
    columns = session.terminal.width if session.terminal.is_interactive else _ENDLESS
    for issue in found:
        title = issue.title
        marks = f" [{', '.join(issue.labels)}]" if issue.labels else ""
        room = max(_LEAST_TITLE, columns - width - len("  closed  ") - len(marks))
        shown = session.terminal.style(f"{issue.id:<{width}}", "bold")
        session.terminal.print(
            f"{shown}  {issue.status.value:<6}  {cut(title, room)}{session.terminal.style(marks, 'dim')}"
        )
    if not found:
        _say_none(session.terminal, workspace)
    return OK if found else NOTHING


@command(
    "show",
    examples=[
        Example("gitrag issues show 142", "the local copy of an issue"),
        Example("gitrag issues show PROJ-123 --json", "for programs"),
    ],
)
@click.argument("wanted", metavar="ID")
@no_sync_option
@json_option
@pass_session
def show(session: Session, *, wanted: str, no_sync: bool) -> int:
    """Show an issue, from the local copies."""
    from gitrag.actions.issues import read_issue

    workspace = synced_for_reading(session, no_sync=no_sync)
    found, content = read_issue(workspace, wanted)
    if not session.terminal.answered(found):
        session.terminal.print(Text(content.decode("utf-8", "replace").rstrip("\n")))
    return OK


def sync_with_index(session: Session, workspace: Workspace) -> None:
    """Sync as part of an update of the index if there is a tracker; a failure is reported but not raised."""
    from gitrag.actions.issues import may_sync, sync_in_passing

    try:
        if not workspace.store.exists() and (name := may_sync(workspace)):
            session.terminal.hint(
                f"`gitrag issues sync` fetches the issues of {name};"
                " from then on `gitrag index` keeps them fresh"
            )
            return
        with ExitStack() as stack:
            done = sync_in_passing(workspace, _listener(session.terminal, stack))
    except GitragError as error:
        session.terminal.warn(str(error))
        if error.hint:
            session.terminal.hint(error.hint)
        return
    if done is not None:
        _say_synced(done, session.terminal)


def synced_for_reading(session: Session, question: str = "", *, no_sync: bool = False) -> Workspace:
    """Open gitrag for a command that reads issues; sync them first, unless the last sync is recent."""
    workspace = session.workspace()
    if not no_sync:
        sync_first(session, workspace, question)
    return workspace


def sync_first(session: Session, workspace: Workspace, question: str = "") -> None:
    """Sync the issues unless the last sync is recent; never fail."""
    from gitrag.actions.issues import sync_before_reading

    with ExitStack() as stack:
        sync_before_reading(workspace, _listener(session.terminal, stack), question)


def _listener(terminal: Terminal, stack: ExitStack) -> SyncListener:
    from gitrag.actions.issues import SyncListener

    progress = stack.enter_context(terminal.progress("Syncing issues"))
    return SyncListener(note=terminal.note, status=progress.status, advance=progress.update)


def _say_none(terminal: Terminal, workspace: Workspace) -> None:
    from gitrag.actions.issues import CHOOSE
    from gitrag.actions.issues import status as issues_status

    known = issues_status(workspace)
    if known.issues:
        where = "here" if known.complete else "copied so far"
        terminal.note(f"None of the {count(known.issues, 'issue')} {where} matches.")
        terminal.hint("`gitrag issues list --status all` shows them all")
    else:
        terminal.note("There are no issues here yet.")
        terminal.hint("gitrag issues sync" if known.tracker else CHOOSE)


def _say_synced(done: Synced, terminal: Terminal) -> None:
    parts = [f"{done.written:,} written"]
    if done.removed:
        parts.append(f"{done.removed:,} removed")
    terminal.print(
        f"Synced {count(done.seen, 'issue')} from {done.tracker}: {', '.join(parts)} in {done.seconds:.1f} s"
    )
    for line in done.left_out[:_LEFT_OUT_SHOWN]:
        terminal.warn(line)
    if len(done.left_out) > _LEFT_OUT_SHOWN:
        terminal.warn(f"{len(done.left_out) - _LEFT_OUT_SHOWN} more were left out")


for each in (sync, status, list_, show):
    issues.add_command(each)
