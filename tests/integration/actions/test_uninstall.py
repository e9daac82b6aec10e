"""What `gitrag uninstall` takes out, and what it leaves."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitrag.actions.uninstall import (
    InstalledPiece,
    Left,
    of_machine,
    of_repositories,
    of_repository,
    take_out,
)
from gitrag.errors import BusyError, StoreError
from gitrag.git import Repository
from gitrag.hooking import script_blocks
from gitrag.hooking.install import install
from gitrag.indexing.worker import Worker
from gitrag.memory.registry import RegisteredPlace, Registry


@pytest.fixture
def git(make_repository, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return make_repository({"a.py": "a = 1\n"})


def named(found, kind) -> dict[str, str]:
    return {each.place: each.what for each in found if isinstance(each, kind)}


def seen(git, kind) -> dict[str, str]:
    return named(of_repository(Repository.discover(git.path), os.environ), kind)


def without_bits(git):
    for path in (git.path / ".git" / "hooks").iterdir():
        path.chmod(0o644)


def to_an_empty_folder(git):
    git.git("config", "core.hooksPath", "../other")


@pytest.mark.parametrize("change", [without_bits, to_an_empty_folder])
def test_hooks_that_git_does_not_run_go_too(git, change):
    repo = Repository.discover(git.path)
    install(repo)
    change(git)
    take_out(each for each in of_repository(repo, os.environ) if isinstance(each, InstalledPiece))
    assert list((git.path / ".git" / "hooks").iterdir()) == []
    assert seen(git, InstalledPiece) == seen(git, Left) == {}


@pytest.mark.parametrize("mark", [script_blocks.START, script_blocks.END])
def test_a_damaged_hook_and_those_of_other_repositories_are_named(git, make_repository, mark):
    install(Repository.discover(git.path))
    hooks = git.path / ".git" / "hooks"
    for path in hooks.iterdir():
        path.write_bytes(path.read_bytes().replace(mark, b""))
    damaged = dict.fromkeys(map(str, hooks.iterdir()), "gitrag's lines")
    assert (seen(git, InstalledPiece), seen(git, Left)) == ({}, damaged)
    other = make_repository({"a.py": "a = 1\n"}, name="other")
    other.git("config", "core.hooksPath", str(hooks))
    assert seen(other, InstalledPiece) == {}
    assert damaged.keys() <= seen(other, Left).keys()


def test_a_line_that_is_committed_stays(git):
    place = str(git.path / ".gitignore")
    git.write({".gitignore": ".sdd/\n"})
    assert seen(git, InstalledPiece) == {place: "the line .sdd/"}
    git.commit({".gitignore": ".sdd/\n"})
    assert (seen(git, InstalledPiece), seen(git, Left)) == ({}, {place: "the line .sdd/"})


def test_a_repository_around_one_that_is_gone_is_left_alone(git, make_repository):
    install(Repository.discover(git.path))
    inner = make_repository({"a.py": "a = 1\n"}, name="project/inner")
    Registry().add([RegisteredPlace.of(Repository.discover(inner.path))])
    (inner.path / ".git").rename(inner.path / "gone")
    found = list(of_repositories(None, os.environ))
    assert (named(found, InstalledPiece), named(found, Left)) == ({}, {str(inner.path): "a repository"})


@pytest.mark.parametrize("variable", ["GITRAG_HOME", "GITRAG_MODEL_DIR", "XDG_DATA_HOME"])
def test_what_stays_stays_where_the_state_is_around_it(git, tmp_path, monkeypatch, variable):
    """As on macOS, where state and data are in one directory."""
    state = tmp_path / "state"
    (state / "gitrag" / "hub").mkdir(parents=True)
    monkeypatch.setenv(variable, str(state if variable == "XDG_DATA_HOME" else state / "gitrag" / "hub"))
    found = list(of_machine(os.environ))
    assert named(found, InstalledPiece) == {}
    assert named(found, Left)[str(state / "gitrag")] == "state"


def test_a_link_in_place_of_a_cache_stays(git, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "gitrag").symlink_to(tmp_path / "elsewhere")
    found = list(of_machine(os.environ))
    assert named(found, InstalledPiece) == {}
    assert str(tmp_path / "cache" / "gitrag") in named(found, Left)


def test_what_fails_does_not_stop_the_rest_and_is_found_again():
    done = []

    def failing(error: Exception):
        raise error

    pieces = [
        InstalledPiece("index", "a", lambda: failing(BusyError("a is busy.", "Wait."))),
        InstalledPiece("link", "b", lambda: failing(OSError("no strerror"))),
        InstalledPiece("hooks", "c", lambda: done.append("hooks")),
        InstalledPiece("its entry", "d", lambda: done.append("entry"), last=True),
    ]
    with pytest.raises(StoreError, match=r"a is busy\. Cannot remove link at b: no strerror\.") as caught:
        take_out(pieces)
    assert (done, caught.value.hint) == (["hooks"], "Wait. Make it writable.")
    with pytest.raises(BusyError):
        take_out([pieces[0], pieces[2]])


def test_the_entry_goes_after_the_index(git):
    repo = Repository.discover(git.path)
    repo.store_directory.mkdir()
    Registry().add([RegisteredPlace.of(repo)])
    pieces = [each for each in of_repository(repo, os.environ) if isinstance(each, InstalledPiece)]
    assert [(each.what, each.last) for each in pieces] == [("index", False), ("its entry", True)]


def test_a_worker_that_only_waits_is_told_to_end(git):
    repo, waits = Repository.discover(git.path), threading.Event()

    def work(_place: Path, asked: Callable[[], bool]) -> None:
        waits.set()
        while not asked():
            time.sleep(0.01)

    worker = threading.Thread(target=Worker(repo.index_directory).run, args=[repo.root, work], daemon=True)
    worker.start()
    waits.wait()
    take_out(each for each in of_repository(repo, os.environ) if isinstance(each, InstalledPiece))
    worker.join()
    assert not repo.index_directory.exists()
