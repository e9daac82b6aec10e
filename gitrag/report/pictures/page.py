"""Draw a graph as one page: to be moved, searched and clicked without a server or a network. Pure.

No name and no line of code becomes markup or script: text in elements and attributes is escaped, what the
script reads is JSON without ``<``, and the page's policy allows its own script and style sheet only, by hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from gitrag.actions.graph import Source
from gitrag.callgraph.graph import Graph, Node
from gitrag.report.call_tree import SURE
from gitrag.report.pictures.drawn import choose
from gitrag.report.pictures.layout import lay_out
from gitrag.report.pictures.svg import LEGEND, elements, style, text
from gitrag.words.control_characters import sanitise, sanitise_line
from gitrag.words.numbers import count

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
        notes: What lines mean, and what is not drawn.
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
        tests: The definitions that are tests'.
        title: What the picture is of.
        sources: The code of definitions, shown where they are clicked.
        with_tests: Whether tests are shown from the beginning.
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
        tests: The definitions that are tests'.
        sources: The code of definitions.
        with_tests: Whether tests are shown from the beginning.
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
                "code": [sanitise(line) for line in sources[node].lines] if node in sources else [],
                "more": sources[node].more if node in sources else 0,
                "links": [[sanitise_line(words), address] for words, address in links(node)],
            }
            for node in graph.nodes
        ],
        "calls": [
            [numbers[edge.caller], numbers[edge.callee], edge.line, int(edge.confidence < SURE)]
            for edge in graph.edges
        ],
    }
    written = json.dumps(value, separators=(",", ":"))  # ASCII: U+2028 is escaped with the rest
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _digest(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
