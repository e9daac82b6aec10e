"""The SDK's client of the installed `gitrag mcp`, and what it can ask."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from gitrag.mcp_server.server import build
from gitrag.mcp_server.workbench import Workbench
from tests.support.command import GITRAG, Project, program
from tests.support.here import of_the_process

CALLS: dict[str, dict[str, Any]] = {
    "search_code": {"query": "call again after a failure"},
    "search": {"query": "retry with backoff"},
    "get": {"what": "client.py:4-5"},
    "call_graph": {"target": "retry_with_backoff"},
    "index_code": {},
    "reindex": {"files": ["client.py"]},
    "status": {},
    "continuity_status": {},
    "prime": {},
    "check": {"target": "client.py"},
    "related": {"text": "retry with backoff"},
    "history": {"lines": "client.py:4-5"},
    "explore": {"title": "Retries", "goals": "fewer failures"},
    "memory_search": {"query": "failures"},
    "mark_core": {"path": "client.py", "summary": "Calls others."},
    "list_core": {},
    "unmark_core": {"path": "client.py"},
}
"""Every tool, in the order clients list them, with arguments that suit the repository of ``own``."""

TOOLS = list(CALLS)

ADR = "# ADR-0001: Retry with backoff\n\n## Status\n\nAccepted\n\n## Decision\n\nCalls are retried.\n"
"""A decision that this repository has."""


@asynccontextmanager
async def over_stdio(project: Project, *arguments: str) -> AsyncIterator[Client]:
    """Connect to a server in a repository, over standard streams."""
    environment = project.gitrag.environment
    server = StdioServerParameters(
        command=str(program(environment) if project.gitrag.forks else GITRAG),
        args=["mcp", *arguments],
        cwd=str(project.path),
        env=dict(environment),
    )
    async with Client(server) as client:
        yield client


def use(project: Project, steps: Callable[[Client], Any], *arguments: str) -> Any:
    """Connect, and do something with the client; the arguments are the server's."""

    async def run() -> Any:
        async with over_stdio(project, *arguments) as client:
            return await steps(client)

    return anyio.run(run)


def use_here(project: Project, steps: Callable[[Client], Any], **options: Any) -> Any:
    """Do the like with a server in this process; the options are its."""

    async def run() -> Any:
        async with Client(build(Workbench(project.path, project.gitrag.environment), **options)) as client:
            return await steps(client)

    with of_the_process(project.gitrag.environment):
        return anyio.run(run)


def text_of(result: CallToolResult) -> str:
    [content] = result.content
    assert content.type == "text"
    assert "Traceback" not in content.text
    return content.text


def data_of(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    return result.structured_content
