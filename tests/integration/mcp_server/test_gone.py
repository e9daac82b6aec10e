"""A repository that is removed under the server."""

from __future__ import annotations

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from gitrag.mcp_server.server import build
from gitrag.mcp_server.workbench import Workbench


@pytest.mark.parametrize("removed", ["", ".git"])
def test_every_tool_says_that_the_repository_is_gone(
    make_repository, git_environment, tmp_path, removed: str
):
    repository = make_repository({"a.py": "A = 1\n"})
    bench = Workbench(repository.path, git_environment | {"GITRAG_HOME": str(tmp_path / "home")})

    async def run() -> None:
        async with Client(build(bench)) as client:
            assert not (await client.call_tool("index_code", {})).is_error
            # in one step: what works in the background still writes there
            (repository.path / removed).rename(tmp_path / "removed")
            for tool, arguments in {
                "search_code": {"query": "a"},
                "search": {"query": "a"},
                "get": {"what": "a.py"},
                "call_graph": {"target": "A"},
                "index_code": {},
                "reindex": {"files": ["a.py"]},
                "status": {},
                "prime": {},
                "check": {"target": "a.py"},
                "mark_core": {"path": "a.py"},
            }.items():
                answer = await client.call_tool(tool, arguments)
                assert answer.is_error, tool
                assert "The repository is gone: there is no directory" in answer.content[0].text, tool
                assert "gitrag index" not in answer.content[0].text, tool
            with pytest.raises(MCPError, match="The repository is gone"):
                await client.read_resource("gitrag://adrs")

    anyio.run(run)
