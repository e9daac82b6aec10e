"""A call graph, and its most important part. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
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
class Followed:
    """How far the calls around what was asked for were followed: the rest was never looked at.

    Attributes:
        matches: How many definitions match the question.
        without_callees: Those of them whose own calls were not followed.
        without_callers: Those of them whose callers were not looked for.
        further: Definitions met on the way whose calls were not followed, although the depth includes them.
    """

    matches: int = 0
    without_callees: frozenset[Node] = frozenset()
    without_callers: frozenset[Node] = frozenset()
    further: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each thing that was not looked at."""
        said = []
        if self.without_callees:
            done = self.matches - len(self.without_callees)
            said.append(
                f"Calls of {done:,} of the {self.matches:,} definitions that match were followed,"
                " those of the others were not."
            )
        if self.without_callers:
            missing = "any" if len(self.without_callers) == self.matches else f"{len(self.without_callers):,}"
            said.append(
                f"Callers of {missing} of the {self.matches:,} definitions that match were not looked for."
            )
        if self.further:
            said.append(f"Calls of {self.further:,} definitions further away were not followed.")
        return tuple(said)


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and the calls between them, both sorted.

    Attributes:
        nodes: Every end of an edge, and matches without edges.
        edges: The calls.
        matches: The nodes that were asked for.
        followed: How far the calls were followed.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    matches: frozenset[Node] = frozenset()
    followed: Followed = Followed()


def graph(matches: Collection[Node], edges: Iterable[Edge], followed: Followed = Followed()) -> Graph:
    """Build a graph from the matches and the calls found."""
    kept = tuple(sorted(set(edges)))
    nodes = {end for edge in kept for end in (edge.caller, edge.callee)} | set(matches)
    return Graph(tuple(sorted(nodes)), kept, frozenset(matches), followed)


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
    smaller = replace(whole, nodes=tuple(sorted(kept)), edges=tuple(edges), matches=whole.matches & kept)
    return smaller, len(whole.nodes) - len(kept)
