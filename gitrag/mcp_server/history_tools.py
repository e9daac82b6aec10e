"""The tool on what commits say. Agents read its docstring."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct
from pydantic import Field

from gitrag.actions.history import CommitMatch
from gitrag.actions.history import history as ask
from gitrag.actions.requests import HistoryOptions
from gitrag.actions.why import Why, why
from gitrag.errors import UsageError
from gitrag.mcp_server import replies
from gitrag.mcp_server.binding import Reply
from gitrag.mcp_server.workbench import ToolCall, Workbench
from gitrag.report.history import as_markdown as history_markdown
from gitrag.report.why import as_markdown as why_markdown


class CommitsFound(Struct, frozen=True):
    """Commits: those that say what was asked, or those that made lines what they are."""

    commit_matches: tuple[CommitMatch, ...]
    why: Why | None
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
    matches: tuple[CommitMatch, ...] = ()
    reasons: Why | None = None
    if lines:
        reasons = why(workspace, workspace.repo.root or workspace.repo.git_dir, lines)
        text = why_markdown(reasons)
    else:
        found = ask(workspace, query, HistoryOptions(limit=limit, path=path))
        text, matches = history_markdown(found), found.matches
    freshness = replies.of_answer(None, workspace.repo.head().commit, bench.notes())
    said = text.followed_by(f"[{replies.freshness_line(freshness)}]")
    return Reply(said, CommitsFound(matches, reasons, freshness))
