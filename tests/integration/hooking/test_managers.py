"""Published hook managers keep working with gitrag, and gitrag beside them, in both orders.

`scripts/test` installs those that are npm's; without it their tests are skipped. Git 2.54 and later can run
gitrag beside a manager's file; for an earlier one, lines are to be added to the manager's configuration.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitrag.hooking.status import HookState
from tests.support.hooked import STAND_IN, Hooked, StandIn, runs_configured
from tests.support.node import NODE_DIR

POST_COMMIT = "hook run post-commit"
RAN = "managed-as-before"


@pytest.fixture(scope="session")
def pre_commit() -> Path:
    """The command of pre-commit."""
    return Path(sys.executable).with_name("pre-commit")


@pytest.fixture(scope="session")
def npm_packages() -> Path:
    """A directory with husky and lefthook."""
    if NODE_DIR is None or not Path(NODE_DIR, "node_modules", "husky").exists():
        pytest.skip("husky and lefthook are not here (scripts/test installs them)")
    return Path(NODE_DIR)


@pytest.fixture
def managed(make_repository, tmp_path) -> Hooked:
    """A repository in which ``gitrag`` on PATH is a recorder."""
    directory = tmp_path / "bin"
    directory.mkdir()
    (directory / "gitrag").write_text(STAND_IN.format(python=sys.executable))
    (directory / "gitrag").chmod(0o755)
    repo = make_repository({"a.py": "a = 1\n"}, name="managed")
    repo.environment["PATH"] = f"{directory}{os.pathsep}{repo.environment['PATH']}"
    return Hooked(repo, StandIn(directory / "gitrag"))


@pytest.fixture
def lefthook(managed, npm_packages) -> Path:
    """The command of lefthook, on the repository's PATH."""
    command: Path = npm_packages / "node_modules" / ".bin" / "lefthook"
    managed.git.environment["PATH"] += f"{os.pathsep}{command.parent}"
    return command


def call(managed: Hooked, *command: str | Path) -> None:
    done = subprocess.run(
        command,
        cwd=managed.git.path,
        env=managed.git.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def commit(managed: Hooked) -> str:
    """Commit something; give what it said."""
    managed.git.write({"b.py": str(len(managed.stand_in.calls()))})
    managed.git.git("add", "--all")
    done = subprocess.run(
        ["git", "commit", "-m", "more", "--allow-empty"],
        cwd=managed.git.path,
        env=managed.git.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def add_lines(managed: Hooked, name: str, before: str = "") -> None:
    """Do what status says."""
    report = managed.status()[name]
    report.path.write_text(before + report.lines + "\n")


PRE_COMMIT_OWN = f"""repos:
- repo: local
  hooks:
  - id: own
    name: own
    entry: echo {RAN}
    language: system
    always_run: true
    verbose: true
    stages: [post-commit]
"""
TYPES = ["-t", "post-commit", "-t", "pre-push"]


def test_pre_commit_after_gitrag_runs_gitrags_hook_too(managed, pre_commit):
    managed.install()
    managed.git.write({".pre-commit-config.yaml": PRE_COMMIT_OWN})
    call(managed, pre_commit, "install", *TYPES)
    assert RAN in commit(managed)
    managed.stand_in.wait_for_calls([POST_COMMIT])
    reports = managed.status()
    assert (reports["post-commit"].state, reports["pre-push"].state) == (
        HookState.INSTALLED,
        HookState.INSTALLED,
    )
    assert reports["post-commit"].detail.endswith("post-commit.legacy")
    managed.install()
    assert b"gitrag" not in (managed.hooks / "post-commit").read_bytes()
    call(managed, pre_commit, "uninstall", *TYPES)
    assert managed.status()["post-commit"].detail == ""


def test_gitrag_after_pre_commit_says_what_to_add(managed, pre_commit):
    managed.git.write({".pre-commit-config.yaml": PRE_COMMIT_OWN})
    call(managed, pre_commit, "install", *TYPES)
    report = managed.status()["post-commit"]
    assert (report.state, report.path.name) == (HookState.FOREIGN, ".pre-commit-config.yaml")
    assert RAN in commit(managed)
    assert managed.stand_in.calls() == []
    add_lines(managed, "post-commit", PRE_COMMIT_OWN)
    assert managed.status()["post-commit"].state is HookState.INSTALLED
    said = commit(managed)
    assert RAN in said
    managed.stand_in.wait_for_calls([POST_COMMIT])


def test_a_check_by_pre_commit_stops_a_push_as_the_hook_does(managed, pre_commit, tmp_path):
    managed.git.git("init", "--quiet", "--bare", tmp_path / "remote.git")
    managed.git.git("remote", "add", "origin", tmp_path / "remote.git")
    managed.git.write({".pre-commit-config.yaml": "repos:\n"})
    call(managed, pre_commit, "install", *TYPES)
    add_lines(managed, "pre-push", "repos:\n")
    managed.git.commit()
    managed.stand_in.exit_with(3)
    managed.git.git("push", "--quiet", "origin", "main", check=False)
    assert managed.git.git("ls-remote", "origin") == ""
    managed.stand_in.exit_with(1)
    managed.git.git("push", "--quiet", "origin", "main")
    head = managed.git.git("rev-parse", "HEAD")
    assert f"refs/heads/main {head} refs/heads/main" in managed.stand_in.events()[-1]["stdin"]


def test_our_own_pre_commit_hooks_are_valid(pre_commit):
    call_here = [pre_commit, "validate-manifest", ".pre-commit-hooks.yaml"]
    done = subprocess.run(
        call_here, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


LEFTHOOK_OWN = f"pre-commit:\n  commands:\n    own:\n      run: echo {RAN}\n"


@pytest.mark.parametrize("first", ["gitrag", "lefthook"])
def test_lefthook_keeps_its_hooks_and_says_what_to_add(managed, lefthook, first):
    if first == "gitrag":
        managed.install()
    own = LEFTHOOK_OWN + "post-commit:\n  commands:\n    own:\n      run: echo after\n"
    managed.git.write({"lefthook.yml": own})
    call(managed, lefthook, "install")
    report = managed.status()["post-commit"]
    assert (report.state, report.path.name) == (HookState.FOREIGN, "lefthook.yml")
    assert RAN in commit(managed)
    add_lines(managed, "post-commit", LEFTHOOK_OWN)
    assert managed.status()["post-commit"].state is HookState.INSTALLED
    assert RAN in commit(managed)
    managed.stand_in.wait_for_calls([POST_COMMIT])
    # those that lefthook has nothing to do with are gitrag's own
    managed.install()
    assert managed.status()["post-merge"].state is HookState.INSTALLED


def test_lefthook_hands_a_push_to_the_check(managed, lefthook, tmp_path):
    managed.git.git("init", "--quiet", "--bare", tmp_path / "remote.git")
    managed.git.git("remote", "add", "origin", tmp_path / "remote.git")
    managed.git.write({"lefthook.yml": "pre-push:\n  commands:\n    own:\n      run: echo own\n"})
    call(managed, lefthook, "install")
    add_lines(managed, "pre-push")
    managed.stand_in.exit_with(3)
    managed.git.git("push", "--quiet", "origin", "main", check=False)
    assert managed.git.git("ls-remote", "origin") == ""
    managed.stand_in.exit_with(0)
    managed.git.git("push", "--quiet", "origin", "main")
    assert managed.git.git("rev-parse", "HEAD") in managed.stand_in.events()[-1]["stdin"]


@pytest.mark.parametrize("first", ["gitrag", "husky"])
def test_husky_keeps_its_hooks_and_says_what_to_add(managed, npm_packages, first):
    if first == "gitrag":
        managed.install()
    managed.git.write({".husky/pre-commit": f"echo {RAN}\n"})
    call(managed, "node", npm_packages / "node_modules" / "husky" / "bin.js")
    report = managed.status()["post-commit"]
    assert report.state is HookState.SHADOWED
    assert report.path == managed.git.path / ".husky" / "post-commit"
    assert RAN in commit(managed)
    assert managed.stand_in.calls() == []
    add_lines(managed, "post-commit")
    assert managed.status()["post-commit"].state is HookState.INSTALLED
    assert RAN in commit(managed)
    managed.stand_in.wait_for_calls([POST_COMMIT])


# with nothing to add by hand


def assert_it_runs_once(managed: Hooked, said: str) -> None:
    """Commit twice: gitrag is run once for each, and the manager did its part."""
    managed.stand_in.forget()
    for _ in range(2):
        assert said in commit(managed)
    managed.stand_in.wait_for(2)
    assert managed.stand_in.calls() == [POST_COMMIT] * 2


def assert_it_is_configured_once(managed: Hooked) -> None:
    """Install beside the manager, whose own files stay as they are."""
    hook = managed.repository.hooks_dir() / "post-commit"
    before = hook.read_bytes(), managed.git.git("status", "--porcelain")
    report = managed.install()["post-commit"]
    assert (report.state, report.configured) == (HookState.INSTALLED, "hook.gitrag-post-commit")
    assert (hook.read_bytes(), managed.git.git("status", "--porcelain")) == before


@runs_configured
@pytest.mark.parametrize("first", ["gitrag", "pre-commit"])
def test_beside_pre_commit_nothing_is_to_be_added(managed, pre_commit, first):
    if first == "gitrag":
        managed.install()
    managed.git.write({".pre-commit-config.yaml": PRE_COMMIT_OWN})
    call(managed, pre_commit, "install", "--overwrite", *TYPES)  # without it, a hook of before is run as well
    assert_it_is_configured_once(managed)
    assert_it_runs_once(managed, RAN)
    add_lines(managed, "post-commit", PRE_COMMIT_OWN)
    assert managed.status()["post-commit"].state is HookState.TWICE
    assert managed.install()["post-commit"].configured == ""
    assert_it_runs_once(managed, RAN)


@runs_configured
def test_what_pre_commit_puts_back_does_not_run_twice(managed, pre_commit):
    managed.install()
    managed.git.write({".pre-commit-config.yaml": PRE_COMMIT_OWN})
    call(managed, pre_commit, "install", *TYPES)
    assert managed.install()["post-commit"].configured == ""  # .legacy is run
    assert_it_runs_once(managed, RAN)
    call(managed, pre_commit, "uninstall", *TYPES)
    assert managed.install()["post-commit"].configured == ""
    assert_it_runs_once(managed, "")


@runs_configured
@pytest.mark.parametrize("first", ["gitrag", "lefthook"])
def test_beside_lefthook_nothing_is_to_be_added(managed, lefthook, first):
    if first == "gitrag":
        managed.install()
    own = f"post-commit:\n  commands:\n    own:\n      run: echo {RAN}\n"
    managed.git.write({"lefthook.yml": own})
    call(managed, lefthook, "install")
    assert_it_is_configured_once(managed)
    assert_it_runs_once(managed, RAN)
    call(managed, lefthook, "install", "--force")
    assert_it_runs_once(managed, RAN)
    call(managed, lefthook, "uninstall")
    assert managed.install()["post-commit"].configured == ""
    assert_it_runs_once(managed, "")


@runs_configured
@pytest.mark.parametrize("first", ["gitrag", "husky"])
def test_beside_husky_nothing_is_to_be_added(managed, npm_packages, first):
    if first == "gitrag":
        managed.install()
    managed.git.write({".husky/pre-commit": f"echo {RAN}\n"})
    call(managed, "node", npm_packages / "node_modules" / "husky" / "bin.js")
    assert_it_is_configured_once(managed)
    assert_it_runs_once(managed, RAN)
    managed.git.git("config", "--unset", "core.hooksPath")
    assert managed.install()["post-commit"].configured == ""
    assert_it_runs_once(managed, "")


@runs_configured
def test_a_push_beside_a_manager_is_checked(managed, npm_packages, tmp_path):
    managed.git.git("init", "--quiet", "--bare", tmp_path / "remote.git")
    managed.git.git("remote", "add", "origin", tmp_path / "remote.git")
    managed.git.write({".husky/pre-push": "cat >pushed\n"})
    call(managed, "node", npm_packages / "node_modules" / "husky" / "bin.js")
    managed.install()
    managed.stand_in.exit_with(3)
    managed.git.git("push", "--quiet", "origin", "main", check=False)
    assert managed.git.git("ls-remote", "origin") == ""
    managed.stand_in.exit_with(0)
    managed.git.git("push", "--quiet", "origin", "main")
    pushed = managed.git.file("pushed").read_text()
    assert managed.git.git("rev-parse", "HEAD") in pushed
    assert managed.stand_in.events()[-1]["stdin"] == pushed
