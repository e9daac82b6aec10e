"""Layouts of graphs, and trees of calls."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from gitrag.callgraph.answering import Direction, GraphQuestion
from gitrag.callgraph.graph import Edge, Node, graph
from gitrag.report.call_tree import ASCII, CallTree
from gitrag.report.pictures import as_page
from gitrag.report.pictures.layout import MOST_DRAWN, choose, lay_out


def node(name, path="a.py", line=1):
    return Node(path, name, line, line + 3)


def drawn(edges, matches=()):
    return choose(graph(matches, edges), with_tests=True)


def random_graph(seed, definitions=60, calls=140):
    draw = random.Random(seed)
    nodes = [node(f"f{n}", f"d{n % 3}/m{n % 9}.py", n) for n in range(definitions)]
    pairs = {(draw.choice(nodes), draw.choice(nodes)) for _ in range(calls)}
    return graph([], [Edge(one, other, 1, draw.choice([1.0, 0.5])) for one, other in sorted(pairs)])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("is_centred", [False, True])
def test_no_card_lies_on_another_and_every_definition_has_one_row(seed, is_centred):
    whole = random_graph(seed)
    layout = lay_out(choose(whole, with_tests=True), whole.nodes[:2] if is_centred else ())
    rows = [row.node for card in layout.cards for row in card.rows]
    assert sorted(rows) == sorted(whole.nodes)
    assert {(edge.caller, edge.callee) for edge, _ in layout.lines} == {
        (edge.caller, edge.callee) for edge in whole.edges
    }
    columns = {}
    for card in layout.cards:
        assert card.y >= -0.001
        assert card.y + card.height <= layout.height + 0.001
        columns.setdefault(card.x, []).append(card)
    for column in columns.values():
        for one, other in pairwise(sorted(column, key=lambda card: card.y)):
            assert one.y + one.height <= other.y


def test_callers_stand_left_of_what_they_call():
    a, b, c, d = (node(name, f"{name}.py") for name in "abcd")
    layout = lay_out(drawn([Edge(a, b, 1), Edge(b, c, 1), Edge(a, c, 2), Edge(c, d, 1), Edge(d, b, 1)]))
    x = {row.node: row.x for card in layout.cards for row in card.rows}
    assert x[a] < x[b] < x[c] < x[d]  # though d calls b: a circle has to be broken somewhere


def test_around_what_was_asked_for_a_column_is_a_call():
    a, b, c, d = (node(name, f"{name}.py") for name in "abcd")
    whole = graph([b], [Edge(a, b, 1), Edge(b, c, 1), Edge(d, a, 1), Edge(d, c, 1)])
    layout = lay_out(choose(whole, with_tests=True), [b])
    x = {row.node: row.x for card in layout.cards for row in card.rows}
    assert x[d] < x[a] < x[b] < x[c]


def test_a_chain_of_thousands_of_calls_is_no_recursion():
    nodes = [node(f"f{n}", f"m{n}.py") for n in range(5000)]
    layout = lay_out(drawn([Edge(one, other, 1) for one, other in pairwise(nodes)]))
    assert len({card.x for card in layout.cards}) > 100


def test_of_a_crowd_the_best_connected_are_drawn_and_the_rest_is_counted():
    middle = node("middle")
    whole = graph([], [Edge(middle, node(f"f{n}", line=n), n) for n in range(MOST_DRAWN + 50)])
    picture = as_page(whole, title="x", sources={})
    assert "51 definitions not drawn: these are the best connected." in picture
    assert picture.count('class="node"') == MOST_DRAWN


@pytest.mark.parametrize("name", ["<b>", "\"&'", "]]>", "a\x00b\x1b[31m", "\udcff", "\u202ex", "{0}{title}"])
def test_any_name_is_text(name):
    whole = graph([], [Edge(node(name, f"{name}.py"), node("other"), 1)])
    page = as_page(whole, title=name, sources={})
    page.encode("utf-8")
    assert "<b>" not in page
    assert page.count("<script") == 2
    assert ">other</text>" in page


def test_what_only_tests_call_is_not_drawn_without_them_unless_it_was_asked_for():
    test, helper, asked, other = node("test_a"), node("helper"), node("asked"), node("other")
    whole = graph([asked], [Edge(test, helper, 1), Edge(test, asked, 2), Edge(asked, other, 3)])
    found = choose(whole, [asked], {test}, with_tests=False)
    assert set(found.graph.nodes) == {asked, other}
    assert found.tests[asked] == 1
    assert found.notes == ("1 test, and 1 definition that only tests call, not drawn.",)
    assert set(choose(whole, [asked], {test}, with_tests=True).graph.nodes) == set(whole.nodes)
    assert set(choose(whole, [test], {test}, with_tests=False).graph.nodes) == set(whole.nodes)


def test_calls_of_the_same_two_are_one_line_and_likely_ones_are_dashed():
    a, b, c = node("a"), node("b"), node("c")
    calls = [Edge(a, b, 1), Edge(a, b, 9), Edge(a, c, 2, 0.5)]
    picture = as_page(graph([a], calls), [a], title="x", sources={})
    assert picture.count('class="way"') == 2
    assert picture.count('class="call likely"') == 1


def test_a_tree_fits_its_terminal_and_says_what_the_mark_means():
    target = node("Session.send", "lib/session.py", 10)
    far = "src/main/java/com/example/very/deep/directory/of/many/parts/Client.java"
    edges = [Edge(node("Client.call_again_and_again", far, 5), target, 7, 0.5)]
    for columns in (40, 60, 80, 200):
        lines = list(CallTree(graph([target], edges), columns=columns).lines("send"))
        assert all(len(line) <= max(columns, 60) for line in lines[:-1])
        assert lines[-1].startswith("~ likely: ")
        assert "Client.java:7" in lines[1]
    assert far in list(CallTree(graph([target], edges), columns=200).lines("send"))[1]


def test_callers_of_callers_stand_above_them():
    a, b, c, d = (node(name, f"{name}.py") for name in "abcd")
    whole = graph([c], [Edge(a, b, 1), Edge(b, c, 2), Edge(d, c, 3)])
    lines = list(CallTree(whole, question=GraphQuestion(depth=2), glyphs=ASCII).lines("c"))
    assert lines[:5] == [
        "called by 2 functions",
        "   .- a  a.py:1",
        ".- b  b.py:2",
        "|- d  d.py:3",
        "function c  c.py:1-4",
    ]
    assert not any(" a  a.py" in line for line in CallTree(whole, question=GraphQuestion(depth=1)).lines("c"))


def test_overloads_are_one_row_with_their_lines():
    caller, put = node("main", "m.java"), [node("Map.put", "map.java", line) for line in (10, 20, 30)]
    whole = graph([caller], [Edge(caller, each, 2) for each in put])
    lines = list(CallTree(whole, question=GraphQuestion(direction=Direction.CALLEES)).lines("main"))
    assert lines == ["function main  m.java:1-4", "└─ Map.put  map.java:10,20,30", "calls 1 function"]


def test_a_title_fits_too():
    far = "src/main/java/org/example/deep/Cleaner.java"
    own, part, other = (
        Node(far, "Cleaner", 1, 99, "class"),
        node("Cleaner.clean", far, 5),
        node("x", "x.java"),
    )
    whole, callees = graph([own, part], [Edge(part, other, 6)]), GraphQuestion(direction=Direction.CALLEES)
    for columns, title in (
        (60, "class Cleaner  …/java/org/example/deep/Cleaner.java:1-99"),
        (70, f"class Cleaner  {far}:1-99"),
        (90, f"class Cleaner  {far}:1-99  1 definition in it"),
    ):
        lines = list(CallTree(whole, question=callees, columns=columns).lines("Cleaner"))
        assert lines[0] == title
        assert len(title) <= columns
