"""No process of gitrag's runs a program that lies in the repository, whatever PATH says."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.command import Gitrag, Project, user_environment
from tests.support.repository import GitRepository, create_repository
from tests.support.traces import A_FEW, THE_OTHERS, idle, run_everything

OTHERS = {
    "git",
    "rg",
    "gh",
    "bd",
    "tea",
    "glab",
    "gitrag",
    "git-gitrag",
    "git-lfs",
    "ldconfig",
    "objdump",
    "gcc",
    "man",
}
"""Programs that gitrag or a library may call, also where this machine has none."""

TRACKERS = ("github", "gitea", "gitlab", "beads")
FILES = {
    "client.py": "def retry_with_backoff():\n    '''Retry.'''\n",
    ".beads/issues.jsonl": '{"id": "b-1", "title": "Retry", "status": "open"}\n',
}


def plant(git: GitRepository, script: str) -> None:
    """Put a program into the repository for each that the machine has, and some more."""
    places = [Path(place) for place in os.environ["PATH"].split(":")]
    names = {path.name for place in places if place.is_dir() for path in place.iterdir()}
    planted = git.path / ".planted"
    planted.write_text(script)
    planted.chmod(0o755)
    for name in names | OTHERS:
        target = git.path / name
        if not target.exists() and name not in {".", ".."}:
            target.hardlink_to(planted)
    planted.unlink()
    (git.path / ".git" / "info").mkdir(exist_ok=True)
    (git.path / ".git" / "info" / "exclude").write_text("/*\n!/client.py\n!/.beads\n")


@pytest.mark.timeout(900)
def test_no_program_of_the_repository_is_run(tmp_path, model_dir, traces, some):
    environment = user_environment(tmp_path / "home", model_dir)
    git = create_repository(tmp_path / "project", environment, FILES)
    plant(git, f"#!/bin/sh\n: >'{traces.directory}'/\"${{0##*/}}\"\n")
    gitrag = Gitrag(git.path, environment | {"PATH": f":.:x/..:{os.environ['PATH']}::bin:"})
    started = dataclasses.replace(gitrag, forks=False)

    def seen(what: str) -> None:
        assert traces.found() == [], what

    first = [A_FEW[0], A_FEW[2], A_FEW[-1]]
    run_everything(Project(git, started), seen, commands=first, commit=False)  # what they load may run any
    run_everything(Project(git, gitrag), seen, commands=[*A_FEW, *some(THE_OTHERS, keep=4)])
    for tracker in TRACKERS:
        git.git("remote", "remove", "origin", check=False)
        git.git("remote", "add", "origin", f"https://{tracker}.test/team/project.git")
        gitrag("issues", "sync", "--tracker", tracker)
        seen(tracker)


@pytest.mark.parametrize("hook", ["post-commit", "pre-push"])
def test_hooks_run_no_program_of_the_repository(tmp_path, model_dir, traces, hook):
    """The shell of a hook finds by PATH what gitrag's script names, and git starts it in the working tree."""
    environment = user_environment(tmp_path / "home", model_dir)
    git = create_repository(tmp_path / "project", environment, FILES)
    project = Project(git, Gitrag(git.path, environment))
    assert project.gitrag("init").status == 0
    idle(project)
    script = git.path / ".git" / "hooks" / hook
    said = script.read_text()
    assert "gitrag='" in said or "gitrag=/" in said
    plant(git, f"#!/bin/sh\n: >'{traces.directory}'/\"${{0##*/}}\"\n")
    # as it is when gitrag has been moved: it is looked for by PATH
    lines = [("gitrag=" if line.strip().startswith("gitrag=/") else line) for line in said.splitlines()]
    script.write_text("\n".join(lines) + "\n")

    done = subprocess.run(
        [script, "origin", "https://localhost/x"],
        cwd=git.path,
        env=environment | {"PATH": f":.:x/..:{os.environ['PATH']}::bin:"},
        input=b"",
        capture_output=True,
        check=False,
    )
    idle(project)

    assert (done.returncode, done.stdout, traces.found()) == (0, b"", [])


def test_the_planted_programs_would_run(tmp_path, model_dir, traces):
    """What the tests above look for happens where PATH is taken as it is."""
    environment = user_environment(tmp_path / "home", model_dir)
    git = create_repository(tmp_path / "project", environment, FILES)
    plant(git, f"#!/bin/sh\n: >'{traces.directory}'/\"${{0##*/}}\"\n")

    subprocess.run(
        ["/bin/sh", "-c", "git status"], cwd=git.path, env={"PATH": f".:{os.environ['PATH']}"}, check=True
    )

    assert traces.found() == ["git"]
    assert shutil.which("git") is not None
