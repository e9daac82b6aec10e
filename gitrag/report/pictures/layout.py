"""Place a graph's definitions in columns, callers left of what they call, each file a card of rows. Pure.

A layered layout (Sugiyama, Tagawa and Toda, 1981): rank, order against crossings by barycentres, place by
least squares (pool adjacent violators). What is its own: a column's definitions of one file are one card.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct, field
from msgspec.structs import replace

from gitrag.callgraph.graph import Edge, Graph, Node, most_connected
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
    kept, left_out = most_connected(replace(whole, nodes=nodes, edges=edges), MOST_DRAWN)
    calling = {node: len(found) for node, found in callers.items()}
    return Drawn(kept, calling, len(hidden), len(whole.nodes) - len(hidden) - len(nodes), left_out)


_NO_NODES: tuple[Node, ...] = ()
ROW, HEADER, FOOT = 22.0, 26.0, 6.0
"""Heights in pixels: a definition's row, a card's header, the room below its last row."""
CHARACTER = 7.25
"""Width of a character, in pixels, of a monospaced font of 12: 0.602 em in all that are common."""
_SMALL_CHARACTER = 6.65
_SIDE = 12.0
_BETWEEN_CARDS = 16.0
_BETWEEN_BENDS = 5.0
_BETWEEN_COLUMNS = 96.0
_BEND_HEIGHT = 6.0
_SWEEPS = 8
_LONGEST_NAME = 44
_LONGEST_PATH = 52


class Row(Struct, frozen=True):
    """A definition in a card; x and y are its left upper corner, in pixels."""

    node: Node
    label: str
    tests: int
    x: float
    y: float
    width: float


class Card(Struct, frozen=True):
    """The definitions of one file in a column; x and y are its left upper corner, in pixels."""

    path: str
    label: str
    rows: tuple[Row, ...]
    x: float
    y: float
    width: float
    height: float


Points = tuple[tuple[float, float], ...]
"""Where the curve of a call enters and leaves each column that it passes."""


class Layout(Struct, frozen=True):
    """A picture's parts; its upper left corner is (0, 0)."""

    cards: tuple[Card, ...]
    lines: tuple[tuple[Edge, Points], ...]
    width: float
    height: float


class _Unit(Struct, eq=False):
    """What takes up room in a column: a card, or the bend of lines that pass it on their way to a callee."""

    key: tuple[str, str]
    nodes: list[Node] = field(default_factory=list)
    y: float = 0.0

    @property
    def height(self) -> float:
        return HEADER + ROW * len(self.nodes) + FOOT if self.nodes else _BEND_HEIGHT

    def offset(self, node: Node | None) -> float:
        """Return how far below its top a definition's line begins or ends."""
        if node is None or not self.nodes:
            return self.height / 2
        return HEADER + ROW * (self.nodes.index(node) + 0.5)


def lay_out(drawn: Drawn, centre: Iterable[Node] = ()) -> Layout:
    """Place a graph.

    Args:
        centre: What was asked for; the others stand as many columns to its left or right as they are calls
            away. Empty for a graph without a centre: then callers stand left of their callees throughout.
    """
    graph = drawn.graph
    middle = set(centre) & set(graph.nodes)
    ranks = _by_distance(graph, middle) if middle else _by_longest_path(graph)
    columns, chains = _columns(graph, ranks)
    _order(columns, chains)
    return _placed(drawn, columns, chains)


def _by_distance(graph: Graph, centre: set[Node]) -> dict[Node, int]:
    ranks = dict.fromkeys(sorted(centre), 0)
    for sign in (-1, 1):
        nearby: dict[Node, list[Node]] = {}
        for edge in graph.edges:
            here, there = (edge.caller, edge.callee) if sign > 0 else (edge.callee, edge.caller)
            nearby.setdefault(here, []).append(there)
        border, step = sorted(centre), 0
        while border:
            step += 1
            found = sorted({node for each in border for node in nearby.get(each, ()) if node not in ranks})
            ranks.update(dict.fromkeys(found, sign * step))
            border = found
    furthest = max(ranks.values(), default=0) + 1
    ranks.update((node, furthest) for node in graph.nodes if node not in ranks)
    return ranks


def _by_longest_path(graph: Graph) -> dict[Node, int]:
    """Rank by the longest chain of calls to a definition; calls that close a circle do not count."""
    forward, order = _without_circles(graph)
    ranks = dict.fromkeys(graph.nodes, 0)
    for node in reversed(order):
        for callee in forward[node]:
            ranks[callee] = max(ranks[callee], ranks[node] + 1)
    called = {edge.callee for edge in graph.edges}
    for node in order:  # what nobody calls stands next to what it calls
        if node not in called and forward[node]:
            ranks[node] = min(ranks[callee] for callee in forward[node]) - 1
    return ranks


def _without_circles(graph: Graph) -> tuple[dict[Node, list[Node]], list[Node]]:
    """Return each definition's callees but those on the way back to it, and all, callees before callers."""
    callees: dict[Node, list[Node]] = {node: [] for node in graph.nodes}
    for edge in graph.edges:
        callees[edge.caller].append(edge.callee)
    forward: dict[Node, list[Node]] = {node: [] for node in graph.nodes}
    called = {edge.callee for edge in graph.edges}
    order: list[Node] = []
    open_: set[Node] = set()
    seen: set[Node] = set()
    stack = [
        (node, iter(_NO_NODES)) for node in sorted(graph.nodes, key=lambda node: (node in called, node))
    ][::-1]
    while stack:
        node, rest = stack[-1]
        if node not in seen:
            seen.add(node)
            open_.add(node)
            stack[-1] = (node, rest := iter(callees[node]))
        elif node not in open_:  # reached before from elsewhere
            stack.pop()
            continue
        callee = next(rest, None)
        if callee is None:
            open_.discard(node)
            order.append(node)
            stack.pop()
        elif callee not in open_:
            forward[node].append(callee)
            if callee not in seen:
                stack.append((callee, iter(_NO_NODES)))
    return forward, order


Chain = list[tuple[_Unit, Node | None]]
"""The units that a line goes through, from its caller's card to its callee's."""


def _columns(graph: Graph, ranks: Mapping[Node, int]) -> tuple[list[list[_Unit]], list[tuple[Edge, Chain]]]:
    """Make a card for each file in each column, and bends where calls pass a column."""
    least = min(ranks.values(), default=0)
    size = max(ranks.values(), default=-1) - least + 1
    columns: list[dict[tuple[str, str], _Unit]] = [{} for _ in range(size)]
    for node in sorted(graph.nodes, key=lambda node: (node.path, node.line_start, node.name)):
        key = (node.path, "")
        columns[ranks[node] - least].setdefault(key, _Unit(key)).nodes.append(node)
    chains = []
    seen = set()
    for edge in graph.edges:
        if (edge.caller, edge.callee) in seen:
            continue
        seen.add((edge.caller, edge.callee))
        first, last = ranks[edge.caller] - least, ranks[edge.callee] - least
        key = (edge.callee.path, f"{edge.callee.name}:{edge.callee.line_start}")
        step = 1 if last >= first else -1
        bends: Chain = [
            (columns[number].setdefault(key, _Unit(key)), None) for number in range(first + step, last, step)
        ]
        caller = columns[first][edge.caller.path, ""]
        callee = columns[last][edge.callee.path, ""]
        chains.append((edge, [(caller, edge.caller), *bends, (callee, edge.callee)]))
    return [list(column.values()) for column in columns], chains


def _order(columns: list[list[_Unit]], chains: Sequence[tuple[Edge, Chain]]) -> None:
    """Order and place each column's units: near what they are joined with, without overlap."""
    place = {id(unit): number for number, column in enumerate(columns) for unit in column}
    joints: dict[int, list[tuple[int, float, _Unit, float]]] = {}
    for _, chain in chains:
        for (one, own), (other, its) in pairwise(chain):
            if one is not other:
                here, there = one.offset(own), other.offset(its)
                joints.setdefault(id(one), []).append((place[id(other)], here, other, there))
                joints.setdefault(id(other), []).append((place[id(one)], there, one, here))
    for column in columns:
        _stack(column, [0.0] * len(column))
    numbers = list(range(len(columns)))
    for sweep in range(_SWEEPS):
        settling = sweep >= _SWEEPS - 2
        for number in numbers if sweep % 2 == 0 else reversed(numbers):
            side = number - 1 if sweep % 2 == 0 else number + 1
            column = columns[number]
            wanted = {
                id(unit): _wanted(unit, joints.get(id(unit), ()), None if settling else side)
                for unit in column
            }
            if not settling:
                column.sort(key=lambda unit: (wanted[id(unit)] + unit.height / 2, unit.key))
            _stack(column, [wanted[id(unit)] for unit in column])


def _wanted(unit: _Unit, joints: Sequence[tuple[int, float, _Unit, float]], side: int | None) -> float:
    """Return the top at which a unit's lines to one side, or to both, would be level on average."""
    tops = [other.y + there - here for number, here, other, there in joints if side in {None, number}]
    return sum(tops) / len(tops) if tops else unit.y


def _stack(column: Sequence[_Unit], wanted: Sequence[float]) -> None:
    """Place units below each other, as near as possible (least squares) to where they want to be."""
    below = 0.0
    blocks: list[tuple[float, int]] = []
    offsets = []
    for unit, top in zip(column, wanted, strict=True):
        offsets.append(below)
        total, size = top - below, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / size:
            total, size = total + blocks[-1][0], size + blocks[-1][1]
            blocks.pop()
        blocks.append((total, size))
        below += unit.height + (_BETWEEN_CARDS if unit.nodes else _BETWEEN_BENDS)
    means = [total / size for total, size in blocks for _ in range(size)]
    for unit, mean, offset in zip(column, means, offsets, strict=True):
        unit.y = mean + offset


def _placed(drawn: Drawn, columns: list[list[_Unit]], chains: Sequence[tuple[Edge, Chain]]) -> Layout:
    """Give each column its width and place, and each line its points."""
    top = min((unit.y for column in columns for unit in column), default=0.0)
    cards: list[Card] = []
    sides: dict[int, tuple[float, float]] = {}
    x = 0.0
    for column in columns:
        width = max((_width(unit, drawn.tests) for unit in column), default=0.0)
        for unit in column:
            sides[id(unit)] = (x, x + width)
            unit.y -= top
            if unit.nodes:
                rows = tuple(
                    Row(
                        node,
                        shortened(node.name, _LONGEST_NAME),
                        drawn.tests.get(node, 0),
                        x,
                        unit.y + HEADER + number * ROW,
                        width,
                    )
                    for number, node in enumerate(unit.nodes)
                )
                label = shortened(unit.key[0], _LONGEST_PATH)
                cards.append(Card(unit.key[0], label, rows, x, unit.y, width, unit.height))
        x += width + _BETWEEN_COLUMNS
    height = max((unit.y + unit.height for column in columns for unit in column), default=0.0)
    lines = tuple((edge, _points(chain, sides)) for edge, chain in chains)
    return Layout(tuple(cards), lines, max(x - _BETWEEN_COLUMNS, 0.0), height)


def _points(chain: Chain, sides: Mapping[int, tuple[float, float]]) -> Points:
    """Return where a line leaves its caller, passes columns, and reaches its callee."""
    (first, caller), (last, callee) = chain[0], chain[-1]
    start, end = sides[id(first)], sides[id(last)]
    leave, arrive = first.y + first.offset(caller), last.y + last.offset(callee)
    if start[0] == end[0]:  # in the same column: out and in on the right
        return (start[1], leave), (end[1], arrive)
    onward = end[0] > start[0]
    points = [(start[1] if onward else start[0], leave)]
    for unit, node in chain[1:-1]:
        y = unit.y + unit.offset(node)
        left, right = sides[id(unit)]
        points += [(left, y), (right, y)] if onward else [(right, y), (left, y)]
    points.append((end[0] if onward else end[1], arrive))
    return tuple(points)


def _width(unit: _Unit, tests: Mapping[Node, int]) -> float:
    if not unit.nodes:
        return 0.0
    header = len(shortened(unit.key[0], _LONGEST_PATH)) * _SMALL_CHARACTER
    rows = (
        len(shortened(node.name, _LONGEST_NAME))
        + 2
        + len(f"{node.line_start}")
        + len(badge(tests.get(node, 0)))
        for node in unit.nodes
    )
    return max(header, max(rows) * CHARACTER) + 2 * _SIDE


def badge(tests: int) -> str:
    """Return how a definition's tests are counted beside its name; empty for none."""
    return f"  {tests:,} test{'' if tests == 1 else 's'}" if tests else ""


def shortened(text: str, most: int) -> str:
    """Return the end of a name or path, which says more than its beginning, after an ellipsis if cut."""
    return text if len(text) <= most else "…" + text[1 - most :]
