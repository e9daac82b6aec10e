"""A search beside others that commit again and again is answered, of one commit, and soon."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gitrag.app import App, SearchOptions
from tests.indexes import open_app
from tests.repository import GitRepository

LOOSELY = SearchOptions(min_score=0.0)


def busily(app: App, repo: GitRepository, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Let another process commit and index whenever the search has caught up; count how often."""
    count = 0
    real = App._catch_up

    def catch_up(self: App, *args, **kwargs):
        nonlocal count
        standing = real(self, *args, **kwargs)
        count += 1
        repo.commit({"stamp.py": f"def stamp():\n    return {count}\n"})
        open_app(repo).update()
        return standing

    monkeypatch.setattr(App, "_catch_up", catch_up)
    return lambda: count


@pytest.mark.parametrize("resident", [False, True])
def test_others_that_move_the_view_again_and_again_keep_no_answer_back(
    make_repository, monkeypatch, resident
):
    repo = make_repository({"stamp.py": "def stamp():\n    return 0\n"})
    open_app(repo).update()
    app = App.open(repo.path, environ=repo.environment, resident=resident)
    app.search("stamp", LOOSELY)
    app.search("stamp", LOOSELY)
    repo.commit({"stamp.py": "def stamp():\n    return -1\n"})
    times = busily(app, repo, monkeypatch)
    answer = app.search("stamp", LOOSELY)
    assert answer.waiting == 0
    told = repo.git("show", f"{answer.commit}:stamp.py")
    assert [hit.chunk.text for hit in answer.hits] == [told]
    assert times() == 1, "it was not answered as soon as it stood alone"
