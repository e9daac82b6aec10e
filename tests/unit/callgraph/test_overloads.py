"""Which of several functions of one name a call means, in languages where its arguments say so."""

from __future__ import annotations

import pytest

from gitrag.callgraph.general.choice import MISFIT, fit
from gitrag.callgraph.general.records import Signature
from gitrag.callgraph.resolution import LIKELY
from tests.support.callgraphs import calls_of, edges_of

WRITER = """
    class Writer {
        Writer() { this(1); }
        Writer(int size) {}
        void put(String text) {}
        void put(boolean flag) {}
        void put(long number) {}
        void put(Item item) {}
        void put(String text, Object... more) {}
        void many(int a, int b) {}
    }
    class Item {}
    class Book extends Item {}
"""


def lines_called(body: str, least: float = 1.0) -> set[int]:
    """The lines of the writer's methods that a method calls."""
    files = {
        "Writer.java": WRITER,
        "Main.java": f"class Main {{ void run(Writer w, Book book) {{ {body} }} }}",
    }
    calls = calls_of(files)
    own = [each for each, _ in calls.nodes()]
    return {e.callee.line_start - 1 for e in calls.callees(own, least) if e.caller.path == "Main.java"}


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ('w.put("a");', {4}),
        ('w.put("a" + 1);', {4}),
        ("w.put(1 < 2);", {5}),
        ("w.put(7);", {6}),
        ("w.put(R.string.title);", {6}),
        ("w.put(android.R.id.text1);", {6}),
        ("w.put(book);", {7}),  # a Book is an Item
        ("w.put(new Book());", {7, 12}),
        ('w.put("a", 1, 2);', {8}),
        ("new Writer();", {2}),
        ("new Writer(3);", {3}),
        ("long n = 1; w.put(n);", {6}),
    ],
)
def test_arguments_choose(body: str, lines: set[int]):
    assert lines_called(body) == lines


def test_what_arguments_cannot_choose_is_likely():
    assert lines_called("w.put(unknown());") == set()
    assert lines_called("w.put(unknown());", LIKELY) == {4, 5, 6, 7}


def test_a_method_that_takes_another_number_is_likely():
    assert lines_called("w.many(1);") == set()
    assert lines_called("w.many(1);", LIKELY) == {9}
    assert lines_called('w.many("a", "b");') == {9}  # the types alone do not make it another


def test_a_constructor_calls_another():
    edges = edges_of(
        {
            "A.java": "class A { A(int a) {} A() { this(1); } }",
            "B.java": "class B extends A { B() { super(2); } }",
        }
    )
    assert edges == {"A.java:A.A -> A.java:A.A", "B.java:B.B -> A.java:A.A"}


def test_overloads_of_cpp_in_a_header():
    files = {
        "log.h": """
            #include <string>
            class Log {
             public:
              void say(const char* text) {}
              void say(int number) {}
              bool ok() const { return true; }
            };
        """,
        "main.cc": """
            #include "log.h"
            void run(const Log& log) { log.say("a"); if (log.ok()) {} }
        """,
    }
    calls = calls_of(files)
    found = calls.callees([each for each, _ in calls.nodes()], 1.0)
    assert {(e.callee.name, e.callee.line_start) for e in found} == {("Log.say", 5), ("Log.ok", 7)}


def test_the_number_of_arguments():
    def unknown(_a: str, _b: str) -> None:
        return None

    two = Signature(0, ("int", "String"), 1, variadic=False)
    assert fit([], two, unknown) is None
    assert fit(["int"], two, unknown) is not None
    assert fit(["int", "boolean"], two, unknown) == MISFIT
    assert fit(["int", "String", ""], two, unknown) is None


@pytest.mark.parametrize(
    ("path", "source", "lines"),
    [
        ("a.kt", "fun p(a: Int) {}\nfun p(a: Int, b: Int = 1, c: Int) {}\nfun f() { p(1) }\n", {1}),
        ("a.kt", "fun p(a: Int) {}\nfun p(a: Int, b: Int = 1, c: Int) {}\nfun f() { p(1, c = 2) }\n", {2}),
        ("a.kt", "fun p(a: Int) {}\nfun p(b: Int) {}\nfun f() { p(b = 2) }\n", {2}),
        ("a.kt", "fun p() {}\nfun p(a: Int, b: () -> Unit) {}\nfun f() { p(1) { p() } }\n", {1, 2}),
        ("a.swift", "class S {\nvar n: Int { 1 }\nstatic var n: Int { 2 }\nfunc f() -> Int { n }\n}\n", {2}),
        ("a.swift", "class S {\nfunc n() {}\nclass func n() {}\nstatic func f() { n() }\n}\n", {3}),
        ("a.swift", "class S {\nfunc n() {}\nstatic func n() {}\nfunc f() { S.n() }\n}\n", {3}),
        ("a.swift", "class S {\nfunc n() {}\nstatic func n() {}\nfunc f(s: S) { s.n() }\n}\n", {2}),
        ("a.cs", "class B {\nB(int a) {}\nB() {}\nB(string s) : this(1) {}\n}\n", {2}),
    ],
)
def test_what_of_one_name_is_meant(path, source, lines):
    calls = calls_of({path: source})
    edges = calls.callees([own for own, _ in calls.nodes()])
    assert {(edge.callee.line_start, edge.confidence) for edge in edges} == {(line, 1) for line in lines}


EXTENSIONS = """
    public static class Ext {
        public static void AddError<M, P>(this M source, Expression<Func<M, P>> ex, string text, Base c) { }
        public static void Log(this Other o, string text, int level = 1, params object[] more) { }
    }
    public class Query { public Query() { } public Query(string a) { } }
"""


@pytest.mark.parametrize(
    ("call", "called"),
    [
        ('State.AddError("a", "b");', set()),
        ('State.AddError("a");', set()),
        ('m.AddError(x => x.A, "b", this);', {"Ext.AddError"}),
        ('Ext.AddError(m, x => x.A, "b", this);', {"Ext.AddError"}),
        ('m.AddError(m, x => x.A, "b", this);', set()),
        ('unknown.Log("a");', {"Ext.Log"}),
        ('unknown.Log("a", 2, b, c);', {"Ext.Log"}),
        ("unknown.Log();", set()),
        ("Go(new Query { A = 1 });", {"Query.Query"}),
    ],
)
def test_what_is_only_so_called_takes_as_many_arguments(call: str, called: set[str]):
    main = f"public class Main : Base {{ public void Run(Model m) {{ {call} }} }}"
    calls = calls_of({"Ext.cs": EXTENSIONS, "Main.cs": main})
    own = [each for each, node in calls.nodes() if node.path == "Main.cs"]
    edges = calls.callees(own, LIKELY)
    assert {edge.callee.name for edge in edges} == called
    assert len(edges) == len(called)  # of two constructors the one


PICK = """
    abstract class Pick {
        fun pickSomeItems(count: Int, first: Boolean = true) = 1
        fun <T> pickSomeItems(items: List<T>, first: Boolean = true) = 2
        fun pickSomeIds(vararg ids: Int, then: () -> Unit) = 3
        fun pickSomeOther(x: Int, y: Int = 2) = 4
    }
    class Sub : Base() {
        override fun pickSomeMore(other: Int, more: Int) = 5
    }
"""


@pytest.mark.parametrize(
    ("call", "lines"),
    [
        ("x.pickSomeItems(count = 20, first = true)", {2}),
        ("x.pickSomeItems(items = l)", {3}),
        ("x.pickSomeIds(1, 2, 3) { go() }", {4}),
        ("x.pickSomeIds(*l) { go() }", {4}),
        ("x.pickSomeOther()", set()),
        ("x.pickSomeOther(1, 2, 3)", set()),
        ("x.pickSomeOther(y = 1, x = 2)", {5}),
        ("x.pickSomeOther(1, z = 2)", set()),
        ("x.pickSomeMore(named = 1)", {8}),  # by its base's name, the other by default
        ("x.pickSomeMore(1, 2, 3)", set()),
    ],
)
def test_kotlins_calls_of_what_is_only_so_called_fit(call: str, lines: set[int]):
    calls = calls_of({"Pick.kt": PICK, "Main.kt": f"fun run(l: List<Int>) {{ val x = made(); {call} }}"})
    own = [each for each, node in calls.nodes() if node.path == "Main.kt"]
    assert {edge.callee.line_start - 1 for edge in calls.callees(own, LIKELY)} == lines


def test_java_counts_what_kotlin_takes():
    kotlin = "class Data {\n fun set(a: Int) {}\n fun set(a: Int, b: Int) {}\n fun one(a: Int) {}\n}\n"
    java = "class Main { Data d; void run() { d.set(1, user); this.d.set(x()); } }"
    calls = calls_of({"Data.kt": kotlin, "Main.java": java})
    own = [each for each, node in calls.nodes() if node.name == "Main.run"]
    lines = [(edge.callee.line_start, edge.confidence) for edge in calls.callees(own, LIKELY)]
    assert sorted(lines) == [(2, 1.0), (3, 1.0)]
