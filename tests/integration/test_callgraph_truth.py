"""The benchmark of the call graph: tables that languages' own tools write, and the graph against them."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from gitrag.callgraph.extraction import extract
from tests.support.node import NODE_DIR

SCRIPTS = Path(__file__).parents[2] / "scripts/bench/callgraph"
TYPESCRIPT = Path(NODE_DIR or ".", "node_modules/typescript")


@pytest.fixture
def bench(monkeypatch):
    """Imports a module of the benchmark."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    yield importlib.import_module
    for name in ("truth", "tools"):
        sys.modules.pop(name, None)


def table_of(bench, tmp_path: Path, language: str, files: dict[str, str]):
    """What the language's tool says about some files."""
    tools = bench("tools")
    if lacking := tools.missing(language, TYPESCRIPT):
        pytest.skip(f"{lacking} is not here")
    for path, text in files.items():
        tmp_path.joinpath(path).parent.mkdir(parents=True, exist_ok=True)
        tmp_path.joinpath(path).write_text(dedent(text))
    names = sorted(files)
    match language:
        case "typescript":
            rows = tools.typescript_rows(tmp_path, names, TYPESCRIPT)
        case "java":
            rows = tools.java_rows(tmp_path, names)
        case "go":
            rows = tools.go_rows(tmp_path, names, "example.org/shop")
        case _:
            rows = tools.clang_rows(tmp_path, [each for each in names if not each.endswith(".h")], [])
    return bench("truth").read_table(rows)


def shown(pairs) -> set[str]:
    """Pairs as ``caller -> callee``, by name."""
    return {f"{caller.name or '<file>'} -> {callee.name}" for caller, callee in pairs}


@pytest.mark.slow
def test_typescripts_compiler_says_what_is_called(bench, tmp_path: Path):
    table = table_of(
        bench,
        tmp_path,
        "typescript",
        {
            "a.ts": """
                import { helper as h } from "./b";
                export interface Store { save(): void }
                export class Disk implements Store { save() { h(); } }
                export const run = (store: Store) => { store.save(); [1].map(() => h()); };
                run(new Disk());
            """,
            "b.ts": "export function helper() {}\n",
        },
    )
    assert shown(table.pairs["call"]) == {
        "save -> helper",
        "run -> helper",
        "<file> -> run",
        "<file> -> Disk",
    }
    assert shown(table.pairs["dispatch"]) == {"run -> save"}


@pytest.mark.slow
@pytest.mark.sweep(keep=0)  # of a tool that measures gitrag, and is no part of it
def test_javac_says_what_is_called(bench, tmp_path: Path):
    table = table_of(
        bench,
        tmp_path,
        "java",
        {
            "shop/Cart.java": """
                package shop;
                class Cart {
                    Cart(int size) { put("a"); }
                    void put(String name) { Missing.log(name); }
                    void put(int n) { Item item = new Cheap(); item.price(); Runnable r = () -> put("b"); }
                }
                interface Item { int price(); }
                class Cheap implements Item { public int price() { return 1; } }
            """
        },
    )
    lines = {(caller.line, callee.line) for caller, callee in table.pairs["call"]}
    assert lines == {(4, 5), (6, 5), (6, 9)}  # the overload that takes a string; a class without constructor
    assert shown(table.pairs["dispatch"]) == {"put -> price"}
    assert ("put", "log") in {(place.name, name) for place, name in table.unresolved}


@pytest.mark.slow
def test_clang_says_what_is_called(bench, tmp_path: Path):
    table = table_of(
        bench,
        tmp_path,
        "c",
        {
            "a.h": "#define TWICE(x) (half(x) * 4)\nint half(int x);\ntypedef int (*op)(int);\n",
            "a.c": """
                #include "a.h"
                static int own(int x) { return TWICE(x); }
                int apply(op o) { return o(own(1)); }
            """,
            "b.c": '#include "a.h"\nint half(int x) { return apply(half); }\n',
        },
    )
    assert shown(table.pairs["call"]) >= {"own -> half", "apply -> own"}
    assert shown(table.pairs["reference"]) >= {"half -> half"}
    assert ("apply", "o") in {(place.name, name) for place, name in table.unresolved}


@pytest.mark.slow
def test_gos_callgraph_says_what_is_called(bench, tmp_path: Path):
    table = table_of(
        bench,
        tmp_path,
        "go",
        {
            "shop.go": """
                package main

                type item interface{ price() int }
                type cheap struct{}

                func (cheap) price() int { return 1 }

                func total(i item) int { return i.price() }

                func main() {
                    func() { total(cheap{}) }()
                }
            """
        },
    )
    assert shown(table.pairs["call"]) >= {"main -> total"}
    assert shown(table.pairs["dispatch"]) == {"total -> price"}


def test_a_trace_becomes_a_table(bench, tmp_path: Path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/a.py").write_text(
        "def f():\n    return [g() for _ in 'a']\n\n\ndef g():\n    pass\n\n\nf()\n"
    )
    calls = [["a.py", 1, "module", "a.py", 1, "function"], ["a.py", 2, "inner", "a.py", 5, "function"]]
    coverage = {"files": {"shop/a.py": {"executed_lines": [1, 2, 5, 9]}}}
    rows = bench("tools").traced_rows(tmp_path, "shop", json.loads(json.dumps(calls)), coverage)
    table = bench("truth").read_table(rows)
    assert shown(table.pairs["call"]) == {"<file> -> f", "f -> g"}
    assert table.ran == {"shop/a.py": {1, 2, 5, 9}}


def test_a_trace_knows_recursion_in_a_comprehension_and_not_who_calls_a_generator(bench, tmp_path: Path):
    package = tmp_path / "shop"
    package.mkdir()
    (package / "a.py").write_text(
        "def walk(tree):\n    return [walk(each) for each in tree]\n"
        "def steps():\n    yield 1\n"
        "def start():\n    return steps()\n"
    )
    calls = [["a.py", 1, "function", "a.py", 2, "inner"], ["a.py", 2, "inner", "a.py", 1, "function"]]
    rows = bench("tools").traced_rows(tmp_path, "shop", calls, {"files": {}})
    walk = "shop/a.py\t1\twalk"
    assert [row for row in rows if row[0] in "EU"] == [
        "U\tshop/a.py\t5\tstart\tsteps",
        f"E\tcall\t{walk}\t0\t{walk}",
    ]


def test_the_graph_is_held_against_a_table(bench):
    source = (
        "def f():\n    g()\n    h()\n\n\ndef g():\n    k()\n    other()\n\n\ndef h(): ...\n\n\ndef k(): ...\n"
    )
    source += "\n\ndef other(): ...\n"
    place = {
        "f": "a.py\t1\tf",
        "g": "a.py\t6\tg",
        "h": "a.py\t11\th",
        "k": "a.py\t14\tk",
        "other": "a.py\t17\tother",
    }
    table = bench("truth").read_table(
        [
            "P\ta.py",
            *(f"F\t{each}\t{int(each.split(chr(9))[1]) + 2}\tfunction" for each in place.values()),
            f"E\tcall\t{place['f']}\t2\t{place['g']}",
            f"E\tcall\t{place['h']}\t9\t{place['g']}",  # which the graph cannot see
            f"E\treference\t{place['g']}\t7\t{place['k']}",
            f"U\t{place['g']}\tother",
        ]
    )
    found = bench("truth").compare({"a.py": ("python", extract(source.encode(), "python"))}, table)
    assert shown(found.edges) == {"f -> g", "f -> h", "g -> k", "g -> other"}
    assert shown(found.calls - found.edges.keys()) == {"h -> g"}
    assert shown(found.judged) == {"f -> g", "f -> h", "g -> k"}  # of `other` the tool knows nothing
    assert shown(found.right) == {"f -> g", "g -> k"}
    assert shown(found.sure(found.right)) == {"f -> g", "g -> k"}
