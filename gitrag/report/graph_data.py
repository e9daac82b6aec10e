"""A graph of calls as data for programs. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from gitrag.actions.graph import NoCall, not_looked_at
from gitrag.actions.impact import NoCaller, no_callers
from gitrag.actions.references import References
from gitrag.actions.repositories.calls import CallsBetween, CallsElsewhere
from gitrag.callgraph.graph import Graph, Node
from gitrag.report.documents import (
    CallElsewhere,
    GraphDocument,
    GraphEdge,
    GraphNode,
    RepositoryCalls,
)
from gitrag.report.parts import shown
from gitrag.report.told import json_text


def graph_json(
    graph: Graph,
    named: References | None = None,
    elsewhere: CallsElsewhere | None = None,
    none: Sequence[NoCall] = (),
    not_indexed: Sequence[str] = (),
) -> str:
    """Return a whole graph as JSON, with where its target is named besides, if that is known.

    Args:
        named: Where the target is named besides.
        elsewhere: The calls between it and other repositories; None if none were asked.
        none: What was not found.
        not_indexed: What exists and is not in the index, or not all of it, a sentence each.
    """
    places = {node: place for place, node in enumerate(graph.nodes)}
    edges = (
        GraphEdge(
            places[edge.caller],
            places[edge.callee],
            edge.line,
            edge.confidence,
            edge.lines,
            edge.provenance,
            edge.rule,
        )
        for edge in graph.edges
    )
    notes = (*graph.followed.notes, *not_looked_at(none), *(elsewhere.notes if elsewhere else ()))
    return json_text(
        GraphDocument(
            nodes=tuple(_node(node, matched=node in graph.matches) for node in graph.nodes),
            edges=tuple(edges),
            files=tuple(map(shown, graph.files)) or UNSET,
            left_out=notes or UNSET,
            references=UNSET if named is None else named,
            elsewhere=UNSET if elsewhere is None else tuple(map(repository_calls, elsewhere.found)),
            without_callers=uncalled(none) or UNSET,
            not_indexed=tuple(not_indexed) or UNSET,
        )
    )


def uncalled(none: Sequence[NoCall]) -> tuple[NoCaller, ...]:
    """Return what no call was resolved to."""
    return no_callers(
        (each.subject.own, each.subject.name, each.known, each.looked_at)
        for each in none
        if each.known is not None
    )


def empty_json(notes: tuple[str, ...], not_indexed: Sequence[str] = ()) -> str:
    """Return a graph without anything, and why."""
    return json_text(GraphDocument((), (), left_out=notes, not_indexed=tuple(not_indexed) or UNSET))


def repository_calls(between: CallsBetween) -> RepositoryCalls:
    """Return the calls between the repository around and another one as data."""
    return RepositoryCalls(
        repository=between.repository,
        direction="callers" if between.by_other else "callees",
        packages=between.packages,
        files=between.files,
        found_by=between.found_by,
        calls=tuple(
            CallElsewhere(
                _node(edge.caller, matched=not between.by_other),
                _node(edge.callee, matched=between.by_other),
                edge.line,
                edge.confidence,
                edge.lines,
                edge.provenance,
                edge.rule,
            )
            for edge in between.edges
        ),
    )


def _node(node: Node, *, matched: bool) -> GraphNode:
    return GraphNode(
        path=shown(node.path),
        name=node.name,
        kind=node.kind,
        line_start=node.line_start,
        line_end=node.line_end,
        matched=matched,
    )
