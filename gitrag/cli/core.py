"""``gitrag core``: mark, list, unmark, suggest."""

from __future__ import annotations

import click

from gitrag.cli.frame import Example, command, group, json_option
from gitrag.cli.session import Session, pass_session
from gitrag.errors import NOTHING, OK
from gitrag.words.numbers import count

_PROJECT = click.option("--project", metavar="NAME", help="Project; else origin's name, or the directory's.")


@group(
    "core",
    examples=[
        Example('gitrag core mark src/app.py -s "puts the parts together"', "tell every session of it"),
        Example("gitrag core suggest", "files that might be core, and why"),
    ],
)
def core() -> None:
    """Mark the files that every session should know of.

    `gitrag prime` names them with a summary and their key signatures. The marks are yours, kept under
    GITRAG_HOME (default ~/.gitrag), not in the repository.
    """


@command(
    "mark", examples=[Example('gitrag core mark src/app.py -s "the composition root"', "with a summary")]
)
@click.argument("path")
@click.option("-s", "--summary", metavar="TEXT", help="What to know of it.")
@_PROJECT
@json_option
@pass_session
def mark(session: Session, *, path: str, summary: str | None, project: str | None, as_json: bool) -> int:
    """Mark a file as core; one that is marked gets the new summary."""
    from gitrag.actions.core_context import core_path, project_of

    workspace = session.workspace()
    marked = session.core_files().mark(
        project_of(workspace, project), core_path(workspace, path, session.start), summary
    )
    if as_json:
        session.terminal.print_document(marked)
        return OK
    session.terminal.print(f"Marked {marked.path} as core of {marked.project}")
    return OK


@command(
    "list", examples=[Example("gitrag core list", "this project's"), Example("gitrag core list --all", "all")]
)
@_PROJECT
@click.option("--all", "every", is_flag=True, help="Of all projects.")
@json_option
@pass_session
def list_marked(session: Session, *, project: str | None, every: bool, as_json: bool) -> int:
    """List the files that are marked."""
    found = session.core_files().all(None if every else session.project_name(project))
    if as_json:
        session.terminal.print_document(found)
        return OK
    for each in found:
        owner = f"{each.project}: " if every else ""
        summary = f"  {each.summary}" if each.summary else ""
        session.terminal.print(f"{owner}{session.terminal.style(each.path, 'bold')}{summary}")
    if not found:
        session.terminal.note("No file is marked as core" + ("." if every else " of this project."))
        session.terminal.hint("gitrag core suggest")
    return OK


@command("unmark", examples=[Example("gitrag core unmark src/app.py", "it is core no longer")])
@click.argument("path")
@_PROJECT
@json_option
@pass_session
def unmark(session: Session, *, path: str, project: str | None, as_json: bool) -> int:
    """Take a file's mark away; it may be gone from the repository. Exit status 1 when it had none."""
    from gitrag.actions.core_context import project_of
    from gitrag.git import ambiguous, ending, seen_from
    from gitrag.machine.files import within

    workspace = session.workspace()
    root = workspace.repo.root or workspace.repo.git_dir
    own = within(root, session.start / path) or path
    owner = project_of(workspace, project)
    done = any(session.core_files().unmark(owner, each) for each in dict.fromkeys((own, path)))
    if not done:
        found = ending(path, (each.path for each in session.core_files().all(owner)))
        if len(found) > 1:
            raise ambiguous(path, seen_from(within(root, session.start.absolute()) or "", found))
        done = bool(found) and session.core_files().unmark(owner, found[0])
    if as_json:
        from gitrag.report.documents import UnmarkedDocument

        session.terminal.print_document(UnmarkedDocument(path, done))
        return OK if done else NOTHING
    session.terminal.print(f"Unmarked {path}" if done else f"{path} was not marked")
    return OK if done else NOTHING


@command("suggest", examples=[Example("gitrag core suggest", "by how often files are changed")])
@json_option
@pass_session
def suggest(session: Session, *, as_json: bool) -> int:
    """Name files that might be core, and why. Marks nothing."""
    from gitrag.actions.core_context import project_of
    from gitrag.actions.core_context import suggest as suggestions

    workspace = session.workspace()
    found = suggestions(workspace, session.core_files().all(project_of(workspace)))
    if as_json:
        session.terminal.print_document(found.files)
        return OK
    for each in found.files:
        name = session.terminal.style(each.path, "bold")
        session.terminal.print_folded(f"{name}  {each.reason}")
    if not found.files:
        looked_at = f"was changed in the {count(found.commits, 'commit')} looked at"
        calls = " or is called from another file" if found.callers_known else ""
        session.terminal.note(f"Of the code not marked yet, nothing {looked_at}{calls}.")
        if not found.callers_known:
            session.terminal.note("Not all of it was looked at for who calls whom.")
    return OK


for each in (mark, list_marked, unmark, suggest):
    core.add_command(each)
