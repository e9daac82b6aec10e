"""The shortest chains of calls from one definition to another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TypeAlias

from msgspec import Struct

from gitrag.callgraph.edges import Id
from gitrag.callgraph.graph import Edge, Node
from gitrag.callgraph.resolution import ResolvedCalls

MOST_PATHS = 5
"""How many paths are returned; the others are counted."""

MOST_CALLS = 20
"""Calls that a path may have."""

Path: TypeAlias = tuple[Edge, ...]
"""Calls, each from the callee of the one before."""


class Paths(Struct, frozen=True):
    """The shortest paths from some definitions to others.

    Attributes:
        shown: Paths of equal length, those with the fewest uncertain calls first.
        left_out: How many more there are of that length.
    """

    shown: tuple[Path, ...] = ()
    left_out: int = 0

    @property
    def edges(self) -> list[Edge]:
        """The calls on those paths."""
        return sorted({edge for path in self.shown for edge in path})


def shortest_paths(
    calls: ResolvedCalls,
    starts: Collection[Node],
    ends: Collection[Node],
    allowed: Callable[[str], bool] = lambda _path: True,
) -> Paths:
    """Find the shortest chains of calls between two groups of definitions; none if there is no chain.

    What only a rule says to be called is followed where no chain can do without.
    """
    ids = {node: own for own, node in calls.nodes()}
    for ruled in (False, True):
        found, is_all = _shortest(calls, ids, starts, ends, allowed, ruled=ruled)
        if found.shown or is_all:
            break
    return found


def _shortest(
    calls: ResolvedCalls,
    ids: Mapping[Node, Id],
    starts: Collection[Node],
    ends: Collection[Node],
    allowed: Callable[[str], bool],
    *,
    ruled: bool,
) -> tuple[Paths, bool]:
    """Find the shortest chains, with calls by rules or without; tell also whether there were none of these.

    From both sides at once, one call at a time, always on the side with fewer definitions: each step resolves
    the calls of that side only.
    """
    is_all = True
    ahead: dict[Node, int] = dict.fromkeys(starts, 0)
    behind: dict[Node, int] = dict.fromkeys(ends, 0)
    if ahead.keys() & behind.keys():
        return Paths(), is_all
    edges: dict[Node, dict[Node, Edge]] = {}
    front, rear = list(ahead), list(behind)
    for _ in range(MOST_CALLS):
        forwards = len(front) <= len(rear)
        border = front if forwards else rear
        if not border:
            return Paths(), is_all
        own = [ids[node] for node in border]
        found = calls.callees(own) if forwards else calls.callers(own)
        reached = ahead if forwards else behind
        step = max(reached.values()) + 1
        for edge in found:
            if not (allowed(edge.caller.path) and allowed(edge.callee.path)):
                continue
            if edge.rule and not ruled:
                is_all = False
                continue
            known = edges.setdefault(edge.caller, {}).setdefault(edge.callee, edge)
            if known.rule and not edge.rule:
                edges[edge.caller][edge.callee] = edge
            reached.setdefault(edge.callee if forwards else edge.caller, step)
        border = sorted(node for node, distance in reached.items() if distance == step)
        if forwards:
            front = border
        else:
            rear = border
        if ahead.keys() & behind.keys():
            return _traced(edges, ahead, behind), is_all
    return Paths(), is_all


def _traced(edges: dict[Node, dict[Node, Edge]], ahead: dict[Node, int], behind: dict[Node, int]) -> Paths:
    """Return the shortest paths through the definitions where both sides have met."""
    length = min(ahead[node] + behind[node] for node in ahead.keys() & behind.keys())
    onward: dict[Node, list[Edge]] = {}
    many: dict[Node, int] = {}

    def paths_from(node: Node, left: int) -> int:
        """Count the paths of a length from a definition to the end, noting which calls lie on them."""
        if left == 0:
            return int(behind.get(node) == 0)
        if node not in many:
            many[node] = 0
            for callee, edge in sorted(edges.get(node, {}).items()):
                # On a shortest path each definition is as far from the start, or the end, as it can be.
                near = ahead.get(callee) == length - left + 1 or behind.get(callee) == left - 1
                number = paths_from(callee, left - 1) if near else 0
                if number:
                    many[node] += number
                    onward.setdefault(node, []).append(edge)
        return many[node]

    starts = sorted(node for node, distance in ahead.items() if distance == 0)
    total = sum(paths_from(node, length) for node in starts)
    best: list[tuple[int, Path]] = [(0, ())]
    found: list[tuple[int, Path]] = []
    for start in starts:
        best = [(0, ())] if many.get(start) else []
        ends = [start] * len(best)
        for _ in range(length):
            grown = [
                (unsure + (edge.confidence < 1) + bool(edge.rule), (*path, edge))
                for (unsure, path), end in zip(best, ends, strict=True)
                for edge in onward.get(end, ())
            ]
            best = sorted(grown)[:MOST_PATHS]
            ends = [path[-1].callee for _, path in best]
        found += best
    shown = tuple(path for _, path in sorted(found)[:MOST_PATHS])
    return Paths(shown, total - len(shown))
