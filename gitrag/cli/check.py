"""``gitrag check``: what bears on a file, and what the pre-push hook asks."""

from __future__ import annotations

import sys

import click

from gitrag.cli.findings import output_option, print_finding
from gitrag.cli.frame import CONTEXT, Example, command
from gitrag.cli.issues import synced_for_reading
from gitrag.cli.session import Session, pass_session
from gitrag.errors import NOTHING, OK, STALE, GitragError, UsageError

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
@click.argument("target", nargs=-1, type=click.UNPROCESSED, metavar="TARGET|[REMOTE [URL]]")
@pass_session
def check(session: Session, *, push: bool, output: str | None, target: tuple[str, ...]) -> int:
    """Show which decisions and specifications bear on a file, or check that a push is indexed.

    TARGET is a file or directory. The best eight documents are shown with their scores; for each of them the
    answer says why it was found, and whether TARGET names it. Issues about the same subject follow.

    With --push, the setting pre_push says what to do if a pushed commit is not indexed: warn, block (exit
    status 3), update, or off.
    """
    if push:
        return _check_push(session)  # what is pushed matters, not where to
    if len(target) != 1 or target[0].startswith("-"):
        raise UsageError("check takes one file or directory.", "For example: gitrag check src/auth.py")
    from gitrag.actions.governance.check import check as find
    from gitrag.report import governance

    found = find(session.index_first(synced_for_reading(session)), session.start / target[0])
    print_finding(
        session.terminal,
        output,
        text=lambda style: governance.checked_text(found, style),
        markdown=lambda: governance.checked_markdown(found),
        structured=lambda: governance.checked_json(found),
    )
    return OK if found.likely or found.issues else NOTHING


def _check_push(session: Session) -> int:
    from gitrag.actions.push_check import Behind, behind, noted, parse_pushed

    repo = session.repository()
    config = session.settings(repo)
    policy = config.pre_push
    if policy == "off":
        return OK
    pushed = parse_pushed(sys.stdin.read().splitlines())
    if noted(repo.store_directory, config, pushed):
        return OK
    from gitrag.workspace import Workspace

    workspace = Workspace(repo, config, session.environ, session.terminal.note)

    def stale() -> list[Behind]:
        return [item for item in behind(workspace, pushed) if not item.is_fresh]

    found = stale()
    if found and policy == "update":
        with session.terminal.progress("Indexing what is pushed"):
            for item in pushed:
                try:
                    workspace.update_revision(item.commit, budget_s=_UPDATE_S)
                except GitragError as error:
                    session.terminal.warn(f"{error} {error.hint}".strip())
                    break
        found = stale()
    for behind_by in found:
        session.terminal.warn(f"the search index is behind {behind_by}")
    if found:
        session.terminal.hint("`gitrag index` and `gitrag index embed --foreground` catch up")
    if not found or policy != "block":
        return OK
    session.terminal.hint("gitrag.prePush is block; `GITRAG=0 git push` pushes all the same")
    return STALE
