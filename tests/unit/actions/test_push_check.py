from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitrag.actions.push_check import Behind, parse_pushed

ONE, TWO, NONE = "1" * 40, "2" * 40, "0" * 40


def test_what_git_tells_a_pre_push_hook_is_read():
    lines = [
        f"refs/heads/main {ONE} refs/heads/main {NONE}",
        f"refs/heads/team/topic {TWO} refs/heads/topic {ONE}",
    ]
    assert parse_pushed(lines) == [("main", ONE), ("team/topic", TWO)]


def test_a_deletion_pushes_nothing():
    assert parse_pushed([f"(delete) {NONE} refs/heads/gone {ONE}"]) == []


def test_a_deletion_in_a_repository_of_long_ids_pushes_nothing():
    assert parse_pushed([f"(delete) {'0' * 64} refs/heads/gone {'1' * 64}"]) == []


def test_a_commit_pushed_under_two_names_is_looked_at_once():
    lines = [f"refs/heads/main {ONE} refs/heads/main {NONE}", f"refs/tags/v1 {ONE} refs/tags/v1 {NONE}"]
    assert [commit for _, commit in parse_pushed(lines)] == [ONE]


@pytest.mark.parametrize("name", ["HEAD", "HEAD~2", ONE])
def test_what_is_pushed_may_be_any_revision(name: str):
    assert parse_pushed([f"{name} {ONE} refs/heads/main {NONE}"]) == [(name, ONE)]


def test_a_tag_is_named_by_its_short_name():
    assert parse_pushed([f"refs/tags/v1 {ONE} refs/tags/v1 {NONE}"]) == [("v1", ONE)]


@given(st.lists(st.text(), max_size=5))
def test_what_makes_no_sense_is_passed_over(lines: list[str]):
    assert all(commit for _, commit in parse_pushed(lines))


@pytest.mark.parametrize(
    ("behind", "said"),
    [
        (Behind("main", 0), "main: indexed"),
        (Behind("main", 1), "main: 1 file not indexed"),
        (Behind("main", 2), "main: 2 files not indexed"),
    ],
)
def test_what_is_missing_is_said(behind: Behind, said: str):
    assert str(behind) == said
    assert behind.is_fresh is (said == "main: indexed")
