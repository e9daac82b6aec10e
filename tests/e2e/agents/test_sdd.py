"""The search protocol of spec-driven development, from init to verify, as its phases follow it."""

from __future__ import annotations

from collections.abc import Callable

from mcp import Client

from tests.support.command import SOURCES, Project
from tests.support.mcp_client import data_of, use

CONFIG = "schema: spec-driven\nstrict_tdd: true\n"
SPEC = "# Retries\n\n### Requirement: A call is repeated\n\nThe client SHALL call again after a failure.\n"
FILES = SOURCES | {
    "openspec/config.yaml": CONFIG,
    "openspec/specs/retries/spec.md": SPEC,
    "orders.py": "def place(order):\n    return order\n\n\ndef cancel(order):\n    return None\n",
}
WRITTEN = "def refund_customer(order):\n    '''Give the money back after an order was cancelled.'''\n"


def test_a_project_goes_from_init_to_verify(make_project: Callable[..., Project]):
    project = make_project(FILES)
    assert project.gitrag("init", "--agents", "claude", "--skip-embed").status == 0
    config = project.path / "openspec/config.yaml"
    strategy = config.read_text().removeprefix(CONFIG)
    assert "mode: hybrid" in strategy
    assert "mcp_tool: search_code" in strategy
    assert "reindex_tool: reindex" in strategy

    async def phases(client: Client):
        named = {tool.name for tool in (await client.list_tools()).tools}
        assert {"search_code", "reindex"} <= named  # what the strategy names is there
        # explore: ask, and read the lines that the answer names, not files
        explored = data_of(await client.call_tool("search_code", {"query": "call again after a failure"}))
        first = explored["results"][0]
        assert first["path"] == "client.py"
        lines = {"what": f"{first['path']}:{first['line_start']}-{first['line_end']}"}
        assert "def retry_with_backoff" in data_of(await client.call_tool("get", lines))["text"]
        # apply: write, then tell which files have changed and wait for nothing
        (project.path / "refunds.py").write_text(f"{WRITTEN}    return -order.total\n")
        assert data_of(await client.call_tool("reindex", {"files": ["refunds.py"]}))["files"] == 1
        # verify: the requirement, the evidence, and an exact name where meaning is not enough
        asked = {"query": "give money back", "limit": 3}
        evidence = data_of(await client.call_tool("search_code", asked))
        assert evidence["results"][0]["path"] == "refunds.py"
        exact = {"query": "refund_customer", "exact": "word"}
        assert data_of(await client.call_tool("search_code", exact))["results"][0]["path"] == "refunds.py"
        found = data_of(await client.call_tool("search", {"query": "call again after a failure"}))
        return explored, found

    explored, found = use(project, phases)
    assert {"sufficient", "results"} <= explored.keys()
    assert found["spec_matches"][0]["path"] == "openspec/specs/retries/spec.md"
    assert project.gitrag("init", "--agents", "claude", "--remove").status == 0
    assert config.read_text() == CONFIG  # byte for byte
