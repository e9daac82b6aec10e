"""``gitrag graph``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from gitrag.cli.frame import Example, command
from gitrag.cli.session import Session, pass_session
from gitrag.cli.terminal import Terminal
from gitrag.errors import NOTHING, OK, UsageError
from gitrag.words.control_characters import sanitise_line
from gitrag.words.numbers import count

if TYPE_CHECKING:
    from gitrag.actions.graph import NoCall
    from gitrag.callgraph.graph import Edge, Graph, Node

_SURE = 0.9
"""Calls with a lower confidence are marked: it is unknown which override runs, or if a callback is called."""


@command(
    "graph",
    examples=[
        Example("gitrag graph Session.send", "who calls this, and whom it calls"),
        Example("gitrag graph Session.send --callers", "only who calls it"),
        Example("gitrag graph src/app.py --callees --depth 2", "what a file's code calls, two calls deep"),
        Example('gitrag graph --filter "auth|login"', "the calls around what is named so"),
        Example(
            "gitrag graph --path 'src/**' --format dot | dot -Tsvg", "the calls below a directory, drawn"
        ),
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
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "mermaid", "dot", "json"]),
    help="Form of the answer; for a TARGET on a terminal text, else mermaid.",
)
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
    form: str | None,
) -> int:
    """Show who calls whom, in the files as they are now.

    TARGET is a name, a qualified name such as `Session.send`, or a path. Calls are read from the source:
    those that are likely but not certain are marked with ~ in text.
    """
    if (callers or callees) and target is None and expression is None:
        raise UsageError(
            "--callers and --callees are about something.", "Name it: gitrag graph Session.send --callers"
        )
    from gitrag.actions.graph import call_graph, target_file
    from gitrag.callgraph import drawing
    from gitrag.callgraph.answering import Direction, GraphQuestion

    terminal = session.terminal
    direction = Direction.BOTH
    if callers != callees:
        direction = Direction.CALLERS if callers else Direction.CALLEES
    workspace = session.index_first(session.workspace())
    answer = call_graph(
        workspace,
        GraphQuestion(target=target, filter=expression, direction=direction, depth=depth),
        globs=globs,
        about=target_file(workspace, target),
    )
    for note in answer.notes:
        terminal.note(sanitise_line(note))
    if answer.graph is None:
        terminal.note(answer.error or "")
        return NOTHING
    chosen = form or ("text" if terminal.is_interactive and target else "mermaid")
    for note in answer.graph.followed.notes if chosen == "text" else answer.negatives:
        terminal.note(sanitise_line(note))
    if chosen == "text":
        _print_text(answer.graph, answer.none, direction, terminal)
    elif chosen == "json":
        terminal.print_json_text(drawing.as_json(answer.graph))
    else:
        draw = drawing.as_dot if chosen == "dot" else drawing.as_mermaid
        terminal.print("\n".join(map(sanitise_line, draw(answer.graph).split("\n"))))
    return OK if answer.graph.edges or target is None else NOTHING


def _print_text(graph: Graph, none: Sequence[NoCall], direction: str, terminal: Terminal) -> None:
    """Print each match with its callers and callees, as a tree; where there are none, what was looked at."""
    said = {(each.node, each.is_caller): each.sentence for each in none}
    for place, node in enumerate(sorted(graph.matches)):
        if place:
            terminal.print()
        terminal.print(_title(node, terminal))
        if direction != "callees":
            _print_side(node, graph, said, terminal, upwards=True)
        if direction != "callers":
            _print_side(node, graph, said, terminal, upwards=False)


_NOT_LOOKED = {True: "its callers were not looked for", False: "its calls were not followed"}


def _print_side(
    node: Node, graph: Graph, none: Mapping[tuple[Node, bool], str], terminal: Terminal, *, upwards: bool
) -> None:
    by_end: dict[Node, list[Edge]] = {}
    for edge in graph.edges:
        by_end.setdefault(edge.callee if upwards else edge.caller, []).append(edge)
    found = by_end.get(node, [])
    verb = "called" if upwards else "calls"
    if not found:
        said = none.get((node, upwards), _NOT_LOOKED[upwards])
        terminal.print(terminal.style(f"  {sanitise_line(said)}", "dim"))
        return
    how = (
        f"{verb} by {count(len(found), 'function')}" if upwards else f"{verb} {count(len(found), 'function')}"
    )
    terminal.print(terminal.style(f"  {how}", "dim"))
    _print_tree(node, by_end, {node}, 2, terminal, upwards=upwards)


def _print_tree(
    node: Node,
    by_end: dict[Node, list[Edge]],
    seen: set[Node],
    indent: int,
    terminal: Terminal,
    *,
    upwards: bool,
) -> None:
    for edge in sorted(by_end.get(node, ()), key=lambda e: (e.caller.path, e.line, e.callee.name)):
        end = edge.caller if upwards else edge.callee
        line = edge.line if upwards else end.line_start
        place = terminal.style(sanitise_line(end.path), "magenta") + terminal.style(f":{line}", "dim")
        mark = "" if edge.confidence >= _SURE else terminal.style("~", "yellow")
        terminal.print(f"{'  ' * indent}{place}  {mark}{terminal.style(sanitise_line(end.name), 'bold')}")
        if end not in seen:
            seen.add(end)
            _print_tree(end, by_end, seen, indent + 1, terminal, upwards=upwards)


def _title(node: Node, terminal: Terminal) -> str:
    place = terminal.style(sanitise_line(node.path), "bold", "magenta")
    lines = terminal.style(f":{node.line_start}-{node.line_end}", "dim")
    return f"{place}{lines}  {node.kind} {terminal.style(sanitise_line(node.name), 'bold')}"
