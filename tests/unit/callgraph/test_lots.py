"""Calls that definitions drawn by lot from applications showed to be missed: smallest inputs, and our own."""

from __future__ import annotations

import re

import pytest

from tests.unit.callgraph.test_applications import shown

JAVA_LOCATOR = """
interface L {{ String b({0} n); String t(String a, {0} n); }}
class LI implements L {{
  public String b({0} n) {{ return ""; }}
  public String t(String a, {0} n) {{ return ""; }}
}}
class N {{ {0} bytes() {{ return null; }} }}
class U {{ void go(L l, {0} x, N n) {{ {1} }} }}
"""
JAVA_SAVE = """
class S {
  static void save(CharSequence s, String f) {}
  static void save(java.util.List<String> l, String f) {}
  static void put(String... s) {}
  static void put(int n) {}
  void go(String f, java.util.List<String> l, StringBuilder b, String[] a) { %s }
}
"""
GO_ELEMENTS = """
package p
type T struct{}
func (*T) Go() {}
type S struct { m map[string]*T }
func f(m map[string]*T, l []*T, s *S) { %s }
"""
GO_SWITCH = """
package p
type I interface { Get() int }
type T struct{}
func (*T) Get() int { return 0 }
type U struct{}
func (*U) Get() int { return 0 }
func (*U) Other() {}
func f(m any) {
	switch v := m.(type) {
%s
	}
}
"""
GO_PROMOTED = """
package p
type I interface { Get() int; Set(int) }
type B struct{}
type C struct{}
type T struct { B }
func f(i I) { i.Get() }
"""
GO_METHOD = re.compile(r"(\w)\.(\w+) ?")


CASES: dict[str, tuple[dict[str, str], set[str]]] = {
    **{
        f"java, {type_} given to what an interface lists, by {call}": (
            {"a.java": JAVA_LOCATOR.format(type_, call)},
            {f"U.go -> L.{name}", f"U.go ~> LI.{name}", *others},
        )
        for type_, call, name, others in [
            ("byte[]", "l.b(x);", "b", ()),
            ("String[]", 'l.t("", x);', "t", ()),
            ("byte[]", "l.b(n.bytes());", "b", ("U.go -> N.bytes",)),
            ("int[][]", "l.b(x);", "b", ()),
            ("java.util.List<String>", "l.b(x);", "b", ()),
        ]
    },
    "java, a list is no text": ({"a.java": JAVA_SAVE % "save(l, f);"}, {"S.go -> S.save:4"}),
    "java, an array is no number": ({"a.java": JAVA_SAVE % "put(a);"}, {"S.go -> S.put:5"}),
    "java, a builder may be text": (
        {"a.java": JAVA_SAVE % "save(b, f);"},
        {"S.go ~> S.save:3", "S.go ~> S.save:4"},
    ),
    **{
        f"go, an element: {body}": ({"a.go": GO_ELEMENTS % body}, {"f -> T.Go"})
        for body in [
            't := m["a"]; t.Go()',
            't, ok := m["a"]; _ = ok; t.Go()',
            "t := l[0]; t.Go()",
            't, ok := s.m["a"]; if !ok { return }; t.Go()',
            "var t = l[1]; t.Go()",
        ]
    },
    **{
        f"go, a type switch: {cases}": ({"a.go": GO_SWITCH % cases}, {*edges})
        for cases, edges in [
            ("case I:\n v.Get()", ("f ~> T.Get", "f ~> U.Get")),
            ("case *U:\n v.Get()\ncase *T:", ("f -> U.Get",)),
            ("case *U, *T:\n v.Get()\ncase string:\n v.Get()", ()),
            ("case *T:\ndefault:\n v.Other()", ()),
        ]
    },
    **{
        f"go, methods of an interface that are promoted: {methods}": (
            {"a.go": GO_PROMOTED + GO_METHOD.sub(r"func (*\1) \2() {}\n", methods)},
            {f"f ~> {each}" for each in callees},
        )
        for methods, callees in [
            ("B.Get B.Set T.Get", ("B.Get", "T.Get")),
            ("B.Get T.Set C.Get C.Set", ("B.Get", "C.Get")),
            ("B.Set T.Get C.Get C.Set", ("T.Get", "C.Get")),
            ("B.Get T.Get C.Get C.Set", ("C.Get",)),
            ("B.Get B.Set", ("B.Get",)),
        ]
    },
}


@pytest.mark.parametrize("name", CASES)
def test_these_are_all_calls_and_only_what_is_proved_is_certain(name):
    files, expected = CASES[name]
    assert shown(files) == expected
