"""``gitrag check``: what bears on a file, and what the pre-push hook asks."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

import click

from gitrag.cli.findings import json_alias, output_option, print_finding
from gitrag.cli.frame import CONTEXT, Example, command
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
        for item in pushed:
            try:
                workspace.update_revision(item.commit, budget_s=_UPDATE_S)
            except GitragError as error:
                failures.append(error)
                break
    found = _not_indexed(workspace, pushed)
    for each in failures if found else ():  # without a model, the text is indexed all the same
        session.terminal.warn(f"{each} {each.hint}".strip())
    return found
