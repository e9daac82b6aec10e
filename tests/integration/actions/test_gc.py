"""What no view needs any more goes, after a while, and nothing else does."""

from __future__ import annotations

import os
import time

import pytest

from gitrag.actions import gc
from gitrag.actions.search import SearchOptions, search
from gitrag.machine.locks import StoreLock
from gitrag.store import connection, garbage, inspection
from gitrag.store.connection import Store
from gitrag.workspace import Workspace
from tests.support.indexes import logical, open_app
from tests.support.repository import GitRepository, made_once

NOW = {"GITRAG_GC_KEEP": "0s"}
"""Keep only what is needed at once."""


def sources(generation: int, count: int = 5) -> dict[str | bytes, str]:
    return {f"m{n}.py": f"def act_{n}_{generation}():\n    return {generation}\n" for n in range(count)}


@pytest.fixture
def repo(make_repository, git_environment, tmp_path) -> GitRepository:
    """Three generations of five files, each indexed; the last one is needed."""
    git_environment["GITRAG_MODEL_DIR"] = str(tmp_path / "no-model")

    def make() -> GitRepository:
        repo = make_repository(sources(0))
        open_app(repo).update()
        for generation in (1, 2):
            repo.commit(sources(generation))
            open_app(repo).update()
        return repo

    return made_once("three generations", tmp_path / "project", git_environment, make)


def thrifty(repo: GitRepository) -> Workspace:
    return Workspace.open(repo.path, environ=repo.environment | NOW)


def count(workspace: Workspace) -> tuple[int, int, int]:
    """Views, contents and chunks."""
    with workspace.store.read() as db:
        found = inspection.count_store(db)
    return found.views, found.contents, found.chunks


def test_what_is_needed_no_more_goes_and_the_rest_stays(repo, tmp_path):
    expected = logical(open_app(repo))
    found = gc.preview(thrifty(repo))
    assert (found.views, found.contents, found.chunks, found.paths) == (0, 10, 10, 0)
    assert count(open_app(repo)) == (1, 15, 15)
    assert gc.collect(thrifty(repo))[0] == found
    assert count(open_app(repo)) == (1, 5, 5)
    assert not gc.collect(thrifty(repo))[0]
    assert logical(open_app(repo)) == expected == logical(open_app(repo, tmp_path / "fresh"))


def test_dropped_text_goes_from_the_file_beside_a_large_index_too(repo, monkeypatch):
    monkeypatch.setattr(connection, "MAX_BYTES", 0)
    workspace = thrifty(repo)
    workspace.store.cache_chunks()
    [kept] = workspace.store.directory.glob("index.duckdb.chunks")
    gc.collect(workspace)
    assert not kept.exists()
    workspace.store.cache_chunks()
    before = kept.read_bytes()
    gc.collect(workspace)
    assert kept.read_bytes() == before, "nothing was dropped"


def test_what_was_needed_lately_stays(repo):
    assert not gc.collect(open_app(repo))[0]
    assert count(open_app(repo)) == (1, 15, 15)


def test_what_was_needed_lately_stays_up_to_as_much_as_is_needed_now(repo, monkeypatch):
    monkeypatch.setattr(garbage, "_ALWAYS_KEPT", 0)
    assert gc.collect(open_app(repo))[0].contents == 5
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    assert open_app(repo).update().refreshed.cut == 0, "the last that was left is kept first"


def test_what_comes_back_is_read_again(repo, tmp_path):
    gc.collect(thrifty(repo))
    repo.git("reset", "--quiet", "--hard", "HEAD~2")
    assert open_app(repo).update().refreshed.cut == 5
    assert logical(open_app(repo)) == logical(open_app(repo, tmp_path / "fresh"))


def test_ids_are_not_given_to_something_else(repo):
    """A process that cut contents before may write them after."""
    repo.write({"new.py": "NEWEST = 1\n"})
    workspace = open_app(repo)
    workspace.update()

    def newest() -> tuple[int, ...] | None:
        with workspace.store.read() as db:
            return db.execute(
                "SELECT (SELECT max(content_id) FROM contents), (SELECT max(text_id) FROM texts),"
                " (SELECT max(path_id) FROM paths)"
            ).fetchone()

    before = newest()
    repo.write({"new.py": None})
    gc.collect(thrifty(repo))
    assert newest() == before


def test_what_is_uncommitted_stays_in_every_worktree(repo, tmp_path, monkeypatch):
    linked = repo.worktree(tmp_path / "linked", "--detach")
    for tree in (linked, repo):  # the last content that an index has got is never dropped
        tree.write({"dirty.py": f"def dirty(): return {tree.path.name!r}\n"})
        open_app(tree).update()
    gc.collect(thrifty(repo))
    monkeypatch.setattr(Store, "write", None)
    for tree in (repo, linked):
        hits = search(open_app(tree), "dirty", SearchOptions(min_score=0.0)).hits
        assert tree.path.name in hits[0].chunk.text


def test_a_removed_worktree_takes_its_view_with_it(repo, tmp_path):
    linked = repo.worktree(tmp_path / "linked", "--detach", "HEAD~2")
    open_app(linked).update()
    assert count(open_app(repo))[0] == 2
    repo.git("worktree", "remove", linked.path)
    repo.commit({"another.py": "ANOTHER = 1\n"})
    open_app(repo).update()
    assert count(open_app(repo))[0] == 1


def test_the_view_of_a_revision_goes_when_it_is_old(repo):
    search(open_app(repo), "act", SearchOptions(ref="HEAD~1"))
    assert gc.collect(open_app(repo))[0].views == 0
    assert gc.collect(thrifty(repo))[0].views == 1
    assert count(open_app(repo))[0] == 1


def large(generation: int) -> dict[str | bytes, str]:
    words = " ".join(f"word{generation}x{n}" for n in range(1000))
    return {f"big{n}.py": f"def big_{generation}_{n}():\n    '''{words}'''\n" for n in range(60)}


@pytest.fixture
def bloated(request, git_environment, tmp_path) -> GitRepository:
    git_environment["GITRAG_MODEL_DIR"] = str(tmp_path / "no-model")

    def make() -> GitRepository:
        repo: GitRepository = request.getfixturevalue("repo")
        for generation in (1, 2):
            repo.commit(large(generation))
            open_app(repo).update()
        repo.commit(dict.fromkeys(large(0)))
        open_app(repo).update()
        return repo

    return made_once("bloated", tmp_path / "project", git_environment, make)


def test_the_disk_gets_its_room_back(bloated, tmp_path):
    store = thrifty(bloated).store
    before = store.size_bytes()
    resident = Workspace.open(bloated.path, environ=bloated.environment, resident=True)
    expected = [hit.path for hit in search(resident, "act").hits]
    _, freed = gc.collect(thrifty(bloated))
    assert freed == before - store.size_bytes()
    assert store.size_bytes() < 0.7 * before
    assert [hit.path for hit in search(resident, "act").hits] == expected
    assert logical(open_app(bloated)) == logical(open_app(bloated, tmp_path / "fresh"))
    names = {path.name for path in store.directory.iterdir()}
    assert not {name for name in names if "smaller" in name or name.endswith(".wal")}


def test_an_index_that_would_hardly_be_smaller_is_not_written_anew(repo, tmp_path):
    wide = {f"wide{n}.py": large(0)["big0.py"].replace("word0", f"wide{n}") for n in range(60)}
    repo.commit(wide)
    open_app(repo).update()
    gc.collect(thrifty(repo))
    store = open_app(repo).store
    file = store.path.stat().st_ino
    repo.commit({"wide0.py": None, "wide1.py": None})
    open_app(repo).update()
    done, freed = gc.collect(thrifty(repo))
    assert (done.contents, freed, store.path.stat().st_ino) == (2, 0, file)
    repo.commit(dict.fromkeys([*wide][2:44]))
    open_app(repo).update()
    before = store.size_bytes()
    _, freed = gc.collect(thrifty(repo))
    assert store.size_bytes() == before - freed < 0.7 * before
    assert logical(open_app(repo)) == logical(open_app(repo, tmp_path / "fresh"))


def test_what_is_written_while_a_smaller_index_is_made_is_not_lost(bloated, monkeypatch, tmp_path):
    """Another process writes after the copy was made and before it is put in place."""
    workspace = thrifty(bloated)
    own = StoreLock.exclusive

    def later(self, purpose):
        monkeypatch.setattr(StoreLock, "exclusive", own)
        bloated.commit({"meanwhile.py": "def meanwhile(): pass\n"})
        open_app(bloated).update()
        return own(self, purpose)

    monkeypatch.setattr(StoreLock, "exclusive", later)
    assert workspace.store.compact() == 0
    assert count(workspace)[1] == 136
    assert logical(open_app(bloated)) == logical(open_app(bloated, tmp_path / "fresh"))


def test_what_a_killed_process_left_is_cleared_away(repo):
    workspace = thrifty(repo)
    for name in ("smaller.duckdb", "smaller.duckdb.wal"):
        (workspace.store.directory / name).write_bytes(b"half")
    gc.collect(workspace)
    assert not list(workspace.store.directory.glob("smaller*"))
    assert count(workspace)[2] == 5


def test_the_background_collects_once_a_week_where_it_is_worth_it(bloated, monkeypatch):
    workspace = thrifty(bloated)
    size = workspace.store.size_bytes()
    gc.collect_rarely(workspace)
    assert workspace.store.size_bytes() == size, "too small to bother"
    monkeypatch.setattr(gc, "_WORTH_BYTES", 0)
    gc.collect_rarely(workspace)
    assert workspace.store.size_bytes() < size
    repo = bloated
    repo.commit(sources(3))
    open_app(repo).update()
    held = count(workspace)
    gc.collect_rarely(workspace)
    assert count(workspace) == held
    week_ago = time.time() - 8 * 24 * 3600
    os.utime(workspace.store.directory / "gc.done", (week_ago, week_ago))
    gc.collect_rarely(workspace)
    assert count(workspace) < held
