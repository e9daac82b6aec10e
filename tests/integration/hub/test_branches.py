"""Which branch is searched, and dropping branches and repositories."""

from pathlib import Path

import psycopg
import pytest

from gitrag.actions.hub.push import _branches
from gitrag.errors import NotSetUpError, UsageError
from gitrag.git.repository import Repository
from gitrag.hub import rights, upkeep
from gitrag.hub.hub import opened as opened_hub
from gitrag.hub.upkeep import searchable, tidy
from gitrag.indexing.recipe import recipe
from tests.support.hubs import SAMPLE, as_role, make_role, pushed, rows
from tests.support.postgres import Server
from tests.support.repository import create_repository, isolated_environment


@pytest.fixture(scope="module")
def made(tmp_path_factory, postgres: Server, empty_hub: str, model_dir: Path) -> str:
    """What ``two_branches`` is copied from."""
    address, place = postgres.new_database(empty_hub), tmp_path_factory.mktemp("branches")
    git = create_repository(place / "project", isolated_environment(place), SAMPLE)
    pushed(git, address, model_dir, branch="old")
    git.commit({"src/new.py": "def only_new():\n    return 1\n"})
    pushed(git, address, model_dir, branch="new")
    return address


@pytest.fixture
def two_branches(postgres: Server, made: str) -> str:
    """A hub with the branches ``old`` and ``new`` of ``project``."""
    return postgres.new_database(made)


def test_the_branch_that_was_chosen_is_searched_and_another_can_go(two_branches: str):
    with opened_hub(two_branches, recipe()) as hub:
        assert [each.branch for each in searchable(hub)[0]] == ["old"]
        upkeep.choose(hub, "project", "new")
        assert [each.branch for each in searchable(hub)[0]] == ["new"]
        with pytest.raises(UsageError, match='no branch "nowhere"'):
            upkeep.choose(hub, "project", "nowhere")
        with pytest.raises(UsageError, match='"new" is the branch of project that is searched'):
            upkeep.discard(hub, "project", "new")
        with pytest.raises(UsageError, match='no branch "nowhere"'):
            upkeep.discard(hub, "project", "nowhere")
        upkeep.discard(hub, "project", "old")
        assert not tidy(hub, really=False).contents  # the other has them, too
        upkeep.discard(hub, "project", "new")
        assert searchable(hub) == ([], [])
        assert tidy(hub, really=True).contents == len(SAMPLE) + 1


def test_after_the_last_branch_the_next_one_pushed_is_searched(
    hub_address: str, make_repository, model_dir: Path
):
    git = make_repository(SAMPLE, indexed=True)
    pushed(git, hub_address, model_dir, branch="first")
    with opened_hub(hub_address, recipe()) as hub:
        upkeep.discard(hub, "project", "first")
        assert pushed(git, hub_address, model_dir, branch="next").searched == "next"
        assert [each.branch for each in searchable(hub)[0]] == ["next"]


def test_who_may_push_drops_branches_and_who_only_reads_does_not(two_branches: str):
    reader, pusher = make_role(two_branches), make_role(two_branches)
    with opened_hub(two_branches, recipe()) as hub:
        rights.grant(hub, reader, "project", pushes=False)
        rights.grant(hub, pusher, "project", pushes=True)
    with opened_hub(as_role(two_branches, reader), recipe()) as hub:
        for change in (upkeep.choose, upkeep.discard):
            for name in ("project", "nowhere"):
                with pytest.raises(NotSetUpError, match="that this role may push to"):
                    change(hub, name, "new")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            hub.db.execute("SELECT * FROM gitrag.repositories")
    with pytest.raises(NotSetUpError), opened_hub(as_role(two_branches, pusher), recipe()) as hub:
        upkeep.discard_repository(hub, "project")
    with opened_hub(as_role(two_branches, pusher), recipe()) as hub:
        upkeep.choose(hub, "project", "new")
        upkeep.discard(hub, "project", "old")
    assert rows(two_branches, "SELECT branch FROM gitrag.views") == [("new",)]


def test_a_repository_goes_with_its_rights(two_branches: str):
    pusher = make_role(two_branches)
    with opened_hub(two_branches, recipe()) as hub:
        rights.grant(hub, pusher, "project", pushes=True)
        upkeep.discard_repository(hub, "project")
        with pytest.raises(NotSetUpError, match='has no repository "project"'):
            upkeep.discard_repository(hub, "project")
        assert tidy(hub, really=True).contents == len(SAMPLE) + 1
    for table in (
        "repositories",
        "views",
        "view_words",
        "entries",
        "paths",
        "path_words",
        "grants",
        "chunks",
    ):
        assert rows(two_branches, f"SELECT count(*) FROM gitrag.{table}") == [(0,)], table
    rows(two_branches, f"DROP ROLE {pusher}")


def test_no_branch_is_made_up_of_the_end_of_anothers_name(make_repository):
    git = make_repository({"a.py": "a = 1\n"})
    odd = "odd\u2028refs/heads/release"
    git.git("branch", odd)
    assert _branches(Repository.discover(git.path)) == {name: f"refs/heads/{name}" for name in ("main", odd)}
