"""``gitrag check`` and ``gitrag related``, as commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitrag.errors import NOTHING, OK, USAGE
from tests.support.command import Project, indexed_project
from tests.support.repository import Link

ADR = "# ADR-0001: Retry with backoff\n\n## Status\n\nAccepted\n\n## Decision\n\nCalls are retried.\n"

COPY = '''
def call_again(call, attempts=3):
    """Call again after a failure, waiting longer each time."""
    for attempt in range(attempts):
        try:
            return call()
        except ConnectionError:
            sleep(2 ** attempt)
'''


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, model_dir: Path) -> Project:
    """What ``own`` is copied from."""
    return indexed_project(tmp_path_factory.mktemp("made"), model_dir, {"docs/adrs/ADR-0001-retries.md": ADR})


@pytest.fixture
def own(made: Project, tmp_path: Path, environment: dict[str, str]) -> Project:
    return made.copied(tmp_path / "project", environment)


def test_a_file_is_checked_in_each_form(own):
    done = own.gitrag("check", "client.py", "--output", "json")
    assert done.status == OK
    assert json.loads(done.out)["candidates"][0]["id"] == "ADR-0001"
    assert "- **ADR-0001: Retry with backoff** (score: " in own.gitrag("check", "client.py").out
    assert own.gitrag("check", "client.py", "-o", "text").out.startswith("ADR-0001  Retry with backoff  ")


def test_a_path_is_relative_to_where_the_command_runs(own):
    own.git.write({"deep/er/client.py": "def retry_with_backoff():\n    return 1\n"})
    done = own.gitrag("-C", "deep/er", "check", "client.py")
    assert done.out.startswith("## Check: deep/er/client.py\n")


@pytest.mark.parametrize("target", ["x" * 300, "loop", "loop/x", "deep/" * 2_000, "gone", "\udcff"])
def test_what_is_no_file_is_said_to_be_none(own, target):
    own.git.write({"loop": Link("loop")})
    done = own.gitrag("check", target)
    assert (done.status, done.out, done.said[1]) == (USAGE, "", "hint: Give the path of one that is there.")


def test_what_cannot_be_read_or_says_nothing_is_no_fault(own):
    far = "/".join(["deep" * 40] * 40)  # longer than any system opens
    blob = own.git.git("hash-object", "-w", "--stdin", stdin=b"def far(): pass\n")
    own.git.git("update-index", "--index-info", stdin=f"100644 {blob}\t{far}/far.py\n".encode())
    own.git.write({"~": "~\n", "loop.py": Link("loop.py")})
    for target in ("~", "."):
        done = own.gitrag("check", target)
        assert (done.status, done.err) in {(NOTHING, ""), (OK, "")}, done


def test_nothing_found_is_a_status(own):
    own.git.write({"other.py": "A = 1\n"})
    assert own.gitrag("check", "other.py").status == NOTHING
    done = own.gitrag("related", "pick a video transcoding library")
    assert (done.status, done.out) == (NOTHING, "No related artifacts found — drafting from scratch\n")
    assert done.said[-1].startswith("hint: nearest: ADR-0001 Retry with backoff (0.0")


def test_what_is_related_is_told(own):
    done = own.gitrag("related", "replace", "the retries with backoff")
    assert "**supersedes: ADR-0001** Retry with backoff" in done.out
    done = own.gitrag("related", "--duplicates", "retry with backoff: call again after a failure")
    assert done.out.startswith("- **docs/adrs/ADR-0001-retries.md** lines 1-")  # by its title
    assert "\n- **client.py** lines 1-10 `retry_with_backoff` (cosine: 0." in done.out
    own.git.commit({"again.py": COPY.lstrip()}, message="Call again")
    done = own.gitrag("related", "--diff", "HEAD~1..HEAD")
    assert "**Should this PR reference ADR-0001?**" in done.out
    assert "`call_again` (again.py:1) is like:" in done.out
    assert "**client.py** lines 1-10 `retry_with_backoff`" in done.out


def test_a_purpose_is_named(own):
    """Code to extend for a plan; the specifications and decisions there are for a discovery."""
    done = own.gitrag("related", "--for", "plan", "retry calls with backoff", "-o", "json")
    first = json.loads(done.out)["edges"][0]
    assert (first["path"], first["relation"], first["kind"]) == ("client.py", "extends", "code")
    done = own.gitrag("related", "--for", "discover", "retry calls with backoff", "-o", "json")
    assert [edge["id"] for edge in json.loads(done.out)["edges"]] == ["ADR-0001"]


@pytest.mark.parametrize("arguments", [[], ["x", "--diff", "HEAD"], ["--duplicates"], ["--diff", "--stat"]])
def test_what_makes_no_sense_is_refused(own, arguments):
    assert own.gitrag("related", *arguments).status == 2
