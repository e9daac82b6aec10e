"""Paths that commands take: from where one stands, from the top, and by their end."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from gitrag.actions.core_context import core_path
from gitrag.actions.history import HistoryOptions, history
from gitrag.actions.lines import read_range
from gitrag.actions.references import meant_target
from gitrag.actions.search import SearchOptions, search
from gitrag.actions.similar import similar
from gitrag.git import meant_path
from gitrag.machine.files import within
from gitrag.workspace import Workspace
from tests.support.command import Gitrag, Project, user_environment
from tests.support.repository import create_repository

NFD = "cafe\u0301.py"  # as macOS writes it
CODE = "def {name}():\n    return other_{name}()\n\n\ndef other_{name}():\n    return 1\n"
FILES = {
    "src/shop/client.py": CODE.format(name="fetch"),
    "src/shop/[odd]/part.py": CODE.format(name="part"),
    "src/shop/util.py": CODE.format(name="shop_util"),
    "src/bank/util.py": CODE.format(name="bank_util"),
    "docs/adrs/ADR-0001-fetch.md": "# Fetch once\n\nA client fetches once.\n",
    "README.md": "# Shop\n\nfetch things\n",
    f"lib/{NFD}": CODE.format(name="coffee"),
    "lib/my file (1).py": CODE.format(name="first"),
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory, model_dir) -> Project:
    directory = tmp_path_factory.mktemp("places")
    environment = user_environment(directory / "home", model_dir)
    git = create_repository(directory / "project", environment, FILES)
    made = Project(git, Gitrag(git.path, environment))
    assert made.gitrag("index", "update", "--no-embed").status == 0
    return made


def at(project: Project, place: str) -> Gitrag:
    return replace(project.gitrag, place=project.path / place)


@pytest.mark.sweep(keep=3)
@pytest.mark.parametrize(
    ("place", "given"),
    [
        (".", "src/shop/client.py"),
        (".", "client.py"),
        (".", "shop/client.py"),
        ("src/shop", "client.py"),
        ("src/shop", "./client.py"),
        ("src/bank", "../shop/client.py"),
        ("src/bank", "client.py"),
        ("src/bank", "src/shop/client.py"),
    ],
)
def test_every_command_finds_the_file(shop, place, given):
    here = at(shop, place)
    wanted = "src/shop/client.py"
    assert json.loads(here("check", given, "--json").out)["target"] == wanted
    assert json.loads(here("core", "mark", given, "--json").out)["path"] == wanted
    assert here("core", "unmark", given).status == 0
    assert json.loads(here("core", "list", "--json").out) == []
    graph = json.loads(here("graph", given, "--json").out)
    assert {node["path"] for node in graph["nodes"]} == {wanted}
    assert json.loads(here("similar", f"{given}:1", "--json").out)["place"]["path"] == wanted
    assert json.loads(here("search", f"{given}:1", "--json").out)["code_snippets"][0]["path"] == wanted


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("src\\shop\\client.py", "src/shop/client.py"),
        ("'src/shop/client.py'", "src/shop/client.py"),
        ("file://{root}/src/shop/client.py", "src/shop/client.py"),
        ("https://github.com/o/r/blob/main/src/shop/client.py", "src/shop/client.py"),
        ("caf\u00e9.py", f"lib/{NFD}"),
        ("lib\\caf\u00e9.py", f"lib/{NFD}"),
        ('"lib/cafe\\314\\201.py"', f"lib/{NFD}"),
        ("file://{root}/lib/caf%C3%A9.py", f"lib/{NFD}"),
        ("lib/my\\ file\\ \\(1\\).py", "lib/my file (1).py"),
        ("'my file (1).py'", "lib/my file (1).py"),
    ],
)
def test_a_path_is_read_as_people_type_it(shop, given, wanted):
    given = given.format(root=shop.path)
    workspace = Workspace.open(shop.path, environ=shop.gitrag.environment)
    assert search(workspace, given).hits[0].path == wanted
    assert read_range(workspace, given).path == wanted
    assert meant_target(workspace, given, shop.path) == wanted
    assert meant_target(workspace, f"{given}:fetch", shop.path) == f"{wanted}:fetch"
    assert history(workspace, "files", HistoryOptions(path=given)).searched
    assert core_path(workspace, given, shop.path) == wanted
    assert within(shop.path, meant_path(workspace.repo, shop.path, given)) == wanted
    assert similar(workspace, given, SearchOptions()).place.path == wanted


@pytest.mark.parametrize("given", ["src\\shop\\client.py", "caf\u00e9.py"])
def test_a_mark_is_set_and_taken_away_by_a_path_as_it_is_typed(shop, given):
    assert shop.gitrag("core", "mark", given).status == 0
    assert shop.gitrag("core", "unmark", given).status == 0


@pytest.mark.parametrize("path", ["src/gone/client.py", "client.py"])
def test_the_path_of_a_url_is_a_whole_one(shop, path):
    url = f"https://github.com/o/r/blob/main/{path}"
    here = shop.path / "src" / "shop"
    workspace = Workspace.open(shop.path, environ=shop.gitrag.environment)
    assert meant_path(workspace.repo, here, url) == here / url
    assert history(workspace, "files", HistoryOptions(path="client.py")).searched
    assert not history(workspace, "files", HistoryOptions(path=url, here="src/shop")).searched
    assert shop.gitrag("core", "mark", "src/shop/client.py").status == 0
    assert at(shop, "src/shop")("core", "unmark", url).status == 1
    assert shop.gitrag("core", "unmark", "src/shop/client.py").status == 0


@pytest.mark.parametrize("given", ["../shop/client.py:fetch", "client.py:fetch", "src/shop/client.py:fetch"])
def test_a_definition_of_a_file_is_found(shop, given):
    graph = json.loads(at(shop, "src/bank")("graph", given, "--json").out)
    matched = {(node["path"], node["name"]) for node in graph["nodes"] if node["matched"]}
    assert matched == {("src/shop/client.py", "fetch")}


def test_directories_are_found_by_their_end(shop):
    assert json.loads(at(shop, "docs")("check", "bank", "--json").out)["target"] == "src/bank"


@pytest.mark.parametrize("command", [("check",), ("core", "mark"), ("graph",)])
def test_of_several_the_candidates_are_named(shop, command):
    done = at(shop, "src/shop/[odd]")(*command, "util.py")
    assert (done.status, done.out) == (2, "")
    assert done.said == ["util.py may be ../../bank/util.py, ../util.py.", "hint: Give one of them."]
    assert at(shop, "src/bank")(*command, "util.py").status in {0, 1}  # the one here is meant


def test_a_mark_of_several_is_not_taken_away(shop):
    for path in ("src/shop/util.py", "src/bank/util.py"):
        assert shop.gitrag("core", "mark", path).status == 0
    done = shop.gitrag("core", "unmark", "util.py")
    assert (done.status, done.said[0]) == (2, "util.py may be src/bank/util.py, src/shop/util.py.")
    assert shop.gitrag("core", "unmark", "bank/util.py").status == 0
    assert shop.gitrag("core", "unmark", "util.py").out == "Unmarked util.py\n"
    assert shop.gitrag("core", "unmark", "util.py").status == 1


@pytest.mark.parametrize("command", [("check",), ("core", "mark")])
def test_what_no_file_is_called_is_refused_as_before(shop, command):
    done = shop.gitrag(*command, "no_such_file.py")
    assert done.status == 2
    assert "no_such_file.py" in done.said[0]


@pytest.mark.parametrize(
    ("place", "glob", "found"),
    [
        ("src", "shop/*.py", ["shop/client.py", "shop/util.py"]),
        ("src", "src/shop/*.py", ["shop/client.py", "shop/util.py"]),
        ("src/shop", "../bank/**", ["../bank/util.py"]),
        ("src/shop", "./client.py", ["client.py"]),
        ("src/shop/[odd]", "./*.py", ["part.py"]),
        ("src/shop", "/src/bank/", ["../bank/util.py"]),
        (".", "src\\shop\\client.py", ["src/shop/client.py"]),
        (".", "'src/shop/[odd]/part.py'", ["src/shop/[odd]/part.py"]),
        (".", "src/shop/[odd]/part.py", ["src/shop/[odd]/part.py"]),
        (".", "src/shop/[odd]", ["src/shop/[odd]/part.py"]),
        (".", "https://github.com/a/b/blob/main/src/bank/util.py#L3", ["src/bank/util.py"]),
        (".", "file://{here}/src/bank", ["src/bank/util.py"]),
        (".", "src\\bank\\*.py", ["src/bank/util.py"]),
        (
            "src/shop",
            "*.py",
            [
                f"../../lib/{NFD}",
                "../../lib/my file (1).py",
                "../bank/util.py",
                "[odd]/part.py",
                "client.py",
                "util.py",
            ],
        ),
    ],
)
def test_globs_hold_from_where_one_stands(shop, place, glob, found):
    glob = glob.replace("{here}", str(shop.path))
    done = at(shop, place)("search", "--regex", "^def ", "--path", glob, "-o", "paths")
    assert sorted(done.out.splitlines()) == found
