"""Sharing vectors: a repository, and what is in its git directory, have it do nothing but the user's will."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitrag.config.of_repository import settings_of
from gitrag.git import Repository
from gitrag.git.remote_files import REF
from tests.hostile.test_git_configuration import BESIDE, RUN
from tests.support.command import Project, indexed_project, user_environment
from tests.support.repository import create_repository
from tests.support.traces import Traces, idle


@pytest.fixture(scope="module")
def made(tmp_path_factory, model_dir) -> Project:
    """What ``project`` is copied from."""
    return indexed_project(tmp_path_factory.mktemp("made"), model_dir)


@pytest.fixture
def project(made, tmp_path, model_dir) -> Project:
    environment = user_environment(tmp_path / "home", model_dir)
    found = made.copied(tmp_path / "project", environment)
    create_repository(tmp_path / "origin.git", environment, bare=True)
    found.git.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    found.git.git("push", "--quiet", "origin", "main")
    found.git.git("fetch", "--quiet")
    return found


def refs(tmp_path: Path, project: Project) -> str:
    return project.git.git("--git-dir", str(tmp_path / "origin.git"), "for-each-ref", "--format=%(refname)")


def test_a_repository_only_suggests_where_to_share(project, tmp_path):
    project.git.write({".gitrag.yaml": "share: git\nshare_push: on\n"})
    done = project.gitrag("share", "push")
    assert (done.status, "No vectors are shared: the setting share is off." in done.err) == (78, True)
    assert "suggests share git: not done. To do it, `git config --global gitrag.share git`;" in done.err
    assert ".gitrag.yaml sets share_push, which only you may set: ignored." in done.err
    quiet = project.gitrag("share", "push", env={"GITRAG_SHARE": "off"})
    assert "suggests" not in quiet.err
    for value in (
        "git; touch /tmp/evil",
        "[git]",
        "https://user:secret@host/",
        "git:--upload-pack=x",
        "x" * 9999,
    ):
        project.git.write({".gitrag.yaml": f"share: '{value}'\n"})
        err = project.gitrag("share", "push").err
        assert "suggests a value of share that is none: ignored." in err
        assert value not in err


def test_a_repositorys_own_git_configuration_does_not_share(project, tmp_path):
    project.git.git("config", "gitrag.share", "git")
    project.git.git("config", "gitrag.sharePush", "on")
    done = project.gitrag("share", "push")
    assert done.status == 78
    assert (
        "gitrag.share of the repository's own git configuration is ignored: use git config --global."
        in done.err
    )
    project.gitrag("hook", "run", "worker")
    idle(project)
    assert refs(tmp_path, project) == "refs/heads/main"


def test_the_users_own_setting_stands_where_the_repository_has_one_too(make_repository):
    git = make_repository({})
    git.git("config", "--global", "gitrag.share", "off")
    git.git("config", "gitrag.share", "git")
    settings = settings_of(Repository.discover(git.path), git.environment)
    assert settings.share == "off"
    assert [line.partition(" ")[0] for line in settings.warnings] == ["gitrag.share"]


def test_nothing_runs_that_the_repository_or_the_packs_repository_configures(project, tmp_path):
    (tmp_path / "traces").mkdir()
    traces = Traces(tmp_path / "traces")
    for kind, keys in RUN.items():
        for key in keys:
            project.git.git("config", key, traces.program(f"{kind}-{key}".replace("/", "_")))
    for key, value in BESIDE.items():
        if not key.startswith("remote.origin"):
            project.git.git("config", key, value.format(command=traces.program("url")))
    project.git.git("config", "url.ext::evil.insteadOf", str(tmp_path))
    for name in ("pre-push", "reference-transaction", "post-index-change"):
        project.git.hook(name, traces.script(f"hook-{name}"))
    # as an archive may bring it, in place of the repository that keeps the packs
    side = create_repository(project.store / "share.git", project.git.environment, bare=True)
    for key in (
        "core.sshCommand",
        "uploadpack.packObjectsHook",
        "core.alternateRefsCommand",
        "core.fsmonitor",
    ):
        side.git("config", key, traces.program(f"side-{key}"))
    side.git("config", "extensions.worktreeConfig", "true")
    (side.path / "config.worktree").write_text(f"[core]\n\tsshCommand = {traces.program('worktree')}\n")
    (side.path / "commondir").write_text(str(tmp_path / "home"))
    for name in ("pre-push", "reference-transaction"):
        (side.path / "hooks").mkdir(exist_ok=True)
        (side.path / "hooks" / name).write_text(f"#!/bin/sh\n{traces.script(f'side-{name}')}\n")
        (side.path / "hooks" / name).chmod(0o755)

    shared = {"GITRAG_SHARE": "git", "GITRAG_SHARE_PUSH": "on"}
    for command in (("push",), ("pull",), ("status",), ("verify",), ("gc", "--apply")):
        done = project.gitrag("share", *command, env=shared)
        assert done.status in {0, 1}, done
        assert traces.found() == [], command
    project.gitrag("hook", "run", "worker", env=shared)
    idle(project)
    assert traces.found() == []
    assert refs(tmp_path, project) == f"{REF}\nrefs/heads/main"


def test_a_link_in_place_of_the_packs_repository_is_not_followed(project, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (project.store / "share.git").symlink_to(tmp_path / "elsewhere")
    done = project.gitrag("share", "push", env={"GITRAG_SHARE": "git"})
    assert done.status == 78, done
    assert "share.git" in done.err
    assert list((tmp_path / "elsewhere").iterdir()) == []
