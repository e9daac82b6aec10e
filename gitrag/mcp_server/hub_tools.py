"""The tool on an organisation's hub, which is there where the setting hub is. Agents read its docstring."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from gitrag.actions.hub import search as hub_search
from gitrag.actions.hub.push import address_of
from gitrag.actions.search import SearchOptions
from gitrag.mcp_server.binding import Reply
from gitrag.mcp_server.workbench import ToolCall, Workbench
from gitrag.report.hub import as_json, as_markdown
from gitrag.search.language_filter import language_named
from gitrag.store.candidates import Filters


@dataclass(frozen=True, slots=True)
class HubFound:
    """Hits, each with its repository, the branches that were searched, and the repositories that are away."""

    matches: list[dict[str, Any]]
    searched: list[dict[str, Any]]
    absent: list[dict[str, Any]]


def search_hub(
    bench: Workbench,
    call: ToolCall,
    query: Annotated[str, Field(description="A question, or an identifier.")],
    repository: Annotated[str, Field(description="Only this one; all by default.")] = "",
    language: str = "",
    limit: Annotated[int, Field(ge=1, le=50)] = 5,
) -> Reply[HubFound]:
    """Search the organisation's other repositories, as they were pushed; each hit names its repository."""
    del call
    config = bench.workspace.config
    languages = (language_named(language),) if language else ()
    answer = hub_search.search(
        address_of(config.hub),
        query,
        config,
        repositories=(repository,) if repository else (),
        options=SearchOptions(limit=limit, filters=Filters(languages=languages)),
        encoder=bench.workspace.encoder_if_ready(),
    )
    found = json.loads(as_json(answer))
    return Reply(as_markdown(answer), HubFound(found["matches"], found["searched"], found["absent"]))
