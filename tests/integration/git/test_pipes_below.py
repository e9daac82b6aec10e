"""Named pipes in the place of rule files below the top: git waits for a writer who never comes."""

from __future__ import annotations

import os

import pytest

from gitrag.actions.doctor import examine
from gitrag.errors import RepositoryError
from gitrag.git import Repository, working_state
from gitrag.git import environment as running_git
from gitrag.git.environment import TIMEOUT_VARIABLE, run_git
from tests.support.indexes import open_app

SOURCES = {"a.py": "def a():\n    pass\n", "deep/er/b.py": "b = 1\n"}


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    monkeypatch.setattr(running_git, "PATIENCE_S", 0.2)
    monkeypatch.setenv(TIMEOUT_VARIABLE, "20")  # where nobody looks


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes"])
def test_git_that_waits_for_a_pipe_is_ended_and_the_pipe_is_named(make_repository, name):
    repository = make_repository(SOURCES)
    found = Repository.discover(repository.path)
    pipe = repository.path / "deep" / "er" / name
    os.mkfifo(pipe)
    (repository.path / "deep" / "er" / "b.py").write_text("b = 2\n")

    with pytest.raises(RepositoryError, match="named pipe") as raised:
        working_state(found)
    assert str(pipe) in str(raised.value)
    assert raised.value.hint == "Remove it."


def test_doctor_names_the_pipe_and_goes_on(make_repository, model_dir):
    repository = make_repository(SOURCES)
    repository.environment |= {"GITRAG_MODEL_DIR": str(model_dir), TIMEOUT_VARIABLE: "20"}
    open_app(repository).update()
    pipe = repository.path / "deep" / ".gitignore"
    os.mkfifo(pipe)

    checks = {check.name: check for check in examine(repository.path, repository.environment)}
    assert checks["freshness"].state.value == "fail"
    assert str(pipe) in checks["freshness"].message
    assert checks["model"].state.value == "ok"


def test_git_that_is_only_slow_answers_in_full(make_repository, monkeypatch):
    repository = make_repository(SOURCES)
    monkeypatch.setattr(running_git, "PATIENCE_S", 0.0)
    looks: list[None] = []
    sent = b"a.py\n" * 100_000
    done = run_git(
        ["hash-object", "--stdin-paths"],
        cwd=repository.path,
        environment=repository.environment,
        stdin=sent,
        look=lambda: looks.append(None),
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.split() == [repository.blob("a.py").encode()] * 100_000
    assert len(looks) == 1
