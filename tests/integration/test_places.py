"""A repository that is cloned, moved or copied, and worktrees that come and go: each has its own answers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gitrag.actions.search import SearchOptions, search
from gitrag.errors import NotSetUpError
from gitrag.store import inspection
from tests.support.indexes import logical, open_app
from tests.support.repository import GitRepository

LOOSELY = SearchOptions(min_score=0.0, limit=100)


@pytest.fixture
def repo(make_repository) -> GitRepository:
    return make_repository({f"m{n}.py": f"def act_{n}(): return {n}\n" for n in range(5)}, indexed=True)


def paths(repo: GitRepository) -> set[str]:
    return {hit.path for hit in search(open_app(repo), "act", LOOSELY).hits}


def at(path: Path, repo: GitRepository) -> GitRepository:
    return GitRepository(path, repo.environment, repo.ticks)


def contents(repo: GitRepository) -> int:
    workspace = open_app(repo)
    with workspace.store.read() as db:
        return inspection.count_store(db).contents


def test_a_clone_has_an_index_of_its_own(repo, tmp_path):
    clone = at(tmp_path / "clone", repo)
    repo.git("clone", "--quiet", repo.path, clone.path)
    with pytest.raises(NotSetUpError, match="Run `gitrag index` first"):
        paths(clone)
    open_app(clone).update()
    clone.commit({"m9.py": "def act_9(): return 9\n"})
    assert paths(clone) - paths(repo) == {"m9.py"}
    assert contents(repo) == 5


def test_a_moved_repository_takes_its_index_along(repo, tmp_path):
    linked = repo.worktree(tmp_path / "linked", "--detach")
    linked.write({"dirty.py": "def act_dirty(): pass\n"})
    assert "dirty.py" in paths(linked)
    moved = at(tmp_path / "deep er" / "moved", repo)
    moved.path.parent.mkdir()
    repo.path.rename(moved.path)
    moved.git("worktree", "repair", linked.path)
    indexed = open_app(moved).update()
    assert (indexed.refreshed.cut, indexed.refreshed.recorded) == (0, False)
    assert paths(moved) == {f"m{n}.py" for n in range(5)}
    assert "dirty.py" in paths(linked)
    assert open_app(linked).update().refreshed.cut == 0


@pytest.mark.parametrize("whole", [True, False], ids=["the whole repository", "its git directory"])
def test_a_copy_goes_its_own_way(repo, tmp_path, whole):
    copy = at(tmp_path / "copy", repo)
    if whole:
        shutil.copytree(repo.path, copy.path)
    else:
        shutil.copytree(repo.path / ".git", copy.path / ".git")
        copy.git("checkout", "--quiet", "--", ".")
    assert open_app(copy).update().refreshed.cut == 0
    copy.commit({"m0.py": None, "only.py": "def act_only(): pass\n"})
    assert paths(copy) ^ paths(repo) == {"m0.py", "only.py"}
    assert logical(open_app(copy)) == logical(open_app(copy, tmp_path / "fresh"))
    assert logical(open_app(repo)) == logical(open_app(repo, tmp_path / "other"))


def test_views_go_with_their_worktrees_and_move_with_them(repo, tmp_path):
    linked = repo.worktree(tmp_path / "linked", "-b", "side")
    linked.commit({"side.py": "def act_side(): pass\n"})
    assert "side.py" in paths(linked)
    repo.git("worktree", "move", linked.path, tmp_path / "moved")
    moved = at(tmp_path / "moved", repo)
    assert open_app(moved).update().refreshed.cut == 0
    assert _views(repo) == 2
    shutil.rmtree(moved.path)
    repo.git("worktree", "prune")
    repo.commit({"next.py": "def act_next(): pass\n"})
    assert "side.py" not in paths(repo)
    assert _views(repo) == 1


def _views(repo: GitRepository) -> int:
    with open_app(repo).store.read() as db:
        row = db.execute("SELECT count(*) FROM views").fetchone()
    assert row is not None
    return int(row[0])
