"""A search beside others that commit again and again is answered, of one commit, and soon."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from gitrag.actions import search as search_action
from gitrag.actions.search import SearchOptions, _Meanwhile, search
from gitrag.indexing.recipe import RECIPE
from gitrag.store.connection import Store
from gitrag.workspace import Workspace
from tests.support.indexes import open_app
from tests.support.repository import GitRepository

PATIENCE_S = 120.0
LOOSELY = SearchOptions(min_score=0.0)


def busily(repo: GitRepository, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Let another process commit and index whenever the search has caught up; count how often."""
    count = 0
    real = search_action.refresh

    def refresh(*args, **kwargs):
        nonlocal count
        refreshed = real(*args, **kwargs)
        if "at_once" not in kwargs:
            count += 1
            repo.commit({"stamp.py": f"def stamp():\n    return {count}\n"})
            other = open_app(repo)
            real(other.store, other.snapshot())
        return refreshed

    monkeypatch.setattr(search_action, "refresh", refresh)
    return lambda: count


@pytest.mark.parametrize("resident", [False, True])
def test_others_that_move_the_view_again_and_again_keep_no_answer_back(
    make_repository, monkeypatch, resident
):
    repo = make_repository({"stamp.py": "def stamp():\n    return 0\n"})
    open_app(repo).update()
    workspace = Workspace.open(repo.path, environ=repo.environment, resident=resident)
    search(workspace, "stamp", LOOSELY)
    search(workspace, "stamp", LOOSELY)
    repo.commit({"stamp.py": "def stamp():\n    return -1\n"})
    times = busily(repo, monkeypatch)
    answer = search(workspace, "stamp", LOOSELY)
    assert answer.waiting == 0
    told = repo.git("show", f"{answer.commit}:stamp.py")
    assert [hit.chunk.text for hit in answer.hits] == [told]
    assert times() == 1, "it was not answered as soon as it stood alone"


def test_nobody_who_writes_waits_for_git(make_repository, monkeypatch):
    """While git looks, which may take long in a large repository, the index is free."""
    repo = make_repository({"stamp.py": "def stamp():\n    return 0\n"})
    workspace = open_app(repo)
    workspace.update()
    asked, real_look, real_guess = threading.Event(), search_action._look, search_action._guess

    def guess(*args):
        try:
            return real_guess(*args)
        finally:
            asked.set()

    def look(*args, **kwargs):
        assert asked.wait(PATIENCE_S)
        with Store(workspace.store.directory, recipe=RECIPE, lock_timeout_s=PATIENCE_S).write("meanwhile"):
            pass
        return real_look(*args, **kwargs)

    monkeypatch.setattr(search_action, "_guess", guess)
    monkeypatch.setattr(search_action, "_look", look)
    assert [hit.path for hit in search(workspace, "stamp", LOOSELY).hits] == ["stamp.py"]


def test_what_was_asked_while_git_looked_counts_of_the_same_index_only(make_repository, monkeypatch):
    """Another process moves the view there and back: the same view, of other content."""
    repo = make_repository({"stamp.py": "def stamp():\n    return 0\n"})
    workspace = open_app(repo)
    workspace.update()
    search(workspace, "stamp", LOOSELY)
    real = search_action._guess

    def guess(*args):
        found = real(*args)
        repo.commit({"stamp.py": "def stamp():\n    return 1\n"})
        open_app(repo).update()
        return found

    monkeypatch.setattr(search_action, "_guess", guess)
    monkeypatch.setattr(_Meanwhile, "wait", lambda self: None)  # git looks last
    monkeypatch.setattr(_Meanwhile, "result", lambda self: workspace.snapshot())
    answer = search(workspace, "stamp", LOOSELY)
    assert answer.commit == repo.git("rev-parse", "HEAD")
    assert [hit.chunk.text for hit in answer.hits] == ["def stamp():\n    return 1"]
