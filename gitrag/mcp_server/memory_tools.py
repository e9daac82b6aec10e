"""The tools on the user's own data: explorations and core files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from msgspec.structs import asdict
from pydantic import Field

from gitrag.actions.core_context import core_path, mark, marked_files, project_of
from gitrag.actions.requests import Sections
from gitrag.git.meant import named_paths
from gitrag.mcp_server import replies
from gitrag.mcp_server.binding import Reply
from gitrag.mcp_server.workbench import ToolCall, Workbench
from gitrag.memory.exploration import DEFAULT_SCOPE, DEFAULT_SESSION, observation_text
from gitrag.memory.explorations import nothing_recalled
from gitrag.words.control_characters import Text, joined

Owner = Annotated[str, Field(description="Empty: this repository's.")]


def explore(
    bench: Workbench,
    call: ToolCall,
    title: Annotated[str, Field(description="The same title adds to it.")],
    asked: Sections = Sections(),
    project: Owner = "",
    scope: str = DEFAULT_SCOPE,
    session_id: str = DEFAULT_SESSION,
) -> Reply:
    """Remember what a discussion brought up before a change; call it again as it goes on.

    What is given replaces that section, the others stay.
    """
    del call
    explorations = bench.explorations()
    saved = explorations.save(
        title,
        asdict(asked),
        project=explorations.called(project, project_of(bench.workspace)),
        scope=scope,
        session_id=session_id,
    )
    return Reply(Text(saved), replies.Remembered(saved.observation, saved.created))


def memory_search(
    bench: Workbench,
    call: ToolCall,
    query: Annotated[str, Field(description="Empty: the latest.")] = "",
    type: Annotated[str, Field(description="explore")] = "",  # noqa: A002 - the protocol's name
    project: Annotated[str, Field(description="Empty: all.")] = "",
    limit: Annotated[int, Field(ge=1, le=50)] = 5,
) -> Reply:
    """Find what explore remembered, by semantic search."""
    del call
    explorations = bench.explorations()
    kind = type or None
    owner = explorations.called(project, project_of(bench.workspace)) if project.strip() else None
    if query.strip():
        hits = explorations.search(query, kind=kind, project=owner, limit=limit)
        found = [each.observation for each in hits]
        results = [replies.Remembered(each.observation, score=each.score) for each in hits]
    else:
        found = explorations.all(kind=kind, project=owner)[:limit]
        results = [replies.Remembered(each) for each in found]
    text = Text("\n\n".join(observation_text(each) for each in found))
    if not found:
        remembered = len(explorations.all(kind=kind, project=owner))
        more = "Leave query out to list them." if remembered else "explore remembers what you give it."
        text = joined([f"{nothing_recalled(remembered, asked=bool(query.strip()))} {more}"])
    return Reply(text, {"results": results})


def mark_core(
    bench: Workbench,
    call: ToolCall,
    path: str,
    summary: Annotated[str, Field(description="Empty keeps the one before.")] = "",
) -> Reply:
    """Mark a file as core: every session is told of it."""
    del call
    own = core_path(bench.workspace, path, _root(bench))
    marked = mark(bench.core, project_of(bench.workspace), own, summary or None)
    text = f"Marked {marked.path} as core of {marked.project}."
    return Reply(text, replies.Core(marked.project, [marked], changed=True))


def list_core(bench: Workbench, call: ToolCall, project: Owner = "") -> Reply:
    """List the core files."""
    del call
    marked = marked_files(bench.core, project_of(bench.workspace), project)
    owner = marked.project.name
    lines = [f"{each.path}: {each.summary}".rstrip(": ") for each in marked.files]
    return Reply(
        joined([*lines, *marked.notes])
        or f"No file of {owner} is marked as core. mark_core marks one; `gitrag core suggest` names some.",
        replies.Core(owner, marked.files),
    )


def unmark_core(bench: Workbench, call: ToolCall, path: str) -> Reply:
    """Take the mark from a core file."""
    del call
    here = project_of(bench.workspace)
    keys = marked_files(bench.core, here).keys
    root = _root(bench)
    changed = any(bench.core.unmark(keys, each) for each in named_paths(root, root, path))
    text = f"Unmarked {path}." if changed else f"{path} was not marked."
    left = marked_files(bench.core, here).files
    return Reply(text, replies.Core(here.name, left, changed=changed))


def _root(bench: Workbench) -> Path:
    return bench.workspace.repo.root or bench.workspace.repo.git_dir
