"""A call graph, and its most important part. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from gitrag.words.numbers import count
from gitrag.words.path_traits import OUTSIDE_THE_PRODUCT, traits

Provenance: TypeAlias = Literal["resolved", "rule", "compiler"]

SURE = 0.9
"""Calls with a lower confidence are marked: it is unknown which override runs, or if a callback is called."""

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

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line."""
        return (self.line_start, self.line_end)


class Edge(Struct, frozen=True, order=True):
    """A call.

    Attributes:
        caller: The calling node.
        callee: The called node.
        line: The line of the first such call, in the caller's file.
        confidence: From 0 to 1, of the surest; 1 where the name alone determines the callee.
        further: The lines of all others.
        rule: What is expected to call the callee, which the caller only names: ``app.get``; or that a
            computed key gives it, ``[…]``.
        provenance: How it is known: by names, imports and types, by such a rule, or from a compiler.
    """

    caller: Node
    callee: Node
    line: int
    confidence: float = 1.0
    further: tuple[int, ...] = ()
    rule: str = ""
    provenance: Provenance = "resolved"

    @property
    def is_sure(self) -> bool:
        """Whether it is shown without a mark."""
        return self.confidence >= SURE

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines of all such calls."""
        return (self.line, *self.further)


def reason(edge: Edge | None) -> str:
    """Return by what the callee is called, if by a rule: ``by before_action``."""
    return f"by {edge.rule}" if edge is not None and edge.rule else ""


class Followed(Struct, frozen=True):
    """How far the calls around what was asked for were followed until the time was over.

    Attributes:
        matches: How many definitions match the question.
        without_callees: Those of them whose own calls were not followed.
        without_callers: Those of them whose callers were not looked for.
        further: Definitions met on the way whose calls were not followed, although the depth includes them.
        doubtful: Calls of and to the matches that are too doubtful to be in the graph.
        limits: What was not looked at since there is too much of it, a sentence each.
    """

    matches: int = 0
    without_callees: frozenset[Node] = frozenset()
    without_callers: frozenset[Node] = frozenset()
    further: int = 0
    doubtful: int = 0
    limits: tuple[str, ...] = ()

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
        if self.doubtful:
            said.append(f"Left out as too doubtful (confidence below 0.5): {count(self.doubtful, 'call')}.")
        said += self.limits
        return tuple(said)


class Graph(Struct, frozen=True):
    """Nodes and the calls between them, both sorted.

    Attributes:
        nodes: Every end of an edge, and matches without edges.
        files: Of a whole graph all files whose calls were read, also those without any; else empty.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    matches: frozenset[Node] = frozenset()
    followed: Followed = Followed()
    files: tuple[str, ...] = ()


def graph(matches: Collection[Node], edges: Iterable[Edge], followed: Followed = Followed()) -> Graph:
    """Build a graph from the matches and the calls found."""
    kept = tuple(sorted(set(edges)))
    nodes = {end for edge in kept for end in (edge.caller, edge.callee)} | set(matches)
    return Graph(tuple(sorted(nodes)), kept, frozenset(matches), followed)


def most_connected(whole: Graph, limit: int) -> tuple[Graph, int]:
    """Keep the best connected nodes: first the calls of matches among each other, then each with others.

    The number of callers and callees counts; ties are broken by name, then path. Of what a match calls or is
    called by, tests come last.

    Returns:
        The smaller graph, and how many nodes were left out.
    """
    if len(whole.nodes) <= limit:
        return whole, 0
    degree: dict[Node, int] = dict.fromkeys(whole.nodes, 0)
    for caller, callee in {(edge.caller, edge.callee) for edge in whole.edges}:
        degree[caller] += 1
        degree[callee] += 1
    kept: set[Node] = set()
    if len(whole.matches) < len(whole.nodes):
        for edge in _telling(whole, degree):
            ends = kept | {edge.caller, edge.callee}
            if len(ends) <= limit:
                kept = ends
    rest = sorted((node for node in whole.nodes if node not in kept), key=lambda node: _rank(node, degree))
    kept.update(rest[: limit - len(kept)])
    edges = (edge for edge in whole.edges if edge.caller in kept and edge.callee in kept)
    smaller = replace(whole, nodes=tuple(sorted(kept)), edges=tuple(edges), matches=whole.matches & kept)
    return smaller, len(whole.nodes) - len(kept)


def _rank(node: Node, degree: Mapping[Node, int]) -> tuple[int, str, str, int]:
    return (-degree[node], node.name, node.path, node.line_start)


def _telling(whole: Graph, degree: Mapping[Node, int]) -> list[Edge]:
    """Order the calls of matches: those between two, then the first of each, then the second of each."""
    of_two = [edge for edge in whole.edges if {edge.caller, edge.callee} <= whole.matches]
    of_one = [
        (edge.caller, edge.callee, edge) if edge.caller in whole.matches else (edge.callee, edge.caller, edge)
        for edge in whole.edges
        if (edge.caller in whole.matches) != (edge.callee in whole.matches)
    ]
    outside = {other.path: bool(traits(other.path) & OUTSIDE_THE_PRODUCT) for _, other, _ in of_one}
    of_one.sort(
        key=lambda row: (
            *(outside[row[1].path], bool(row[2].rule)),
            *(_rank(row[1], degree), _rank(row[0], degree)),
        )
    )
    met: Counter[Node] = Counter()
    placed = []
    for place, (match, other, edge) in enumerate(of_one):
        placed.append((outside[other.path], met[match], place, edge))
        met[match] += 1
    of_two.sort(key=lambda edge: (_rank(edge.caller, degree), _rank(edge.callee, degree)))
    return [*of_two, *(edge for *_, edge in sorted(placed, key=lambda row: row[:3]))]
