"""``gitrag why``, as a command."""

from __future__ import annotations

import json
import os

import pytest

from gitrag.errors import OK, USAGE
from gitrag.trackers.folder import IssueFolder
from gitrag.trackers.issue import Issue, IssueLinks, IssueState
from tests.support.command import Project
from tests.support.repository import Link


@pytest.fixture
def own(project: Project) -> Project:
    source = (project.git.path / "client.py").read_text()
    changed = source.replace("2 ** attempt", "min(2 ** attempt, 60)")
    reason = "A call was asleep for a day. It waits no longer, because queues fill. See #41."
    project.git.commit({"client.py": changed}, f"Wait a minute at most\n\n{reason}")
    return project


def test_a_line_is_explained_by_its_commit(own):
    head = own.git.git("rev-parse", "HEAD")
    first = own.git.git("rev-parse", "HEAD~1")
    line = next(
        i for i, text in enumerate(own.git.file("client.py").read_text().split("\n"), 1) if "min(" in text
    )
    done = own.gitrag("why", f"client.py:{line}", "--json")
    assert done.status == OK
    said = json.loads(done.out)
    (reason,) = said["reasons"]
    assert (reason["commit"], reason["lines"], reason["subject"]) == (head, 1, "Wait a minute at most")
    assert reason["reason"] == "It waits no longer, because queues fill."
    assert reason["issues"] == [{"id": "41", "title": "", "state": ""}]
    assert (said["within"], said["before"]["commit"]) == ("retry_with_backoff", first)
    assert said["notes"] == ["There is no index: which decisions bear on the file was not looked up."]

    text = own.gitrag("why", f"client.py:{line}", "-o", "text").out
    assert (
        "  Wait a minute at most\n  It waits no longer, because queues fill.\n  #41 (no copy here)\n" in text
    )


def test_an_issue_that_is_here_is_named(own):
    folder = IssueFolder(own.git.path)
    folder.make()
    closed = IssueState.CLOSED
    folder.write(Issue("41", "Calls fail", closed, (), (), "", "", "", "", "", "github", IssueLinks(), ""))
    assert "#41: Calls fail (closed)" in own.gitrag("why", "client.py").out


def test_decisions_that_bear_on_the_file_are_named(own):
    own.git.commit(
        {"docs/adrs/ADR-0001-retries.md": "# ADR-0001: Retry\n\n## Status\n\nAccepted\n\nCalls.\n"}
    )
    own.git.write({"client.py": "# Governing: ADR-0001\n" + own.git.file("client.py").read_text()})
    assert own.gitrag("index", "update", "--no-embed").status == OK
    said = json.loads(own.gitrag("why", "client.py:1", "--json").out)
    assert (said["uncommitted"], said["reasons"]) == (1, [])
    assert [each["id"] for each in said["documents"]] == ["ADR-0001"]


def test_uncommitted_lines_are_told_from_the_others(own):
    text = own.git.file("client.py").read_text()
    own.git.write({"client.py": f"import new\n\n{text}", "deep/new.py": "x = 1\n"})
    said = json.loads(own.gitrag("why", "client.py", "--json").out)
    lines = text.count("\n")
    assert said["uncommitted"] == 2
    assert sum(each["lines"] for each in said["reasons"]) == lines

    said = json.loads(own.gitrag("-C", "deep", "why", "new.py", "--json").out)
    assert (said["path"], said["uncommitted"], said["reasons"]) == ("deep/new.py", 1, [])


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("gone.py", "There is no file gone.py"),
        ("client.py:999", "client.py has no lines 999-999: it has"),
        ("client.py:0", "client.py has no lines 0-0: it has"),
        ("client.py:5-2", "client.py has no lines 5-2: it has"),
        ("../x", "There is no file ../x"),
        (".git/config", ".git/config is git's own."),
        (".", "There is no file ."),
        ("a" * 300, "There is no file aaa"),
    ],
)
def test_what_is_no_line_of_a_file_is_said(own, target, problem):
    done = own.gitrag("why", target)
    assert (done.status, done.out) == (USAGE, "")
    assert problem in done.err
    assert "hint: " in done.err


def test_before_the_first_commit_all_is_uncommitted(make_project):
    project = make_project({})
    project.git.git("update-ref", "-d", "HEAD")
    project.git.write({"a.py": "x = 1\n"})
    done = project.gitrag("why", "a.py:1", "-o", "text")
    assert (done.status, done.out.splitlines()[:3]) == (OK, ["a.py", "", "1 line in no commit yet"])


def test_a_hostile_commit_prints_no_control_character_and_no_time_stops_it(own):
    own.git.write({"evil.py": "x = 1\n"})
    own.git.git("add", "evil.py")
    tree = own.git.git("write-tree")
    parent = own.git.git("rev-parse", "HEAD")
    raw = (
        f"tree {tree}\nparent {parent}\nauthor \x1b[31mred <a@b> 99999999999999 +0000\n"
        "committer c <c@d> 4102444800 +0000\n\n\x1b]0;title\x07Do\x1b[2J evil\n\n"
        "\x9b31m because \x1b[31m of \x07 \xff\n"
    )
    commit = own.git.git(
        "hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=raw.encode("latin-1")
    )
    own.git.git("update-ref", "HEAD", commit)
    for form in ("text", "markdown"):
        done = own.gitrag("why", "evil.py", "-o", form)
        assert done.status == OK
        assert not set(done.out) & {"\x1b", "\x07", "\x9b"}
        assert "date unknown" in done.out


def test_what_changed_later_is_not_called_earlier(own):
    own.git.commit({"m.py": "def foo():\n    a = 1\n    b = 1\n    return a + b\n"}, "Make foo")
    own.git.commit({"m.py": "def foo():\n    a = 1\n    b = 2\n    return a + b\n"}, "Change b later")
    said = json.loads(own.gitrag("why", "m.py:2", "--json").out)
    assert ([each["subject"] for each in said["reasons"]], said["before"]) == (["Make foo"], None)
    said = json.loads(own.gitrag("why", "m.py:3", "--json").out)
    assert said["before"]["subject"] == "Make foo"


def test_lines_are_committed_whatever_their_bytes_and_their_path(own):
    own.git.commit(
        {
            "end.py": "x = 1",
            "latin.py": b"x = '\xe9'\n",
            "mark.py": b"\xef\xbb\xbfx = 1\n",
            "to.py": Link("end.py"),
        }
    )
    own.git.git("mv", "mark.py", "moved.py")
    for name in ("end.py", "latin.py", "moved.py", "to.py"):
        said = json.loads(own.gitrag("why", name, "--json").out)
        assert (said["uncommitted"], len(said["reasons"])) == (0, 1), name


def test_a_large_file_of_one_commit_is_read_in_linear_time(own):
    own.git.commit({"big.txt": "".join(f"{i}\n" for i in range(60_000))}, "Many lines")
    assert json.loads(own.gitrag("why", "big.txt", "--json").out)["reasons"][0]["lines"] == 60_000


def test_an_issue_of_another_repository_is_none_of_this_one(own):
    own.git.git("remote", "add", "origin", "git@example.com:shop/orders.git")
    own.git.commit(
        {"new.py": "x = 1\n"},
        "Add x\n\nSee https://example.com/other/place/issues/5 and https://example.com/shop/orders/issues/6.",
    )
    (reason,) = json.loads(own.gitrag("why", "new.py", "--json").out)["reasons"]
    assert [each["id"] for each in reason["issues"]] == ["6"]


def test_a_file_of_very_many_lines_is_refused(own):
    own.git.commit({"lines.txt": "\n" * 600_000})
    done = own.gitrag("why", "lines.txt:5")
    assert (done.status, done.out) == (USAGE, "")
    assert "lines.txt has 600,000 lines: files of at most 500,000 are looked at." in done.err


def test_a_pipe_beside_the_files_holds_nothing_up(own):
    os.mkfifo(own.git.file(".mailmap"))
    done = own.gitrag("why", "client.py:1")
    assert done.status == 0, done
