"""The page's list of repositories: each row is of the repository that it names."""

from __future__ import annotations

from contextlib import closing

import pytest

from gitrag.actions.repositories.kept import KeptRepositories
from gitrag.memory.registry import Registry
from gitrag.web.desk import Desk
from gitrag.web.facets import Choices
from gitrag.web.repositories import Repositories
from gitrag.web.search_page import USUAL, search_page
from gitrag.web.state_page import repositories_page
from tests.support.indexes import open_app
from tests.support.repository import create_repository


@pytest.fixture
def shops(tmp_path, git_environment, monkeypatch):
    """Two repositories of the same name, with one file and with four; no others are known."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = {}
    for folder, files in (("a", 1), ("b", 4)):
        content = {f"{n}.py": f"def {folder}{n}(): pass\n" for n in range(files)}
        made[folder] = create_repository(tmp_path / folder / "shop", git_environment, content)
        open_app(made[folder]).update()
    return made["a"], made["b"]


def rows(repository):
    with closing(Desk(repository.path, repository.environment)) as desk:
        repositories = Repositories(desk)
        stands, _, _ = repositories_page(repositories)
        for each in stands:
            assert repositories.desk(each.name).workspace.place == each.path
        return [(each.path, each.chunks, each.name == "") for each in stands]


def test_each_row_has_its_own_figures_where_one_of_two_of_the_same_name_is_forgotten(shops):
    here, other = shops
    assert rows(here) == [(here.path, 1, True), (other.path, 4, False)]
    registry = Registry()
    registry.forget([each for each in registry.read().entries if each.path == here.path])
    assert sorted(rows(here)) == [(here.path, 1, True), (other.path, 4, False)]


def test_the_worktree_that_the_page_was_started_in_stands_for_its_repository(shops, tmp_path):
    _, other = shops
    linked = other.worktree(tmp_path / "wt", "-b", "topic")
    linked.commit({"more.py": "def more(): pass\n", "most.py": "def most(): pass\n"})
    open_app(linked).update()
    assert [row for row in rows(linked) if row[2]] == [(linked.path, 6, True)]
    assert other.path not in [row[0] for row in rows(linked)]


def test_who_was_late_for_the_counts_alone_is_named(shops, monkeypatch):
    here, other = shops
    away = other.path.with_name("away")
    ask = KeptRepositories.ask

    def asked(self, *args):
        """Ask while the other one is not there the first time."""
        try:
            return ask(self, *args)
        finally:
            if away.exists():
                away.rename(other.path)

    monkeypatch.setattr(KeptRepositories, "ask", asked)
    with closing(Desk(here.path, here.environment)) as desk:
        repositories = Repositories(desk)
        name = next(each for each, chosen in repositories.known().items() if chosen.place == other.path)
        other.path.rename(away)
        choices = Choices((("everywhere", "1"), ("lang", "python")))
        page = search_page(repositories, "b1", choices, USUAL)
        assert page.files == 1
        assert [note for note in page.notes if note.startswith(f"{name}: not reachable")]


def test_a_disk_that_hangs_does_not_hold_up_the_one_here(shops):
    here, _ = shops
    with closing(Desk(here.path, here.environment)) as desk:
        repositories = Repositories(desk)
        with repositories.turn(Choices((("everywhere", "1"),))):  # somebody asks all
            assert search_page(repositories, "a0", Choices(), USUAL).files == 1
