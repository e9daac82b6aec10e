"""``gitrag graph``."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import click

from gitrag.cli.frame import Example, command
from gitrag.cli.session import Session, pass_session
from gitrag.cli.terminal import Terminal
from gitrag.errors import NOTHING, OK, UsageError
from gitrag.words.control_characters import sanitise_line

if TYPE_CHECKING:
    from gitrag.actions.graph import GraphAnswer
    from gitrag.actions.references import References
    from gitrag.callgraph.answering import GraphQuestion
    from gitrag.callgraph.graph import Graph, Node
    from gitrag.workspace import Workspace

_STYLES = {
    "path": ("magenta",),
    "number": ("dim",),
    "name": ("bold",),
    "likely": ("yellow",),
    "dim": ("dim",),
}


@command(
    "graph",
    examples=[
        Example("gitrag graph Session.send", "who calls this, and whom it calls"),
        Example("gitrag graph Session.send --callers", "only who calls it"),
        Example("gitrag graph src/app.py --callees --depth 2", "what a file's code calls, two calls deep"),
        Example("gitrag graph main --to Session.send", "how one gets to the other"),
        Example('gitrag graph --filter "auth|login"', "the calls around what is named so"),
        Example("gitrag graph --path 'src/**' --format html > calls.html", "a page to look at"),
    ],
)
@click.argument("target", required=False)
@click.option("--callers", is_flag=True, help="Only who calls TARGET.")
@click.option("--callees", is_flag=True, help="Only whom TARGET calls.")
@click.option(
    "--depth",
    type=click.IntRange(1, 20),
    default=1,
    show_default=True,
    metavar="N",
    help="How many calls away.",
)
@click.option(
    "--filter", "expression", metavar="RE", help="Only paths and names that a regular expression is found in."
)
@click.option(
    "--path", "globs", multiple=True, metavar="GLOB", help="Only paths like this, as in .gitignore."
)
@click.option("--to", metavar="TARGET", help="Only the shortest chains of calls from TARGET to this one.")
@click.option(
    "--references", is_flag=True, help="List where TARGET is named besides calls too, in text and json."
)
@click.option("--tests", is_flag=True, help="List calls from tests too; text, svg and html only count them.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "mermaid", "dot", "json", "svg", "html"]),
    help="Form of the answer; text on a terminal, else mermaid. html is one page that works offline.",
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@pass_session
def graph(
    session: Session,
    *,
    target: str | None,
    callers: bool,
    callees: bool,
    depth: int,
    expression: str | None,
    globs: tuple[str, ...],
    to: str | None,
    references: bool,
    tests: bool,
    form: str | None,
) -> int:
    """Show who calls whom, in the files as they are now.

    TARGET is a name, a qualified name such as `Session.send`, or a path; a class stands for its methods.
    Calls are read from the source: those that are likely but not certain are marked, in text with ~.
    Of a constant, a type or a field it lists who names it.

    What is left out is counted in the answer: reading takes 30 s at most, files over 1 MiB are not read.
    mermaid draws 20 definitions, svg and html 600; --to lists 5 chains of up to 20 calls, text 20 references
    of a kind; dot and json are whole.
    """
    terminal = session.terminal
    if (callers or callees) and target is None and expression is None:
        raise UsageError(
            "--callers and --callees are about something.", "Name it: gitrag graph Session.send --callers"
        )
    if to is not None and (target is None or expression is not None or callers or callees):
        raise UsageError(
            "--to is for chains of calls between two targets.",
            "Name both: gitrag graph main --to Session.send",
        )
    _require_file(form, terminal)
    from gitrag.actions.graph import target_file, tests_of
    from gitrag.actions.references import graph_or_references
    from gitrag.callgraph.answering import Direction, GraphQuestion

    direction = Direction.BOTH
    if callers != callees:
        direction = Direction.CALLERS if callers else Direction.CALLEES
    workspace = session.index_first(session.workspace())
    question = GraphQuestion(target=target, filter=expression, direction=direction, depth=depth)
    answer, named = graph_or_references(
        workspace,
        question,
        to=to,
        with_references=references,
        globs=globs,
        about=target_file(workspace, target),
    )
    if answer.graph is None:
        _say(terminal, *answer.notes, answer.error or "")
        return NOTHING
    is_named_only = named is not None and not named.beside_graph
    chosen = form or ("text" if terminal.is_interactive or is_named_only else "mermaid")
    said = (*answer.graph.followed.notes, answer.no_path) if chosen == "text" else answer.negatives
    _say(terminal, *answer.notes, *said)
    if chosen == "text":
        own = tests_of(workspace, answer.graph)
        for line in _text_lines(answer, question, named, own, terminal, with_tests=tests):
            terminal.print(line)
    elif answer.no_path and chosen != "json":
        return NOTHING
    elif chosen in {"svg", "html"}:
        terminal.print(_picture(workspace, answer, question, to=to, tests=tests, is_page=chosen == "html"))
    else:
        _print_data(answer.graph, named, chosen, terminal)
    if named is not None and chosen not in {"text", "json"}:
        terminal.note(f"{chosen} has no references: text and json list {len(named.found):,}.")
    return OK if answer.graph.edges or target is None or is_named_only else NOTHING


def _say(terminal: Terminal, *notes: str) -> None:
    """Print notes, those that say something."""
    for note in filter(None, notes):
        terminal.note(sanitise_line(note))


def _require_file(form: str | None, terminal: Terminal) -> None:
    """Refuse to print a picture on a terminal."""
    if form in {"svg", "html"} and terminal.is_interactive:
        problem = f"{form} is for a file, not for a terminal."
        raise UsageError(problem, f"Send it to one: gitrag graph … --format {form} > calls.{form}")


def _print_data(graph: Graph, named: References | None, form: str, terminal: Terminal) -> None:
    """Print a graph for programs."""
    from gitrag.callgraph import drawing
    from gitrag.report.reference_lines import reference_data

    if form == "json":
        written = drawing.as_json(graph)
        if named is not None:
            value = {**json.loads(written), "references": reference_data(named)}
            written = json.dumps(value, ensure_ascii=False, indent=2)
        terminal.print_json_text(written)
        return
    draw = drawing.as_dot if form == "dot" else drawing.as_mermaid
    terminal.print("\n".join(map(sanitise_line, draw(graph).split("\n"))))


def _picture(
    workspace: Workspace,
    answer: GraphAnswer,
    question: GraphQuestion,
    *,
    to: str | None,
    tests: bool,
    is_page: bool,
) -> str:
    """Return an answer as SVG, or as a page with it."""
    from gitrag.actions.graph import sources_of, tests_of
    from gitrag.report.pictures import as_page, as_svg

    graph = answer.graph
    if graph is None:
        return ""
    about = question.target or question.filter
    title = f"Calls around {about}" if about else f"Calls in {workspace.name}"
    if to is not None:
        title = f"From {about} to {to}"
    centre = graph.matches if question.target is not None and to is None else ()
    own = tests_of(workspace, graph)
    if is_page:
        sources = sources_of(workspace, graph)
        return as_page(graph, centre, own, title=title, sources=sources, with_tests=tests)
    return as_svg(graph, centre, own, title=title, with_tests=tests)


def _text_lines(
    answer: GraphAnswer,
    question: GraphQuestion,
    named: References | None,
    tests: Collection[Node],
    terminal: Terminal,
    *,
    with_tests: bool,
) -> Iterator[str]:
    """Yield an answer as text: chains of calls, a tree for each thing asked for, or all calls by file."""
    from gitrag.report.call_tree import ASCII, CallTree, Glyphs
    from gitrag.report.reference_lines import reference_lines

    graph = answer.graph
    if graph is None:
        return

    def style(text: str, role: str) -> str:
        return terminal.style(text, *_STYLES[role])

    columns = terminal.width if terminal.is_interactive else None
    is_unicode = terminal.out.encoding.lower().replace("-", "") == "utf8"
    tree = CallTree(
        graph,
        answer.none,
        tests,
        question.direction,
        style,
        columns=columns,
        with_tests=with_tests,
        depth=question.depth,
        glyphs=Glyphs() if is_unicode else ASCII,
    )
    if answer.paths is not None:
        yield from tree.path_lines(answer.paths)
    elif question.target is None and question.filter is None:
        yield from tree.listing()
    else:
        yield from tree.lines(question.target)
    if named is not None:
        if named.beside_graph:
            yield ""
        yield from reference_lines(named, style, columns=columns, with_tests=with_tests)
