from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gitrag.actions.repositories.known import Standing, add, listed, missing, regroup
from gitrag.errors import RepositoryError, StoreError, UsageError
from gitrag.git import Repository
from gitrag.memory.registry import MOST_BYTES, RegisteredPlace, Registry, UnknownRepositoryError
from gitrag.workspace import Workspace
from tests.support.at_once import at_once

WRITERS = 8


@pytest.fixture(autouse=True)
def _own_state(git_environment, tmp_path: Path, monkeypatch):
    """A directory of its own for the user's list: other tests of this process index repositories, too."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "own" / "state"))


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(tmp_path / "state" / "gitrag")


def entry(path: str, git_dir: str = ".git") -> RegisteredPlace:
    return RegisteredPlace(Path(path), Path(path) / git_dir)


def names(registry: Registry) -> list[str]:
    return [each.name for each in registry.read().known]


def test_a_first_index_is_remembered_and_another_store_is_not(make_repository, tmp_path):
    shop, bank = (
        make_repository({"a.py": "a = 1\n"}, name="shop"),
        make_repository({"b.py": "b = 1\n"}, name="b"),
    )
    Workspace.open(shop.path, environ=shop.environment).update()
    Workspace.open(bank.path, environ=bank.environment, store_directory=tmp_path / "other").update()
    assert [each.path for each in listed(Registry().read())] == [shop.path]
    assert listed(Registry().read())[0].standing is Standing.INDEXED
    assert (Registry().path.stat().st_mode & 0o777) == 0o600


def test_what_was_forgotten_stays_so_until_it_is_indexed_on_purpose(make_repository):
    shop = make_repository({"a.py": "a = 1\n"}, name="shop")
    workspace = Workspace.open(shop.path, environ=shop.environment)
    workspace.update()
    Registry().forget(Registry().read().entries)
    workspace.update()
    assert not Registry().read().entries
    workspace.register()
    assert names(Registry()) == ["shop"]


def test_an_index_is_made_where_the_registry_cannot_be_written(make_repository, tmp_path):
    shop = make_repository({"a.py": "a = 1\n"}, name="shop")
    path = Registry().path
    path.parent.parent.mkdir(parents=True)
    path.parent.write_text("a file where the directory should be")
    said: list[str] = []
    done = Workspace.open(shop.path, environ=shop.environment, say=said.append).update()
    assert done.counts.files == 1
    assert len(said) == 1
    assert str(path) in said[0]


def test_all_worktrees_of_a_repository_are_one_entry(make_repository, registry, tmp_path):
    shop = make_repository({"a.py": "a = 1\n"}, name="shop")
    places = [shop.path]
    for number in range(12):
        shop.git("worktree", "add", "--detach", str(tmp_path / f"tree{number}"))
        places.append(tmp_path / f"tree{number}")
    assert {RegisteredPlace.of(Repository.discover(place)) for place in places} == {
        RegisteredPlace(shop.path, shop.path / ".git")
    }
    add(registry, places[::-1])
    assert names(registry) == ["shop"]


def test_names_tell_repositories_apart_by_as_little_as_is_needed(registry):
    places = ["/home/me/work/api", "/home/me/old/api", "/home/me/work/shop", "/srv/pages.git"]
    registry.add([*(entry(place) for place in places[:3]), RegisteredPlace(Path(places[3]), Path(places[3]))])
    registry.add([RegisteredPlace(Path("/src/tool/main"), Path("/src/tool/.bare"))])
    assert names(registry) == ["old/api", "pages", "shop", "tool", "work/api"]
    held = registry.read()
    assert [each.name for each in held.find("work/api")] == ["work/api"]
    assert [each.name for each in held.find("SHOP")] == ["shop"]
    assert [each.name for each in held.find("*/api")] == ["old/api", "work/api"]
    assert [each.name for each in held.find("/home/me/work/*")] == ["shop", "work/api"]
    assert [each.name for each in held.find("/home/me/work/shop")] == ["shop"]
    with pytest.raises(UnknownRepositoryError, match="2 repositories are called") as several:
        held.find("api")
    assert "old/api, work/api" in several.value.hint


def test_an_unknown_name_comes_with_the_nearest(registry):
    with pytest.raises(UnknownRepositoryError) as empty:
        registry.read().find("shop")
    assert "It knows none yet" in empty.value.hint
    registry.add([entry("/src/shop")])
    regroup(registry, "work", ["shop"], remove=False)
    held = registry.read()
    with pytest.raises(UnknownRepositoryError, match='Did you mean "shop"'):
        held.find("shpo")
    with pytest.raises(UnknownRepositoryError, match="a name like"):
        held.find("bank*")
    with pytest.raises(UnknownRepositoryError, match='Did you mean "work"'):
        held.in_group("wrok")


def test_groups_grow_shrink_and_go(registry):
    registry.add([entry("/src/shop"), entry("/src/api"), entry("/src/web")])
    assert [each.name for each in regroup(registry, "work", ["shop", "a*"], remove=False)] == ["api", "shop"]
    assert [each.name for each in regroup(registry, "work", ["web"], remove=False)] == ["api", "shop", "web"]
    assert [each.name for each in regroup(registry, "work", ["api"], remove=True)] == ["shop", "web"]
    registry.forget([entry("/src/web")])
    assert [each.name for each in registry.read().in_group("work")] == ["shop"]
    assert regroup(registry, "work", [], remove=True) == ()
    assert registry.read().groups == {}
    with pytest.raises(UnknownRepositoryError):
        regroup(registry, "work", [], remove=True)
    for name in ("", " ", "a\nb", "a/b", "x" * 61):
        with pytest.raises(UsageError, match="cannot be a group's name"):
            regroup(registry, name, ["shop"], remove=False)


def test_who_is_gone_is_said_and_can_be_dropped(make_repository, registry):
    shop = make_repository({"a.py": "a = 1\n"}, name="shop")
    add(registry, [shop.path])
    assert listed(registry.read())[0].standing is Standing.NOT_INDEXED
    shop.path.rename(shop.path.with_name("moved"))
    assert listed(registry.read())[0].standing is Standing.GONE
    assert [each.name for each in missing(registry.read())] == ["shop"]


def test_nothing_is_added_where_one_path_is_no_repository(make_repository, registry, tmp_path):
    shop = make_repository({"a.py": "a = 1\n"}, name="shop")
    with pytest.raises(RepositoryError):
        add(registry, [shop.path, tmp_path])
    assert not registry.path.exists()


def test_what_is_at_a_path_now_replaces_what_was(registry):
    registry.add([entry("/src/shop")])
    registry.add([entry("/src/shop", ".bare")])
    assert registry.read().entries == (entry("/src/shop", ".bare"),)


def test_entries_that_make_no_sense_are_left_out(registry):
    good = {"path": "/src/shop", "git_dir": "/src/shop/.git"}
    bad = [
        None, 7, "x", [], {}, {"path": "/a"}, good | {"path": "relative"}, good | {"path": "/a/../b"},
        good | {"path": "/a\0b"}, good | {"git_dir": 5}, good | {"path": "/" + "x" * 5000},
        good | {"path": "/\ud800x"},
    ]  # fmt: skip
    registry.path.parent.mkdir(parents=True)
    groups = {"work": ["/src/shop/.git", 5, "relative"], "odd": "x"}
    registry.path.write_text(json.dumps({"repositories": [*bad, good, good], "groups": groups}))
    assert names(registry) == ["shop"]
    assert [each.name for each in registry.read().in_group("work")] == ["shop"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b"null",
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"repositories": [' + b" " * MOST_BYTES,
    ],
    ids=["empty", "cut", "list", "none", "null", "deep", "bytes", "large"],
)
def test_a_file_that_is_no_registry_is_named_and_left_alone(registry, content):
    registry.path.parent.mkdir(parents=True)
    registry.path.write_bytes(content)
    with pytest.raises(StoreError, match="no list of repositories") as refused:
        registry.add([entry("/src/shop")])
    assert str(registry.path) in str(refused.value)
    assert registry.path.read_bytes() == content


def test_a_registry_that_is_no_file_does_not_hang(registry):
    registry.path.parent.mkdir(parents=True)
    os.mkfifo(registry.path)
    with pytest.raises(StoreError, match="Cannot read"):
        registry.read()


def test_a_path_that_is_not_utf8_is_kept(registry):
    odd = Path(os.fsdecode(b"/src/caf\xe9"))
    registry.add([RegisteredPlace(odd, odd / ".git")])
    assert registry.read().entries == (RegisteredPlace(odd, odd / ".git"),)


def test_no_writer_loses_what_another_added(registry):
    def add_five(number: int) -> None:
        for turn in range(5):
            Registry(registry.path.parent).add([entry(f"/src/w{number}/{turn}")])

    at_once(WRITERS, add_five)
    assert len(registry.read().entries) == WRITERS * 5
