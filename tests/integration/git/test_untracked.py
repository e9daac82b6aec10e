"""What a process that looks often remembers of a working tree is what git would tell it."""

from __future__ import annotations

import shutil
import time

import pytest

from gitrag.git import DirtyPath, Repository, Untracked, untracked, working_state
from tests.support.repository import GitRepository

FILES = {
    "a.py": "a = 1\n",
    "dir/b.py": "b = 1\n",
    "dir/sub/c.py": "c = 1\n",
    ".gitignore": "*.log\nout/\n",
    "dir/.gitignore": "kept/*\n",
}

CHANGES = {
    "a new file": lambda path: (path / "new.py").write_text("x\n"),
    "a new file in a directory": lambda path: (path / "dir/sub/new.py").write_text("x\n"),
    "a new file beside an untracked one": lambda path: (path / "loose/deep/more.py").write_text("x\n"),
    "a file in a directory of ignored files": lambda path: (path / "logs/new.py").write_text("x\n"),
    "a new directory": lambda path: (path / "fresh/x").mkdir(parents=True),
    "an untracked file gone": lambda path: (path / "loose/one.py").unlink(),
    "an untracked file renamed": lambda path: (path / "loose/one.py").rename(path / "loose/other.py"),
    "untracked directories gone": lambda path: shutil.rmtree(path / "loose"),
    "an untracked file edited": lambda path: (path / "loose/one.py").write_text("changed\n"),
    "a tracked file edited": lambda path: (path / "a.py").write_text("changed\n"),
    "a tracked file gone": lambda path: (path / "dir/b.py").unlink(),
    "a rule edited": lambda path: (path / ".gitignore").write_text("*.tmp\n"),
    "a rule edited below": lambda path: (path / "dir/.gitignore").write_text("sub/*\n"),
    "a rule that is git's own": lambda path: (path / ".git/info/exclude").write_text("loose/\n"),
    "a repository in a directory": lambda path: shutil.copytree(path / ".git", path / "loose/deep/.git"),
    "an ignored file": lambda path: (path / "new.log").write_text("x\n"),
    "a link": lambda path: (path / "dir/link.py").symlink_to("b.py"),
}


@pytest.fixture
def looked_at(make_repository, monkeypatch) -> tuple[GitRepository, Repository, Untracked[DirtyPath]]:
    """A repository whose untracked files are remembered: all looks back are long enough ago."""
    monkeypatch.setattr(untracked, "_SETTLED_NS", 0)
    monkeypatch.setattr(untracked, "_PAUSE_NS", 0)
    made = make_repository(FILES)
    for path in ("loose/one.py", "loose/deep/two.py", "logs/x.log", "out/skipped.py", "dir/kept/three.py"):
        (made.path / path).parent.mkdir(parents=True, exist_ok=True)
        (made.path / path).write_text("new\n")
    (made.path / ".git/info").mkdir(exist_ok=True)
    time.sleep(0.02)  # a tick of the file system's clock
    repository = Repository.discover(made.path)
    remembered: Untracked[DirtyPath] = Untracked(repository)
    for _ in range(2):
        working_state(repository, untracked=remembered)
    assert remembered.is_known
    return made, repository, remembered


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_remembered_is_what_git_says(looked_at, change):
    made, repository, remembered = looked_at
    CHANGES[change](made.path)
    assert working_state(repository, untracked=remembered) == working_state(repository)
    time.sleep(0.02)
    for _ in range(3):  # found again, remembered again
        assert working_state(repository, untracked=remembered) == working_state(repository)


@pytest.mark.parametrize(
    "command",
    [
        ["add", "loose/one.py"],
        ["add", "-A"],
        ["clean", "-fdq"],
        ["stash", "-u"],
        ["config", "core.excludesFile", "/dev/null"],
        ["rm", "-q", "--cached", "a.py"],
        ["mv", "a.py", "z.py"],
    ],
)
def test_what_git_does_is_seen(looked_at, command):
    made, repository, remembered = looked_at
    made.git(*command)
    assert working_state(repository, untracked=remembered) == working_state(repository)


def test_the_users_own_rules_are_watched(looked_at):
    made, repository, remembered = looked_at
    rules = made.path.parent / "rules"
    made.git("config", "core.excludesFile", str(rules))
    for _ in range(3):
        working_state(repository, untracked=remembered)
    rules.write_text("one.py\n")
    found = working_state(repository, untracked=remembered)
    assert found == working_state(repository)
    assert "loose/one.py" not in {dirty.path for dirty in found[1]}


def look_thrice(repository: Repository, remembered: Untracked[DirtyPath]) -> None:
    time.sleep(0.02)
    for _ in range(3):
        working_state(repository, untracked=remembered)
    assert remembered.is_known


def test_a_directory_that_only_looks_like_a_repository_is_searched(looked_at):
    made, repository, remembered = looked_at
    (made.path / "loose/.git").mkdir()
    look_thrice(repository, remembered)
    (made.path / "loose/deep/more.py").write_text("x\n")
    found = working_state(repository, untracked=remembered)
    assert found == working_state(repository)
    assert "loose/deep/more.py" in {dirty.path for dirty in found[1]}
    look_thrice(repository, remembered)
    shutil.rmtree(made.path / "loose/.git")
    made.git("init", "--quiet", made.path / "loose")
    assert working_state(repository, untracked=remembered) == working_state(repository)


def test_what_is_in_a_repository_inside_is_not_watched(looked_at):
    made, repository, remembered = looked_at
    made.git("init", "--quiet", made.path / "loose")
    made.git("init", "--quiet", made.path / "dir/kept")
    made.git("add", "--force", "dir/kept/three.py", check=False)
    look_thrice(repository, remembered)
    assert not any(path.endswith(b"loose/deep") for path in remembered._signs or ())


def test_a_repository_inside_whose_git_directory_lies_elsewhere_may_stop_being_one(looked_at):
    """As a submodule's does, in the git directory of the repository around it."""
    made, repository, remembered = looked_at
    kept = made.path / ".git/inner"
    made.git("init", "--quiet", "--separate-git-dir", kept, made.path / "inner")
    (made.path / "inner/new.py").write_text("x\n")
    look_thrice(repository, remembered)
    assert remembered.is_known
    shutil.rmtree(kept)
    assert working_state(repository, untracked=remembered) == working_state(repository)


@pytest.mark.parametrize("place", ["global", "worktree", "on a branch"])
def test_configuration_that_comes_up_is_seen(looked_at, place):
    made, _, _ = looked_at
    rules = made.path.parent / "rules"
    rules.write_text("one.py\n")
    made.environment["GIT_CONFIG_GLOBAL"] = str(made.path.parent / "not-there-yet")
    other = made.path.parent / "of-a-branch"
    if place == "worktree":
        made.git("config", "extensions.worktreeConfig", "true")
    if place == "on a branch":
        made.git("config", "includeIf.onbranch:topic.path", other)
        other.write_text(f"[core]\n\texcludesFile = {rules}\n")
    repository = Repository.discover(made.path, made.environment)
    remembered: Untracked[DirtyPath] = Untracked(repository)
    look_thrice(repository, remembered)
    if place == "on a branch":
        made.git("symbolic-ref", "HEAD", "refs/heads/topic")
        made.git("update-ref", "HEAD", "main")
    else:
        made.git("config", f"--{place}", "core.excludesFile", rules)
    found = working_state(repository, untracked=remembered)
    assert found == working_state(repository)
    assert "loose/one.py" not in {dirty.path for dirty in found[1]}


def test_git_is_spared_the_search_while_nothing_changes(looked_at):
    made, repository, remembered = looked_at
    (made.path / "a.py").write_text("changed\n")
    asked = []
    own = repository.git
    repository.git = lambda *args, **more: asked.append(args) or own(*args, **more)
    state = working_state(repository, untracked=remembered)
    assert [args[-1] for args in asked if args[0] == "status"] == ["--untracked-files=no"]
    assert {dirty.path for dirty in state[1]} == {"a.py", "loose/one.py", "loose/deep/two.py"}


def test_what_has_just_changed_is_not_trusted(make_repository):
    """A second change in the same tick of the file system's clock would leave no sign."""
    made = make_repository(FILES)
    (made.path / "new.py").write_text("x\n")
    repository = Repository.discover(made.path)
    remembered: Untracked[DirtyPath] = Untracked(repository)
    for _ in range(3):
        working_state(repository, untracked=remembered)
    assert not remembered.is_known
