"""Agents ask several repositories: by name, all, or those of the client's roots."""

from __future__ import annotations

from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client

from gitrag.mcp_server.server import build
from gitrag.mcp_server.workbench import Workbench
from tests.e2e.test_several import Machine
from tests.support.command import Gitrag, Project, user_environment
from tests.support.here import of_the_process
from tests.support.mcp_client import text_of, use
from tests.support.repository import GitRepository, create_repository

SHOP = {"shop/stock.py": 'def reserve_stock(item):\n    """Reserve an item."""\n    return item\n'}
BANK = {"bank/transfer.py": 'def transfer_money(amount):\n    """Move an amount."""\n    return amount\n'}
WEB = {"web/page.py": 'def render_page(page):\n    """Render a page."""\n    return page\n'}


@pytest.fixture
def machine(tmp_path, model_dir):
    made = Machine(tmp_path, user_environment(tmp_path / "home", model_dir))
    for name, files in (("shop", SHOP), ("bank", BANK), ("web", WEB)):
        made.add(name, files)
    return tmp_path, made.environment


def calls(machine, steps: list[tuple[str, dict[str, Any]]], *, roots: tuple[str, ...] = ()):
    place, environment = machine

    async def list_roots(_context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=each) for each in roots])

    async def run() -> list[types.CallToolResult]:
        # Since 2026-07-28 servers cannot ask for roots; clients that have them speak an earlier version.
        options: dict[str, Any] = {"list_roots_callback": list_roots, "mode": "legacy"} if roots else {}
        server = build(Workbench(place / "shop", environment))
        async with Client(server, **options) as client:
            return [await client.call_tool(name, given) for name, given in steps]

    with of_the_process(environment):
        return anyio.run(run)


def test_repositories_are_asked_by_name_and_read_as_projects(machine):
    found, lines, alone, unknown, both = calls(
        machine,
        [
            ("search_code", {"query": "transfer money", "repositories": ["b*", "shop"]}),
            ("get", {"what": "bank/transfer.py:1-3", "project": "bank"}),
            ("search_code", {"query": "transfer money"}),
            ("search_code", {"query": "transfer money", "repositories": ["bnak"]}),
            ("search_code", {"query": "money", "repositories": ["bank"], "project": "bank"}),
        ],
    )
    assert not found.is_error, found
    best = found.structured_content["results"][0]
    assert (best["repository"], best["path"]) == ("bank", "bank/transfer.py")
    assert "bank:bank/transfer.py:1-3" in found.content[0].text
    assert "def transfer_money" in lines.content[0].text
    assert {each["repository"] for each in alone.structured_content["results"]} <= {""}
    assert 'Did you mean "bank"?' in text_of(unknown)
    assert "project is for one" in text_of(both)


def test_calls_from_other_repositories_are_listed_with_how_they_were_found(machine):
    place, environment = machine
    manifest = {"pyproject.toml": '[project]\nname = "shop"\n', "shop/__init__.py": ""}
    GitRepository(place / "shop", environment).commit(manifest)
    uses = "from shop.stock import reserve_stock\n\n\ndef order(item):\n    return reserve_stock(item)\n"
    GitRepository(place / "web", environment).commit({"web/order.py": uses})
    found, alone, wrong = calls(
        machine,
        [
            ("call_graph", {"target": "reserve_stock", "repositories": ["*"]}),
            ("call_graph", {"target": "reserve_stock"}),
            ("call_graph", {"filter": "stock", "repositories": ["*"]}),
        ],
    )
    assert not found.is_error, found
    (web,) = found.structured_content["elsewhere"]
    assert (web["repository"], web["direction"]) == ("web", "callers")
    assert [(each["caller_path"], each["caller"], each["line"]) for each in web["calls"]] == [
        ("web/order.py", "order", 5)
    ]
    assert "imports shop (pyproject.toml), a package of this repository" in web["found_by"]
    assert "- web:web/order.py:5 order -> reserve_stock shop/stock.py:1" in text_of(found)
    assert any("bank" in note for note in found.structured_content["freshness"]["notes"])
    assert alone.structured_content["elsewhere"] == []
    assert wrong.is_error


def test_all_are_asked_where_the_server_says_so_and_who_is_silent_is_named(machine):
    place, environment = machine
    (place / "web").rename(place / "gone")
    shop = GitRepository(place / "shop", environment)

    async def steps(client: Client) -> Any:
        return await client.call_tool("search_code", {"query": "transfer money"})

    found = use(Project(shop, Gitrag(shop.path, environment)), steps, "--everywhere")
    assert found.structured_content["results"][0]["repository"] == "bank"
    assert any(
        note.startswith("web: not reachable") for note in found.structured_content["freshness"]["notes"]
    )


def test_a_clients_roots_are_its_repositories(machine):
    place, _environment = machine
    roots = (*tuple(f"file://{place / name}" for name in ("shop", "bank")), "file:///nowhere")
    both, one = calls(
        machine,
        [
            ("search_code", {"query": "transfer money"}),
            ("search_code", {"query": "render a page", "repositories": ["web"]}),
        ],
        roots=roots,
    )
    assert both.structured_content["results"][0]["repository"] == "bank"
    assert {each["repository"] for each in one.structured_content["results"]} == {"web"}
    (alone,) = calls(machine, [("search_code", {"query": "reserve stock"})], roots=roots[:1])
    assert {each["repository"] for each in alone.structured_content["results"]} == {""}


def test_a_root_that_is_a_linked_worktree_is_asked_as_it_is(machine):
    place, environment = machine
    tree = place / "tree"
    GitRepository(place / "shop", environment).git("worktree", "add", "-b", "next", str(tree))
    (tree / "shop/coupon.py").write_text("def redeem_coupon(code):\n    return code\n")
    roots = tuple(f"file://{each}" for each in (tree, place / "bank"))
    (found,) = calls(machine, [("search_code", {"query": "redeem_coupon"})], roots=roots)
    assert found.structured_content["results"][0]["path"] == "shop/coupon.py"


def test_roots_whose_directories_have_one_name_are_all_asked(machine):
    place, environment = machine
    other = {"lend/loan.py": 'def grant_loan(amount):\n    """Lend an amount."""\n    return amount\n'}
    create_repository(place / "other/bank", environment, other)
    assert Gitrag(place / "other/bank", environment)("index", "update", "--no-embed").status == 0
    roots = tuple(f"file://{place / name}" for name in ("bank", "other/bank"))
    for asked in ({}, {"repositories": ["bank"]}):
        results = calls(
            machine,
            [("search_code", {"query": query, **asked}) for query in ("transfer_money", "grant_loan")],
            roots=roots,
        )
        best = [each.structured_content["results"][0]["path"] for each in results]
        assert best == ["bank/transfer.py", "lend/loan.py"]
