"""From where and how git is called: what runs gitrag's hook, and what does without it in silence."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from gitrag.git import Repository
from gitrag.hooking.install import install
from tests.support.hooked import Hooked
from tests.support.repository import GitRepository

FIRES, SILENT = ["hook run post-commit"], []


def here(hooked: Hooked, _tmp: Path) -> GitRepository:
    return hooked.git


def submodule(hooked: Hooked, tmp: Path) -> GitRepository:
    """A repository that is a submodule of another, where gitrag is set up."""
    outer = GitRepository(tmp / "outer", hooked.git.environment)
    outer.path.mkdir()
    outer.git("init", "--quiet")
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(hooked.git.path), "lib")
    return GitRepository(outer.path / "lib", hooked.git.environment)


def outside(hooked: Hooked, tmp: Path) -> GitRepository:
    """The repository around that submodule, where gitrag is not."""
    inner = submodule(hooked, tmp)
    install(Repository.discover(inner.path), str(hooked.stand_in.path))
    return GitRepository(inner.path.parent, hooked.git.environment)


def worktree(hooked: Hooked, tmp: Path) -> GitRepository:
    return hooked.git.worktree(tmp / "linked", "--detach")


def worktree_of_submodule(hooked: Hooked, tmp: Path) -> GitRepository:
    return submodule(hooked, tmp).worktree(tmp / "linked", "--detach")


def own_hooks_path(hooked: Hooked, tmp: Path) -> GitRepository:
    """A linked worktree whose own configuration has a hooksPath, beside one that has none."""
    linked = worktree(hooked, tmp)
    hooked.git.git("config", "extensions.worktreeConfig", "true")
    (tmp / "own hooks").mkdir()
    linked.git("config", "--worktree", "core.hooksPath", str(tmp / "own hooks"))
    return linked


BARE = {"PATH": "/usr/bin:/bin"}

Situation: TypeAlias = tuple[Callable[[Hooked, Path], GitRepository], list[str], dict[str, str], list[str]]

SITUATIONS: dict[str, Situation] = {
    "a terminal": (here, [], {}, FIRES),
    "a GUI client, whose PATH is bare": (here, [], BARE, FIRES),
    "a client that names the repository in the environment": (here, [], {"GIT_DIR": ".git"}, FIRES),
    "git -c core.hooksPath=": (here, ["-c", "core.hooksPath="], {}, SILENT),
    "git -c core.hooksPath=/dev/null": (here, ["-c", "core.hooksPath=/dev/null"], {}, SILENT),
    "GITRAG=0": (here, [], {"GITRAG": "0"}, SILENT),
    "a submodule": (submodule, [], {}, FIRES),
    "the repository around it": (outside, [], {}, SILENT),
    "a linked worktree": (worktree, [], {}, FIRES),
    "a linked worktree of a submodule": (worktree_of_submodule, [], {}, FIRES),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_commit_from(hooked, tmp_path, name):
    place, options, environment, expected = SITUATIONS[name]
    repo = place(hooked, tmp_path)
    if expected:
        install(Repository.discover(repo.path), str(hooked.stand_in.path))
    else:
        hooked.install()
    hooked.stand_in.forget()
    done = subprocess.run(
        ["git", *options, "commit", "--quiet", "--allow-empty", "--message", "more"],
        cwd=repo.path,
        env=repo.environment | environment,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    if not expected:  # what fires only now was not fired before
        hooked.git.git("commit", "--quiet", "--allow-empty", "--message", "next")
    [event] = hooked.stand_in.wait_for(1)
    assert event["args"] == FIRES[0].split()
    assert event["cwd"] == str(repo.path if expected else hooked.git.path)


def test_a_hooks_path_of_one_worktree_concerns_no_other(hooked, tmp_path):
    linked = own_hooks_path(hooked, tmp_path)
    reports = install(Repository.discover(linked.path), str(hooked.stand_in.path))
    hooked.stand_in.forget()
    assert {report.path.parent for report in reports} == {tmp_path / "own hooks"}
    assert list((tmp_path / "own hooks").iterdir()) == []  # outside the repository: nobody was asked
    hooked.install()
    hooked.git.git("commit", "--quiet", "--allow-empty", "--message", "more")
    [event] = hooked.stand_in.wait_for(1)
    assert event["cwd"] == str(hooked.git.path)
