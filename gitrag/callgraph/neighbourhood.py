"""The calls around what a search has found: one call up and down, then towards each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from gitrag.callgraph.drawing import MOST_NODES
from gitrag.callgraph.edges import Id
from gitrag.callgraph.graph import MODULE, Edge, Followed, Graph, Node, graph, most_connected
from gitrag.callgraph.resolution import ResolvedCalls


class Place(Struct, frozen=True):
    """Lines that a search has found.

    Attributes:
        is_named: Whether they are a definition: of a file's own code only the calls on them count.
    """

    path: str
    line_start: int
    line_end: int
    is_named: bool = False


def around(calls: ResolvedCalls, places: Sequence[Place], allowed: Callable[[str], bool]) -> Graph:
    """Return the calls around places; nothing where no definition of theirs calls or is called.

    Args:
        places: The places, the best first.
        allowed: Tells whether a path may be in the answer.
    """
    by_path: dict[str, list[tuple[Id, Node]]] = {place.path: [] for place in places}
    for own, node in calls.nodes():
        if node.path in by_path and allowed(node.path):
            by_path[node.path].append((own, node))
    found = {node: own for place in places for own, node in _at(place, by_path[place.path])}
    if not found:
        return Graph((), ())
    found |= _members(found, by_path)
    outside = _outside(found, places)
    edges = [*calls.callees(list(found.values())), *calls.callers(list(found.values()))]
    edges = [
        edge
        for edge in edges
        if allowed(edge.caller.path)
        and allowed(edge.callee.path)
        and (edge.caller not in outside or any(_has(place, edge) for place in outside[edge.caller]))
    ]
    ends = {end for edge in edges for end in (edge.caller, edge.callee)}
    matches = [node for node in found if node in ends]
    whole = graph(matches, edges)
    # How the neighbours call one another shows what leads from one hit to the next: of those that are drawn.
    drawn = set(most_connected(whole, MOST_NODES)[0].nodes)
    ids = _ids(calls, drawn - found.keys())
    between = [edge for edge in calls.callees(list(ids.values())) if edge.callee in drawn]
    followed = Followed(len(matches), doubtful=calls.doubtful(matches, allowed), limits=calls.notes)
    return graph(matches, [*edges, *between], followed)


def _at(place: Place, rows: Iterable[tuple[Id, Node]]) -> list[tuple[Id, Node]]:
    """Return the definitions that begin within a place's lines, and the function that its first line is in.

    Where there are none, the class or file that the lines are in.
    """
    inside = []
    outside: tuple[Id, Node] | None = None
    for own, node in rows:
        if node.name != MODULE and place.line_start <= node.line_start <= place.line_end:
            inside.append((own, node))
        elif node.line_start <= place.line_start <= node.line_end and (
            outside is None or _length(node) <= _length(outside[1])
        ):
            outside = own, node
    if outside is None or (inside and outside[1].kind != "function"):
        return inside
    return [outside, *inside]


def _members(found: Mapping[Node, Id], by_path: Mapping[str, Sequence[tuple[Id, Node]]]) -> dict[Node, Id]:
    """Return the members of the classes that were found without any of their members."""
    members: dict[Node, Id] = {}
    for cls in found:
        inside = {
            node: own
            for own, node in by_path[cls.path]
            if cls.kind == "class" and node.name.startswith(f"{cls.name}.")
        }
        if found.keys().isdisjoint(inside):
            members |= inside
    return members


def _outside(found: Iterable[Node], places: Sequence[Place]) -> dict[Node, list[Place]]:
    """Return the code outside definitions where only definitions were found, with their places."""
    own = {node.path: node for node in found if node.name == MODULE}
    at: dict[Node, list[Place]] = {}
    for place in places:
        if place.path in own:
            at.setdefault(own[place.path], []).append(place)
    return {node: every for node, every in at.items() if all(place.is_named for place in every)}


def _has(place: Place, edge: Edge) -> bool:
    return any(place.line_start <= line <= place.line_end for line in edge.lines)


def _length(node: Node) -> int:
    return node.line_end - node.line_start if node.name != MODULE else 1 << 31


def _ids(calls: ResolvedCalls, wanted: Iterable[Node]) -> Mapping[Node, Id]:
    nodes = set(wanted)
    return {node: own for own, node in calls.nodes() if node in nodes}
