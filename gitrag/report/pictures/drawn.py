"""Choose what of a graph is drawn: tests are counted where they call, and a crowd is thinned out. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from gitrag.callgraph.graph import Graph, Node, most_connected
from gitrag.words.numbers import count

MOST_DRAWN = 600
"""Definitions in a picture, the best connected: a browser moves twice as many without stuttering."""


class Drawn(Struct, frozen=True):
    """A graph to draw.

    Attributes:
        tests: How many tests that are not drawn call a definition, by definition.
        only_tested: How many definitions are not drawn since nothing but those tests calls them.
        left_out: How many other definitions are not drawn.
    """

    graph: Graph
    tests: Mapping[Node, int] = field(default_factory=dict)
    folded: int = 0
    only_tested: int = 0
    left_out: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not drawn, a sentence each."""
        said = list(self.graph.followed.notes)
        if self.left_out:
            said.append(f"{count(self.left_out, 'definition')} not drawn: these are the best connected.")
        if self.folded:
            beside = f", and {count(self.only_tested, 'definition')} that only tests call," * bool(
                self.only_tested
            )
            said.append(f"{count(self.folded, 'test')}{beside} not drawn.")
        return tuple(said)


def choose(
    whole: Graph,
    asked: Collection[Node] = (),
    tests: Collection[Node] = (),
    *,
    with_tests: bool,
    most: int = MOST_DRAWN,
) -> Drawn:
    """Return what is drawn of a graph.

    Args:
        asked: What was asked for by name: drawn in any case; with all tests if these are nothing but tests.
        with_tests: Whether tests are drawn, instead of counted where they call.
    """
    kept_anyway = set(asked)
    hidden = set(tests) - kept_anyway
    are_asked = bool(kept_anyway) and kept_anyway <= set(tests)
    if with_tests or are_asked or len(hidden) == len(whole.nodes):
        hidden = set()
    callers: dict[Node, set[Node]] = {}
    for edge in whole.edges:
        if edge.caller in hidden:
            callers.setdefault(edge.callee, set()).add(edge.caller)
    edges = tuple(edge for edge in whole.edges if not {edge.caller, edge.callee} & hidden)
    joined = {end for edge in edges for end in (edge.caller, edge.callee)}
    if len(whole.matches) < len(whole.nodes):
        joined |= whole.matches
    nodes = tuple(
        node
        for node in whole.nodes
        if node not in hidden and (node in joined or node in kept_anyway or node not in callers)
    )
    kept, left_out = most_connected(replace(whole, nodes=nodes, edges=edges), most)
    calling = {node: len(found) for node, found in callers.items()}
    return Drawn(kept, calling, len(hidden), len(whole.nodes) - len(hidden) - len(nodes), left_out)
