"""Answer a question about calls: which definitions it means, and who calls them or is called by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from gitrag.callgraph import filtering
from gitrag.callgraph.graph import Edge, Followed, Graph, Node, graph
from gitrag.callgraph.resolution import ResolvedCalls
from gitrag.errors import GitragError

MOST_RESOLVED = 10**9
"""Definitions per question whose calls are resolved, those matched by name first: a second for django."""

MOST_WITH_CALLERS = 10**9
"""Definitions whose callers are searched even if not asked for: callers may be anywhere."""


class Direction(StrEnum):
    """Which calls to follow."""

    BOTH = "both"
    CALLERS = "callers"
    CALLEES = "callees"


@dataclass(frozen=True, slots=True)
class GraphQuestion:
    """The part of the call graph that is asked for.

    Attributes:
        target: A path, a name, or a qualified name.
        filter: A regular expression on paths and qualified names; None for no filter.
        direction: Which calls to follow.
        depth: Maximum number of calls between a match and a node.
        allowed: Tells whether a path may be in the answer.
    """

    target: str | None = None
    filter: str | None = None
    direction: Direction = Direction.BOTH
    depth: int = 1
    allowed: Callable[[str], bool] = lambda _path: True


class NoMatchError(GitragError):
    """No definition matches the target."""


def answer(calls: ResolvedCalls, question: GraphQuestion) -> Graph:
    """Resolve the question's target and the calls around it.

    Raises:
        NoMatchError: The target matches no definition.
        UsageError: The filter is not a valid regular expression.
    """
    rows = [(own, node) for own, node in calls.nodes() if question.allowed(node.path)]
    nodes = [node for _, node in rows]
    chosen = list(range(len(rows)))
    if question.target is not None:
        found = filtering.named(question.target, nodes)
        if not found:
            near = " or ".join(filtering.near_names(question.target, nodes))
            raise NoMatchError(
                f'Nothing in the call graph is called "{question.target}".',
                f"Did you mean {near}?" if near else "Give a name, a qualified name, or a path.",
            )
        chosen = found
        if question.direction is not Direction.CALLEES:
            chosen = [*found, *filtering.constructors(found, nodes)]
    if question.filter is not None:
        fits = filtering.matching(question.filter, nodes, calls.check)
        chosen = [i for i in chosen if fits[i]]
    matches = {nodes[i]: rows[i][0] for i in chosen}
    if not matches:
        return Graph((), ())
    ids = matches if question.depth == 1 else {node: own for own, node in rows}
    edges, followed = _walk(calls, question, matches, ids)
    kept = [
        edge for edge in edges if question.allowed(edge.caller.path) and question.allowed(edge.callee.path)
    ]
    ends = {end for edge in kept for end in (edge.caller, edge.callee)}
    if question.target is None:
        return graph([node for node in matches if node in ends], kept, followed)
    twins = {(node.path, node.name) for node in matches if node in ends}
    # Overloads have no calls; the function they belong to has the same name.
    shown = [node for node in matches if node in ends or (node.path, node.name) not in twins]
    return graph(shown, kept, followed)


def _walk(
    calls: ResolvedCalls,
    question: GraphQuestion,
    matches: Mapping[Node, tuple[str, int]],
    ids: Mapping[Node, tuple[str, int]],
) -> tuple[list[Edge], Followed]:
    """Follow calls from the matches, to the requested depth; return also what was not followed."""
    asked = question.target is not None
    edges: list[Edge] = []
    left: dict[Direction, frozenset[Node]] = {}
    further: set[Node] = set()
    for direction in (Direction.CALLEES, Direction.CALLERS):
        if question.direction not in {direction, Direction.BOTH}:
            continue
        unasked = direction is Direction.CALLERS and question.direction is Direction.BOTH and not asked
        if unasked and len(matches) > MOST_WITH_CALLERS:
            # Of all definitions, the callers are found as the callees of the others.
            left[direction] = frozenset(() if question.filter is None else matches)
            continue
        seen = set(matches)
        ordered = _ordered(matches, question, calls.check)
        border, left[direction] = ordered[:MOST_RESOLVED], frozenset(ordered[MOST_RESOLVED:])
        for step in range(1, question.depth + 1):
            own = [ids[node] for node in border if node in ids]
            found = calls.callers(own) if direction is Direction.CALLERS else calls.callees(own)
            edges += found
            ends = {edge.caller if direction is Direction.CALLERS else edge.callee for edge in found}
            new = sorted(ends - seen)
            border = new[:MOST_RESOLVED]
            seen |= ends
            if not border:
                break
            if step < question.depth:
                further.update(new[MOST_RESOLVED:])
    none: frozenset[Node] = frozenset()
    followed = Followed(
        len(matches),
        left.get(Direction.CALLEES, none),
        left.get(Direction.CALLERS, none),
        len(further),
    )
    return edges, followed


def _ordered(
    matches: Mapping[Node, tuple[str, int]], question: GraphQuestion, check: Callable[[], None]
) -> list[Node]:
    """Put definitions matched by name before those matched only by file or directory."""
    if len(matches) <= MOST_RESOLVED or question.filter is None:
        return sorted(matches)
    nodes = sorted(matches)
    bare = [Node("", node.name, 0, 0) for node in nodes]
    by_name = filtering.matching(question.filter, bare, check)
    return [n for n, fits in zip(nodes, by_name, strict=True) if fits] + [
        n for n, fits in zip(nodes, by_name, strict=True) if not fits
    ]
