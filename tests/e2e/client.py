"""The SDK's client of the installed `gitrag mcp`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp import Client, StdioServerParameters

from tests.e2e.conftest import GITRAG, Project


@asynccontextmanager
async def over_stdio(project: Project) -> AsyncIterator[Client]:
    """Connect to a server in a repository, over standard streams."""
    server = StdioServerParameters(
        command=str(GITRAG), args=["mcp"], cwd=str(project.path), env=dict(project.gitrag.environment)
    )
    async with Client(server) as client:
        yield client
