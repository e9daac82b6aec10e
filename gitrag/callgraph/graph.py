"""A call graph, and its most important part. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

MODULE = "<module>"
"""The name of a file's code outside definitions."""


class Node(NamedTuple):
    """A definition in a file. A tuple, since each question creates one for every definition of all files.

    Attributes:
        path: The file.
        name: Qualified name; ``<module>`` for the code outside definitions.
        line_start: First line.
        line_end: Last line.
        kind: ``module``, ``function`` or ``class``.
    """

    path: str
    name: str
    line_start: int
    line_end: int
    kind: str = "function"


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """A call.

    Attributes:
        caller: The calling node.
        callee: The called node.
        line: The line of the first such call, in the caller's file.
        confidence: From 0 to 1; 1 where the name alone determines the callee.
    """

    caller: Node
    callee: Node
    line: int
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and the calls between them, both sorted.

    Attributes:
        nodes: Every end of an edge, and matches without edges.
        edges: The calls.
        matches: The nodes that were asked for.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    matches: frozenset[Node] = frozenset()


def graph(matches: Collection[Node], edges: Iterable[Edge]) -> Graph:
    """Build a graph from the matches and the calls found."""
    kept = tuple(sorted(set(edges)))
    nodes = {end for edge in kept for end in (edge.caller, edge.callee)} | set(matches)
    return Graph(tuple(sorted(nodes)), kept, frozenset(matches))


def most_connected(whole: Graph, limit: int) -> tuple[Graph, int]:
    """Keep the best connected nodes, preferring matches and their neighbours.

    The number of callers and callees counts; ties are broken by name, then path.

    Returns:
        The smaller graph, and how many nodes were left out.
    """
    if len(whole.nodes) <= limit:
        return whole, 0
    degree: dict[Node, int] = dict.fromkeys(whole.nodes, 0)
    beside: set[Node] = set()
    for edge in whole.edges:
        degree[edge.caller] += 1
        degree[edge.callee] += 1
        if edge.caller in whole.matches:
            beside.add(edge.callee)
        if edge.callee in whole.matches:
            beside.add(edge.caller)

    def rank(node: Node) -> tuple[int, int, str, str, int]:
        near = node in whole.matches or node in beside
        return (0 if near and degree[node] else 1, -degree[node], node.name, node.path, node.line_start)

    kept = set(sorted(whole.nodes, key=rank)[:limit])
    edges = (edge for edge in whole.edges if edge.caller in kept and edge.callee in kept)
    smaller = Graph(tuple(sorted(kept)), tuple(edges), whole.matches & kept)
    return smaller, len(whole.nodes) - len(kept)
