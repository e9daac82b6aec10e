"""Filters of a call graph, and targets by name."""

from __future__ import annotations

import re

import pytest

from gitrag.callgraph import filtering
from gitrag.callgraph.filtering import matching, members, module_place, named, near_names
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


@pytest.mark.parametrize("expression", ["(", "*", "a{2,1}", "x" * 10_001, r"(\pL.?){300}~"])
def test_a_bad_filter_is_a_usage_error(expression):
    with pytest.raises(UsageError, match="filter"):
        matching(expression, NODES)


@pytest.mark.parametrize("expression", ["(?=a)", "(?<!a)b", r"(a)\1", "a*+", "(?>a)"])
def test_what_needs_backtracking_is_refused_with_what_to_do(expression):
    with pytest.raises(UsageError, match="no regular expression that RE2 knows") as refused:
        matching(expression, NODES)
    assert "look-around, back-references" in refused.value.hint


@pytest.mark.timeout(60)  # of an engine that backtracks the first ones take longer than anybody lives
@pytest.mark.parametrize(
    "expression", [".?" * 34 + "~", "(.|.)" * 34 + "~", "(a|aa)+~", "(a*)*~", "(?:.{0,30}x){0,30}y"]
)
def test_no_filter_hangs(expression):
    hostile = [Node("a" * 290 + str(number), "f", 1, 1) for number in range(2_000)]
    assert not any(matching(expression, hostile))


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_filter_that_is_large_for_many_nodes_is_ended(monkeypatch):
    monkeypatch.setattr(filtering, "_MATCHING_S", 1.0)
    hostile = [Node("a" * 290 + str(number), "f", 1, 1) for number in range(40_000)]
    with pytest.raises(UsageError, match="takes longer than 1 s"):
        matching("(a?){500}a{500}", hostile)


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("src/auth/login.py:2", [0]),
        ("auth/login.py:9", [1, 0]),
        ("login.py:3", [1, 0]),
        ("./src/Mail/send.py:2", [2]),
        ("send.py:7", []),
        ("gin.py:2", []),
        (".py:2", []),
        ("src/auth/login.py:0", []),
        ("src/auth/login.py:" + "9" * 5_000, []),
        ("src/auth/login.py:\u0662", []),
    ],
)
def test_a_line_of_a_file_is_the_innermost_definition_there(target, found):
    assert [*(each := named(target, NODES)), *members(each, NODES)] == found


def test_a_line_of_several_files_is_none():
    assert named("send.py:1", [*NODES, Node("lib/send.py", "x", 1, 1)]) == []
    assert named("src/mail/send.py:1", [*NODES, Node("lib/src/mail/send.py", "x", 1, 1)]) == [2]


def test_a_filter_can_be_stopped():
    def stop() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        matching("a", NODES, stop)


def test_escaped_words_mean_themselves():
    """Searches build filters from escaped names, which may contain any character."""
    for char in [*map(chr, range(1, 256)), "\u4e2d", "\udc80"]:
        assert matching(f"nothing|{re.escape(f'x{char}y')}", [Node(f"aX{char}Yb", "f", 1, 1)]) == [True], char


def test_repeated_groups_match():
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
        ("mail.send", [2, 3]),
        ("src.mail.SEND", [2, 3]),
        ("src.auth", [0, 1]),
        ("src.mail.sender", []),
        ("nothing", []),
    ],
)
def test_a_target_means(target, places):
    assert named(target, NODES) == places


@pytest.mark.parametrize("target", ["Store.#load", "#load", "a.js:Store.#load", "Store#fetch"])
def test_a_private_member_keeps_its_sign(target):
    nodes = [Node("a.js", "Store.#load", 1, 2), Node("a.js", "Store.fetch", 3, 4)]
    assert named(target, nodes) == [int("fetch" in target)]


def test_of_modules_called_alike_the_one_nearest_to_the_top_is_meant():
    paths = ["vendor/old/kombu/utils/url.py", "kombu/utils/url.py", "kombu/utils/url/parts.py", "t/url.py"]
    assert module_place("kombu.utils.url", paths) == "kombu/utils/url.py"
    assert module_place("kombu::utils", paths) == "kombu/utils"
    assert module_place("utils/url", paths) == ""
    assert module_place("url", paths) == ""


def test_a_mistyped_target_has_near_names():
    assert near_names("Sesion.snd", NODES)[0] in {"Session.send", "send"}
    assert near_names("src/mail/send.py:snd", NODES)[0] in {"Session.send", "send"}
    assert near_names("lib/none.snd", NODES) == []


@pytest.mark.timeout(60)  # compared with all of them it takes half a minute
def test_names_that_are_all_alike_hold_nobody_up():
    alike = [Node("p", "hgfedcba" * 8 + f"{number:05}", 1, 1) for number in range(80_000)]
    assert len(near_names("abcdefgh" * 9, alike)) <= 3
