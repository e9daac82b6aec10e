"""What a background hook runs in: nothing of the caller's but the repository it was for."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from gitrag.actions.run_hook import _moves_head, _without_leaks
from gitrag.git import Repository
from tests.support.command import Done, Gitrag


def test_a_descriptor_of_the_callers_is_let_go():
    """A lock taken with `flock 42` before `git commit` is not held until the index is done."""
    code = (
        "import os, sys; from gitrag.actions.run_hook import detach; detach()\n"
        "try: os.fstat(int(sys.argv[1]))\nexcept OSError: print('closed', os.getsid(0) == os.getpid())"
    )
    read, write = os.pipe()
    done = subprocess.run(
        [sys.executable, "-c", code, str(write)], pass_fds=[write], capture_output=True, text=True, check=True
    )
    os.close(read)
    os.close(write)
    assert done.stdout == "closed True\n"


@pytest.mark.parametrize(
    ("name", "args", "moves"),
    [
        ("post-commit", [], True),
        ("post-checkout", ["a", "b", "1"], True),
        ("post-checkout", ["a", "b", "0"], False),
        ("post-rewrite", ["rebase"], True),
        ("post-rewrite", ["amend"], False),
    ],
)
def test_only_what_moves_head_is_worked_on(name, args, moves):
    assert _moves_head(name, args) is moves


def test_a_linked_worktrees_git_dir_does_not_lead_the_worker_astray(make_repository, tmp_path):
    project = make_repository({"a.py": "a = 1\n"})
    linked = project.worktree(tmp_path / "linked")
    git_dir = linked.git("rev-parse", "--absolute-git-dir")
    environ = project.environment | {"GIT_DIR": git_dir, "GIT_INDEX_FILE": f"{git_dir}/index.lock"}
    repository = Repository.discover(linked.path, environ)
    left = _without_leaks(repository, linked.path, environ)
    assert not {"GIT_DIR", "GIT_INDEX_FILE"} & left.keys()
    assert Repository.discover(project.path, left).root == project.path


def test_a_repository_that_only_git_dir_names_keeps_it(make_repository, tmp_path):
    """Dotfiles kept with ``git --git-dir=~/.dotfiles --work-tree=~``."""
    bare = make_repository(name="dotfiles", bare=True)
    environ = bare.environment | {"GIT_DIR": str(bare.path), "GIT_WORK_TREE": str(tmp_path)}
    repository = Repository.discover(tmp_path, environ)
    assert _without_leaks(repository, tmp_path, environ)["GIT_DIR"] == str(bare.path)


@pytest.mark.parametrize("where", ["no repository", "a rebase under way", "GITRAG=0"])
def test_where_there_is_nothing_to_do_nothing_is_left_behind(make_repository, tmp_path, where):
    project = make_repository({"a.py": "a = 1\n"})
    environment = project.environment | {"GIT_CEILING_DIRECTORIES": str(tmp_path)}
    cwd = project.path
    if where == "no repository":
        cwd = tmp_path / "home"
    elif where == "a rebase under way":
        (project.path / ".git" / "rebase-merge").mkdir()
    else:
        environment |= {"GITRAG": "0"}
    assert Gitrag(cwd, environment)("hook", "run", "post-commit") == Done(0, "", "")
    assert not (project.path / ".git" / "gitrag").exists()
