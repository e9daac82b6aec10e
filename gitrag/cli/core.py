"""``gitrag core``: mark, list, unmark, adopt, suggest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitrag.cli.frame import Example, command, group, json_option
from gitrag.cli.session import Session, pass_session
from gitrag.errors import NOTHING, OK
from gitrag.words.numbers import count

if TYPE_CHECKING:
    from gitrag.actions.core_context import MarkedFiles
    from gitrag.memory.core_files import CoreFiles

_PROJECT = click.option("--project", metavar="NAME", help="Project, in place of the repository here.")


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
def mark(session: Session, *, path: str, summary: str | None, project: str | None) -> int:
    """Mark a file as core; one that is marked gets the new summary."""
    from gitrag.actions.core_context import core_path, project_of
    from gitrag.actions.core_context import mark as mark_file

    workspace = session.workspace()
    own = core_path(workspace, path, session.start)
    marked = mark_file(session.core_files(), project_of(workspace), own, summary, project)
    if session.terminal.answered(marked):
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
def list_marked(session: Session, *, project: str | None, every: bool) -> int:
    """List the files that are marked, and are there."""
    from gitrag.actions.core_context import marked_files

    core_files = session.core_files()
    marked = None if every else marked_files(core_files, session.project(), project)
    found = core_files.all() if marked is None else list(marked.files)
    if session.terminal.answered(found):
        return OK
    for each in found:
        owner = f"{each.repository or each.project}: " if every else ""
        summary = f"  {each.summary}" if each.summary else ""
        session.terminal.print(f"{owner}{session.terminal.style(each.path, 'bold')}{summary}")
    notes = [] if marked is None else marked.notes
    for line in notes:
        session.terminal.note(line)
    if not found and not notes:
        session.terminal.note("No file is marked as core" + ("." if every else " of this project."))
        session.terminal.hint(_adoption(core_files, marked) or "gitrag core suggest")
    return OK


def _adoption(core_files: CoreFiles, marked: MarkedFiles | None) -> str:
    """Return how to take over what another repository of the name has: this one may have been moved."""
    same = [] if marked is None else core_files.all()
    keys = dict.fromkeys(each.repository for each in same if marked and each.project == marked.project.name)
    keys.pop("", None)
    return f"if this is one of {', '.join(keys)}: gitrag core adopt {next(iter(keys))}" if keys else ""


@command(
    "adopt",
    examples=[
        Example("gitrag core adopt api", "what was marked under the name alone"),
        Example("gitrag core adopt github.com/me/api", "what was marked before the repository was moved"),
    ],
)
@click.argument("project")
@json_option
@pass_session
def adopt(session: Session, *, project: str) -> int:
    """Mark the files of PROJECT as core of this repository, those that it has.

    Repositories are told apart by their remote, or else by their place and first commit. What was marked
    under a name that several have, or under an earlier remote, stays there until you say whose it is. Exit
    status 1 when there is nothing to take.
    """
    from gitrag.actions.core_context import adopt as adopt_marks

    found = adopt_marks(session.workspace(), session.core_files(), project)
    if session.terminal.answered(found):
        return OK if found else NOTHING
    for each in found:
        session.terminal.print(f"Marked {each.path} as core of {each.project}")
    if not found:
        session.terminal.note("Of what is marked there, no file is here that is not marked already.")
    return OK if found else NOTHING


@command("unmark", examples=[Example("gitrag core unmark src/app.py", "it is core no longer")])
@click.argument("path")
@_PROJECT
@json_option
@pass_session
def unmark(session: Session, *, path: str, project: str | None) -> int:
    """Take a file's mark away; it may be gone from the repository. Exit status 1 when it had none."""
    from gitrag.actions.core_context import marked_files, project_of
    from gitrag.git import ambiguous, ending, seen_from
    from gitrag.git.meant import named_paths
    from gitrag.machine.files import within
    from gitrag.words.typed_paths import is_url, spellings

    workspace = session.workspace()
    root = workspace.repo.root or workspace.repo.git_dir
    core_files = session.core_files()
    keys = marked_files(core_files, project_of(workspace), project).keys
    done = any(core_files.unmark(keys, each) for each in named_paths(root, session.start, path))
    if not done:
        marked = [each.path for each in core_files.all(keys)]
        ends = () if is_url(path) else spellings(path)
        found = next(filter(None, (ending(own, marked) for own in ends)), [])
        if len(found) > 1:
            raise ambiguous(path, seen_from(within(root, session.start.absolute()) or "", found))
        done = bool(found) and core_files.unmark(keys, found[0])
    if session.terminal.is_json:
        from gitrag.report.documents import UnmarkedDocument

        session.terminal.print_document(UnmarkedDocument(path, done))
        return OK if done else NOTHING
    session.terminal.print(f"Unmarked {path}" if done else f"{path} was not marked")
    return OK if done else NOTHING


@command("suggest", examples=[Example("gitrag core suggest", "by how often files are changed")])
@json_option
@pass_session
def suggest(session: Session) -> int:
    """Name files that might be core, and why. Marks nothing."""
    from gitrag.actions.core_context import marked_files, project_of
    from gitrag.actions.core_context import suggest as suggestions

    workspace = session.workspace()
    files, commits, all_known = suggestions(
        workspace, marked_files(session.core_files(), project_of(workspace)).files
    )
    if session.terminal.answered(files):
        return OK
    for each in files:
        name = session.terminal.style(each.path, "bold")
        session.terminal.print_folded(f"{name}  {each.reason}")
    if not files:
        looked_at = f"was changed in the {count(commits, 'commit')} looked at"
        calls = " or is called from another file" if all_known else ""
        session.terminal.note(f"Of the code not marked yet, nothing {looked_at}{calls}.")
        if not all_known:
            session.terminal.note("Not all of it was looked at for who calls whom.")
    return OK


for each in (mark, list_marked, unmark, adopt, suggest):
    core.add_command(each)
