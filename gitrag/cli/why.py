"""``gitrag why``."""

from __future__ import annotations

import click

from gitrag.cli.findings import json_alias, output_option, print_finding
from gitrag.cli.frame import Example, command
from gitrag.cli.session import Session, pass_session
from gitrag.errors import NOTHING, OK


@command(
    "why",
    examples=[
        Example("gitrag why src/auth.py:42", "why this line is as it is"),
        Example("gitrag why src/auth.py:42-60", "the same for lines 42 to 60"),
        Example("gitrag why src/auth.py", "the commits that most of the file is from"),
        Example("gitrag why src/auth.py:42 --json", "for a script"),
    ],
)
@output_option
@json_alias
@click.argument("target", metavar="PATH[:LINE[-LINE]]")
@pass_session
def why(session: Session, *, target: str, output: str | None) -> int:
    """Say why lines are as they are: which commits made them so, and for what reason.

    Lines that were moved are followed, white space does not count, and commits that
    .git-blame-ignore-revs or git's blame.ignoreRevsFile lists are passed over. Shown of each commit are
    its subject, the sentence of its message that gives a reason, and the issues, pull requests and
    decisions that it names; then the commit that changed the lines or their function before, and the
    decisions and specifications that likely bear on the file.

    Asks git, so it needs no index; without one, decisions are not looked up.
    """
    from gitrag.actions.why import why as find
    from gitrag.report.why import as_markdown, as_text

    workspace = session.workspace()
    found = find(workspace, session.start, target)
    print_finding(
        session.terminal,
        output,
        workspace.config.output,
        text=lambda style: as_text(found, style),
        markdown=lambda: as_markdown(found),
        answer=found,
    )
    return OK if found.reasons or found.uncommitted else NOTHING
