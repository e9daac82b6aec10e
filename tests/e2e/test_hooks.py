"""After ``gitrag init`` git alone keeps the index up to date: nobody searches here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import suppress

import pytest

from gitrag.hooking.config_hooks import SINCE
from gitrag.machine.locks import is_held
from tests.support.command import SOURCES, Gitrag, Project, program, user_environment, wait_until
from tests.support.gitversion import needs_git
from tests.support.repository import create_repository, noting_git


def standing(project):
    return json.loads(project.gitrag("status", "--json").out)


def wait_for(project, tree_files):
    """Wait until the background has indexed and embedded HEAD, and check what it holds."""

    def done():
        if any((project.store / name).exists() for name in ("worker.marks", "worker.holder")):
            return False  # a file is looked at sooner than a process is started
        found = standing(project)
        view = found["view"]
        return found["fresh"] and found["worker"] is None and view["embedded"] == view["texts"]

    wait_until(done, "HEAD is to be indexed and embedded", every_s=0.3)
    assert standing(project)["view"]["files"] == tree_files
    assert standing(project)["commit"] == project.git.git("rev-parse", "HEAD")


@pytest.fixture(scope="module")
def initialised(tmp_path_factory, model_dir) -> Project:
    """What ``installed`` is copied from."""
    directory = tmp_path_factory.mktemp("hooked")
    environment = user_environment(directory / "home", model_dir)
    git = create_repository(directory / "project", environment, SOURCES | {".gitignore": ".sdd/\n"})
    project = Project(git, Gitrag(git.path, environment))
    done = project.gitrag("init", "--foreground")
    assert (done.status, done.err) == (0, "")
    wait_for(project, 3)
    return project


@pytest.fixture
def installed(initialised, tmp_path, environment) -> Project:
    return initialised.copied(tmp_path / "project", environment)


@pytest.fixture
def hooked(installed, environment) -> Project:
    """The like of ``installed``, whose hooks run what is quick to start."""
    installed.let_hooks_run(program(environment))
    return installed


def test_a_hook_finds_its_repository_once(installed, environment, tmp_path):
    """And asks for no name of a commit that it has."""
    directory, asked = noting_git(tmp_path / "bin")
    of_git = {"GIT_INDEX_FILE": ".git/index", "GIT_PREFIX": "", "PATH": f"{directory}:{environment['PATH']}"}
    told = Gitrag(installed.git.path, environment | of_git)
    assert told("hook", "run", "post-commit").status == 0
    found = asked()
    assert [found.count(each) for each in ("rev-parse", "config", "rev-list")] == [1, 1, 0]


def test_every_way_to_move_head_is_noticed(hooked):
    git = hooked.git
    git.commit({"added.py": "def added(): pass\n"})
    git.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    git.commit({"side.py": "def side(): pass\n", "other.py": "def other(): pass\n"})
    wait_for(hooked, 5)
    git.git("checkout", "--quiet", "main")
    wait_for(hooked, 4)
    git.git("merge", "--quiet", "--no-edit", "side")
    wait_for(hooked, 6)
    git.git("checkout", "--quiet", "-b", "rebased", "HEAD~1")
    git.commit({"rebased.py": "def rebased(): pass\n"})
    git.git("rebase", "--quiet", "main")
    wait_for(hooked, 7)
    git.git("rm", "--quiet", "added.py")
    git.git("commit", "--quiet", "--amend", "--no-edit")
    wait_for(hooked, 6)


def test_a_burst_of_commits_ends_with_the_last_one_indexed(hooked):
    for number in range(12):
        hooked.git.commit({f"burst_{number}.py": f"def burst_{number}(): pass\n"})
    wait_for(hooked, 15)


def test_a_linked_worktree_has_hooks_too(hooked, tmp_path):
    tree = hooked.git.worktree(tmp_path / "tree", "-b", "other")
    tree.commit({"tree.py": "def of_the_tree(): pass\n"})
    other = Project(tree, type(hooked.gitrag)(tree.path, tree.environment))

    def done():
        found = standing(other)
        return found["fresh"] and found["worker"] is None

    wait_until(done, "the worktree is to be indexed")
    assert standing(other)["view"]["files"] == 4
    assert standing(hooked)["view"]["files"] == 3


def commit_with(project, name, env=None):
    """Commit as somebody types it; return what it printed."""
    project.git.write({name: "x = 1\n"})
    project.git.git("add", "--all")
    return subprocess.run(
        ["git", "commit", "--message", "Change"],
        cwd=project.path,
        env={**project.git.environment, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_commit_prints_nothing_of_gitrag(installed):
    done = commit_with(installed, "quiet.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert "gitrag" not in done.stdout
    wait_for(installed, 4)


def test_gitrag_0_skips_the_hooks(hooked):
    before = standing(hooked)["updated"]
    done = commit_with(hooked, "skipped.py", {"GITRAG": "0"})
    assert done.returncode == 0
    assert (standing(hooked)["fresh"], standing(hooked)["updated"]) == (False, before)
    assert "behind HEAD" in hooked.gitrag("status").out


def test_gitrag_uninstalled_breaks_no_git_command(installed, tmp_path):
    installed.git.clone(tmp_path / "remote.git", "--bare")
    installed.git.git("remote", "add", "origin", tmp_path / "remote.git")
    installed.let_hooks_run("/nowhere/gitrag")
    assert "/nowhere/gitrag" in (installed.path / ".git" / "hooks" / "pre-push").read_text()
    done = commit_with(installed, "without.py")
    assert (done.returncode, done.stderr) == (0, "")
    for command in (
        ["checkout", "-q", "-b", "side"],
        ["merge", "-q", "main"],
        ["push", "-q", "origin", "side"],
    ):
        done = subprocess.run(
            ["git", *command],
            cwd=installed.path,
            env=installed.git.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
    done = installed.gitrag("doctor")
    assert done.status == 0
    assert "warn  hooks         outdated: post-commit, post-merge, " in done.out
    assert "→ gitrag hooks install\n" in done.out


@pytest.fixture
def full_disk(hooked):
    """The index's directory on a disk of its own, without room for a byte; git has room."""
    wait_for(hooked, 3)
    kept = hooked.path / "kept"
    hooked.store.rename(kept)
    hooked.store.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "none", hooked.store]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting a small disk needs root")
    shutil.copytree(kept, hooked.store, dirs_exist_ok=True)
    shutil.rmtree(kept)
    with suppress(OSError), (hooked.store / "filler").open("wb", buffering=0) as filler:
        while filler.write(b"x" * 4096):
            pass
    yield hooked.store
    subprocess.run(["umount", "--lazy", hooked.store], check=True)


def test_a_full_disk_breaks_no_git_command_and_is_recovered_from(hooked, full_disk):
    done = commit_with(hooked, "full.py")
    assert (done.returncode, done.stderr) == (0, "")
    hooked.git.git("checkout", "--quiet", "-b", "side")
    hooked.git.commit({"side.py": "def side(): pass\n"})
    hooked.git.git("checkout", "--quiet", "main")
    hooked.git.git("merge", "--quiet", "--no-edit", "side")
    found = hooked.gitrag("search", "side", "--output", "text")
    assert (found.status, found.out.partition(" ")[0]) == (0, "side.py:1"), (
        found
    )  # read for this answer alone
    assert "No space left" in found.err, found
    wait_until(lambda: not is_held(full_disk / "worker.lock"), "the worker is to give up")
    (full_disk / "filler").unlink()
    found = hooked.gitrag("search", "side", "--output", "text", "--limit", "1")
    assert (found.status, "side.py" in found.out, "damaged" in found.err) == (0, True, False), found
    hooked.git.commit({"after.py": "def after(): pass\n"})
    wait_for(hooked, 6)


def test_what_goes_wrong_in_the_background_is_in_the_log_and_nowhere_else(hooked):
    (hooked.path / ".gitrag.yaml").write_text("limit: nonsense\n")
    done = commit_with(hooked, "wrong.py")
    assert (done.returncode, done.stderr) == (0, "")
    log = hooked.store / "log"
    wait_until(lambda: log.exists() and "limit is" in log.read_text(), "the log is to tell")
    assert "Traceback" not in log.read_text()
    hooked.git.write({".gitrag.yaml": None})
    done = hooked.gitrag("doctor")
    assert 'warn  worker        the last one failed: post-commit: limit is "nonsense"' in done.out
    hooked.git.commit()
    wait_for(hooked, 4)
    wait_until(lambda: log.read_text().endswith("post-commit: done\n"), "the log is to tell of success")


def test_uninstalling_leaves_nothing(installed):
    assert installed.gitrag("hooks", "uninstall").status == 0
    assert list((installed.path / ".git" / "hooks").iterdir()) == []
    done = installed.gitrag("hooks", "status")
    assert (done.status, done.said) == (1, ["hint: gitrag hooks install"])


@needs_git(*SINCE, "runs hooks named in its configuration")
def test_beside_a_hook_that_is_not_gitrags_the_index_follows_too(make_project):
    project = make_project(SOURCES | {".gitignore": ".sdd/\n"})
    hooks = project.path / ".git" / "hooks"
    hooks.mkdir()
    (hooks / "post-commit").symlink_to(shutil.which("true"))
    done = project.gitrag("init", "--foreground")
    assert (done.status, done.err) == (0, "")
    done = commit_with(project, "beside.py")
    assert (done.returncode, done.stderr) == (0, "")
    wait_for(project, 4)
    assert (
        "ok    hooks         5 installed, 1 of them in git's configuration\n" in project.gitrag("doctor").out
    )
    done = project.gitrag("hooks", "status")
    assert done.status == 0
    assert f"    for git before 2.54, add to {hooks / 'post-commit'}:\n" in done.out
    assert project.gitrag("hooks", "uninstall").status == 0
    assert project.git.git("config", "--get-regexp", "^hook", check=False) == ""
    assert [path.name for path in hooks.iterdir()] == ["post-commit"]
