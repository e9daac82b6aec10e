"""The tests that bear on a change, as arguments for what runs them."""

from __future__ import annotations

import time

import pytest

from gitrag.actions.governance.change_impact import BearingTest, ChangeImpact, _with_callers
from gitrag.actions.impact import Called, Impact
from gitrag.actions.touched import Touched
from gitrag.callgraph.graph import Edge, Node
from gitrag.callgraph.reach import Uncalled
from gitrag.corpus.testing import cargo_arguments, go_modules, name_of_source, subject_of_test
from gitrag.model import Chunk, Kind
from gitrag.report.impact import arguments, as_markdown

TESTS = [
    "tests/test_b.py",
    "tests/conftest.py",
    "-x/test_a.py",
    "tests/test c.py",
    "tests/test_d'.py",
    "tests/test_\u202e\x1b.py",
    "pkg/a/a_test.go",
    "pkg/a/b_test.go",
    "top_test.go",
    "-v/a_test.go",
    "core/tests/api.rs",
    "core/tests/all/main.rs",
    "core/src/tests.rs",
    "web/src/a.test.tsx",
    "@web/[id]/(b)/c.test.ts",
    "@own/test_e.py",
    "[own]/test_f.py",
    "a::b/test_g.py",
]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("pytest", ("tests/test_b.py", "./-x/test_a.py", "./@own/test_e.py")),
        ("go", ("./pkg/a", "./", "./-v")),
        ("cargo", ("--package=core", "--test=api", "--test=all", "--lib")),
        ("jest", ("web/src/a.test.tsx", "./@web/.id./.b./c.test.ts")),
        (
            "paths",
            (
                *("tests/test_b.py", "./-x/test_a.py", *TESTS[6:9], "./-v/a_test.go", *TESTS[10:14]),
                *("./@web/[id]/(b)/c.test.ts", "./@own/test_e.py", *TESTS[16:]),
            ),
        ),
    ],
)
def test_a_program_is_given_its_own_tests_once_and_no_word_that_a_shell_splits(program, expected):
    assert arguments(bearing(TESTS), program) == expected


def bearing(tests, more=()):
    paths = {*tests, *more, "core/Cargo.toml", "core/tests/all/main.rs", "core/src/lib.rs"}
    targets = cargo_arguments(
        tests, paths, lambda path: b"[package]\nname = '%b'" % path.split("/")[0].encode()
    )
    modules = go_modules(tests, paths)
    return [
        BearingTest(path, 1, 0, False, None, False, modules.get(path, ""), targets.get(path, ()))
        for path in tests
    ]


@pytest.mark.parametrize(
    ("directory", "more", "expected"),
    [
        ("", ["go.mod"], ("./shop", "./tools")),
        ("", ["go.mod", "tools/go.mod"], ("./shop",)),
        ("tools", ["go.mod", "tools/go.mod"], ("./",)),
        ("", ["tools/go.mod", "go.work", "shop/go.mod"], ("./shop", "./tools")),
        ("", ["tools/go.mod", "shop/go.mod"], ()),
    ],
)
def test_go_is_given_packages_of_the_module_that_one_stands_in(directory, more, expected):
    tests = ["shop/tax_test.go", "tools/main_test.go"]
    assert arguments(bearing(tests, more), "go", directory) == expected


@pytest.mark.parametrize(
    ("path", "more", "expected"),
    [
        ("tests/common/mod.rs", [], ()),  # a module that targets share
        ("tests/it/prices.rs", ["tests/it/main.rs"], ("--package=app", "--test=it")),
        ("src/cart.rs", ["src/main.rs"], ("--package=app", "--bins")),
        ("src/cart.rs", ["src/main.rs", "src/lib.rs"], ("--package=app", "--lib", "--bins")),
        ("src/lib.rs", ["src/main.rs"], ("--package=app", "--lib")),
        ("checks/all.rs", [], ("--package=app", "--test=named")),
    ],
)
def test_cargo_is_given_packages_and_targets_that_it_has(path, more, expected):
    manifest = b"[package]\nname = 'app'\n[[test]]\nname = 'named'\npath = 'checks/all.rs'\n"
    paths = {path, "Cargo.toml", *more}
    assert cargo_arguments([path], paths, lambda _path: manifest) == {path: expected}


@pytest.mark.parametrize(
    "manifest", [None, b"\xff", b"package = 1", b"test = [1]", b"[package]\nname = [" * 999]
)
def test_a_manifest_that_is_none_breaks_nothing(manifest):
    assert cargo_arguments(["tests/a.rs"], {"Cargo.toml"}, lambda _path: manifest) == {
        "tests/a.rs": ("--test=a",)
    }


@pytest.mark.parametrize(
    ("test", "source"),
    [
        ("test/reporters/base.js", "lib/reporters/base.js"),
        ("tests/client.rs", "src/client/mod.rs"),
        ("tests/test_my_view.py", "app/MyView.py"),
        ("web/cart/index.test.ts", "web/cart/index.ts"),
        ("test/index.test.js", "lib/index.js"),
    ],
)
def test_a_test_is_named_after_a_file(test, source):
    assert subject_of_test(test) == name_of_source(source)


def test_the_main_file_of_a_directory_names_no_test_of_another():
    assert subject_of_test("web/cart/index.test.ts") != name_of_source("web/user/index.ts")


def test_a_change_of_twenty_thousand_definitions_is_told_in_linear_time():
    """By the square of their number it takes over a minute."""
    chunks = [Chunk(Kind.FUNCTION, f"f{n}", f"f{n}", "", "", "x", 1, 2) for n in range(20_000)]
    nodes = [Node("a.py", each.name, 1, 2) for each in chunks]
    half = len(nodes) // 2
    called = [Called(node, (Edge(Node("b.py", "g", 1, 2), node, 1),), ()) for node in nodes[:half]]
    known = [Uncalled(), Uncalled(unresolved=("c.py:1",))] * (half // 2)
    impact = Impact(tuple(called), tuple(nodes[half:]), tuple(known), len(nodes), "3 files")
    begin = time.process_time()
    definitions = tuple(_with_callers([Touched("a.py", each, "changed") for each in chunks], impact))
    facts = {"documents": (), "named": (), "unreached": None, "asked": (), "messages": 0, "new": 0}
    found = ChangeImpact(
        span="HEAD",
        said="",
        files=("a.py",),
        definitions=definitions,
        impact=impact,
        threshold=None,
        notes=(),
        **facts,
    )
    text = as_markdown(found)
    assert time.process_time() - begin < 5
    assert "- … and 9,990 more definitions with callers" in text
    assert "- … and 4,990 more definitions of which no call was resolved" in text
    assert " and 4,992 more" in text
