"""Filters of a call graph (§2.6), and targets by name."""

from __future__ import annotations

import pytest

from gitrag.callgraph.filtering import matching, named, near_names
from gitrag.callgraph.graph import Node
from gitrag.errors import UsageError

NODES = [
    Node("src/auth/login.py", "Session.send", 1, 2),
    Node("src/auth/login.py", "Session", 1, 9, "class"),
    Node("src/mail/send.py", "send", 1, 2),
    Node("src/mail/send.py", "<module>", 1, 2, "module"),
]


def test_a_filter_is_found_in_paths_and_names_whatever_the_case():
    assert matching("SEND$", NODES) == [True, False, True, False]
    assert matching("mail", NODES) == [False, False, True, True]


@pytest.mark.parametrize("expression", ["(", "*", "a{2,1}", "x" * 3000])
def test_a_bad_filter_is_a_usage_error(expression):
    with pytest.raises(UsageError, match="filter"):
        matching(expression, NODES)


def test_a_filter_that_never_ends_is_ended():
    hostile = [Node("a" * 200 + "!", "f", 1, 1)]
    with pytest.raises(UsageError, match="takes longer"):
        matching("(a|aa)+$", hostile)


def test_risky_but_quick_filters_match_as_others_do():
    assert matching("(auth|mail)+/", NODES) == [True] * 4


@pytest.mark.parametrize(
    ("target", "places"),
    [
        ("Session.send", [0]),
        ("send", [2]),
        ("Session", [1]),
        ("session", [1]),
        ("src/mail/send.py", [2, 3]),
        ("src/auth", [0, 1]),
        ("login.py:Session.send", [0]),
        ("auth.login.Session", [1]),
        ("Session::send()", [0]),
        ("nothing", []),
    ],
)
def test_a_target_means(target, places):
    assert named(target, NODES) == places


def test_a_mistyped_target_has_near_names():
    assert near_names("Sesion.snd", NODES)[0] in {"Session.send", "send"}
