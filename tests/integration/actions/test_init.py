"""Setting a repository up is a row of steps, each done before it is told."""

from __future__ import annotations

import pytest

from gitrag.actions.embed import EmbeddingInBackground
from gitrag.actions.init import initialise
from gitrag.actions.requests import InitRequest
from gitrag.errors import NotSetUpError
from gitrag.hooking.status import HookState
from gitrag.workspace import Indexed, Workspace
from tests.support.progress import no_progress
from tests.support.repository import GitRepository

HOOKS = ("post-commit", "post-merge", "post-checkout", "post-rewrite", "pre-push")


@pytest.fixture
def own(make_repository) -> GitRepository:
    return make_repository({"a.py": "def open_door():\n    return 1\n"})


def steps(own: GitRepository, *, hooks: bool = True, skip_embed: bool = True):
    return initialise(
        lambda: Workspace.open(own.path, environ=own.environment),
        own.environment,
        no_progress,
        InitRequest(hooks=hooks, skip_embed=skip_embed),
    )


def test_each_step_is_done_when_it_is_told_and_not_before(own):
    hook, ignored = own.path / ".git" / "hooks" / "post-commit", own.path / ".gitignore"
    index = own.path / ".git" / "gitrag" / "index.duckdb"
    row = steps(own)
    assert not hook.exists()
    hooks = next(row)
    assert [(each.name, each.state) for each in hooks] == [(name, HookState.INSTALLED) for name in HOOKS]
    assert (hook.exists(), ignored.exists()) == (True, False)
    assert next(row) is True
    assert (ignored.exists(), index.exists()) == (True, False)
    indexed = next(row)
    assert isinstance(indexed, Indexed)
    assert (indexed.counts.files, index.exists()) == (1, True)
    assert list(row) == [None]


def test_what_is_there_is_told_as_such(own):
    list(steps(own))
    first, *_ = steps(own, hooks=False)
    assert first is False


def test_a_gitignore_that_cannot_be_written_does_not_keep_the_index_from_being_made(own, tmp_path):
    (own.path / ".gitignore").symlink_to(tmp_path / "elsewhere")
    ignored, indexed, _ = steps(own, hooks=False)
    assert "is a symbolic link" in str(ignored)
    assert isinstance(indexed, Indexed)


def test_without_git_the_repository_is_not_even_opened(tmp_path):
    row = initialise(lambda: pytest.fail("opened"), {"PATH": str(tmp_path)}, no_progress, InitRequest())
    with pytest.raises(NotSetUpError, match="git is not installed"):
        next(row)


def test_vectors_are_left_to_the_worker_which_may_fetch_the_model_at_once(own, tmp_path, monkeypatch):
    started: list[Workspace] = []
    monkeypatch.setattr("gitrag.actions.embed.start_worker", started.append)
    own.environment["GITRAG_MODEL_DIR"] = str(tmp_path / "none")
    failed = own.path / ".git" / "gitrag" / "model.failed"
    failed.parent.mkdir()
    failed.write_text("No network.")
    last = list(steps(own, hooks=False, skip_embed=False))[-1]
    assert isinstance(last, EmbeddingInBackground)
    assert (last.texts, last.download_bytes > 0, last.log) == (4, True, failed.parent / "log")
    assert (len(started), failed.exists()) == (1, False)
