"""A graph of calls as data for programs. Pure."""

from __future__ import annotations

from msgspec import UNSET

from gitrag.actions.references import References
from gitrag.callgraph.graph import Graph
from gitrag.report.documents import GraphDocument, GraphEdge, GraphNode, json_text
from gitrag.report.parts import shown
from gitrag.report.reference_lines import named_places


def graph_json(graph: Graph, named: References | None = None) -> str:
    """Return a whole graph as JSON, with where its target is named besides, if that is known."""
    places = {node: place for place, node in enumerate(graph.nodes)}
    nodes = (
        GraphNode(
            path=shown(node.path),
            name=node.name,
            kind=node.kind,
            line_start=node.line_start,
            line_end=node.line_end,
            matched=node in graph.matches,
        )
        for node in graph.nodes
    )
    edges = (
        GraphEdge(places[edge.caller], places[edge.callee], edge.line, edge.confidence)
        for edge in graph.edges
    )
    return json_text(
        GraphDocument(
            nodes=tuple(nodes),
            edges=tuple(edges),
            files=tuple(map(shown, graph.files)) or UNSET,
            left_out=tuple(graph.followed.notes) or UNSET,
            references=UNSET if named is None else named_places(named),
        )
    )


def empty_json(notes: tuple[str, ...]) -> str:
    """Return a graph without anything, and why."""
    return json_text(GraphDocument((), (), left_out=notes))
