"""The tool on what commits say. Agents read its docstring."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from gitrag.actions.history import HistoryOptions
from gitrag.actions.history import history as ask
from gitrag.actions.why import why
from gitrag.errors import UsageError
from gitrag.mcp_server import replies
from gitrag.mcp_server.binding import Reply
from gitrag.mcp_server.workbench import ToolCall, Workbench
from gitrag.report.history import as_json as history_json
from gitrag.report.history import as_markdown as history_markdown
from gitrag.report.why import as_json as why_json
from gitrag.report.why import as_markdown as why_markdown


@dataclass(frozen=True, slots=True)
class CommitsFound:
    """Commits: those that say what was asked, or those that made lines what they are."""

    commit_matches: list[dict[str, Any]]
    why: dict[str, Any] | None
    freshness: replies.Freshness


def history(
    bench: Workbench,
    call: ToolCall,
    query: Annotated[str, Field(description="What commits may say.")] = "",
    lines: Annotated[str, Field(description="Instead: path:first-last.")] = "",
    path: Annotated[str, Field(description="Only commits that change it.")] = "",
    limit: Annotated[int, Field(ge=1, le=20)] = 5,
) -> Reply[CommitsFound]:
    """Why it is so: commits that say what query asks, or that made lines what they are, with reasons."""
    del call
    workspace = bench.workspace
    if bool(query) == bool(lines):
        raise UsageError("history takes either query or lines.", "Give one of them.")
    if lines and path:
        raise UsageError("history takes path with query only.", "lines names its file itself.")
    matches: list[dict[str, Any]] = []
    reasons: dict[str, Any] | None = None
    if lines:
        explained = why(workspace, workspace.repo.root or workspace.repo.git_dir, lines)
        text, reasons = why_markdown(explained), json.loads(why_json(explained))
    else:
        found = ask(workspace, query, HistoryOptions(limit=limit, path=path))
        text, matches = history_markdown(found), json.loads(history_json(found))["commit_matches"]
    freshness = replies.of_answer(None, workspace.repo.head().commit, bench.notes())
    said = text.followed_by(f"[{replies.freshness_line(freshness)}]")
    return Reply(said, CommitsFound(matches, reasons, freshness))
