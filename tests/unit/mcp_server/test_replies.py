"""What an answer says it rests on."""

from __future__ import annotations

import pytest

from gitrag.actions.graph_answer import GraphAnswer
from gitrag.actions.search_code import Cascade, Snippet, Via
from gitrag.callgraph.graph import Edge, Graph, Node, graph
from gitrag.callgraph.paths import Paths
from gitrag.mcp_server.replies import Freshness, calls, calls_text, code_text, freshness_line


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1, "with uncommitted changes of 1 file, 1 text on draft vectors, 1 file not indexed yet"),
        (2, "with uncommitted changes of 2 files, 2 texts on draft vectors, 2 files not indexed yet"),
    ],
)
def test_one_is_said_as_one(number: int, expected: str):
    freshness = Freshness(
        "0123456789abcdef",
        uncommitted_included=True,
        uncommitted_files=number,
        unembedded=number,
        waiting_files=number,
    )
    assert freshness_line(freshness) == f"commit 0123456789, {expected}: ask again later"


@pytest.mark.parametrize("scores", [(0.3, 0.29), (0.29, 0.1), (0.9, None)], ids=str)
def test_what_is_only_near_is_marked_and_the_head_says_so_where_all_is(scores: tuple[float | None, ...]):
    snippets = tuple(
        Snippet(f"{place}.py", 1, 1, "f", "", "function", "python", score, Via.SEMANTIC, "f")
        for place, score in enumerate(scores)
    )
    near = [score is not None and score < 0.3 for score in scores]
    assert [each.is_nearest for each in snippets] == near
    lines = str(
        code_text(Cascade("q", snippets, False, None), Freshness("0" * 40, uncommitted_included=True))
    ).splitlines()
    assert ["(0." in line and " nearest " in line for line in lines if ".py:1-1" in line] == near
    assert (lines[0] == "nothing scores 0.30 or more; nearest:") == all(near)


def test_of_a_faint_snippet_the_first_lines_are_shown_and_of_each_file_what_else_may_answer():
    text = "\n".join(f"line {number}" for number in range(1, 9))
    snippets = tuple(
        Snippet(path, 1, 8, "f", "", "function", "python", score, Via.SEMANTIC, text, also=("20-30 g",))
        for path, score in (("a.py", 0.4), ("a.py", 0.2), ("b.py", 0.09))
    )
    freshness = Freshness("0" * 40, uncommitted_included=True)
    shown = str(code_text(Cascade("q", snippets, False, None), freshness))
    assert (shown.count("line 8"), shown.count("line 3"), shown.count("line 4")) == (2, 3, 2)
    assert "line 3\n… 5 lines more\n" in shown
    assert shown.count("also in this file: 20-30 g") == 2


def test_of_a_very_long_line_an_agent_is_shown_the_beginning():
    text = f"{{\n{'a' * 900}\n}}"
    snippet = Snippet("data.json", 1, 3, "", "", "module", "json", 0.9, Via.LEXICAL, text)
    freshness = Freshness("0" * 40, uncommitted_included=True)
    shown = str(code_text(Cascade("q", (snippet,), False, None), freshness)).splitlines()
    assert shown[1:4] == ["{", "a" * 399 + "…", "}"]
    assert snippet.text == text


def node(name: str, line: int = 1) -> Node:
    return Node("tests/t.py" if name.startswith("test") else "a.py", name, line, line)


def told(graph_: Graph, paths: Paths | None = None) -> list[str]:
    answer = GraphAnswer(graph=graph_, filter=None, chains=paths)
    found = calls(answer, 40, Freshness(None, uncommitted_included=True), is_drawn=False)
    return str(calls_text(found)).splitlines()[:-1]


def test_the_calls_of_one_definition_are_told_apart_the_nearest_first():
    a, b, c, d = (node(each, line) for line, each in enumerate("abcd", start=1))
    tests = [node("test_1", 5), node("test_2", 9)]
    edges = [
        Edge(d, c, 8),
        Edge(c, a, 7),
        Edge(a, b, 2, 0.5),
        *(Edge(each, a, each.line_start) for each in tests),
    ]
    assert told(graph([a], edges)) == [
        "a.py:1-1 a",
        "called by:",
        "- a.py:7 c",
        "by tests:",
        "- tests/t.py:5,9",
        "calls:",
        "- a.py:2 b (from 2) (likely)",
        "further:",
        "- a.py:8 d -> c a.py:3",
    ]


def test_likely_calls_by_tests_are_told_apart_and_of_many_lines_the_first():
    a = node("a")
    edges = [
        Edge(node("b"), a, 3, further=tuple(range(4, 90))),
        Edge(node("test_1", 5), a, 7),
        Edge(node("test_2", 9), a, 6, 0.5),
        Edge(node("test_3", 2), a, 3),
    ]
    lines = told(graph([a], edges))
    assert lines[2] == f"- a.py:{','.join(map(str, range(3, 23)))},… b"
    assert lines[-2:] == ["- tests/t.py:3,7", "- tests/t.py:6 (likely)"]


def test_a_chain_is_told_in_its_order():
    z, y, x = node("z"), node("y"), node("x")
    edges = [Edge(y, x, 1), Edge(z, y, 2)]
    lines = told(graph([z, x], edges), Paths())
    assert [line for line in lines if "->" in line] == ["- a.py:2 z -> y a.py:1", "- a.py:1 y -> x a.py:1"]
