"""How often git and the index are asked for one question, and of what state the answer is."""

from __future__ import annotations

import pytest

from gitrag.actions import current_view
from gitrag.actions.current_view import CurrentView
from gitrag.actions.governance.related import duplicates
from gitrag.errors import BusyError
from gitrag.store import scopes
from gitrag.store.connection import StoreMissingError
from gitrag.store.views import ViewOverlay
from gitrag.workspace import Workspace
from tests.support.indexes import open_app
from tests.support.repository import GitRepository

DOOR = "def open_door():\n    return 1\n"


@pytest.fixture
def repo(make_repository) -> GitRepository:
    repository: GitRepository = make_repository({"door.py": DOOR, "gone.py": "def gone(): pass\n"})
    repository.git("tag", "v1")
    repository.commit({"gone.py": None})
    open_app(repository).update()
    return repository


class Paths:
    """Reads the paths of a view, and counts how often."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, db, view_id: int, overlay: ViewOverlay) -> set[str]:
        self.times += 1
        files = scopes.open_scope(db, view_id, overlay).files
        return set(scopes.read_paths(db, files.path_id.tolist()).values())


def read(workspace: Workspace, **options: object) -> tuple[set[str], int]:
    """Return the paths of the current view, and how often it was read."""
    paths = Paths()
    return CurrentView(workspace, **options).read(paths).found, paths.times


@pytest.fixture
def slow_git(monkeypatch) -> None:
    """Git has not answered yet when the index is asked."""
    monkeypatch.setattr(current_view._Looking, "is_done", False)


def test_what_git_has_said_already_is_not_guessed(repo):
    workspace, paths = open_app(repo), Paths()
    repo.write({"loose.py": DOOR})
    workspace.update()
    view = CurrentView(workspace)
    view._looking.wait()
    assert (view.read(paths).found, paths.times) == ({"door.py", "loose.py"}, 1)


@pytest.mark.usefixtures("slow_git")
def test_a_view_that_was_guessed_is_read_once(repo):
    workspace = open_app(repo)
    assert read(workspace) == ({"door.py"}, 1)
    assert read(workspace, revision="HEAD")[0] == {"door.py"}


@pytest.mark.usefixtures("slow_git")
def test_changes_seen_once_are_guessed_after_that(repo):
    """Also those that this process has indexed itself, and though a revision was asked in between."""
    workspace = open_app(repo)
    repo.write({"loose.py": DOOR})
    assert read(workspace) == ({"door.py", "loose.py"}, 2)
    assert read(workspace) == ({"door.py", "loose.py"}, 1)
    assert read(workspace, revision="v1")[0] == {"door.py", "gone.py"}
    assert read(workspace, revision="v1") == ({"door.py", "gone.py"}, 1)
    assert read(workspace) == ({"door.py", "loose.py"}, 1)
    assert read(workspace, committed_only=True) == ({"door.py"}, 2)


def test_a_comparison_asks_git_once(repo, monkeypatch):
    repo.write({"loose.py": DOOR})
    workspace, times = open_app(repo), []
    real = CurrentView._look
    monkeypatch.setattr(CurrentView, "_look", lambda view: times.append(1) or real(view))
    assert {each.path for each in duplicates(workspace, DOOR, -1.0).chunks} == {"door.py", "loose.py"}
    assert len(times) == 1


def test_an_index_removed_again_and_again_is_an_error_that_says_so(repo, monkeypatch):
    workspace = open_app(repo)
    repo.commit({"late.py": DOOR})
    real = current_view.refresh

    def removed(store, now, **options):
        store.remove()
        return real(store, now, **options)

    class Never(Paths):
        def __call__(self, db, view_id: int, overlay: ViewOverlay) -> set[str]:
            super().__call__(db, view_id, overlay)
            raise StoreMissingError("removed")

    monkeypatch.setattr(current_view, "refresh", removed)
    never = Never()
    with pytest.raises(BusyError, match="removed the index again and again"):
        CurrentView(workspace).read(never)
    assert never.times > current_view._ATTEMPTS


@pytest.mark.parametrize("says", [True, False])
def test_only_who_is_to_say_so_says_that_the_index_was_old(repo, says):
    heard: list[str] = []
    workspace = open_app(repo, say=heard.append)
    with workspace.store.write("test") as db:
        db.execute("UPDATE views SET updated = now() - to_hours(3)")
    repo.commit({"late.py": DOOR})
    assert read(workspace, says_staleness=says)[0] == {"door.py", "late.py"}
    assert heard == ["Index was 3h stale — refreshed before running."] * says
