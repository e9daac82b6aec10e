"""``gitrag explore``: save, show, list, search, export, import, adopt, delete."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import asdict

from gitrag.actions.requests import Sections
from gitrag.cli.findings import options
from gitrag.cli.frame import Example, command, group, json_option
from gitrag.cli.session import Session, pass_session
from gitrag.errors import NOTHING, OK, USAGE
from gitrag.words.control_characters import Text
from gitrag.words.numbers import count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gitrag.memory.explorations import Explorations
    from gitrag.memory.observations import Observation
    from gitrag.memory.projects import Project

_ALL_PROJECTS = click.option("--project", metavar="NAME", help="Only this project; else all.")
_STDIN = "-"


@group(
    "explore",
    examples=[
        Example('gitrag explore save "User auth" --goals "sign in by mail"', "remember it"),
        Example('gitrag explore search "how do users sign in"', "find it again, in any project"),
        Example("gitrag explore export notes/", "as Markdown files"),
    ],
)
def explore() -> None:
    """Remember what was explored before a change: goals, constraints, decisions.

    It is kept under GITRAG_HOME (default ~/.gitrag), apart from every index.
    """


@command(
    "save",
    examples=[
        Example('gitrag explore save "User auth" --goals "sign in by mail"', "a new topic"),
        Example('gitrag explore save "User auth" --decisions "no passwords"', "more on the same topic"),
        Example('gitrag explore save "User auth" --context - < notes.txt', "a text from a file"),
    ],
)
@click.argument("title")
@options(Sections)
@click.option("--project", metavar="NAME", help="Project, in place of the repository here.")
@click.option(
    "--scope", metavar="NAME", default="project", show_default=True, help="What keeps topics apart."
)
@click.option("--session-id", metavar="ID", default="manual-save", show_default=True, help="Who is speaking.")
@json_option
@pass_session
def save(
    session: Session, *, title: str, asked: Sections, project: str | None, scope: str, session_id: str
) -> int:
    """Remember what is known of TITLE.

    Under a title that is known already, what is given replaces what was there, and the rest stays. A text of
    - is read from stdin.
    """
    sections = asdict(asked)
    if list(sections.values()).count(_STDIN) > 1:
        raise click.UsageError("only one text can be read from stdin")
    given = {name: sys.stdin.read() if text == _STDIN else text for name, text in sections.items()}
    explorations, owner = _called(session, project)
    saved = explorations.save(title, given, project=owner, scope=scope, session_id=session_id)
    if not session.terminal.answered(saved):
        session.terminal.print(Text(saved))
    return OK


@command(
    "show",
    examples=[
        Example('gitrag explore show "User auth"', "by title"),
        Example("gitrag explore show 12 --json", "by number, for programs"),
    ],
)
@click.argument("wanted", metavar="TITLE|NUMBER")
@click.option("--project", metavar="NAME", help="Prefer this project's; else the one here.")
@json_option
@pass_session
def show(session: Session, *, wanted: str, project: str | None) -> int:
    """Show what is remembered of a topic."""
    from gitrag.memory.exploration import observation_text

    explorations, owner = _called(session, project)
    found = explorations.get(wanted, owner)
    if not session.terminal.answered(found):
        session.terminal.print(Text(observation_text(found)))
    return OK


@command("list", examples=[Example("gitrag explore list --project shop", "the topics of a project")])
@_ALL_PROJECTS
@json_option
@pass_session
def list_all(session: Session, *, project: str | None) -> int:
    """List what is remembered, the last changed first."""
    from gitrag.memory.projects import shown_names

    explorations, owner = _filtered(session, project)
    found = explorations.all(project=owner)
    if session.terminal.answered(found):
        return OK
    shown = shown_names({each.identity.project for each in found})
    for each in found:
        session.terminal.print(_row(each, shown, session.terminal.style))
    if not found:
        session.terminal.note(f"Nothing is remembered{' of this project' if project else ' yet'}.")
        session.terminal.hint('gitrag explore save "TITLE" --goals "…"')
    return OK


@command("search", examples=[Example('gitrag explore search "how do users sign in"', "by meaning and words")])
@click.argument("query", nargs=-1)
@_ALL_PROJECTS
@click.option("-n", "--limit", type=click.IntRange(1, 1000), default=5, show_default=True, help="At most.")
@json_option
@click.pass_context
@pass_session
def search(
    session: Session,
    context: click.Context,
    *,
    query: tuple[str, ...],
    project: str | None,
    limit: int,
) -> int:
    """Find what is remembered, by meaning and words. Exit status 1 when nothing answers."""
    if not query:
        click.echo(context.get_help(), err=True)
        return USAGE
    from gitrag.memory.projects import shown_names

    explorations, owner = _filtered(session, project)
    found = explorations.search(" ".join(query), project=owner, limit=limit)
    terminal = session.terminal
    terminal.answered(found)
    shown = shown_names({each.observation.identity.project for each in found})
    for each in () if terminal.is_json else found:
        terminal.print(
            f"{_row(each.observation, shown, terminal.style)}  {terminal.style(f'{each.score:.2f}', 'green')}"
        )
        first = next((line for line in each.text.splitlines() if line.strip()), "")
        terminal.print(f"    {terminal.style(each.section, 'dim')}  {first.strip()[:100]}")
    if not found:
        from gitrag.memory.explorations import nothing_recalled

        terminal.note(nothing_recalled(len(explorations.all(project=owner))))
    return OK if found else NOTHING


@command("export", examples=[Example("gitrag explore export notes/", "a Markdown file for each topic")])
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@_ALL_PROJECTS
@json_option
@pass_session
def export(session: Session, *, directory: Path, project: str | None) -> int:
    """Write what is remembered to Markdown files, which `import` takes back."""
    explorations, owner = _filtered(session, project)
    number = explorations.export(session.start / directory, project=owner)
    if session.terminal.is_json:
        from gitrag.report.documents import ExportDocument

        session.terminal.print_document(ExportDocument(number, str(directory)))
        return OK
    session.terminal.print(f"Exported {count(number, 'exploration')} to {directory}")
    return OK


@command("import", examples=[Example("gitrag explore import notes/", "take exported files in")])
@click.argument("place", metavar="FILE|DIRECTORY", type=click.Path(path_type=Path))
@json_option
@pass_session
def import_files(session: Session, *, place: Path) -> int:
    """Take in what `export` has written, maybe edited since."""
    done = session.explorations().import_(session.start / place)
    if session.terminal.answered(done):
        return OK
    session.terminal.print(f"Imported: {done.created} new, {done.updated} updated, {done.same} as they were")
    return OK


@command(
    "adopt", examples=[Example("gitrag explore adopt 12", "it is of the repository here, whatever it says")]
)
@click.argument(
    "numbers", metavar="NUMBER...", type=click.IntRange(1, (1 << 63) - 1), nargs=-1, required=True
)
@json_option
@pass_session
def adopt(session: Session, *, numbers: tuple[int, ...]) -> int:
    """Count what is remembered under these numbers to the repository here.

    Repositories are told apart by their remote, or else by their place and first commit. What was saved under
    a name alone, or under an earlier remote, stays there until you say whose it is. Where the repository has
    the same title already, the two become one, unless they say different things.
    """
    from gitrag.memory.projects import name_of

    explorations, here = session.explorations(), session.project()
    found = [explorations.adopt(number, here) for number in numbers]
    if session.terminal.answered(found):
        return OK
    for each in found:
        title, project = each.title, name_of(each.identity.project)
        session.terminal.print(f"{each.observation_id}  {title} is of {project}")
    return OK


@command("delete", examples=[Example("gitrag explore delete 12", "forget a topic")])
@click.argument(
    "numbers", metavar="NUMBER...", type=click.IntRange(1, (1 << 63) - 1), nargs=-1, required=True
)
@json_option
@pass_session
def delete(session: Session, *, numbers: tuple[int, ...]) -> int:
    """Forget what is remembered under these numbers, for good."""
    explorations: Explorations = session.explorations()
    for number in numbers:
        explorations.delete(number)
        if not session.terminal.is_json:
            session.terminal.print(f"Forgot {number}")
    if session.terminal.is_json:
        from gitrag.report.documents import DeletedDocument

        session.terminal.print_document(DeletedDocument(numbers))
    return OK


def _called(session: Session, given: str | None) -> tuple[Explorations, Project]:
    """Open the explorations; return them and the project that is given, else the one here."""
    explorations = session.explorations()
    return explorations, explorations.called(given, session.project())


def _filtered(session: Session, given: str | None) -> tuple[Explorations, Project | None]:
    """Open the explorations; return them and the project that is given, None for all."""
    return _called(session, given) if given else (session.explorations(), None)


def _row(observation: Observation, shown: Mapping[str, str], style: Callable[..., str]) -> str:
    number = style(f"{observation.observation_id:>4}", "dim")
    where = shown[observation.identity.project] + (
        f" ({observation.identity.scope})" if observation.identity.scope != "project" else ""
    )
    revision = f"revision {observation.revision}, {observation.updated[:10]}"
    return f"{number}  {style(observation.title, 'bold')}  {where}  {revision}"


for each in (save, show, list_all, search, export, import_files, adopt, delete):
    explore.add_command(each)
