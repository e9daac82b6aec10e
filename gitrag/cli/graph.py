"""``gitrag graph``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from gitrag.actions.graph_request import GraphCommand
from gitrag.actions.requests import FETCHED, Scope
from gitrag.cli.findings import options
from gitrag.cli.frame import Example, command
from gitrag.cli.page import directory_of, globs_from
from gitrag.cli.session import Session, pass_session
from gitrag.cli.several import open_one
from gitrag.cli.terminal import Terminal
from gitrag.errors import NOTHING, OK, UsageError
from gitrag.words.control_characters import Text
from gitrag.words.numbers import count

if TYPE_CHECKING:
    from gitrag.actions.graph_answer import CallsBetween, GraphAnswer
    from gitrag.callgraph.answering import GraphQuestion
    from gitrag.callgraph.graph import Graph, Node
    from gitrag.workspace import Workspace


@command(
    "graph",
    examples=[
        Example("gitrag graph Session.send", "who calls this, and whom it calls"),
        Example("gitrag graph Session.send --callers", "only who calls it"),
        Example("gitrag graph src/app.py --callees --depth 2", "what a file's code calls, two calls deep"),
        Example("gitrag graph main --to Session.send", "how one gets to the other"),
        Example('gitrag graph --filter "auth|login"', "the calls around what is named so"),
        Example("gitrag graph Session.send --everywhere", "who calls it in other repositories, too"),
        Example("gitrag graph --path 'src/**' --format html > calls.html", "a page to look at"),
    ],
)
@click.argument("target", required=False)
@options(GraphCommand, without=FETCHED)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "mermaid", "dot", "json", "html"]),
    help="Form of the answer; text on a terminal, else mermaid. html is one page that works offline.",
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@pass_session
def graph(session: Session, *, target: str | None, asked: GraphCommand, form: str | None) -> int:
    """Show who calls whom, in the files as they are now.

    TARGET is a name, a qualified name such as `Session.send`, a path or `path:line`; a class stands for its
    methods. Calls are read from the source: those that are likely but not certain are marked, in text with ~.
    Of a constant, a type or a field it lists who names it.

    With --everywhere, --repo, --group or --submodules, calls between TARGET and these repositories are listed
    too, in text and json: of files that import a package which a manifest of the called repository names.

    What is left out is counted in the answer: reading takes 30 s at most, files over 1 MiB are not read.
    mermaid draws 20 definitions, html 600; --to lists 5 chains of up to 20 calls, text 20 references
    of a kind; dot and json are whole.
    """
    terminal = session.terminal
    asked.checked(target)
    if form == "html" and terminal.is_interactive:
        problem = "html is for a file, not for a terminal."
        raise UsageError(problem, "Send it to one: gitrag graph … --format html > calls.html")
    from gitrag.actions.references import graph_or_references, meant_target, target_file

    scope = asked.scope
    workspace = session.index_first(session.workspace())
    target, to = (meant_target(workspace, typed, session.start) for typed in (target, asked.to))
    allowed = globs_from(asked.paths, directory_of(session, workspace))
    question = asked.question(target)
    answer = graph_or_references(
        workspace,
        question,
        to=to,
        with_references=asked.references,
        globs=allowed,
        about=target_file(workspace, target),
    )
    if (whole := answer.graph) is None:
        if scope:
            answer = replace(answer, elsewhere_notes=("Other repositories were not asked.",))
        _say(terminal, *answer.left_out)
        if form == "json":
            terminal.print_document(answer)
        return NOTHING
    if scope:
        calls, notes = _elsewhere(session, workspace, scope, question, allowed)
        answer = replace(answer, elsewhere=calls, elsewhere_notes=notes)
    is_named_only = answer.named is not None and not answer.named.beside_graph
    chosen = form or ("text" if terminal.is_interactive or is_named_only else "mermaid")
    missing = (*whole.followed.notes, answer.no_path) if chosen == "text" else answer.negatives
    _say(terminal, *answer.remarks, *missing, *(f"{each}." for each in answer.not_indexed))
    if answer.no_path and chosen not in {"text", "json"}:
        return NOTHING
    if chosen == "html":
        terminal.print(_page(workspace, answer, question, to=to, tests=asked.tests))
    _show(workspace, answer, question, chosen, terminal, tests=asked.tests, whole=asked.whole)
    is_found = answer.edges or answer.elsewhere
    return OK if is_found or target is None or is_named_only else NOTHING


def _elsewhere(
    session: Session, workspace: Workspace, scope: Scope, question: GraphQuestion, globs: Sequence[str]
) -> tuple[tuple[CallsBetween, ...], tuple[str, ...]]:
    """Return the calls between what is asked for and other repositories; and notes."""
    from gitrag.actions.repositories.calls import calls_elsewhere
    from gitrag.actions.repositories.chosen import choose
    from gitrag.memory.registry import Registry

    heard: list[str] = []
    chosen = choose(scope, Registry(), session.start, workspace.repo, heard.append)
    calls, notes = calls_elsewhere(
        workspace,
        question.target or "",
        chosen,
        partial(open_one, session, heard),
        direction=question.direction,
        globs=globs,
    )
    return calls, (*dict.fromkeys(heard), *notes)


def _show(
    workspace: Workspace,
    answer: GraphAnswer,
    question: GraphQuestion,
    form: str,
    terminal: Terminal,
    *,
    tests: bool,
    whole: bool,
) -> None:
    """Print an answer as text or for programs, and say what the form has no room for."""
    from gitrag.actions.graph import tests_of
    from gitrag.report.beside_calls import elsewhere_lines

    if answer.graph is None:
        return
    if form == "text":
        test_nodes = tests_of(workspace, answer.graph)
        for line in _text_lines(answer, question, test_nodes, terminal, with_tests=tests, whole=whole):
            terminal.print(line)
        if answer.elsewhere is not None:
            for line in elsewhere_lines(answer.elsewhere, terminal.role, with_tests=tests):
                terminal.print(line)
    elif form != "html":
        _print_data(answer, answer.graph, form, terminal)
    _say(terminal, *answer.elsewhere_notes)
    if form not in {"text", "json"}:
        _say_left_out(answer, form, terminal)


def _say_left_out(answer: GraphAnswer, form: str, terminal: Terminal) -> None:
    if answer.elsewhere:
        calls = count(sum(len(repository.edges) for repository in answer.elsewhere), "call")
        terminal.note(f"{form} has no calls of other repositories: text and json list {calls}.")
    if answer.named is not None:
        terminal.note(f"{form} has no references: text and json list {len(answer.references):,}.")


def _say(terminal: Terminal, *notes: str) -> None:
    """Print notes, those that say something."""
    for note in filter(None, notes):
        terminal.note(note)


def _print_data(answer: GraphAnswer, graph: Graph, form: str, terminal: Terminal) -> None:
    from gitrag.callgraph import drawing

    if form == "json":
        terminal.print_document(answer)
        return
    draw = drawing.as_dot if form == "dot" else drawing.as_mermaid
    terminal.print(Text(draw(graph)))


def _page(
    workspace: Workspace, answer: GraphAnswer, question: GraphQuestion, *, to: str | None, tests: bool
) -> Text:
    from gitrag.actions.graph import sources_of, tests_of
    from gitrag.report.pictures import as_page

    graph = answer.graph
    if graph is None:
        return Text()
    about = question.target or question.filter
    title = f"Calls around {about}" if about else f"Calls in {workspace.name}"
    if to is not None:
        title = f"From {about} to {to}"
    centre = graph.matches if question.target is not None and to is None else ()
    test_nodes = tests_of(workspace, graph)
    sources = sources_of(workspace, graph)
    return Text(as_page(graph, centre, test_nodes, title=title, sources=sources, with_tests=tests))


def _text_lines(
    answer: GraphAnswer,
    question: GraphQuestion,
    tests: Collection[Node],
    terminal: Terminal,
    *,
    with_tests: bool,
    whole: bool,
) -> Iterator[str]:
    """Yield an answer as text: chains of calls, a tree for each thing asked for, or all calls by file."""
    from gitrag.report.beside_calls import reference_lines
    from gitrag.report.call_tree import ASCII, SCREEN, CallTree, Glyphs

    graph = answer.graph
    if graph is None:
        return

    style = terminal.role
    columns = terminal.width if terminal.is_interactive else None
    is_unicode = terminal.out.encoding.lower().replace("-", "") == "utf8"
    tree = CallTree(
        graph,
        answer.none,
        tests,
        question,
        style,
        columns=columns,
        with_tests=with_tests,
        glyphs=Glyphs() if is_unicode else ASCII,
    )
    if answer.chains is not None:
        yield from tree.path_lines(answer.chains)
    elif question.target is None and question.filter is None:
        yield from tree.listing()
    else:
        yield from tree.lines(question.target, None if whole else SCREEN)
    if answer.named is not None:
        if answer.named.beside_graph:
            yield ""
        yield from reference_lines(answer.named, style, columns=columns, with_tests=with_tests)
