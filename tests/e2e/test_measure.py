"""``gitrag measure``: past commits, asked of the state before them, in histories whose answers are known."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from gitrag.errors import NOT_SET_UP, NOTHING, OK
from tests.support.command import Gitrag, Project, user_environment
from tests.support.repository import GitRepository, create_repository

EVIL = "\x1b[31mred\x07 \x9b2J\u202e"
FILES = {
    "net/retry.py": "def retry_with_backoff(call):\n    '''Call a peer again after a failure.'''\n",
    "disk/atomic.py": "def write_atomically(path, content):\n    '''Replace a file in one step.'''\n",
    "lib/plain.py": "def alpha(number):\n    return number\n",
    "README.md": "# Peers\n",
}
NONSENSE = "Zorblefluxen quandrixate wibbletonian"
LETTERS = "abcdefghijklmnop"


def changed(path: str, more: str) -> dict[str | bytes, Any]:
    return {path: f"{FILES[path]}\n{more}\n"}


def make(place: Path, model_dir: Path, more: Mapping[str, str] | None = None) -> Project:
    environment = user_environment(place / "home", model_dir)
    git = create_repository(place / "project", environment, {**FILES, **(more or {})})
    return Project(git, Gitrag(git.path, environment))


def indexed(project: Project) -> Project:
    assert project.gitrag("index", "update", "--no-embed").status == OK
    return project


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, model_dir: Path) -> Project:
    """A history with one commit of each kind that is asked or left out."""
    project = make(tmp_path_factory.mktemp("measure"), model_dir)
    git = project.git
    git.commit(
        changed("net/retry.py", "# a"), "fix(net): Wait longer before a peer is called again (#7, ADR-3)"
    )
    git.commit(changed("disk/atomic.py", "# b"), "Replace files atomically in one step")
    git.commit(changed("lib/plain.py", "# c"), NONSENSE)
    git.commit({"README.md": "# Peers, documented\n"}, "Write about peers and their failures")
    git.commit({f"many/{number}.py": "x = 1\n" for number in range(13)}, "Make many small modules at once")
    git.commit({"lib/fresh.py": "y = 2\n"}, "Begin something wholly fresh here")
    git.commit(changed("lib/plain.py", "# d"), "Fix it")
    git.environment["GIT_AUTHOR_NAME"] = "dependabot[bot]"
    git.commit(changed("lib/plain.py", "# e"), "Bump the version of plain libraries")
    git.environment["GIT_AUTHOR_NAME"] = "A U Thor"
    git.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    git.commit({"lib/plain.py": f"{FILES['lib/plain.py']}# f\n"}, f"Number {EVIL} alpha twice over")
    git.git("checkout", "--quiet", "-")
    git.ticks[0] += 1
    git.git("merge", "--quiet", "--no-gpg-sign", "-s", "ours", "-m", "Merge the side", "side")
    return indexed(project)


def measured(project: Project, *args: str) -> dict[str, Any]:
    done = project.gitrag("measure", "--json", *args)
    assert done.status in (OK, NOTHING), done
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_files_are_found_by_what_commits_say_and_others_are_left_out_with_the_reason(made: Project):
    found = measured(made, "--list")
    assert found["commits"] == 4
    left_out = [
        "merges",
        "made by bots",
        "over 12 files",
        "no source file",
        "under 3 words",
        "nothing indexed before",
    ]
    assert found["left_out"] == dict.fromkeys(left_out, 1)
    rows = {each["question"]: each for each in found["replayed"]}
    retry = rows["Wait longer before a peer is called again"]  # without its type and number
    assert (retry["files"], retry["gitrag"], retry["grep"]) == (["net/retry.py"], [1], [1])
    assert rows["Replace files atomically in one step"]["gitrag"] == [1]
    by = {each["by"]: each for each in found["found"]}
    assert list(by) == ["gitrag", "git grep", "difference"]
    assert by["gitrag"]["questions"] == 4
    for each in by.values():
        assert list(each["figures"]) == ["first", "three", "ten", "ndcg"]
        assert all(low <= mean <= high for mean, low, high in each["figures"].values())
    first = [row["gitrag"][:1] == [1] for row in rows.values()]
    assert by["gitrag"]["figures"]["first"][0] == sum(first) / 4
    assert "replayed" not in measured(made)


def test_no_commit_is_evidence_for_itself(tmp_path: Path, model_dir: Path):
    """Of files that are alike the message tells one, but not before it was written."""
    alike = {f"same/{letter}.py": f"def {letter * 3}(number):\n    return number\n" for letter in LETTERS}
    project = make(tmp_path, model_dir, alike)
    told = project.git.commit({"same/k.py": f"{alike['same/k.py']}\n# more\n"}, NONSENSE)
    project.git.commit(changed("net/retry.py", "# a"), "Wait longer before a peer is called")
    indexed(project)
    rows = measured(project, "--list")["replayed"]
    own = next(each for each in rows if each["question"] == NONSENSE)
    assert (own["commit"], own["files"], own["grep"]) == (told, ["same/k.py"], [])
    assert 1 not in own["gitrag"]
    for revision, is_first in ((told, True), (own["before"], False)):
        done = project.gitrag("search", NONSENSE, "--json", "--min-score", "0", "--ref", revision)
        found = [each["path"] for each in json.loads(done.out)["code_snippets"]]
        assert (found[:1] == ["same/k.py"]) == is_first, (revision, found)


def test_a_seed_draws_the_same_again_and_n_limits(made: Project):
    drawn = [measured(made, "--seed", "5", "-n", "2", "--list")["replayed"] for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == 2


def test_text_and_markdown_say_it_and_hostile_subjects_are_clean(made: Project):
    text = made.gitrag("measure", "--list", "-o", "text").out
    assert "Subjects of commits, 4" in text
    assert "4 commits asked, of 10 looked at." in text
    assert "1 made by bots" in text
    markdown = made.gitrag("measure", "--list", "-o", "markdown").out
    assert "```" in markdown
    for shown in (text, markdown):
        assert "alpha twice over" in shown
        assert not set(shown) & {"\x1b", "\x07", "\x9b", "\u202e"}


def test_titles_of_issues_are_asked_where_there_are_copies(tmp_path: Path, model_dir: Path):
    project = make(tmp_path, model_dir)
    tasks = "# Tasks\n\n- [ ] 1.1 Call a peer again after its failure\n"
    project.git.commit({"docs/specs/net/tasks.md": tasks, "docs/specs/net/spec.md": "# SPEC-0001: Net\n"})
    assert project.gitrag("issues", "sync").status == OK
    listed = json.loads(project.gitrag("issues", "list", "--json").out)
    assert [each["id"] for each in listed] == ["tasks-net-1.1"]
    folder = project.path / ".sdd" / "issues"
    (copy,) = folder.rglob("*.md")
    renamed = copy.with_name("NET-7.md")
    renamed.write_text(copy.read_text("utf-8").replace("tasks-net-1.1", "NET-7"), "utf-8")
    project.git.commit(changed("net/retry.py", "# a"), "Wait longer before another attempt\n\nCloses: NET-7")
    found = measured(indexed(project), "--list")
    assert [(each["asked"], each["question"], each["gitrag"]) for each in found["replayed"]] == [
        ("subjects", "Wait longer before another attempt", found["replayed"][0]["gitrag"]),
        ("issues", "Call a peer again after its failure", [1]),
    ]
    assert [each["asked"] for each in found["found"]] == ["subjects"] * 3 + ["issues"] * 3


def test_nothing_to_ask_is_said(tmp_path: Path, model_dir: Path):
    project = indexed(make(tmp_path, model_dir))
    done = project.gitrag("measure", "-o", "text")
    assert done.status == NOTHING
    assert "0 commits asked, of 0 looked at." in done.out


def test_no_commit_at_all_is_said(tmp_path: Path, model_dir: Path):
    environment = user_environment(tmp_path / "home", model_dir)
    git = create_repository(tmp_path / "project", environment)
    git.write({"a.py": "x = 1\n"})
    gitrag = Gitrag(git.path, environment)
    gitrag("index", "update", "--no-embed")
    done = gitrag("measure")
    assert done.status == NOT_SET_UP
    assert "There is no commit yet." in done.err


def test_a_shallow_clone_says_so(made: Project, tmp_path: Path):
    git = GitRepository(tmp_path / "shallow", dict(made.git.environment))
    made.git.git("clone", "--quiet", "--depth", "4", f"file://{made.path}", git.path)
    own = indexed(Project(git, Gitrag(git.path, made.gitrag.environment)))
    found = measured(own)
    assert found["notes"] == ["The clone is shallow: commits at its end, and older ones, are not there."]
    assert found["commits"] + sum(found["left_out"].values()) < 10


def test_ctrl_c_ends_it_and_the_index_answers_as_before(made: Project, tmp_path: Path):
    own = made.copied(tmp_path / "copy", made.gitrag.environment)
    programs = tmp_path / "programs"
    programs.mkdir()
    git = programs / "git"
    git.write_text(
        f'#!/bin/sh\ncase "$*" in *grep*) : >.git/asked; sleep 5;; esac\nexec {which("git")} "$@"\n'
    )
    git.chmod(0o755)
    path = f"{programs}{os.pathsep}{made.gitrag.environment['PATH']}"
    done = own.gitrag.on_terminal("measure", env={"PATH": path}, interrupt_after=".git/asked")
    assert done.status == 130, done
    assert own.gitrag("search", "call a peer again", "--json").status == OK
    assert measured(own)["commits"] == 4
