"""Answer a question about calls: which definitions it means, and who calls them or is called by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from gitrag.callgraph import filtering
from gitrag.callgraph.graph import Edge, Followed, Graph, Node, graph
from gitrag.callgraph.loading import TimeoutReachedError
from gitrag.callgraph.neighbourhood import Place, around
from gitrag.callgraph.resolution import ResolvedCalls
from gitrag.errors import GitragError

_OVERLOADING = (".java", ".kt", ".cs", ".swift", ".cc", ".cpp", ".h", ".hpp")
"""Ends of files in which several functions of one name are called each by its own parameters."""


class Direction(StrEnum):
    """Which calls to follow."""

    BOTH = "both"
    CALLERS = "callers"
    CALLEES = "callees"


class GraphQuestion(Struct, frozen=True):
    """The part of the call graph that is asked for.

    Attributes:
        places: What a search has found: the calls around it are asked for, whatever the filter, which only
            describes it. None for any other question.
    """

    target: str | None = None
    filter: str | None = None
    direction: Direction = Direction.BOTH
    depth: int = 1
    allowed: Callable[[str], bool] = lambda _path: True
    places: tuple[Place, ...] | None = None


class NoMatchError(GitragError):
    """No definition matches the target.

    Args:
        target: What was asked for.
        not_indexed: What exists and is not in the index, though it has the target, a sentence each.
    """

    def __init__(
        self, message: str, hint: str = "", target: str = "", not_indexed: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message, hint)
        self.target = target
        self.not_indexed = not_indexed


def answer(calls: ResolvedCalls, question: GraphQuestion) -> Graph:
    """Resolve the question's target and the calls around it.

    Raises:
        NoMatchError: The target matches no definition.
    """
    if question.places is not None:
        return around(calls, question.places, question.allowed)
    rows = [(own, node) for own, node in calls.nodes() if question.allowed(node.path)]
    nodes = [node for _, node in rows]
    chosen = list(range(len(rows)))
    if question.target is not None:
        chosen = definitions_named(question.target, nodes)
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
        whole = graph([node for node in matches if node in ends], kept, followed)
        files = sorted({node.path for node in nodes}) if question.filter is None and whole.nodes else ()
        return replace(whole, files=tuple(files))
    twins = {(node.path, node.name) for node in matches if node in ends}
    # What is declared for Python's types has no calls; the function that it belongs to has the same name.
    shown = [
        node
        for node in matches
        if node in ends or node.path.endswith(_OVERLOADING) or (node.path, node.name) not in twins
    ]
    return graph(shown, kept, followed)


def definitions_named(target: str, nodes: Sequence[Node]) -> list[int]:
    """Return the indices of the definitions that a target names, with what the classes among them contain."""
    found = filtering.named(target, nodes)
    if not found:
        near = " or ".join(filtering.near_names(target, nodes))
        raise NoMatchError(
            f'Nothing in the call graph is called "{target}".',
            f"Did you mean {near}?" if near else "Give a name, a qualified name, or a path.",
            target,
        )
    return [*found, *filtering.members(found, nodes)]


def _walk(
    calls: ResolvedCalls,
    question: GraphQuestion,
    matches: Mapping[Node, tuple[str, int]],
    ids: Mapping[Node, tuple[str, int]],
) -> tuple[list[Edge], Followed]:
    """Follow calls from the matches, to the requested depth; return also what was not followed.

    When the time is over after the first step, what was found until then is the answer.
    """
    whole = question.target is None and question.filter is None  # all calls are followed: callers are there
    edges: list[Edge] = []
    left: dict[Direction, frozenset[Node]] = {}
    further = 0
    for direction in (Direction.CALLEES, Direction.CALLERS):
        if question.direction not in {direction, Direction.BOTH} or (
            whole and direction is Direction.CALLERS
        ):
            continue
        seen, border = set(matches), sorted(matches)
        for step in range(question.depth):
            own = [ids[node] for node in border if node in ids]
            try:
                found = calls.callers(own) if direction is Direction.CALLERS else calls.callees(own)
            except TimeoutReachedError:
                if not edges and step == 0 and not left:
                    raise
                if step == 0:
                    left[direction] = frozenset(matches)
                else:
                    further += len(border)
                break
            edges += found
            ends = {edge.caller if direction is Direction.CALLERS else edge.callee for edge in found}
            border = sorted(ends - seen)
            seen |= ends
            if not border:
                break
    none: frozenset[Node] = frozenset()
    followed = Followed(
        len(matches),
        left.get(Direction.CALLEES, none),
        left.get(Direction.CALLERS, none),
        further,
        calls.doubtful(matches, question.allowed),
        calls.notes,
    )
    return edges, followed
