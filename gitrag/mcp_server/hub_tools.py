"""The tool on an organisation's hub, which is there where the setting hub is. Agents read its docstring."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gitrag.actions.hub import search as hub_search
from gitrag.actions.hub.push import address_of
from gitrag.actions.hub.search import HubAnswer
from gitrag.actions.requests import SearchRequest
from gitrag.actions.search import SearchOptions
from gitrag.mcp_server.binding import Reply
from gitrag.mcp_server.workbench import ToolCall, Workbench
from gitrag.report.hub import as_markdown


def search_hub(
    bench: Workbench,
    call: ToolCall,
    query: Annotated[str, Field(description="A question, or an identifier.")],
    repository: Annotated[str, Field(description="Only this one; all by default.")] = "",
    asked: SearchRequest = SearchRequest(),
    limit: Annotated[int, Field(ge=1, le=50)] = 5,
) -> Reply[HubAnswer]:
    """Search the organisation's other repositories, as they were pushed; each hit names its repository."""
    del call
    config = bench.workspace.config
    answer = hub_search.search(
        address_of(config.hub),
        query,
        config,
        repositories=(repository,) if repository else (),
        options=SearchOptions.of(asked, limit=limit),
        encoder=bench.workspace.encoder_if_ready(),
    )
    return Reply(as_markdown(answer), answer)
