"""``gitrag hub`` as a user meets it: what it prints, and how it ends."""

from __future__ import annotations

import json
import re

import psycopg
import pytest

from tests.support.command import Gitrag, Project, user_environment
from tests.support.hubs import SAMPLE, as_role, make_role
from tests.support.mcp_client import use
from tests.support.repository import create_repository


@pytest.fixture
def project(tmp_path, model_dir, hub_address) -> Project:
    """A repository, and a hub that is set."""
    environment = user_environment(tmp_path / "home", model_dir)
    git = create_repository(tmp_path / "shop", environment, SAMPLE)
    return Project(git, Gitrag(git.path, environment | {"GITRAG_HUB": hub_address}))


def test_one_pushes_and_another_searches_without_a_clone(project, tmp_path, hub_address):
    done = project.gitrag("hub", "push")
    assert (done.status, done.out) == (
        0,
        "Pushed 8 files: 8 contents of 13 chunks sent, the others were there\n",
    )
    (tmp_path / "anywhere").mkdir()
    reader = make_role(hub_address)
    assert project.gitrag("hub", "grant", reader, "shop").out == f"{reader} reads shop\n"
    other = Gitrag(
        tmp_path / "anywhere", project.gitrag.environment | {"GITRAG_HUB": as_role(hub_address, reader)}
    )
    done = other("hub", "search", "retry with backoff", "--output", "text")
    assert done.status == 0
    assert re.search(r"^shop: src/client\.py:\d+-\d+  Client\S*  0\.\d\d$", done.out, re.MULTILINE)
    assert done.out.splitlines()[-1].startswith("Searched 8 files of 1 repository in the hub: shop at ")
    found = json.loads(other("hub", "search", "retry with backoff", "--json").out)
    assert {each["repository"] for each in found["matches"]} == {"shop"}
    assert found["searched"][0]["commit"] == project.git.git("rev-parse", "HEAD")
    done = other("search", "--hub", "retry with backoff", "--output", "text")
    assert (done.status, "shop: src/client.py" in done.out) == (0, True)
    done = other("hub", "push")
    assert (done.status, done.out) == (78, "")
    for command in (["gc"], ["grant", reader, "shop"]):
        done = other("hub", *command)
        assert (done.status, done.err.startswith("Only the role that made the hub")) == (78, True), command
    assert (
        project.gitrag("hub", "grant", "--revoke", reader, "shop").out
        == f"{reader} has no rights on shop any more\n"
    )
    done = other("hub", "search", "retry with backoff")
    assert (done.status, "no repository in the hub" in done.err) == (78, True)


def test_status_says_what_is_there_and_gc_what_is_not_needed(project):
    project.gitrag("hub", "push", "--repository", "store", "--branch", "trunk")
    done = project.gitrag("hub", "status")
    commit = project.git.git("rev-parse", "HEAD")[:12]
    assert f"  store trunk at {commit}: 8 files, 13 chunks, pushed 2" in done.out
    assert "by owner\n" in done.out
    project.git.commit({"src/parse.py": None})
    assert "sent, the others were there" in project.gitrag(
        "hub", "push", "--repository", "store", "--branch", "trunk"
    ).out  # fmt: skip
    assert project.gitrag("hub", "gc").out == "To drop: 1 content, 1 path\n"
    assert project.gitrag("hub", "gc", "--apply").out == "Dropped: 1 content, 1 path\n"
    assert project.gitrag("hub", "gc").out == "Nothing to drop.\n"


def test_another_branch_is_chosen_and_what_is_not_needed_is_dropped(project):
    project.gitrag("hub", "push", "--branch", "old")
    done = project.gitrag("hub", "push", "--branch", "new")
    assert "Searched is the branch old, not new.\n" in done.out
    done = project.gitrag("hub", "drop", "shop", "old")
    assert (done.status, done.said[0]) == (2, '"old" is the branch of shop that is searched.')
    done = project.gitrag("hub", "branch", "shop", "new")
    assert (done.status, done.out) == (0, "Searched of shop is now new.\n")
    assert json.loads(project.gitrag("hub", "drop", "shop", "old", "--json").out) == {
        "repository": "shop",
        "branch": "old",
    }
    assert project.gitrag("hub", "drop", "shop").out == "Dropped shop and all rights on it.\n"
    assert "no repository that this role may read" in project.gitrag("hub", "status").out


@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("year", [1970, 2199])
def test_a_server_whose_clock_was_off_changes_only_the_time_that_is_shown(project, hub_address, year):
    project.gitrag("hub", "push")
    with psycopg.connect(hub_address, autocommit=True) as db:
        db.execute("UPDATE gitrag.views SET pushed_at = make_timestamptz(%s, 7, 1, 12, 0, 0)", [year])
    assert f"pushed {year}-07-01" in project.gitrag("hub", "status").out
    assert project.gitrag("hub", "gc", "--apply").out == "Nothing to drop.\n"
    assert json.loads(project.gitrag("hub", "search", "retry with backoff", "--json").out)["matches"]
    project.git.commit({"src/new.py": "def only_new():\n    return 1\n"})
    assert project.gitrag("hub", "push").out.startswith("Pushed 9 files: 1 content of 1 chunk sent")
    assert f"pushed {year}" not in project.gitrag("hub", "status").out


def test_the_branches_of_the_setting_are_pushed_each_as_it_is(project, tmp_path):
    git = project.git
    git.git("branch", "release/1")
    git.git("branch", "private")
    git.commit({"src/new.py": "def only_new():\n    return 1\n"})
    clone = create_repository(tmp_path / "clone", git.environment)
    clone.git("remote", "add", "origin", str(git.path))
    clone.git("fetch", "--quiet", "origin")
    there = Gitrag(clone.path, project.gitrag.environment)
    asked = {"GITRAG_HUB_BRANCHES": "main,release/*,gone"}
    done = there("hub", "push", "--repository", "shop", env=asked)
    assert done.status == 0
    assert done.out.splitlines() == [
        "main: Pushed 9 files: 9 contents of 14 chunks sent, the others were there",
        "release/1: Pushed 8 files: 0 contents of 0 chunks sent, the others were there",
        "Searched is the branch main, not release/1.",
    ]
    assert 'hub_branches names "gone", and this clone has no such branch.' in done.err
    held = json.loads(project.gitrag("hub", "status", "--json").out)["branches"]
    expected = [("main", git.git("rev-parse", "main")), ("release/1", git.git("rev-parse", "release/1"))]
    assert [(each["branch"], each["commit"]) for each in held] == expected

    # In the order of the setting; a branch here wins over origin's; --branch pushes HEAD in any case.
    assert json.loads(project.gitrag("hub", "push", "--json", env=asked).out)["missing"] == ["gone"]
    first = {"GITRAG_HUB_BRANCHES": "release/*,main"}
    done = project.gitrag("hub", "push", "--repository", "second", "--json", env=first)
    pushed = json.loads(done.out)["branches"]
    assert [(each["branch"], each["searched"]) for each in pushed] == [
        ("release/1", "release/1"),
        ("main", "release/1"),
    ]
    done = project.gitrag("hub", "push", "--branch", "mine", "--json", env=asked)
    assert [each["branch"] for each in json.loads(done.out)["branches"]] == ["mine"]
    done = project.gitrag("hub", "push", env={"GITRAG_HUB_BRANCHES": "gone"})
    assert (done.status, done.out) == (2, "")
    assert "This clone has no branch that hub_branches names: gone." in done.err


def test_a_repository_cannot_name_branches_to_push(project):
    project.git.git("branch", "private")
    project.git.write({".gitrag.yaml": "hub_branches: ['*']\n"})
    done = project.gitrag("hub", "push")
    assert (done.status, "which only you may set" in done.err) == (0, True)
    held = json.loads(project.gitrag("hub", "status", "--json").out)["branches"]
    assert [each["branch"] for each in held] == ["main"]


def test_a_repository_cannot_set_where_code_is_sent(project, hub_address):
    quiet = {"GITRAG_HUB": ""}
    project.git.git("config", "--local", "gitrag.hub", hub_address)
    project.git.write({".gitrag.yaml": f"hub: {hub_address}\n"})
    done = project.gitrag("hub", "push", env=quiet)
    assert done.status == 78
    assert "No hub is set: the setting hub is off." in done.err
    assert "which only you may set" in done.err
    assert "the repository's own git configuration is ignored" in done.err
    with psycopg.connect(hub_address) as db:
        assert db.execute("SELECT count(*) FROM gitrag.repositories").fetchone() == (0,)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:secret@host/db",
        "postgresql://me:sec/secret@x@host/db",
        "me:secret@host/db",
        "postgresql://host/db?user=me&password=secret",
        "postgresql://host/db?user=me&pass%77ord=secret",
        "host=host user=me Password = 'a secret'",
    ],
)
def test_a_password_is_neither_taken_nor_shown(project, address):
    done = project.gitrag("hub", "status", env={"GITRAG_HUB": address})
    assert done.status == 2
    assert "without a password" in done.err
    assert "secret" not in done.err
    assert "host" in done.err.partition(": it must be")[0]


def test_agents_search_the_hub_where_one_is_set(project):
    project.gitrag("hub", "push")

    async def steps(client):
        names = [tool.name for tool in (await client.list_tools()).tools]
        return names, await client.call_tool("search_hub", {"query": "retry with backoff"})

    names, found = use(project, steps)
    assert names[-1] == "search_hub"
    assert "shop: src/client.py:" in found.content[0].text
    assert {each["repository"] for each in found.structured_content["matches"]} == {"shop"}
    plain = Project(project.git, Gitrag(project.path, project.gitrag.environment | {"GITRAG_HUB": "off"}))
    names, refused = use(plain, steps)
    assert "search_hub" not in names
    assert refused.is_error
