"""``gitrag prime --since``: what happened since one was here."""

from __future__ import annotations

import json

import pytest

from gitrag.errors import OK, USAGE
from tests.support.command import Project

ADR = "# ADR-0001: Retry\n\n## Status\n\nAccepted\n\nCalls are retried.\n"


@pytest.fixture
def own(project: Project) -> Project:
    """One's own commit, then two of somebody else's."""
    project.git.git("config", "user.email", "author@example.com")
    project.git.environment |= {"GIT_AUTHOR_NAME": "Bea", "GIT_AUTHOR_EMAIL": "bea@example.com"}
    project.git.commit({"client.py": "A = 1\n"}, "Use A (#7)")
    project.git.commit({"client.py": "A = 2\n", "docs/adrs/ADR-0001-retries.md": ADR}, "Decide\n\nSee #8.")
    assert project.gitrag("index", "update", "--no-embed").status == OK
    return project


def since(project: Project, *args: str) -> dict[str, object]:
    done = project.gitrag("prime", "--json", *args)
    assert done.status == OK, done
    return json.loads(done.out)["since"]


def test_alone_it_begins_with_ones_own_last_commit(own):
    first = own.git.git("rev-parse", "HEAD~2")
    said = since(own, "--since")
    assert said["begin"] == f"your last commit ({first[:10]}, 2023-11-14)"
    assert (said["commits"], said["is_cut"], said["changed"]) == (2, False, 2)
    assert said["authors"] == [["Bea", 2]]
    assert [each["subject"] for each in said["newest"]] == ["Decide", "Use A (#7)"]
    assert said["files"][0] == ["client.py", 2]
    assert said["documents"] == ["docs/adrs/ADR-0001-retries.md"]
    assert said["issues"] == ["8", "7"]
    lines = own.gitrag("prime", "--since", "-o", "text").out.split("\n\n")[0].splitlines()[1:]
    assert len(lines) <= 10
    assert lines[0] == f"Since your last commit ({first[:10]}, 2023-11-14): 2 commits, 2 files changed"


@pytest.mark.parametrize(("given", "commits"), [("HEAD~1", 1), ("2023-11-01", 3), ("1d", 0)])
def test_it_begins_with_a_revision_or_a_time(own, given, commits):
    assert since(own, f"--since={given}")["commits"] == commits


def test_without_an_own_commit_it_is_a_week(own):
    own.git.git("config", "user.email", "nobody@example.com")
    assert since(own, "--since")["begin"] == "7 days ago (no commit here is yours)"


def test_not_asked_for_it_is_not_there(own):
    assert since(own) is None


def test_what_is_no_time_and_no_revision_is_said(own):
    done = own.gitrag("prime", "--since=nosuch")
    assert (done.status, done.out) == (USAGE, "")
    assert '"nosuch" is neither a point in time nor a commit.' in done.err
