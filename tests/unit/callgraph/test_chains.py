"""A chain of calls, each on a line of its own, is read by its length, in every language."""

import pytest
from tree_sitter import QueryCursor

from gitrag.callgraph.extraction import extract
from gitrag.callgraph.general import syntax
from gitrag.chunking import parsing
from gitrag.chunking.languages import BY_NAME
from gitrag.chunking.parsing import MOST_LEVELS, Lineage, parse
from tests.support.steps import counted

BRACES = "class A {{ X f(X x) {{ return x\n{}; }} }}\n"
CHAINS = {
    "bash": ("f() {{\n  x \\\n{}  | y\n}}\n", "  | step 1 \\\n"),
    "c": ("int f(X x) {{ return x\n{}; }}\n", ".step(1)\n"),
    "cpp": (BRACES.replace("{{ X", "{{ public: X"), ".step(1)\n"),
    "csharp": (BRACES, ".step(1)\n"),
    "dart": (BRACES, ".step(1)\n"),
    "elixir": ("defmodule A do\n  def f(x) do\n    x\n{}\n  end\nend\n", "|> step(1)\n"),
    "go": ("package a\nfunc f(x X) X {{\n\treturn x.\n{}last(1)\n}}\n", "step(1).\n"),
    "java": (BRACES, ".step(1)\n"),
    "javascript": ("function f(x) {{ return x\n{}; }}\n", ".step(1)\n"),
    "kotlin": ("class A {{ fun f(x: X): X {{ return x\n{} }} }}\n", ".step(1)\n"),
    "lua": ("function f(x)\n  return x\n{}end\n", ":step(1)\n"),
    "php": ("<?php\nfunction f($x) {{ return $x\n{}; }}\n", "->step(1)\n"),
    "ruby": ("def f(x)\n  x\n{}end\n", ".step(1)\n"),
    "rust": ("fn f(x: X) -> X {{\n  x\n{}}}\n", ".step(1)\n"),
    "scala": ("class A {{ def f(x: X): X = {{ x\n{} }} }}\n", ".step(1)\n"),
    "solidity": ("contract A {{ function f(X x) public {{ x\n{}; }} }}\n", ".step(1)\n"),
    "swift": ("class A {{ func f(x: X) -> X {{ return x\n{} }} }}\n", ".step(1)\n"),
    "tsx": ("function f(x: X) {{ return x\n{}; }}\n", ".step(1)\n"),
    "typescript": ("function f(x: X) {{ return x\n{}; }}\n", ".step(1)\n"),
    "zig": ("fn f(x: X) X {{ return x\n{}; }}\n", ".step(1)\n"),
}


@pytest.mark.sweep(keep=5)
@pytest.mark.parametrize("language", sorted(syntax.QUERIES))
def test_a_chain_of_calls_is_read_in_steps_by_its_length(monkeypatch, language):
    around, step = CHAINS[language]
    mapped = []

    class Noted(Lineage):
        def __init__(self, tree):
            super().__init__(tree)
            mapped.append(len(self._parents))

    monkeypatch.setattr(parsing, "Lineage", Noted)

    def steps(count):
        with counted("line") as taken:
            found = extract(around.format(step * count).encode(), language)
        assert not found.failure
        assert "step" in found.mentions
        return taken["line"]

    steps(1)
    assert steps(4 * MOST_LEVELS) < 2.5 * steps(2 * MOST_LEVELS)
    assert mapped[0] == 0  # a shallow tree is not walked
    assert mapped[1] < 2.5 * max(mapped[2], 1)


WAITING = frozenset({"java", "kotlin", "php", "ruby", "rust"})
"""Languages with a pattern that begins at a call and ends after what it is called on."""


@pytest.mark.parametrize("language", sorted(syntax.QUERIES))
def test_no_pattern_waits_at_each_call_of_a_chain_for_the_calls_before_it(language):
    around, step = CHAINS[language]
    row = BY_NAME[language]
    query = syntax._query(row.grammar, syntax.QUERIES[language])
    cursor = QueryCursor(query, match_limit=MOST_LEVELS // 2)
    cursor.matches(parse(around.format(step * 2 * MOST_LEVELS).encode(), row).root_node)
    assert cursor.did_exceed_match_limit == (language in WAITING)
