"""Graphs as text, Mermaid, dot and JSON."""

from __future__ import annotations

import json
import random
from itertools import pairwise

from gitrag.actions.graph_answer import GraphAnswer
from gitrag.callgraph.drawing import LAST_LINE, LIKELY_LINE, as_calls, as_dot, as_mermaid, left_out
from gitrag.callgraph.graph import Edge, Node, graph
from gitrag.report.call_tree import CallTree
from gitrag.report.told import json_text
from tests.support.mermaid import assert_parses


def node(name, path="src/a.py", line=1):
    return Node(path, name, line, line + 1)


def star(count):
    """One function that calls many others."""
    middle = node("middle")
    return middle, [Edge(middle, node(f"leaf_{i:02}"), i + 1) for i in range(count)]


def test_a_small_graph_is_drawn_whole_and_sorted():
    middle, edges = star(2)
    drawn = as_mermaid(graph([middle], edges)).split("\n")
    assert drawn[0] == "graph TD"
    assert LAST_LINE not in drawn  # nothing is omitted
    boxes = [line for line in drawn if '["' in line]
    arrows = [line for line in drawn if "-->" in line]
    assert len(boxes) == 3
    assert len(arrows) == 2
    assert boxes == sorted(boxes)
    assert arrows == sorted(arrows)


def test_twenty_nodes_are_shown_and_the_rest_is_counted():
    """A drawing of more nodes is unreadable; the count says how many are missing."""
    middle, edges = star(30)
    drawn = as_mermaid(graph([middle], edges)).split("\n")
    assert drawn[1] == "%% Showing top 20 nodes by connectivity; 11 nodes omitted."
    assert drawn[-1] == LAST_LINE == "%% Showing entry points + main flow; internal helpers omitted"
    assert left_out(graph([middle], edges)) == 11
    assert sum('["' in line for line in drawn) == 20
    assert sum("-->" in line for line in drawn) == 19
    assert "leaf_18" in "\n".join(drawn)  # ties go by name
    assert "leaf_19" not in "\n".join(drawn)


def test_matches_and_their_neighbours_come_before_better_connected_ones():
    _, edges = star(30)
    asked, beside = node("asked"), node("beside")
    drawn = as_mermaid(graph([asked], [*edges, Edge(asked, beside, 3)]))
    assert "asked" in drawn
    assert "beside" in drawn


def test_of_equal_names_in_files_called_alike_the_folder_is_shown():
    nodes = [node("main", path) for path in ("a/cmd/main.go", "b/cmd/main.go", "cmd/main.go", "tool.go")]
    drawn = as_mermaid(graph([*nodes, node("other", "a/cmd/main.go")], []))
    for shown in ("a/cmd/main.go", "b/cmd/main.go", "cmd/main.go", "tool.go"):
        assert f'["main<br/>{shown}"]' in drawn
    assert '["other<br/>main.go"]' in drawn


def test_what_is_only_likely_is_drawn_as_that():
    a, b, c = node("a"), node("b"), node("c")
    edges = [Edge(a, b, 1), Edge(a, c, 2, 0.6), Edge(b, c, 3, 0.5), Edge(b, c, 4, 1.0, rule="on")]
    drawn = as_mermaid(graph([a], edges))
    assert [line.split()[1] for line in drawn.split("\n") if "->" in line] == ["-->", "-.->", "-->"]
    assert LIKELY_LINE in drawn
    assert LIKELY_LINE not in as_mermaid(graph([a], edges[:1]))
    assert as_dot(graph([a], edges)).count("dashed") == 1
    assert_parses([drawn])


def test_every_end_of_an_arrow_is_declared():
    middle, edges = star(40)
    extra = [Edge(edges[i].callee, edges[i + 1].callee, i) for i in range(30)]
    drawn = as_mermaid(graph([middle], [*edges, *extra])).split("\n")
    declared = {line.split("[")[0].strip() for line in drawn if '["' in line}
    ends = {end.strip() for line in drawn if "-->" in line for end in line.split("-->")}
    assert ends <= declared


def test_the_same_graph_gives_the_same_bytes_in_any_order():
    middle, edges = star(25)
    shuffled = random.Random(1).sample(edges, len(edges))
    assert as_mermaid(graph([middle], edges)) == as_mermaid(graph([middle], shuffled))


def test_an_identifier_does_not_depend_on_what_else_is_shown():
    middle, edges = star(3)
    few, more = as_mermaid(graph([middle], edges[:1])), as_mermaid(graph([middle], edges))
    assert set(few.split("\n")) <= set(more.split("\n"))


HOSTILE = [
    "end", "graph", "subgraph", "style", "class", "click", "default", "x" * 500, "a\nb", 'quo"te', "a#b;c",
    "<module>", "`tick`", "%% comment", "a --> b", "été", "日本語", "operator<<", "operator[]",
    "~Destructor", "a|b",     "{x}", "\\n", "\udcff", "&amp;", "o", "x", "",
]  # fmt: skip


def test_names_of_any_kind_are_read_by_mermaid():
    nodes = [node(name, path=f"src/{name[:20] or 'a'}.py") for name in HOSTILE]
    edges = [Edge(one, other, 1) for one, other in pairwise(nodes)]
    middle, many = star(30)
    assert_parses(
        [
            *(as_mermaid(graph([edge.caller], [edge])) for edge in edges),
            as_mermaid(graph([middle], many)),
            as_mermaid(graph(nodes, edges)),
        ]
    )


def test_dot_and_json_hold_the_whole_graph():
    middle, edges = star(30)
    whole = graph([middle], edges)
    assert as_dot(whole).count("->") == 30
    value = json.loads(json_text(GraphAnswer(None, whole)))
    assert len(value["nodes"]) == 31
    assert value["edges"][0].keys() == {
        *("caller", "callee", "line", "confidence", "lines", "provenance", "rule")
    }
    assert [each["name"] for each in value["nodes"] if each["matched"]] == ["middle"]


def test_the_drawn_calls_are_given_in_the_order_of_the_source():
    first, second = node("first", line=9), node("second", line=3)
    leaf = node("leaf", path="src/b.py")
    edges = [Edge(first, leaf, 9), Edge(second, first, 4), Edge(second, leaf, 5)]
    assert as_calls(graph([first], edges)) == (
        ("src/a.py", "second", ("first", "leaf")),
        ("src/a.py", "first", ("leaf",)),
    )
    middle, many = star(30)
    assert [len(callees) for *_, callees in as_calls(graph([middle], many))] == [19]


def test_a_tree_lists_the_lines_of_all_calls():
    a, b, c = node("a", "a.py"), node("b"), node("c", "c.py")
    calls = [Edge(a, b, 12, 1.0, (40, 77)), Edge(c, b, 3), Edge(b, c, 1, 1.0, tuple(range(2, 9)))]
    text = "\n".join(CallTree(graph([b], calls)).lines("b"))
    assert "a.py:12  3 calls: 12, 40, 77\n" in text
    assert "c.py:3\n" in text
    assert text.endswith("8 calls: 1, 2, 3, 4, 5, …\ncalls 1 function")
