"""Lines that are added to a hook manager's configuration without changing what it says."""

from __future__ import annotations

import pytest
import yaml

from gitrag.hooking.managers import MANAGERS, with_lines
from gitrag.hooking.table import HOOKS

PRE_COMMIT, LEFTHOOK, OVERCOMMIT = MANAGERS
PUSH = HOOKS[-1]


@pytest.mark.parametrize(
    ("manager", "text"),
    [
        (PRE_COMMIT, "repos:\n"),
        (PRE_COMMIT, "# ours\nrepos:\n- repo: meta\n  hooks:\n  - id: identity  # kept"),
        (PRE_COMMIT, "fail_fast: true\nrepos:\n    - repo: meta\n      hooks: [{id: identity}]\n\n"),
        (LEFTHOOK, "pre-commit:\n  commands:\n    own:\n      run: |\n        echo a\n"),
        (LEFTHOOK, ""),
        (OVERCOMMIT, "PreCommit:\n  RuboCop: {enabled: true}\r\n"),
    ],
)
def test_lines_are_added_behind_what_is_there(manager, text):
    """Every byte before stays, and so does what it means."""
    added = with_lines(text.encode(), manager.lines(PUSH))
    assert added is not None
    assert added.startswith(text.encode())
    before, after = yaml.safe_load(text) or {}, yaml.safe_load(added)
    if manager is PRE_COMMIT:
        own = before["repos"] or []
        assert after["repos"][: len(own)] == own
        assert [each["hooks"][0]["id"] for each in after["repos"][len(own) :]] == ["gitrag-pre-push"]
    else:
        assert {key: after[key] for key in before} == before
        assert set(after) - set(before) in ({"pre-push"}, {"PrePush"})


@pytest.mark.parametrize(
    ("manager", "text"),
    [
        (PRE_COMMIT, "repos: [{repo: meta, hooks: [{id: identity}]}]\n"),
        (PRE_COMMIT, "repos:\n- repo: meta\n  hooks: [{id: identity}]\nfail_fast: true\n"),
        (PRE_COMMIT, "minimum_pre_commit_version: '3'\n"),
        (LEFTHOOK, "pre-push:\n  commands:\n    own:\n      run: echo own\n"),
        (LEFTHOOK, "pre-commit:\n  commands:\n    own:\n      run: |+\n        echo a"),
        (LEFTHOOK, "a: &b {c: 1}\nd: *b\n"),
        (LEFTHOOK, "a: 1\n...\n"),
        (LEFTHOOK, "a: [\n"),
        (OVERCOMMIT, "\xff"),
    ],
)
def test_a_configuration_that_would_say_something_else_is_left(manager, text):
    """Its owner adds the lines where they belong."""
    assert with_lines(text.encode("latin-1"), manager.lines(PUSH)) is None
