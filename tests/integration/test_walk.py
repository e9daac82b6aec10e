"""Whatever git and its users did, in whatever order, the next answer is about the files as they are."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gitrag.git import untracked
from tests.support.acts import FILES
from tests.support.walk import NO_MODEL, Walk


@pytest.fixture
def make_walk(make_repository, tmp_path: Path, monkeypatch):
    # What is trusted after two seconds is trusted after a tick here, or nothing would ever be remembered.
    monkeypatch.setattr(untracked, "_SETTLED_NS", 12_000_000)
    monkeypatch.setattr(untracked, "_PAUSE_NS", 0)

    def make(seed: int) -> Walk:
        repo = make_repository(FILES)
        repo.environment |= NO_MODEL | {"GITRAG_MODEL_DIR": str(tmp_path / "none")}
        space = tmp_path / "space"
        space.mkdir()
        return Walk(repo, random.Random(seed), space)

    return make


@pytest.mark.timeout(900)  # a minute for all on an idle machine of two cores
@pytest.mark.parametrize("seed", range(3))
def test_a_hundred_steps(make_walk, seed):
    walk = make_walk(seed)
    walk.go(100, compare_every=10)
    assert min(walk.kept) > 5, "what is kept in memory was not put to the test"


@pytest.mark.parametrize("killed", [False, True])
def test_with_hooks_that_work_meanwhile(make_walk, killed):
    walk = make_walk(50 + killed)
    walk.hook_up(killed=killed)
    if not killed:  # before anybody asks: on a busy machine, each question may come before its worker
        walk.repo.commit({"early.py": "x = 1\n"})
        walk.wait_for_hooks()
        assert "post-commit: " in (walk.repo.path / ".git/gitrag/log").read_text(), "no worker ended"
    walk.go(30, compare_every=10)
