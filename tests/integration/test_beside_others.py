"""A question beside others that commit again and again is answered, of one commit, and soon."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from gitrag.actions import current_view
from gitrag.actions.current_view import CurrentView, _Looking
from gitrag.actions.governance.related import duplicates
from gitrag.actions.search import SearchOptions, search
from gitrag.indexing.recipe import recipe
from gitrag.store.connection import Store
from gitrag.workspace import Workspace
from tests.support.indexes import open_app
from tests.support.repository import GitRepository

PATIENCE_S = 120.0
LOOSELY = SearchOptions(min_score=0.0)


def busily(repo: GitRepository, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Let another process commit and index whenever a question has caught up; count how often."""
    count = 0
    real = current_view.refresh

    def refresh(*args, **kwargs):
        nonlocal count
        refreshed = real(*args, **kwargs)
        if "at_once" not in kwargs:
            count += 1
            repo.commit({"stamp.py": f"def stamp():\n    return {count}\n"})
            other = open_app(repo)
            real(other.store, other.snapshot())
        return refreshed

    monkeypatch.setattr(current_view, "refresh", refresh)
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


def test_a_comparison_beside_others_that_commit_is_of_one_commit_too(make_repository, monkeypatch):
    repo = make_repository({"stamp.py": "def stamp():\n    return 0\n"})
    workspace = open_app(repo)
    workspace.update()
    repo.commit({"stamp.py": "def stamp():\n    return -1\n"})
    times = busily(repo, monkeypatch)
    assert _compared(workspace) == repo.git("show", "HEAD:stamp.py")
    assert times() == 1


def _searched(workspace: Workspace) -> str:
    [hit] = search(workspace, "stamp", LOOSELY).hits
    return hit.chunk.text


def _compared(workspace: Workspace) -> str:
    [found] = duplicates(workspace, "stamp", -1.0).chunks
    return found.chunk.text


QUESTIONS = {"search": _searched, "duplicates": _compared}


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_nobody_who_writes_waits_for_git(make_repository, monkeypatch, ask):
    """While git looks, which may take long in a large repository, the index is free."""
    repo = make_repository({"stamp.py": "def stamp():\n    return 0\n"})
    workspace = open_app(repo)
    workspace.update()
    asked, real_look, real_guess = threading.Event(), CurrentView._look, CurrentView._guess

    def guess(*args):
        try:
            return real_guess(*args)
        finally:
            asked.set()

    def look(view):
        assert asked.wait(PATIENCE_S)
        with Store(workspace.store.directory, recipe=recipe(), lock_timeout_s=PATIENCE_S).write("meanwhile"):
            pass
        return real_look(view)

    monkeypatch.setattr(CurrentView, "_guess", guess)
    monkeypatch.setattr(CurrentView, "_look", look)
    assert ask(workspace) == "def stamp():\n    return 0"


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_what_was_asked_while_git_looked_counts_of_the_same_index_only(make_repository, monkeypatch, ask):
    """Another process moves the view there and back: the same view, of other content."""
    repo = make_repository({"stamp.py": "def stamp():\n    return 0\n"})
    workspace = open_app(repo)
    workspace.update()
    ask(workspace)
    real = CurrentView._guess

    def guess(*args):
        found = real(*args)
        repo.commit({"stamp.py": "def stamp():\n    return 1\n"})
        open_app(repo).update()
        return found

    monkeypatch.setattr(CurrentView, "_guess", guess)
    monkeypatch.setattr(_Looking, "is_done", False)
    monkeypatch.setattr(_Looking, "wait", lambda self: None)  # git looks last
    monkeypatch.setattr(_Looking, "result", lambda self: workspace.snapshot())
    assert ask(workspace) == "def stamp():\n    return 1"
