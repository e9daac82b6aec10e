"""The page of calls: a picture that can be walked, with the code of what is clicked."""

from __future__ import annotations

from functools import partial
from typing import Any

from markupsafe import Markup

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


def calls_page(desk: Desk, target: str, depth: int) -> dict[str, Any]:
    """Return what the template is filled with: who calls a target, and whom it calls.

    Its ``notes`` say what lines mean, what is not drawn, or why there is no picture.
    """
    depth = min(max(depth, 1), DEEPEST)
    page: dict[str, Any] = dict.fromkeys(("pictures", "data", "problem", "hint"), "")
    page |= {"target": target, "depth": depth, "folded": 0, "notes": ()}
    if not target:
        return page
    try:
        with desk.slow_turn() as workspace:
            meant = meant_target(workspace, target, workspace.place) or target
            question = GraphQuestion(target=meant, depth=depth)
            answer = call_graph(workspace, question, timeout_s=_TIMEOUT_S)
            graph = answer.graph
            if graph is None:
                return page | {"notes": answer.remarks, "problem": answer.error or ""}
            own = tests_of(workspace, graph)
            sources = sources_of(workspace, graph)
    except GitragError as error:
        return page | {"problem": str(error), "hint": error.hint}
    parts = parts_of(graph, graph.matches, own, sources=sources, links=partial(_links, desk.address))
    return page | {
        "pictures": Markup(parts.pictures),  # noqa: S704 - every name in it is escaped where it is drawn
        "folded": parts.folded,
        "data": Markup(parts.data),  # noqa: S704 - JSON without <, > and &
        "notes": list(dict.fromkeys((*parts.notes, *answer.remarks, *answer.negatives))),
    }


def _links(address: Addresses, node: Node) -> tuple[tuple[str, str], ...]:
    """Return where a definition's file is, and the calls around it."""
    file = ("Open the file", address.file(node.path, node.line_start))
    if node.name == MODULE:
        return (file,)
    return (file, ("Walk on from here", address.graph(f"{node.path}:{node.name}")))
