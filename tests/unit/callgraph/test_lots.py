"""Calls that definitions drawn by lot from applications showed to be missed: smallest inputs, and our own."""

from __future__ import annotations

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
}


@pytest.mark.parametrize("name", CASES)
def test_these_are_all_calls_and_only_what_is_proved_is_certain(name):
    files, expected = CASES[name]
    assert shown(files) == expected
