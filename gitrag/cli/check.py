"""``gitrag check`` and ``gitrag related``: what bears on a file or a text; what the pre-push hook asks."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

import click

from gitrag.cli.findings import json_alias, output_option, print_finding
from gitrag.cli.frame import CONTEXT, Example, NumberRange, command
from gitrag.cli.issues import synced_for_reading
from gitrag.cli.session import Session, pass_session
from gitrag.errors import NOTHING, OK, STALE, BusyError, GitragError, UsageError

if TYPE_CHECKING:
    from gitrag.actions.push_check import Behind, Pushed
    from gitrag.config.keys import Config
    from gitrag.git import Repository
    from gitrag.workspace import Workspace

_UPDATE_S = 60.0
"""Time limit of the setting ``update`` in a push; after it, the push is only warned about."""


@command(
    "check",
    context_settings=CONTEXT | {"ignore_unknown_options": True},
    examples=[
        Example("gitrag check src/auth.py", "decisions and specifications that bear on it"),
        Example("gitrag check src/auth --output json", "for a directory, as JSON"),
        Example("gitrag check --push < refs", "what the pre-push hook runs"),
        Example("git config gitrag.prePush block", "refuse to push what is not indexed"),
    ],
)
@click.option("--push", is_flag=True, help="Check the refs that git lists on standard input before a push.")
@output_option
@json_alias
@click.argument("target", nargs=-1, type=click.UNPROCESSED, metavar="TARGET|[REMOTE [URL]]")
@pass_session
def check(session: Session, *, push: bool, output: str | None, target: tuple[str, ...]) -> int:
    """Show which decisions and specifications bear on a file, or check that a push is indexed.

    TARGET is a file or directory. The best eight documents are shown with their scores; for each of them the
    answer says why it was found, and whether TARGET names it. Issues about the same subject follow, and
    who calls what TARGET defines from outside of it, tests apart; calls are read for 10 s at most.

    With --push, the setting pre_push says what to do if a pushed commit is not indexed: warn, block (exit
    status 3), update, or off. To warn waits for nobody, and is silent while the background is at work.
    """
    if push:  # what is pushed matters, not where to
        return _check_push(session.for_json() if output == "json" else session)
    if len(target) != 1 or target[0].startswith("-"):
        raise UsageError("check takes one file or directory.", "For example: gitrag check src/auth.py")
    from gitrag.actions.governance.check import check as find
    from gitrag.git import meant_path

    workspace = session.index_first(synced_for_reading(session, PurePath(target[0]).stem))
    found = find(workspace, meant_path(workspace.repo, session.start, target[0], directories=True))
    print_finding(session.terminal, output, workspace.config.output, found)
    return OK if found.likely or found.issues or found.called else NOTHING


def _check_push(session: Session) -> int:
    repo = session.repository()
    config = session.settings(repo)
    found = _behind(session, repo, config)
    stopped = bool(found) and config.pre_push == "block"
    if session.terminal.is_json:
        from gitrag.report.documents import PushDocument

        session.terminal.print_document(PushDocument(config.pre_push, tuple(found), stopped))
    for behind_by in found:
        session.terminal.warn(f"the search index is behind {behind_by}")
    if found:
        session.terminal.hint("`gitrag index` catches up")
    if not stopped:
        return OK
    session.terminal.hint("gitrag.prePush is block; `GITRAG=0 git push` pushes all the same")
    return STALE


def _behind(session: Session, repo: Repository, config: Config) -> list[Behind]:
    """Return the refs that are pushed and not indexed, as far as the setting ``pre_push`` wants to know."""
    from gitrag.actions.push_check import in_hand, noted, parse_pushed

    policy = config.pre_push
    pushed = parse_pushed(sys.stdin.read().split("\n"))
    if policy == "off" or (policy == "warn" and in_hand(repo, pushed, time.time())):
        return []
    if noted(repo.store_directory, config, pushed):
        return []
    if policy == "warn":
        config = replace(config, lock_timeout_s=0.0)
    from gitrag.workspace import Workspace

    workspace = Workspace(repo, config, session.environ, session.terminal.note)
    try:
        found = _not_indexed(workspace, pushed)
    except BusyError:
        if policy == "warn":  # whoever holds the lock is at work on the index
            return []
        raise
    return _after_update(session, workspace, pushed) if found and policy == "update" else found


def _not_indexed(workspace: Workspace, pushed: Sequence[Pushed]) -> list[Behind]:
    from gitrag.actions.push_check import behind

    return [item for item in behind(workspace, pushed) if not item.is_fresh]


def _after_update(session: Session, workspace: Workspace, pushed: Sequence[Pushed]) -> list[Behind]:
    """Index what is pushed; return what is still not indexed, and say why."""
    failures: list[GitragError] = []
    with session.terminal.progress("Indexing what is pushed"):
        for _, commit in pushed:
            try:
                workspace.update_revision(commit, budget_s=_UPDATE_S)
            except GitragError as error:
                failures.append(error)
                break
    found = _not_indexed(workspace, pushed)
    for each in failures if found else ():  # without a model, the text is indexed all the same
        session.terminal.warn(f"{each} {each.hint}".strip())
    return found


_USES = ("adr", "spec", "discover", "plan", "work", "audit")


@command(
    "related",
    examples=[
        Example('gitrag related "switch from REST to gRPC"', "what a new decision may refer to"),
        Example('gitrag related --for spec "authentication"', "what a new specification may refer to"),
        Example('gitrag related --for plan "user sessions"', "code to extend, and issues about it"),
        Example('gitrag related --duplicates "parse a user id"', "what already does that"),
        Example(
            "gitrag related --diff main...", "what a change should mention, and who calls what it changes"
        ),
    ],
)
@click.argument("text", nargs=-1)
@click.option("--diff", "span", metavar="RANGE", help="Review a change, given as for git diff.")
@click.option("--duplicates", "only_duplicates", is_flag=True, help="List what already does what TEXT says.")
@click.option(
    "--threshold",
    type=NumberRange(-1, 1),
    metavar="COSINE",
    help="Minimum cosine of a duplicate.  [default: 0.7]",
)
@click.option("--for", "use", type=click.Choice(_USES), help="What you are about to write or do.")
@output_option
@json_alias
@pass_session
def related(
    session: Session,
    *,
    text: tuple[str, ...],
    span: str | None,
    only_duplicates: bool,
    threshold: float | None,
    use: str | None,
    output: str | None,
) -> int:
    """Find what already exists: related to a text, a duplicate of it, or similar to what a change adds.

    TEXT is what you are about to write or decide. With --diff, the answer lists decisions and issues that the
    change touches but does not mention, existing definitions similar to those it adds, and who calls the
    functions and classes that it changes, tests apart; calls are read for 10 s at most.

    --for chooses what is searched: adr (decisions), spec (specifications), discover and audit (both), plan
    (code and issues), work (code).
    """
    given = " ".join(text)
    if bool(given) == (span is not None) or (only_duplicates and span is not None):
        raise UsageError("related takes either a text or --diff.", "gitrag related --diff main...")
    from gitrag.actions.governance.related import THRESHOLD

    least = THRESHOLD if threshold is None else threshold
    if span is not None:
        return _review(session, span, least, output)
    if only_duplicates:  # among them issues
        workspace = session.index_first(synced_for_reading(session, given))
        return _duplicates(session, workspace, given, least, output)
    workspace = synced_for_reading(session, given) if use == "plan" else session.workspace()
    return _proposals(session, session.index_first(workspace), given, use, output)


def _proposals(session: Session, workspace: Workspace, text: str, use: str | None, output: str | None) -> int:
    from gitrag.actions.governance.related import related as propose
    from gitrag.report import governance

    found = propose(workspace, text, (use,) if use else ("adr", "spec"))
    print_finding(session.terminal, output, workspace.config.output, found)
    for line in governance.nearest_lines(found.hinted):
        session.terminal.hint(line)
    return OK if found.documents or found.instead else NOTHING


def _duplicates(
    session: Session, workspace: Workspace, text: str, threshold: float, output: str | None
) -> int:
    from gitrag.actions.governance.related import duplicates

    found = duplicates(workspace, text, threshold)
    print_finding(session.terminal, output, workspace.config.output, found)
    return OK if found.chunks else NOTHING


def _review(session: Session, span: str, threshold: float, output: str | None) -> int:
    from gitrag.actions.governance.change_impact import change_impact, reviewing

    workspace = session.index_first(synced_for_reading(session))
    with session.terminal.progress("Reviewing") as progress:
        found = change_impact(workspace, reviewing(span, threshold), progress.update)
    print_finding(session.terminal, output, workspace.config.output, found, "Review")
    return OK if found.documents or found.added or found.called else NOTHING
