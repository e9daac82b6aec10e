"""``gitrag related``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitrag.cli.findings import json_alias, output_option, print_finding
from gitrag.cli.frame import Example, NumberRange, command
from gitrag.cli.issues import synced_for_reading
from gitrag.cli.session import Session, pass_session
from gitrag.errors import NOTHING, OK, UsageError

if TYPE_CHECKING:
    from gitrag.workspace import Workspace

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
