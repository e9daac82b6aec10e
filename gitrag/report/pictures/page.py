"""Draw a graph as one page: to be moved, searched and clicked without a server or a network. Pure.

No name and no line of code becomes markup or script: text in elements and attributes is escaped, what the
script reads is JSON without ``<``, and the page's policy allows its own script and style sheet only, by hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from html import escape
from importlib import resources

from msgspec import Struct

from gitrag.actions.graph_answer import Source
from gitrag.callgraph.graph import Edge, Graph, Node
from gitrag.report.pictures.layout import (
    HEADER,
    ROW,
    Card,
    Drawn,
    Layout,
    Points,
    Row,
    badge,
    choose,
    lay_out,
)
from gitrag.words.control_characters import sanitise, sanitise_line
from gitrag.words.numbers import count

_LEAST_BEND = 48.0
_LOOP = 40.0
"""How far a call within a column swings out."""

LEGEND = "solid: certain call · dashed: likely"


def elements(layout: Layout, drawn: Drawn, numbers: Mapping[Node, int] | None = None) -> list[str]:
    """Return a layout's elements: calls below, cards above.

    Args:
        numbers: Numbers by which a script finds definitions; None for a picture without.
    """
    numbers = numbers or {}
    matches = drawn.graph.matches if len(drawn.graph.matches) < len(drawn.graph.nodes) else frozenset()
    parts = [_arrow(edge, points, numbers) for edge, points in layout.lines]
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


def _arrow(edge: Edge, points: Points, numbers: Mapping[Node, int]) -> str:
    likely = "" if edge.is_sure else " likely"
    ends = ""
    if edge.caller in numbers and edge.callee in numbers:
        ends = f' data-from="{numbers[edge.caller]}" data-to="{numbers[edge.callee]}"'
    x, y = points[-1]
    before = points[-2][0]
    side = 1 if before >= x else -1  # it arrives from the right, or the left
    back = _number(x + 7 * side)
    head = f"M{back} {_number(y - 4)}L{_number(x)} {_number(y)}L{back} {_number(y + 4)}"
    way = f'<path class="way" d="{_curve(points)}"/>'
    return f'<g class="call{likely}"{ends}>{way}<path class="head" d="{head}"/></g>'


def _curve(points: Points) -> str:
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


_MARGIN = 24

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{css}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<input id="search" type="search" placeholder="Search names and paths  ( / )" autocomplete="off">
<output id="found"></output>
{tests}<label><input id="likely" type="checkbox" checked> likely calls</label>
<span class="buttons"><button id="closer" title="Closer ( + )">+</button>
<button id="further" title="Further ( - )">&minus;</button>
<button id="whole" title="All of it ( 0 )">fit</button></span>
</header>
<main>
<svg id="picture" class="calls" xmlns="http://www.w3.org/2000/svg" role="group" aria-label="{title}">
{pictures}
</svg>
<aside id="about" hidden></aside>
</main>
<footer>{notes}</footer>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


class PageParts(Struct, frozen=True):
    """What a page of a graph is made of; no name and no line of code in it is markup.

    Attributes:
        pictures: The elements of the picture, as SVG: one without tests, one with them.
        folded: How many tests are not drawn at first; 0 where there is one picture.
        data: What the script shows, as JSON.
    """

    pictures: str
    folded: int
    notes: tuple[str, ...]
    data: str


def as_page(
    graph: Graph,
    centre: Iterable[Node] = (),
    tests: Collection[Node] = (),
    *,
    title: str,
    sources: Mapping[Node, Source],
    with_tests: bool = False,
) -> str:
    """Draw a graph as a page.

    Args:
        centre: What was asked for by name; see `lay_out`.
        sources: The code of definitions, shown where they are clicked.
    """
    parts = parts_of(graph, centre, tests, sources=sources, with_tests=with_tests)
    switch = ""
    if parts.folded:
        checked = " checked" if with_tests else ""
        switch = f'<label><input id="tests" type="checkbox"{checked}> {count(parts.folded, "test")}</label>\n'
    css, script = style("picture.css") + style("page.css"), style("page.js")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(css)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return _PAGE.format(
        policy=policy,
        title=text(title),
        css=css,
        tests=switch,
        pictures=parts.pictures,
        notes=" · ".join(map(text, parts.notes)),
        data=parts.data,
        script=script,
    )


def parts_of(
    graph: Graph,
    centre: Iterable[Node] = (),
    tests: Collection[Node] = (),
    *,
    sources: Mapping[Node, Source],
    with_tests: bool = False,
    links: Callable[[Node], Sequence[tuple[str, str]]] = lambda _node: (),
) -> PageParts:
    """Draw a graph as the parts of a page; see `as_page`.

    Args:
        centre: What was asked for by name.
        links: Returns words and addresses of the links beside a definition.
    """
    centre = set(centre)
    numbers = {node: number for number, node in enumerate(graph.nodes)}
    drawings = [choose(graph, centre, tests, with_tests=False)]
    if drawings[0].folded:
        drawings.append(choose(graph, centre, tests, with_tests=True))
    shown = len(drawings) - 1 if with_tests else 0
    pictures = []
    for place, drawn in enumerate(drawings):
        layout = lay_out(drawn, centre)
        hidden = "" if place == shown else ' class="away"'
        size = f"{layout.width + 2 * _MARGIN:.0f} {layout.height + 2 * _MARGIN:.0f}"
        pictures += [
            f'<g data-size="{size}"{hidden}>',
            f'<g transform="translate({_MARGIN} {_MARGIN})">',
            *elements(layout, drawn, numbers),
            "</g></g>",
        ]
    return PageParts(
        "\n".join(pictures),
        drawings[0].folded,
        (LEGEND, *drawings[-1].notes),
        _data(graph, sources, links),
    )


def _data(
    graph: Graph,
    sources: Mapping[Node, Source],
    links: Callable[[Node], Sequence[tuple[str, str]]],
) -> str:
    """Return what the script shows of each definition and call, as JSON that no parser of HTML can leave."""
    numbers = {node: number for number, node in enumerate(graph.nodes)}
    value = {
        "nodes": [
            {
                "name": sanitise_line(node.name),
                "path": sanitise_line(node.path),
                "first": node.line_start,
                "last": node.line_end,
                "code": [sanitise(line) for line in sources[node][0]] if node in sources else [],
                "more": sources[node][1] if node in sources else 0,
                "links": [[sanitise_line(words), address] for words, address in links(node)],
            }
            for node in graph.nodes
        ],
        "calls": [
            [numbers[edge.caller], numbers[edge.callee], edge.line, int(not edge.is_sure)]
            for edge in graph.edges
        ],
    }
    written = json.dumps(value, separators=(",", ":"))  # ASCII: U+2028 is escaped with the rest
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _digest(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
