"""``gitrag init``: all or nothing, and the same again."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gitrag.errors import USAGE
from gitrag.hooking.config_hooks import SINCE
from gitrag.machine.prerequisites import PACKAGES
from tests.support.command import GITRAG, Project, everything_in
from tests.support.gitversion import GIT_VERSION

HIDE = """
import sys
from importlib.machinery import PathFinder

class Without:
    find_distributions = PathFinder.find_distributions

    @staticmethod
    def find_spec(name, path=None, target=None):
        return None if name.partition(".")[0] == {package!r} else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Without
"""
HOOKS = ["post-checkout", "post-commit", "post-merge", "post-rewrite", "pre-push"]


@pytest.fixture
def lacking(tmp_path):
    """Give an environment in which a package is not installed."""

    def lacking(package):
        place = tmp_path / "without" / package
        place.mkdir(parents=True)
        (place / "sitecustomize.py").write_text(HIDE.format(package=package))
        return {"PYTHONPATH": str(place)}

    return lacking


def test_init_says_what_it_did_and_what_comes_next(project, model_dir):
    done = project.gitrag("init", "--foreground")
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "Hooks: post-commit, post-merge, post-checkout, post-rewrite, pre-push"
    assert lines[1] == ".gitignore: .sdd/ added, where copies of the tracker's issues go"
    assert lines[2].startswith("Indexed 2 chunks from 2 files in ")
    assert lines[3] == "  1 uncommitted change on top"
    assert lines[4].startswith("Embedded 6 texts in ")
    assert lines[6] == 'Next: gitrag search "where is …"'
    assert sorted(path.name for path in (project.path / ".git" / "hooks").iterdir()) == HOOKS
    assert (project.path / ".gitignore").read_text() == ".sdd/\n"


def test_init_again_changes_nothing_more(project):
    """Setup scripts can run it each time."""
    project.git.write({".gitignore": "*.log"})
    assert project.gitrag("init", "--skip-embed").status == 0
    assert (project.path / ".gitignore").read_text() == "*.log\n.sdd/\n"
    before = everything_in(project.path)
    done = project.gitrag("init", "--skip-embed")
    assert (done.status, done.err) == (0, "")
    assert ".gitignore: .sdd/ is in it\n" in done.out
    assert "  nothing was new\n" in done.out
    assert everything_in(project.path) == before


def test_git_need_not_read_every_file_of_a_fresh_clone_again(project):
    """Which files are as it knows them is noted once, as the user's own `git status` does."""
    file = next(path for path in project.path.iterdir() if path.suffix == ".py")
    os.utime(file, (1, 1))
    assert project.git.git("diff-files", "--name-only") == file.name  # it would have to be read
    assert project.gitrag("init", "--skip-embed").status == 0
    assert project.git.git("diff-files", "--name-only") == ""


def test_without_git_nothing_is_written(project, tmp_path):
    """Half a setup is worse than none."""
    before = everything_in(project.path)
    (tmp_path / "bin").mkdir()
    env = {"PATH": str(tmp_path / "bin")}
    done = project.gitrag("init", env=env)
    assert (done.status, done.out) == (78, "")
    assert done.said == [
        "Prerequisite missing (git): git is not installed.",
        "hint: Install git: https://git-scm.com/downloads",
    ]
    assert everything_in(project.path) == before
    assert project.gitrag("search", "x", env=env).said[0] == "git was not found on PATH."
    assert project.gitrag("config", "limit", env=env).out == "8\n"
    done = project.gitrag("doctor", env=env)
    assert (done.status, done.out.splitlines()[0]) == (1, "fail  git           git is not installed")


def test_with_an_old_git_nothing_is_written(project, tmp_path):
    before = everything_in(project.path)
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho git version 2.20.1\n")
    old.chmod(0o755)
    done = project.gitrag("init", env={"PATH": str(old.parent)})
    assert (done.status, done.out) == (78, "")
    assert done.said == ["Prerequisite missing (git): git 2.20.1 is older than 2.31.", "hint: Upgrade git."]
    assert everything_in(project.path) == before


@pytest.mark.parametrize("package", PACKAGES[::5])
def test_without_a_package_nothing_is_written(project, lacking, package):
    """Half a setup is worse than none."""
    before = everything_in(project.path)
    done = project.gitrag("init", env=lacking(package))
    assert (done.status, done.out) == (78, "")
    assert done.said == [
        f"Prerequisite missing (packages): not installed: {package}.",
        "hint: python -m pip install --force-reinstall gitrag",
    ]
    assert everything_in(project.path) == before


@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("package", ["pygit2", "duckdb", "onnxruntime"])
def test_without_a_package_other_commands_say_what_to_do(indexed, lacking, package):
    env = lacking(package)
    done = indexed.gitrag("search", "retry with backoff", "newer words", env=env)
    assert done.status in {0, 78}
    if done.status:
        assert done.said[-2].startswith("A package that gitrag needs cannot be loaded: ")
        assert done.said[-1] == "hint: python -m pip install --force-reinstall gitrag"
    done = indexed.gitrag("doctor", env=env)
    assert done.status == 1
    assert f"fail  packages      not installed: {package}\n" in done.out


def test_a_hook_of_ones_own_stays_and_is_told_where_it_cannot_be_changed(project):
    project.git.hook("post-commit", "echo mine\n")
    hook = project.path / ".git" / "hooks" / "pre-push"
    hook.write_text("#!/usr/bin/env python3\nprint('mine')\n")
    hook.chmod(0o755)
    done = project.gitrag("init", "--skip-embed")
    assert done.status == 0
    beside = GIT_VERSION >= SINCE
    named = "post-commit, post-merge, post-checkout, post-rewrite" + ", pre-push" * beside
    assert done.out.startswith(f"Hooks: {named}\n")
    said = [
        "warning: 1 hook is not gitrag's to change.",
        "hint: `gitrag hooks status` says why, and what to add.",
    ]
    assert done.said == ([] if beside else said)
    assert hook.read_text() == "#!/usr/bin/env python3\nprint('mine')\n"
    done = project.gitrag("hooks", "status")
    assert done.status == (not beside)
    assert "in a shell:\ntest ! -e " in done.out
    assert f"mv {hook} {hook}.own && " in done.out
    assert project.gitrag("hooks", "uninstall").status == 0
    own = project.path / ".git" / "hooks" / "post-commit"
    assert own.read_text() == "#!/bin/sh\necho mine\n"


@pytest.mark.parametrize("content", [None, "*.log"])
def test_gitignore_is_left_alone_on_request(project, content):
    path = project.path / ".gitignore"
    if content is not None:
        path.write_text(content)
    done = project.gitrag("init", "--no-gitignore", "--skip-embed")
    assert done.status == 0
    assert ".gitignore" not in done.out
    assert (path.read_text() if path.exists() else None) == content


def test_a_link_in_gitignores_place_is_left_alone(project, tmp_path):
    target = tmp_path / "elsewhere"
    target.write_text("kept\n")
    (project.path / ".gitignore").symlink_to(target)
    done = project.gitrag("init", "--skip-embed", "--no-hooks")
    assert done.status == 0
    assert done.said[0].startswith(f"warning: {project.path}/.gitignore is a symbolic link.")
    assert target.read_text() == "kept\n"
    assert not (project.path / ".git" / "hooks").exists()


def test_the_command_works_as_a_git_subcommand(project):
    done = subprocess.run(
        ["git", "gitrag", "status"],
        cwd=project.path,
        env={**project.git.environment, "PATH": f"{GITRAG.parent}:{project.git.environment['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.partition("\n")[0]) == (
        0,
        f"repository  project, main at {project.git.git('rev-parse', 'HEAD')[:10]}",
    )


def test_one_command_sets_all_up(project):
    """Agents only when asked; idempotent, removable."""
    project.git.write({"AGENTS.md": "# Rules\n"})
    assert project.gitrag("init", "--skip-embed").status == 0
    before = own_files(project)
    (project.path / ".git" / "hooks" / "post-commit").unlink()
    done = project.gitrag("init", "--skip-embed", "--agents", "codex")
    assert done.status == 0
    assert "post-commit" in done.out.partition("\n")[0]
    assert "changed AGENTS.md" in done.out
    assert "Nothing to do for codex.\n" in project.gitrag("init", "--skip-embed", "--agents", "codex").out
    assert project.gitrag("config", "search_strategy_mode").out == "hybrid\n"
    project.gitrag("init", "--agents", "--remove")
    assert own_files(project) == before


def test_agents_that_nobody_uses_are_not_set_up_unasked(project):
    """Without a terminal it is said what would be written; with one it is asked."""
    before = own_files(project)
    home = Path(project.gitrag.environment["HOME"])
    done = project.gitrag("agents", "install")
    assert (done.status, done.out) == (1, "")
    assert "claude    .mcp.json, CLAUDE.md, .claude/skills/gitrag-*, .gitrag.yaml" in done.said
    (home / ".codex").mkdir()
    done = project.gitrag("init", "--skip-embed", "--no-gitignore", "--agents")
    assert done.status == 0
    assert done.said[1:] == [
        "codex     .codex/config.toml, AGENTS.md, .agents/skills/gitrag-*, .gitrag.yaml",
        "hint: `gitrag agents install codex` writes these",
    ]
    for typed in ("none\n", "\x04"):
        assert project.gitrag.on_terminal("agents", "install", typed=typed).status == 1
        assert own_files(project) == before
    done = project.gitrag.on_terminal("agents", "install", typed="\n")
    assert done.status == 0
    assert "[codex]" in done.out
    assert "written .codex/config.toml" in done.out
    assert project.gitrag("agents", "install").out == "Nothing to do for codex.\n"
    project.gitrag("agents", "remove")
    assert own_files(project) == before


def own_files(project: Project) -> dict[str, bytes | str]:
    """Return what is in the working tree."""
    found = everything_in(project.path)
    return {name: content for name, content in found.items() if not name.startswith(".git/")}


@pytest.mark.parametrize("arguments", [["--remove"], ["--http", "x"], ["--agents", "emacs"]])
def test_agents_that_make_no_sense_are_refused(project, arguments):
    assert project.gitrag("init", *arguments).status == USAGE
    assert not (project.path / ".git" / "hooks").exists()
