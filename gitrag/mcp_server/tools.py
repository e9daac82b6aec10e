"""The tools on repositories. Agents read their docstrings to choose one."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from datetime import date
from typing import Annotated

from msgspec.structs import replace
from pydantic import Field

from gitrag.actions import graph as graph_action
from gitrag.actions import lines
from gitrag.actions import search_code as search_code_action
from gitrag.actions.catch_up import start_worker
from gitrag.actions.core_context import core_context, marked_files, project_of
from gitrag.actions.graph_request import GraphCommand
from gitrag.actions.hit_lines import PACKED_HITS, for_report
from gitrag.actions.left_out import of_path
from gitrag.actions.prime import prime as gather
from gitrag.actions.references import graph_or_references, meant_target, target_file
from gitrag.actions.repositories.calls import calls_elsewhere
from gitrag.actions.requests import MOST_TOKENS, SearchRequest
from gitrag.actions.search import SearchOptions
from gitrag.actions.search import search as ask
from gitrag.actions.search_code import Cascade
from gitrag.actions.status import WorkspaceStatus, count_indexed, read_status
from gitrag.errors import UsageError
from gitrag.mcp_server import replies, workbench
from gitrag.mcp_server.binding import Reply
from gitrag.mcp_server.workbench import ToolCall, Workbench
from gitrag.report.exact import exact_notes, exact_text
from gitrag.report.markdown import as_markdown
from gitrag.report.prime import as_markdown as primed_text
from gitrag.search.exact import Pattern
from gitrag.words.control_characters import Text, joined

Project = Annotated[str, Field(description="As index_code named it.")]
Budget = Annotated[int, Field(ge=0)]

_COLUMNS = 160
"""Of an exact line: a minified one would fill the answer."""

_EXACT_LINES = 40
"""Of an exact search, where no limit is given: some 1,000 tokens."""


def search_code(
    bench: Workbench,
    call: ToolCall,
    query: str,
    project: Project = "",
    limit: Annotated[int, Field(ge=1, le=200)] | None = None,
    max_tokens: Budget = 0,
    asked: SearchRequest = SearchRequest(),
    repositories: Annotated[list[str], Field(description="By name or glob; * all.")] = [],  # noqa: B006
) -> Reply:
    """Semantic code search: vector embeddings, words, else exact grep.

    Gives code with its line range. When it says sufficient, search no further.
    """
    if asked.exact and max_tokens:
        raise UsageError("max_tokens is for questions, not for exact.", "Give limit instead.")
    if max_tokens > MOST_TOKENS:
        raise UsageError(f"max_tokens is {MOST_TOKENS:,} at most, not {max_tokens:,}.", "Give a smaller one.")
    limit = limit or (_EXACT_LINES if asked.exact else search_code_action.LIMIT)
    limits = SearchOptions.of(asked, limit=PACKED_HITS if max_tokens else limit)
    if repositories or (bench.asks_several(call.roots) and not project and not asked.exact):
        if project or asked.exact:
            raise UsageError(
                f"repositories asks several; {'project' if project else 'exact'} is for one.",
                "Leave out one.",
            )
        answer = bench.several(call, repositories)(query, search_code_action.of_code(limits))
        return _code_found(bench, search_code_action.of_several(answer, limit, max_tokens))
    place = bench.project(project)
    limits = SearchOptions.of(asked, limit=limit, paths=place.globs("".join(asked.paths)))
    if not asked.exact:
        return _code_found(
            bench, search_code_action.search_code(place.workspace, query, limits, max_tokens), place
        )
    pattern = Pattern(query, asked.exact == "regex")
    found, every = search_code_action.exact_lines(place.workspace, pattern, limits)
    said = exact_notes(every)
    if pattern.is_regex and not found.snippets and re.search(r"[$()\[{*+?|]", query):
        said.append("exact: word looks for this text as it is.")
    return _code_found(bench, found, place, said, exact_text(every, every.answer, columns=_COLUMNS))


def _code_found(
    bench: Workbench,
    found: Cascade,
    asked: workbench.Project | None = None,
    said: Sequence[str] = (),
    exact: Text | None = None,
) -> Reply:
    """Return what was found in a project, or in several repositories; ``exact``: the text of exact lines."""
    commit = asked.workspace.repo.head().commit if asked else None
    freshness = replies.of_answer(found.answer, commit, [*found.notes, *said, *bench.notes()])
    line = f"[{replies.freshness_line(freshness)}]"
    return Reply(
        replies.code_text(found, freshness) if exact is None else exact.followed_by(line),
        found,
        "CodeReply",
        freshness,
        asked.name if asked else "",
        replies.word_data(found.answer),
    )


def search(
    bench: Workbench,
    call: ToolCall,
    query: str,
    asked: SearchRequest = SearchRequest(),
    limit: Annotated[int, Field(ge=1, le=50, description="Of each kind.")] = 8,
    graph: Annotated[bool, Field(description="Draw the calls around the hits.")] = False,
    unfiltered: Annotated[bool, Field(description="Draw all calls.")] = False,
) -> Reply:
    """Semantic (vector embedding) search over decisions (ADRs), specifications, code and issues."""
    workspace = bench.workspace
    limits = SearchOptions.of(asked, limit=limit, with_issues=True, grouped=True)
    answer = ask(workspace, query, limits)
    if graph or unfiltered:
        drawn = graph_action.graph_of(workspace, answer, limits, unfiltered=unfiltered, check=call.tick)
        answer = replace(answer, graph=drawn)
    freshness = replies.of_answer(answer, answer.commit, bench.notes())
    today = date.today().isoformat()  # noqa: DTZ011 - the reader's local date
    words = replies.word_data(answer)
    text = as_markdown(for_report(answer), date=today)
    if words.note and not answer.hits:
        text = text.followed_by(f"{words.note[0].upper()}{words.note[1:]}.")
    text = text.followed_by("", f"[{replies.freshness_line(freshness)}]")
    return Reply(text, answer, "SearchReply", freshness, words=words)


def call_graph(
    bench: Workbench,
    call: ToolCall,
    target: Annotated[str, Field(description="Name, Class.method, path[:line].")] = "",
    asked: GraphCommand = GraphCommand(),
    limit: Annotated[int, Field(ge=1, le=500)] = replies.CALLS,
    draw: Annotated[bool, Field(description="As Mermaid too.")] = False,
    project: Project = "",
    repositories: Annotated[list[str], Field(description="These, too; * all.")] = [],  # noqa: B006
) -> Reply:
    """Who calls whom around a definition, with lines; who uses a constant or a type."""
    place = bench.project(project)
    workspace = place.workspace
    if asked.to and not target:
        raise UsageError("A chain of calls to something begins somewhere.", "Give target, too.")
    if not target and not asked.filter:
        raise UsageError("Neither target nor filter is given.", "Name a definition, or give a filter.")
    if repositories and (not target or asked.filter or asked.to):
        raise UsageError("repositories is for the calls of one target.", "Leave filter and to out.")
    target = meant_target(workspace, target, workspace.place) or ""
    to = meant_target(workspace, asked.to, workspace.place)
    question = asked.question(target or None)
    about = target_file(workspace, target)
    found = graph_or_references(
        workspace,
        question,
        to=to,
        with_references=asked.references,
        globs=place.globs(),
        about=about,
        check=call.tick,
    )
    if repositories:
        chosen = bench.choose(call, repositories)
        between, notes = calls_elsewhere(
            workspace,
            target,
            chosen,
            bench.open_other,
            direction=question.direction,
            globs=place.globs(),
            check=call.tick,
        )
        found = replace(found, elsewhere=between, elsewhere_notes=notes)
    left_out = found.not_indexed if found.graph else ()  # else the error says it
    said = [*found.remarks, *found.negatives, *left_out, *found.elsewhere_notes, *bench.notes()]
    freshness = replies.of_answer(None, workspace.repo.head().commit, said)
    data = replies.calls(found, limit, freshness, is_drawn=draw)
    return Reply(replies.calls_text(data), data)


def get(
    bench: Workbench,
    call: ToolCall,
    what: Annotated[str, Field(description="path:first-last, path:line, path, or id.")],
    project: Project = "",
) -> Reply:
    """Read exact lines of a file as it is now, by range or hit id; of a long file alone, its outline."""
    del call
    workspace = bench.project(project).workspace
    outline = lines.read_outline(workspace, what)
    found = outline or lines.read_range(workspace, what)
    left_out = of_path(workspace, found.path)
    freshness = replies.of_answer(None, workspace.repo.head().commit, [*left_out, *bench.notes()])
    if isinstance(found, lines.Outline):
        text = replies.outline_text(found)
        told = lines.Range(found.path, 0, 0, text, found.lines, is_outline=True, not_indexed=left_out)
        said = text.followed_by(f"[{replies.freshness_line(freshness)}]")
    else:
        told = replace(found, not_indexed=left_out)
        said = replies.range_text(found, freshness)
    return Reply(said, told, "LinesReply", freshness)


def index_code(
    bench: Workbench,
    call: ToolCall,
    path: Annotated[str, Field(description="A directory in a git repository.")] = ".",
    project: Annotated[str, Field(description="What to call another one.")] = "",
) -> Reply:
    """Index a directory for semantic search, as a project of its own.

    Not needed for this repository: its searches catch up by themselves.
    """
    opened = bench.open_path(path, project)
    workspace = opened.workspace
    workspace.update(advance=lambda done, total: call.advance(done, total, "files"))
    call.check()
    files, chunks = count_indexed(workspace, opened.directory)
    start_worker(workspace)
    freshness = replies.of_status(read_status(workspace), bench.notes())
    named = opened.name if bench.is_named(opened) else ""
    data = {"project": opened.name, "files": files, "chunks": chunks, "freshness": freshness}
    return Reply(replies.indexed_text(files, chunks, path, named, freshness), data)


def reindex(
    bench: Workbench,
    call: ToolCall,
    files: list[str],
) -> Reply:
    """Update vector embeddings of changed files, in the background. Optional, once after many edits."""
    del call
    try:
        start_worker(bench.workspace)
    except OSError:  # a search picks up the changes too; nothing waits for this
        logging.getLogger("gitrag").warning("reindex could not start the worker", exc_info=True)
    what = replies.counted(len(files), "changed file")
    return Reply(f"Reindexing {what} in the background.", {"files": len(files)})


def status(bench: Workbench, call: ToolCall, project: Project = "") -> Reply:
    """What is indexed, how fresh. For when answers surprise you."""
    del call
    asked = bench.project(project)
    found = read_status(asked.workspace)
    freshness = _standing(found, bench)
    text = _status_text(asked.name, found, freshness)
    return Reply(text, found, "StandingReply", freshness, asked.name)


def continuity_status(bench: Workbench, call: ToolCall, project: Project = "") -> Reply:
    """At a session's start: the status, and the core files."""
    del call
    asked = bench.project(project)
    context = core_context(asked.workspace, marked_files(bench.core, project_of(asked.workspace)))
    found = read_status(asked.workspace)
    freshness = _standing(found, bench)
    text = Text(_status_text(asked.name, found, freshness) + context)
    return Reply(text, {"markdown": text, "freshness": freshness})


def prime(
    bench: Workbench,
    call: ToolCall,
    topic: str = "",
) -> Reply:
    """What a session should know: an overview (languages, entry points, tests); with topic, its decisions."""
    primed = gather(
        bench.workspace,
        topic,
        bench.core,
        lambda done, total: call.advance(done, total, "files"),
        for_agent=True,
    )
    text = primed_text(primed)
    freshness = replies.of_status(read_status(bench.workspace), bench.notes())
    said = text.followed_by("", f"[{replies.freshness_line(freshness)}]")
    return Reply(said, {"markdown": text, "freshness": freshness})


def _standing(found: WorkspaceStatus, bench: Workbench) -> replies.Freshness:
    """Return how fresh an index is, with what else is to be said of it."""
    failed = [f"The last background worker failed: {found.failure}."] if found.failure else []
    return replies.of_status(found, [*found.notes, *failed, *bench.notes()])


def _status_text(project: str, found: WorkspaceStatus, freshness: replies.Freshness) -> Text:
    view = found.view
    if view is None:
        return joined([f"{project}: not indexed yet. Call index_code, or run `gitrag index`."])
    state = "up to date with HEAD" if found.fresh else "not up to date; the next search catches up"
    model = "" if found.model.ready else "; no model yet, `gitrag model fetch` gets it"
    said = (
        f"{project}: index {state}; {view.files} files, {view.chunks} chunks,"
        f" {view.embedded} of {view.texts} texts embedded{model}"
    )
    return joined([said, f"[{replies.freshness_line(freshness)}]"])
