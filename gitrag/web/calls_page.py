"""The page of calls: a picture that can be walked, with the code of what is clicked."""

from __future__ import annotations

from functools import partial

from markupsafe import Markup
from msgspec import Struct

from gitrag.actions.graph import call_graph, sources_of, tests_of
from gitrag.actions.references import meant_target
from gitrag.callgraph.answering import GraphQuestion
from gitrag.callgraph.graph import MODULE, Node
from gitrag.errors import GitragError
from gitrag.report.pictures import parts_of
from gitrag.web.addresses import Addresses
from gitrag.web.desk import Desk

DEEPEST = 4
"""Calls away that the page asks for at most: further away is nearly everything."""

_TIMEOUT_S = 20.0


class CallsPage(Struct, frozen=True):
    """Calls around a target as a page shows them.

    Attributes:
        target: What was asked for; empty where nothing was.
        pictures: The elements of the picture, as markup; empty where there is none.
        folded: How many tests are folded into counts.
        notes: What lines mean, what is not drawn, or why there is no picture; a line each.
    """

    target: str
    depth: int
    pictures: str = ""
    folded: int = 0
    data: str = ""
    notes: tuple[str, ...] = ()
    problem: str = ""
    hint: str = ""


def calls_page(desk: Desk, target: str, depth: int) -> CallsPage:
    """Return who calls a target, and whom it calls."""
    depth = min(max(depth, 1), DEEPEST)
    if not target:
        return CallsPage("", depth)
    try:
        with desk.slow_turn() as workspace:
            meant = meant_target(workspace, target, workspace.place) or target
            question = GraphQuestion(target=meant, depth=depth)
            answer = call_graph(workspace, question, timeout_s=_TIMEOUT_S)
            graph = answer.graph
            if graph is None:
                return CallsPage(target, depth, notes=answer.remarks, problem=answer.error or "")
            own = tests_of(workspace, graph)
            sources = sources_of(workspace, graph)
    except GitragError as error:
        return CallsPage(target, depth, problem=str(error), hint=error.hint)
    parts = parts_of(graph, graph.matches, own, sources=sources, links=partial(_links, desk.address))
    return CallsPage(
        target,
        depth,
        Markup(parts.pictures),  # noqa: S704 - every name in it is escaped where it is drawn
        parts.folded,
        Markup(parts.data),  # noqa: S704 - JSON without <, > and &
        tuple(dict.fromkeys((*parts.notes, *answer.remarks, *answer.negatives))),
    )


def _links(address: Addresses, node: Node) -> tuple[tuple[str, str], ...]:
    """Return where a definition's file is, and the calls around it."""
    file = ("Open the file", address.file(node.path, node.line_start))
    if node.name == MODULE:
        return (file,)
    return (file, ("Walk on from here", address.graph(f"{node.path}:{node.name}")))
