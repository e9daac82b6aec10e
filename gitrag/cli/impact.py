"""``gitrag impact``."""

from __future__ import annotations

import click

from gitrag.cli.findings import json_alias, output_option, print_finding
from gitrag.cli.frame import Example, NumberRange, command
from gitrag.cli.issues import synced_for_reading
from gitrag.cli.page import directory_of
from gitrag.cli.session import Session, pass_session
from gitrag.errors import NOTHING, OK
from gitrag.git.meant import seen_from
from gitrag.report.tests_to_run import PATHS, RUNNERS, arguments
from gitrag.words.control_characters import joined


@command(
    "impact",
    examples=[
        Example("gitrag impact", "what the uncommitted changes may break; if there are none, the branch"),
        Example("gitrag impact main...HEAD", "what a branch may break"),
        Example("gitrag impact HEAD~1..HEAD -o markdown", "the last commit, for a comment"),
        Example("gitrag impact --json", "for a script"),
        Example("gitrag impact --tests=pytest | xargs -r pytest", "run the tests that bear on the changes"),
        Example("gitrag impact main...HEAD --tests", "their paths, one a line"),
    ],
)
@click.option(
    "--calls-within",
    type=NumberRange(0.1, 600),
    metavar="SECONDS",
    help="Read calls for so long at most.  [default: what is left of 2.8, at least 1.7]",
)
@click.option(
    "--tests",
    "program",
    is_flag=False,
    flag_value=PATHS,
    type=click.Choice(list(RUNNERS)),
    help="Print only the tests that bear on it, the likeliest first: paths, or arguments for a program.",
)
@output_option
@json_alias
@click.argument("span", metavar="[RANGE]", required=False)
@pass_session
def impact(
    session: Session, *, span: str | None, calls_within: float | None, program: str | None, output: str | None
) -> int:
    """Say what a change may break, and what it forgets.

    RANGE is given as for git diff. Without it the uncommitted changes are taken, untracked files included; if
    there are none, what HEAD has that its upstream has not. Which was taken is said.

    Shown are the functions, methods and classes that it changes, with who calls them, those first that are
    called from the most places (twice as much if no test calls them); the files of tests that bear on it; the
    files that usually changed together with it before, and do not here; decisions and specifications that it
    does not name; issues that it may close. Callers are those in the files as they are now.

    With --tests: the files of tests that call what changed, are named after a changed file, or changed
    together with one before. Paths are seen from where you stand. For go the packages, for cargo --test=NAME
    or --lib. Names with blanks or quotes are left out.

    Markdown is fit for a comment on a pull request: docs/impact has a workflow that posts it.
    """
    from gitrag.actions.governance.change_impact import change_impact
    from gitrag.report.impact import as_markdown, as_text

    workspace = session.index_first(synced_for_reading(session))
    with session.terminal.progress("Reviewing") as progress:
        found = change_impact(workspace, span, calls_within, progress.update)
    if program is not None and output != "json":
        directory = "" if program == "cargo" else directory_of(session, workspace)  # its targets are names
        tests = arguments(seen_from(directory, [each.path for each in found.tests]), program)
        for note in (*(found.callers.left_out if found.callers else ()), *found.notes):
            session.terminal.note(note)
        if tests:
            session.terminal.print(joined(tests))
        else:
            session.terminal.note(
                f"No test was found that bears on it{'' if program == PATHS else f': for {program}'}."
            )
        return OK if tests else NOTHING
    print_finding(
        session.terminal,
        output,
        workspace.config.output,
        text=lambda style: as_text(found, style),
        markdown=lambda: as_markdown(found),
        answer=found,
    )
    return OK if found.files else NOTHING
