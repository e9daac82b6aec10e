"""``gitrag impact``."""

from __future__ import annotations

import click

from gitrag.actions.governance.change_impact import FAULTS, ChangeImpact
from gitrag.cli.findings import json_alias, output_option, print_finding
from gitrag.cli.frame import Example, NumberRange, command
from gitrag.cli.issues import synced_for_reading
from gitrag.cli.page import directory_of
from gitrag.cli.session import Session, pass_session
from gitrag.errors import NOTHING, OK
from gitrag.report.impact import PATHS, RUNNERS, arguments
from gitrag.words.control_characters import joined


def _faults(_context: click.Context, _option: click.Parameter, given: str) -> tuple[str, ...]:
    kinds = tuple(given.replace(",", " ").split())
    if unknown := [each for each in kinds if each not in FAULTS]:
        raise click.BadParameter(f"there is no {unknown[0]}; there are {', '.join(FAULTS)}.")
    return kinds


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
@click.option(
    "--fail-on",
    "fatal",
    metavar="KINDS",
    default="",
    callback=_faults,
    help=f"Exit status is 1 where there is one of these, as a list with commas: {', '.join(FAULTS)}.",
)
@click.option(
    "--comment",
    is_flag=True,
    help="In CI: post it on the pull request (GitHub, GitLab), as one comment that is kept up to date.",
)
@output_option
@json_alias
@click.argument("span", metavar="[RANGE]", required=False)
@pass_session
def impact(
    session: Session,
    *,
    span: str | None,
    calls_within: float | None,
    program: str | None,
    fatal: tuple[str, ...],
    comment: bool,
    output: str | None,
) -> int:
    """Say what a change may break, and what it forgets.

    RANGE is given as for git diff. Without it the uncommitted changes are taken, untracked files included; if
    there are none, what HEAD has that its upstream has not. Which was taken is said.

    Shown are the functions, methods and classes that it changes, with who calls them, those first that are
    called from the most places (twice as much if no test calls them); the files of tests that bear on it; the
    files that usually changed together with it before, and do not here; decisions and specifications that it
    does not name; issues that it may close. Callers are those in the files as they are now.

    With --tests: the files of tests that call what changed, also by way of two others, are named after a
    changed file or definition, or changed together with one before. Paths are seen from where you stand. For
    go the packages of the module you stand in, for cargo its packages and targets. Names with blanks or
    quotes are left out.

    Markdown is fit for a comment on a pull request; docs/ci.md says how it is posted. Of what --fail-on
    names, broken is a definition that is removed and still named, untested one that is called, and by no
    test, a companion a file that usually changes too, a decision one that bears on it and is not named.
    """
    from gitrag.actions.governance.change_impact import ChangeRequest, change_impact

    workspace = session.index_first(synced_for_reading(session))
    with session.terminal.progress("Reviewing") as progress:
        found = change_impact(workspace, ChangeRequest(span, calls_s=calls_within), progress.update)
    if program is not None and output != "json":
        tests = arguments(found.tests, program, directory_of(session, workspace))
        for note in (*(found.impact.left_out if found.impact else ()), *found.notes):
            session.terminal.note(note)
        if tests:
            session.terminal.print(joined(tests))
        else:
            session.terminal.note(
                f"No test was found that bears on it{'' if program == PATHS else f': for {program}'}."
            )
        return OK if tests else NOTHING
    print_finding(session.terminal, output, workspace.config.output, found)
    return _told_to_ci(session, found, fatal, comment=comment)


def _told_to_ci(session: Session, found: ChangeImpact, fatal: tuple[str, ...], *, comment: bool) -> int:
    """Post it where that is asked for, and return the exit status."""
    from gitrag.actions.forge_comment import post
    from gitrag.report.impact import as_markdown

    if comment and not post(session.environ, as_markdown(found)):
        session.terminal.note("The token may not comment on this pull request: nothing was posted.")
    if failed := [f"{found.faults[each]} {each}" for each in fatal if found.faults[each]]:
        session.terminal.note(f"Failed by --fail-on: {', '.join(failed)}.")
        return NOTHING
    return OK if found.files or fatal or comment else NOTHING
