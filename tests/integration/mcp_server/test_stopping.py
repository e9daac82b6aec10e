"""Long work tells how far it is, and ends when the client that asked for it wants it no more."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import pytest
import uvicorn
from mcp import Client
from mcp.server.mcpserver import MCPServer

from gitrag.mcp_server.binding import Hints, Reply, bind
from gitrag.mcp_server.workbench import StoppedError, ToolCall, Workbench

PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class Count:
    """How far it came."""

    done: int


@pytest.fixture
def bench(make_repository, git_environment, model_dir) -> Workbench:
    repository = make_repository({"a.py": "A = 1\n"})
    return Workbench(repository.path, git_environment | {"GITRAG_MODEL_DIR": str(model_dir)})


@asynccontextmanager
async def connected(server: MCPServer, way: str) -> AsyncIterator[Client]:
    if way != "http":
        async with Client(server, mode=way) as client:
            yield client
        return
    web = uvicorn.Server(uvicorn.Config(server.streamable_http_app(), port=0, log_level="error"))
    async with anyio.create_task_group() as group:
        group.start_soon(web.serve)
        while not web.started:  # noqa: ASYNC110 - it only has a flag
            await anyio.sleep(0.01)
        port = web.servers[0].sockets[0].getsockname()[1]
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            yield client
        web.should_exit = True


@pytest.mark.parametrize("way", ["legacy", "auto", "http"])
def test_work_that_never_ends_is_ended_by_its_client(bench, way: str):
    stopped = threading.Event()

    def endless(bench: Workbench, call: ToolCall) -> Reply:
        """Work until nobody wants it."""
        try:
            while True:
                call.tick("steps")
        except StoppedError:
            stopped.set()
            raise

    def short(bench: Workbench, call: ToolCall) -> Reply:
        """Work once."""
        call.check()
        return Reply("1", Count(1))

    server: MCPServer = MCPServer(
        "t", tools=[bind(bench, each, Hints(), core=False) for each in (endless, short)]
    )

    async def run() -> None:
        async with connected(server, way) as client:
            told: list[float] = []
            with anyio.CancelScope() as scope:

                async def progress(done: float, _total: float | None, _message: str | None) -> None:
                    told.append(done)
                    if len(told) == 3:
                        scope.cancel()

                await client.call_tool("endless", {}, progress_callback=progress)
            assert scope.cancelled_caught
            assert told == sorted(set(told)), "it only grows"
            with anyio.fail_after(PATIENCE_S):
                assert await anyio.to_thread.run_sync(stopped.wait, PATIENCE_S)
                again = await client.call_tool("short", {})
            assert again.structured_content == {"done": 1}

    anyio.run(run)
