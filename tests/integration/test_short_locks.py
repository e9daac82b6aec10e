"""The index is locked for writing only while it is written: what follows from git is worked out before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gitrag.git import Repository
from gitrag.indexing import difference
from gitrag.indexing import refresh as refreshing
from gitrag.indexing.refresh import refresh
from gitrag.machine.locks import is_held
from tests.support.indexes import open_app


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch, make_repository):
    """A repository with an index, and what was done while the index was locked for writing."""
    repo = make_repository({f"m{n}.py": f"def m{n}(): return {n}\n" for n in range(3)})
    workspace = open_app(repo)
    workspace.update()
    done: list[tuple[str, bool]] = []

    def watch(owner: object, name: str) -> None:
        real = getattr(owner, name)

        def call(*args, **kwargs):
            done.append((name, is_held(workspace.store.directory / "lock")))
            return real(*args, **kwargs)

        monkeypatch.setattr(owner, name, call)

    watch(difference, "decide")
    watch(difference, "prepare_paths")
    watch(refreshing, "prepare_all")
    watch(Repository, "diff")
    return repo, workspace, done


@contextmanager
def counted_writes(workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    purposes: list[str] = []
    real = workspace.store.write

    def write(purpose: str, **how):
        purposes.append(purpose)
        return real(purpose, **how)

    monkeypatch.setattr(workspace.store, "write", write)
    yield purposes


def test_nothing_is_planned_or_cut_under_the_lock(watched):
    repo, workspace, done = watched
    repo.commit({"m1.py": "def changed(): return 1\n", "new/deep.py": "def new(): return 2\n"})
    repo.write({"m2.py": "def dirty(): return 3\n"})
    workspace.update()
    assert {name for name, _held in done} == {"decide", "prepare_paths", "prepare_all", "diff"}
    assert not [name for name, held in done if held]


def test_a_commit_is_one_transaction_and_one_for_what_it_says(watched, monkeypatch):
    repo, workspace, _done = watched
    repo.commit({"m1.py": "def changed(): return 1\n", "new.py": "def new(): return 2\n"})
    with counted_writes(workspace, monkeypatch) as purposes:
        indexed = workspace.update()
    assert purposes == ["updating the view", "keeping what commits say"]
    assert (indexed.refreshed.cut, indexed.refreshed.waiting) == (2, 0)


def test_what_moves_meanwhile_is_planned_again(watched, monkeypatch):
    """Another process moves the view between the plan and the lock."""
    repo, workspace, _done = watched
    repo.commit({"m1.py": "def one(): return 1\n"})
    now = workspace.snapshot()
    repo.commit({"m1.py": "def two(): return 1\n", "m2.py": None})
    real = workspace.store.write

    def write(purpose: str, **how):
        monkeypatch.undo()
        open_app(repo).update()  # to the later commit
        return real(purpose, **how)

    monkeypatch.setattr(workspace.store, "write", write)
    refreshed = refresh(workspace.store, now)
    assert refreshed.view.tree == now.head.tree
    with workspace.store.read() as db:
        names = {
            row[0] for row in db.execute("SELECT name FROM chunks JOIN entries USING (content_id)").fetchall()
        }
    assert {"one", "m2"} <= names
