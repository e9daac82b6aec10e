"""Draw a graph's layout as SVG. Pure: equal graphs give equal bytes, and no name becomes markup."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from importlib import resources

from gitrag.callgraph.graph import Node
from gitrag.report.call_tree import SURE
from gitrag.report.pictures.drawn import Drawn
from gitrag.report.pictures.layout import HEADER, ROW, Card, Layout, Line, Row, badge
from gitrag.words.control_characters import sanitise_line

_LEAST_BEND = 48.0
_LOOP = 40.0
"""How far a call within a column swings out."""

LEGEND = "solid: certain call · dashed: likely"


def elements(layout: Layout, drawn: Drawn, numbers: Mapping[Node, int] | None = None) -> list[str]:
    """Return a layout's elements: calls below, cards above.

    Args:
        drawn: What it shows.
        numbers: Numbers by which a script finds definitions; None for a picture without.
    """
    numbers = numbers or {}
    matches = drawn.graph.matches if len(drawn.graph.matches) < len(drawn.graph.nodes) else frozenset()
    parts = [_arrow(line, numbers) for line in layout.lines]
    for card in layout.cards:
        parts += _card(card, matches, numbers)
    return parts


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
