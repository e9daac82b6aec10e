"""Draw a call graph as Mermaid, Graphviz dot, JSON, or plain calls. Pure: equal graphs give equal bytes."""

from __future__ import annotations

import hashlib
import json

from gitrag.callgraph.graph import Graph, Node, most_connected
from gitrag.words.control_characters import in_whole_characters

MOST_NODES = 20

LAST_LINE = "%% Showing entry points + main flow; internal helpers omitted"
"""Of a drawing that leaves nodes out."""

LIKELY_LINE = "%% Dotted: likely calls, not certain ones."

_LABEL_CHARS = 60

_ESCAPES = str.maketrans(
    {
        '"': "#quot;",
        "#": "#35;",
        "<": "#lt;",
        ">": "#gt;",
        "&": "#amp;",
        "`": "#96;",
        "\\": "#92;",
        "%": "#37;",
        ";": "#59;",
        "\n": " ",
        "\r": " ",
        "\t": " ",
    }
)
"""Characters with a special meaning in a quoted Mermaid label: ``#`` begins an entity, a backtick
Markdown, ``%%`` a comment."""


def as_mermaid(graph: Graph) -> str:
    """Draw a graph as ``graph TD``, of more than 20 nodes the best connected; likely calls are dotted."""
    kept, omitted = most_connected(graph, MOST_NODES)
    names = _identifiers(kept.nodes)
    lines = ["graph TD"]
    if omitted:
        lines.append(f"%% Showing top {MOST_NODES} nodes by connectivity; {omitted} nodes omitted.")
    lines += [f"%% {note}" for note in graph.followed.notes]
    lines += sorted(f'    {names[node]}["{_label(node, kept.nodes)}"]' for node in kept.nodes)
    arrows = _arrows(kept, names)
    if not all(arrows.values()):
        lines.append(LIKELY_LINE)
    lines += [
        f"    {caller} {'-->' if arrows[caller, callee] else '-.->'} {callee}"
        for caller, callee in sorted(arrows)
    ]
    if omitted:
        lines.append(LAST_LINE)
    return "\n".join(lines)


def _arrows(graph: Graph, names: dict[Node, str]) -> dict[tuple[str, str], bool]:
    """Return whether a call is sure, by its ends' identifiers."""
    found: dict[tuple[str, str], bool] = {}
    for edge in graph.edges:
        ends = names[edge.caller], names[edge.callee]
        found[ends] = found.get(ends, False) or edge.is_sure
    return found


def _label(node: Node, nodes: tuple[Node, ...]) -> str:
    """Return the text of a node's box: its name, and its file below, with the folders that tell it apart."""
    others = {f"/{each.path}" for each in nodes if each.name == node.name and each.path != node.path}
    end = ""
    for part in reversed(node.path.split("/")):
        end = f"/{part}{end}"
        others = {path for path in others if path.endswith(end)}
        if not others:
            break
    return f"{_text(node.name)}<br/>{_text(end[1:])}"


def _text(text: str) -> str:
    shown = in_whole_characters(text)
    shown = "".join(c if c.isprintable() else " " for c in shown)
    if len(shown) > _LABEL_CHARS:
        shown = shown[: _LABEL_CHARS - 1] + "…"
    return shown.translate(_ESCAPES)


def _identifiers(nodes: tuple[Node, ...]) -> dict[Node, str]:
    """Derive node identifiers from path and name, not from position, so that edits elsewhere change none.

    The prefix ``n_`` avoids Mermaid's reserved words (``end``, ``graph``, ``style``…).
    """
    found: dict[Node, str] = {}
    taken: set[str] = set()
    for node in nodes:
        readable = "".join(c if c.isascii() and c.isalnum() else "_" for c in node.name)[:40].strip("_")
        digest = hashlib.sha256(f"{node.path}\0{node.name}".encode("utf-8", "surrogateescape")).hexdigest()
        name = f"n_{readable}_{digest[:6]}"
        while name in taken:  # the same name twice in a file: overloads, branches
            name += "x"
        taken.add(name)
        found[node] = name
    return found


def as_calls(graph: Graph) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Return what Mermaid would draw as path, caller and callees, by path and source order."""
    kept, _ = most_connected(graph, MOST_NODES)
    callees: dict[Node, list[str]] = {}
    for edge in kept.edges:
        callees.setdefault(edge.caller, []).append(edge.callee.name)
    ordered = sorted(callees, key=lambda node: (node.path, node.line_start, node.name))
    return tuple((node.path, node.name, tuple(dict.fromkeys(callees[node]))) for node in ordered)


def left_out(graph: Graph) -> int:
    """Return how many nodes neither Mermaid nor ``as_calls`` shows."""
    return max(0, len(graph.nodes) - MOST_NODES)


def as_dot(graph: Graph) -> str:
    """Draw a whole graph for Graphviz; likely calls are dashed."""
    names = _identifiers(graph.nodes)
    lines = ["digraph calls {", "    rankdir=LR;", "    node [shape=box];"]
    for node in graph.nodes:
        text = json.dumps(in_whole_characters(f"{node.name}\n{node.path}"), ensure_ascii=False)
        lines.append(f"    {names[node]} [label={text}];")
    lines += [
        f"    {caller} -> {callee}{'' if is_sure else ' [style=dashed]'};"
        for (caller, callee), is_sure in sorted(_arrows(graph, names).items())
    ]
    return "\n".join([*lines, "}"])
