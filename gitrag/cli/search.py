"""``gitrag search``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitrag.cli.frame import Example, command
from gitrag.cli.session import Session, pass_session
from gitrag.cli.terminal import Terminal, sanitise
from gitrag.errors import NOTHING, OK, USAGE
from gitrag.model import Kind

if TYPE_CHECKING:
    from gitrag.app import Answer
    from gitrag.report import Style

_STYLES = {
    "path": ("bold", "magenta"),
    "number": ("dim",),
    "name": ("bold",),
    "score": ("green",),
    "match": (),
    "dim": ("dim",),
}


@command(
    "search",
    examples=[
        Example('gitrag search "where are retries with backoff"', "a question in words"),
        Example("gitrag search Session.send", "a definition by its name"),
        Example('gitrag search --path "src/**" --lang python routes', "only some of the files"),
        Example('gitrag search --output json "parse the config"', "for programs"),
    ],
)
@click.argument("query", nargs=-1)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "markdown", "json"]),
    help="Form of the answer; text on a terminal, else markdown.",
)
@click.option("-n", "--limit", type=click.IntRange(1, 1000), help="Hits at most.")
@click.option("--min-score", type=click.FloatRange(0, 1), help="Leave out hits below this score.")
@click.option(
    "--path", "globs", multiple=True, metavar="GLOB", help="Only paths like this, as in .gitignore."
)
@click.option("--lang", "languages", multiple=True, metavar="NAME", help="Only this language.")
@click.option(
    "--kind", "kinds", multiple=True, type=click.Choice([k.value for k in Kind]), help="Only this kind."
)
@click.option("--every-chunk", is_flag=True, help="Every chunk on its own, not one hit a file.")
@click.option("--committed", is_flag=True, help="Leave uncommitted changes out.")
@click.option("--explain", is_flag=True, help="Say where each score comes from.")
@click.pass_context
@pass_session
def search(
    session: Session,
    context: click.Context,
    *,
    query: tuple[str, ...],
    output: str | None,
    limit: int | None,
    min_score: float | None,
    globs: tuple[str, ...],
    languages: tuple[str, ...],
    kinds: tuple[str, ...],
    every_chunk: bool,
    committed: bool,
    explain: bool,
) -> int:
    """Search the repository's files as they are now, uncommitted changes included.

    QUERY is everything that is not an option: a question in words, or a name. Hits are files, best first,
    each with its best piece and the lines that say most.
    """
    if not query:
        click.echo(context.get_help(), err=True)
        return USAGE
    from gitrag import report
    from gitrag.app import SearchOptions
    from gitrag.store.candidates import Filters

    terminal = session.terminal
    app = session.app()
    answer = app.search(
        " ".join(query),
        SearchOptions(
            filters=Filters(kinds, tuple(name.lower() for name in languages), globs),
            limit=limit,
            min_score=min_score,
            every_chunk=every_chunk,
            committed_only=committed,
        ),
    )
    form = output or ("text" if terminal.is_interactive else "markdown")
    if form == "json":
        text = report.as_json(answer)
    elif form == "markdown":
        text = sanitise(report.as_markdown(answer))
    else:
        text = report.as_text(report.cleaned(answer, sanitise), _styler(terminal), explain=explain)
    terminal.print(text)
    _notes(answer, terminal)
    return OK if answer.hits else NOTHING


def _styler(terminal: Terminal) -> Style:
    return lambda text, role: terminal.style(text, *_STYLES[role])


def _notes(answer: Answer, terminal: Terminal) -> None:
    if answer.waiting:
        terminal.note(
            f"{answer.waiting} files are still being indexed in the background; they are not in this answer."
        )
    if not answer.vectors:
        terminal.note(
            f"{answer.unembedded} chunks unembedded — vector/hybrid search disabled until"
            " `gitrag index embed` runs"
        )
    elif answer.unembedded:
        terminal.note(f"{answer.unembedded} chunks unembedded; they were searched by words alone.")
