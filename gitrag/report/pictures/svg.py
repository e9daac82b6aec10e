"""Draw a graph's layout as SVG. Pure: equal graphs give equal bytes, and no name becomes markup."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from html import escape
from importlib import resources

from gitrag.callgraph.graph import Graph, Node
from gitrag.report.call_tree import SURE
from gitrag.report.pictures.drawn import Drawn, choose
from gitrag.report.pictures.layout import HEADER, ROW, Card, Layout, Line, Row, badge, lay_out
from gitrag.words.control_characters import sanitise_line

_MARGIN = 24.0
_FOOT = 22.0
_LEAST_BEND = 48.0
_LOOP = 40.0
"""How far a call within a column swings out."""

LEGEND = "solid: certain call · dashed: likely"


def as_svg(
    graph: Graph,
    centre: Iterable[Node] = (),
    tests: Collection[Node] = (),
    *,
    title: str,
    with_tests: bool = False,
) -> str:
    """Draw a graph as a standalone SVG.

    Args:
        graph: The calls.
        centre: What was asked for by name; see `lay_out`.
        tests: The definitions that are tests'.
        title: What the picture is of.
        with_tests: Whether tests are drawn, instead of counted where they call.
    """
    centre = set(centre)
    drawn = choose(graph, centre, tests, with_tests=with_tests)
    layout = lay_out(drawn, centre)
    notes = [LEGEND, *drawn.notes]
    width = max(layout.width, max(map(len, notes)) * 6.6)
    height = layout.height + 12 + _FOOT * len(notes)
    size = f"{_number(width + 2 * _MARGIN)} {_number(height + 2 * _MARGIN)}"
    box_width, box_height = size.split(" ")
    frame = f'viewBox="0 0 {size}" width="{box_width}" height="{box_height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="calls" {frame} role="img">',
        f"<title>{text(title)}</title>",
        f"<style>{style('picture.css')}</style>",
        f'<rect class="paper" width="{box_width}" height="{box_height}"/>',
        f'<g transform="translate({_number(_MARGIN)} {_number(_MARGIN)})">',
        *elements(layout, drawn),
    ]
    for number, note in enumerate(notes):
        y = _number(layout.height + 12 + _FOOT * (number + 0.7))
        lines.append(f'<text class="note" y="{y}">{text(note)}</text>')
    return "\n".join([*lines, "</g>", "</svg>"])


def elements(layout: Layout, drawn: Drawn, numbers: Mapping[Node, int] | None = None) -> list[str]:
    """Return a layout's elements: calls below, cards above.

    Args:
        layout: The layout.
        drawn: What it shows.
        numbers: Numbers by which a script finds definitions; None for a picture without.
    """
    numbers = numbers or {}
    matches = drawn.graph.matches if len(drawn.graph.matches) < len(drawn.graph.nodes) else frozenset()
    found = [_arrow(line, numbers) for line in layout.lines]
    for card in layout.cards:
        found += _card(card, matches, numbers)
    return found


def style(name: str) -> str:
    """Return a style sheet, or a script, of this package."""
    return resources.files("gitrag.report.pictures").joinpath(name).read_text("utf-8")


def text(value: str) -> str:
    """Return text for an element or a quoted attribute: what steers a reader is made visible."""
    return escape(sanitise_line(value))


def _card(card: Card, matches: frozenset[Node], numbers: Mapping[Node, int]) -> list[str]:
    box = _box(card.x, card.y, card.width, card.height)
    header = f'<text class="path" x="{_number(card.x + 12)}" y="{_number(card.y + HEADER - 9)}">'
    lines = [
        '<g class="card">',
        f'<rect class="sheet" {box} rx="8"/>',
        f"{header}<title>{text(card.path)}</title>{text(card.label)}</text>",
    ]
    for row in card.rows:
        lines += _row(row, numbers, is_match=row.node in matches)
    return [*lines, "</g>"]


def _row(row: Row, numbers: Mapping[Node, int], *, is_match: bool) -> list[str]:
    node, middle = row.node, row.y + ROW / 2 + 4
    number = numbers.get(node)
    kind = " ".join(["node", *["match"] * is_match, *["class"] * (node.kind == "class")])
    handle = f' data-node="{number}" tabindex="0" role="button"' if number is not None else ""
    right, low = _number(row.x + row.width - 12), _number(middle)
    tests = f'<tspan class="tests">{text(badge(row.tests).strip())}</tspan>  ' if row.tests else ""
    return [
        f'<g class="{kind}"{handle}><title>{text(node.name)}\n{text(node.path)}:{node.line_start}</title>',
        f'<rect class="row" {_box(row.x + 4, row.y + 1, row.width - 8, ROW - 2)} rx="5"/>',
        f'<text class="name" x="{_number(row.x + 12)}" y="{low}">{text(row.label)}</text>',
        f'<text class="line" x="{right}" y="{low}" xml:space="preserve">{tests}{node.line_start}</text>',
        "</g>",
    ]


def _arrow(line: Line, numbers: Mapping[Node, int]) -> str:
    edge = line.edge
    likely = " likely" if edge.confidence < SURE else ""
    ends = ""
    if edge.caller in numbers and edge.callee in numbers:
        ends = f' data-from="{numbers[edge.caller]}" data-to="{numbers[edge.callee]}"'
    x, y = line.points[-1]
    before = line.points[-2][0]
    side = 1 if before >= x else -1  # it arrives from the right, or the left
    back = _number(x + 7 * side)
    head = f"M{back} {_number(y - 4)}L{_number(x)} {_number(y)}L{back} {_number(y + 4)}"
    way = f'<path class="way" d="{_curve(line)}"/>'
    return f'<g class="call{likely}"{ends}>{way}<path class="head" d="{head}"/></g>'


def _curve(line: Line) -> str:
    points = line.points
    (x, y), *rest = points
    parts = [f"M{_number(x)} {_number(y)}"]
    if len(points) == 2 and points[1][0] == x:
        swing = _number(x + _LOOP)
        last = points[1][1]
        middle = (y - ROW * 0.8, last + ROW * 0.8) if last == y else (y, last)
        parts.append(
            f"C{swing} {_number(middle[0])} {swing} {_number(middle[1])} {_number(x)} {_number(last)}"
        )
        return "".join(parts)
    for number, (to_x, to_y) in enumerate(rest):
        if number % 2:  # within a column that it passes
            parts.append(f"L{_number(to_x)} {_number(to_y)}")
        else:
            bend = max(abs(to_x - x) / 2, _LEAST_BEND) * (1 if to_x > x else -1)
            parts.append(
                f"C{_number(x + bend)} {_number(y)} {_number(to_x - bend)} {_number(to_y)}"
                f" {_number(to_x)} {_number(to_y)}"
            )
        x, y = to_x, to_y
    return "".join(parts)


def _box(x: float, y: float, width: float, height: float) -> str:
    return f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"'


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
