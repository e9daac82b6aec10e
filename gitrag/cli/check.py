"""``gitrag check``."""

from __future__ import annotations

import sys

import click

from gitrag.cli.frame import CONTEXT, Example, command
from gitrag.cli.session import Session, pass_session
from gitrag.errors import OK, STALE, GitragError

_UPDATE_S = 60.0
"""What ``update`` may take of a push before it gives up and warns."""


@command(
    "check",
    context_settings=CONTEXT | {"ignore_unknown_options": True},
    examples=[
        Example("gitrag check --push < refs", "what the pre-push hook runs"),
        Example("git config gitrag.prePush block", "refuse to push what is not indexed"),
    ],
)
@click.option(
    "--push", is_flag=True, required=True, help="Read the refs from standard input, as git gives them."
)
@click.argument("remote", nargs=-1, type=click.UNPROCESSED, metavar="[REMOTE [URL]]")
@pass_session
def check(session: Session, *, push: bool, remote: tuple[str, ...]) -> int:
    """Say whether what is being pushed is indexed and embedded.

    The setting pre_push decides what follows: warn, block (exit status 3), update, or off.
    """
    del push, remote  # the only check there is; what is pushed counts, not where to
    from gitrag.freshness import Behind, behind, parse_pushed

    app = session.app()
    policy = app.config.pre_push
    if policy == "off":
        return OK
    pushed = parse_pushed(sys.stdin.read().splitlines())

    def stale() -> list[Behind]:
        return [item for item in behind(app, pushed) if not item.is_fresh]

    found = stale()
    if found and policy == "update":
        with session.terminal.progress("Indexing what is pushed"):
            for item in pushed:
                try:
                    app.update_revision(item.commit, budget_s=_UPDATE_S)
                except GitragError as error:
                    session.terminal.warn(f"{error} {error.hint}".strip())
                    break
        found = stale()
    for behind_by in found:
        session.terminal.warn(f"the search index is behind {behind_by}")
    if found:
        session.terminal.hint("`gitrag index` and `gitrag index embed --foreground` catch up")
    return STALE if found and policy == "block" else OK
