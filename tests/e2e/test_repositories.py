"""Repositories of every shape: each is indexed, or refused with one message that says what to do."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess

import pytest

from tests.support.command import SOURCES, Gitrag, wait_until
from tests.support.mcp_client import text_of, use

object_formats = pytest.mark.parametrize("object_format", ["sha1", "sha256"])
QUESTION = ("search", "retry", "with", "backoff")
EVERYTHING = [
    ("init",),
    ("index",),
    ("index", "embed"),
    ("index", "status"),
    ("index", "remove"),
    QUESTION,
    ("status",),
    ("check", "--push"),
    ("hooks", "install"),
    ("hooks", "uninstall"),
    ("hooks", "status"),
]


def finds(gitrag, *, path="client.py"):
    done = gitrag(*QUESTION, "--output", "json")
    paths = [hit["path"] for hit in json.loads(done.out)["code_snippets"]]
    return (done.status, paths[:1]) == (0, [path])


@pytest.mark.parametrize("command", EVERYTHING, ids=" ".join)
def test_without_a_repository_every_command_says_so(environment, tmp_path, command):
    done = Gitrag(tmp_path, environment)(*command)
    assert (done.status, done.out) == (78, "")
    far = "as far up as GIT_CEILING_DIRECTORIES lets git look"
    assert done.said == [
        f"There is no git repository at {tmp_path} or above it, {far}.",
        "hint: Go into a repository, or make one with: git init",
    ]


def test_what_needs_no_repository_works_without_one(environment, tmp_path):
    gitrag = Gitrag(tmp_path, environment)
    assert gitrag("model", "status").status == 0
    assert gitrag("config", "limit").out == "8\n"
    done = gitrag("doctor")
    assert done.status == 1
    assert f"fail  repository    There is no git repository at {tmp_path}" in done.out


@pytest.mark.sweep(keep=1)
@object_formats
def test_before_the_first_commit_uncommitted_files_are_found(make_project, object_format):
    project = make_project(object_format=object_format)
    done = project.gitrag("init", "--skip-embed")
    assert (done.status, "Indexed 0 chunks from 0 files" in done.out) == (0, True)
    status = project.gitrag("status").out
    assert "repository  project, main, no commit yet\n" in status
    assert "files       0\n" in status
    project.git.write(SOURCES)
    assert finds(project.gitrag)
    project.git.commit()
    assert finds(project.gitrag)


def test_a_detached_head_is_indexed(project):
    project.git.git("checkout", "--quiet", "--detach")
    assert project.gitrag("init", "--skip-embed").status == 0
    assert finds(project.gitrag)
    assert "project, detached HEAD at " in project.gitrag("status").out


@pytest.mark.sweep(keep=1)
@object_formats
def test_a_bare_repository_is_indexed(make_project, tmp_path, object_format):
    project = make_project(SOURCES, object_format=object_format)
    project.git.clone(tmp_path / "bare", "--bare")
    gitrag = Gitrag(tmp_path / "bare", project.git.environment)
    done = gitrag("init", "--skip-embed")
    assert done.status == 0
    assert ".gitignore" not in done.out
    assert finds(gitrag)


@pytest.mark.sweep(keep=1)
@object_formats
def test_a_shallow_clone_is_indexed(make_project, tmp_path, object_format):
    project = make_project(SOURCES, object_format=object_format)
    project.git.commit({"other.py": "x = 1\n"})
    clone = project.git.clone(tmp_path / "shallow", "--depth=1")
    gitrag = Gitrag(clone.path, clone.environment)
    assert gitrag("init", "--skip-embed").status == 0
    assert finds(gitrag)
    clone.git("-c", "protocol.file.allow=always", "fetch", "--quiet", "--unshallow")
    assert finds(gitrag)


@pytest.mark.sweep(keep=1)
@object_formats
def test_a_linked_worktree_shares_the_index(make_project, tmp_path, object_format):
    project = make_project(SOURCES, object_format=object_format)
    assert project.gitrag("index", "update", "--no-embed").status == 0
    tree = project.git.worktree(tmp_path / "tree", "-b", "other")
    gitrag = Gitrag(tree.path, tree.environment)
    assert "index       not of this worktree yet\n" in gitrag("status").out
    tree.write({"client.py": None, "again.py": SOURCES["client.py"]})
    assert finds(gitrag, path="again.py")
    assert finds(project.gitrag)
    assert "2 worktrees" in gitrag("status").out


def test_a_repository_of_somebody_else_is_refused_until_it_is_trusted(project):
    env = {}
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", "65534", project.path], check=True)
    else:
        env = {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}  # git's own way to test it
    for command in (("init",), QUESTION, ("status",)):
        done = project.gitrag(*command, env=env)
        assert (done.status, done.out) == (78, "")
        assert done.said[0] == (
            f"The repository {project.path} belongs to another user, and git does not trust it."
        )
    [advice] = done.said[1:]
    command = advice.removeprefix("hint: If you do, run: ")
    subprocess.run(shlex.split(command), env=project.git.environment, check=True)
    assert project.gitrag("index", "update", "--no-embed", env=env).status == 0


def test_a_repository_with_sha256_ids_is_kept_up_to_date_and_asked_by_agents(make_project):
    """Its other answers: `tests/integration/test_object_formats.py`."""
    project = make_project(SOURCES, object_format="sha256")
    assert project.gitrag("init", "--skip-embed").status == 0
    assert finds(project.gitrag)
    project.git.commit({"client.py": None, "again.py": SOURCES["client.py"]})
    wait_until(lambda: json.loads(project.gitrag("status", "--json").out)["fresh"], "the hook is to index it")

    async def asked(client):
        return text_of(await client.call_tool("search_code", {"query": "retry with backoff"}))

    assert "again.py" in use(project, asked)


def test_broken_git_configuration_is_told(project):
    with (project.path / ".git" / "config").open("a") as file:
        file.write("[core\n")
    done = project.gitrag("status")
    assert done.status == 78
    assert done.said[0].startswith(f"git cannot read the repository around {project.path}: bad config line")
    assert done.said[1] == "hint: Try: git status"


def test_without_an_index_search_says_exactly_this(project):
    done = project.gitrag(*QUESTION)
    assert (done.status, done.out) == (78, "")
    assert done.said == [
        "No gitrag collections found for project. Run `gitrag index` first.",
        "hint: `gitrag init` runs it, and keeps the index up to date.",
    ]
    assert "hint: gitrag init" in project.gitrag("status").said
    assert not project.store.exists()


def test_a_search_may_index_first(project):
    """Text and drafts, without hooks; what `gitrag init` would add is said once."""
    done = project.gitrag("search", "--index", "--output", "json", "call again after a failure")
    assert done.status == 0
    assert json.loads(done.out)["code_snippets"][0]["path"] == "client.py"
    assert re.fullmatch(
        r"Indexed \d+ chunks from 2 files in [\d.]+ s; `gitrag init` installs hooks that keep the index"
        r" up to date\.",
        done.said[0],
    )
    assert list((project.path / ".git" / "hooks").glob("post-commit")) == []
    assert not (project.path / ".gitignore").exists()
    again = project.gitrag("search", "--index", "--output", "json", "call again after a failure")
    assert "Indexed" not in again.err
    assert again.out == done.out


@pytest.mark.parametrize(
    "command", [("search", "failure"), ("graph", "retry_with_backoff"), ("prime",), ("check", "client.py")]
)
def test_the_setting_has_every_question_index_first(project, command):
    project.git.git("config", "gitrag.autoIndex", "on")
    done = project.gitrag(*command)
    assert "`gitrag init` installs hooks" in done.said[0]
    assert "No gitrag collections" not in done.err
    assert project.store.exists()


def test_the_first_search_keeps_to_its_budget(project):
    """What there is no time for is said, and follows in the background."""
    done = project.gitrag("search", "--index", "failure", env={"GITRAG_CATCH_UP_S": "0"})
    assert "2 files" in done.err
    assert done.status in {0, 1}


def test_a_mistyped_module_and_an_empty_collection_are_told_apart(indexed):
    mistyped = indexed.gitrag("search", "--module", "billing", "retries")
    assert (mistyped.status, mistyped.said[0]) == (78, 'There is no module "billing" in project.')
    empty = indexed.gitrag("search", "-c", "adrs", "retries")
    assert (empty.status, empty.said[0]) == (
        78,
        "project-adrs is empty: no indexed file is a decision.",
    )
