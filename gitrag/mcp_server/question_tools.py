"""The tools on earlier decisions, existing code, what commits say, and a hub. Agents read their texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import PurePath
from typing import Annotated, Literal

from msgspec import Struct
from pydantic import Field

from gitrag.actions.governance import (
    check as check_action,
)
from gitrag.actions.governance import (
    related as related_action,
)
from gitrag.actions.governance.bearings import Bearing
from gitrag.actions.governance.change_impact import change_impact, reviewing
from gitrag.actions.history import CommitMatch
from gitrag.actions.history import history as ask
from gitrag.actions.hub import search as hub_search
from gitrag.actions.hub.push import address_of
from gitrag.actions.impact import Impact
from gitrag.actions.instead import Instead
from gitrag.actions.issues import sync_before_reading
from gitrag.actions.requests import HistoryOptions, SearchRequest
from gitrag.actions.search import SearchOptions
from gitrag.actions.status import read_status
from gitrag.actions.touched import Touched
from gitrag.actions.why import Why, why
from gitrag.errors import UsageError
from gitrag.git import meant_path
from gitrag.mcp_server import replies
from gitrag.mcp_server.binding import Reply
from gitrag.mcp_server.workbench import ToolCall, Workbench
from gitrag.report import governance
from gitrag.report.commits import history_markdown, why_markdown
from gitrag.report.hub import as_markdown
from gitrag.report.impact import MOST_TESTS, PATHS, arguments
from gitrag.report.told import plain_data
from gitrag.search.similar_chunks import SimilarChunk


class RelatedFound(Struct, frozen=True, kw_only=True):
    """What is there already: of these lists those that were asked for."""

    edges: tuple[Bearing, ...] = ()
    duplicates: Sequence[SimilarChunk] = ()
    nearest: Sequence[Bearing | SimilarChunk | Mapping[str, object]] = ()
    questions: tuple[Bearing, ...] = ()
    helpers: tuple[Touched, ...] = ()
    twins: tuple[Touched, ...] = ()
    removed: tuple[Touched, ...] = ()
    impact: Impact | None = None
    tests: tuple[str, ...] = ()
    freshness: replies.Freshness
    instead: Instead | Mapping[str, object] = {}


def check(
    bench: Workbench,
    call: ToolCall,
    target: Annotated[str, Field(description="A file or directory.")],
) -> Reply:
    """Before a change: decisions (ADRs), specs and issues that bear on a file, by semantic search.

    Read in full those of 0.3 or more. Also who calls it from outside, tests apart.
    """
    workspace = bench.workspace
    sync_before_reading(workspace, bench.listener(call), PurePath(target).stem)
    top = workspace.repo.root or workspace.repo.git_dir
    found = check_action.check(workspace, meant_path(workspace.repo, top, target, directories=True))
    freshness = replies.of_status(read_status(workspace), bench.notes())
    text = governance.checked_markdown(found).followed_by("", f"[{replies.freshness_line(freshness)}]")
    return Reply(text, found, "CheckReply", freshness)


def related(
    bench: Workbench,
    call: ToolCall,
    text: Annotated[str, Field(description="What is to be written or decided.")] = "",
    diff: Annotated[str, Field(description="Instead: main...HEAD")] = "",
    mode: Annotated[
        Literal["edges", "duplicates"],
        Field(description="Edges of a new ADR or spec, or what covers text already."),
    ] = "edges",
    purpose: Annotated[
        Literal["", "adr", "spec", "discover", "plan", "work", "audit"],
        Field(description="Of edges. plan: code and issues; work: code."),
    ] = "",
    threshold: Annotated[
        float, Field(ge=-1, le=1, description="Least cosine of a duplicate.")
    ] = related_action.THRESHOLD,
) -> Reply:
    """What is there already, by vector embeddings: related to a text, covering it, or like a diff's code.

    Before writing a helper: mode duplicates. In a review: diff (callers, twins, tests).
    """
    workspace = bench.workspace
    if bool(text) == bool(diff):
        raise UsageError("related takes either text or diff.", "Give one of them.")
    if diff or mode == "duplicates" or purpose == "plan":  # among them issues
        sync_before_reading(workspace, bench.listener(call), text)
    if diff:
        review = change_impact(workspace, reviewing(diff, threshold, with_tests=True), call.advance)
        markdown = governance.review_markdown(review)
        tests = arguments(review.tests, PATHS)
        if tests:
            more = ", …" if len(tests) > MOST_TESTS else ""
            markdown = markdown.followed_by("", f"Tests to run: {', '.join(tests[:MOST_TESTS])}{more}")
        answer = partial(
            RelatedFound,
            questions=review.documents,
            helpers=review.added,
            twins=review.twins,
            removed=tuple(each for each in review.removed if each.named),
            nearest=plain_data(review.unreached.nearest, "NearDocument") if review.unreached else (),
            impact=review.impact,
            tests=tests,
        )
    elif mode == "duplicates":
        found = related_action.duplicates(workspace, text, threshold)
        markdown = governance.duplicates_markdown(found)
        answer = partial(RelatedFound, duplicates=found.chunks, nearest=found.nearest)
    else:
        edges = related_action.related(workspace, text, (purpose,) if purpose else ("adr", "spec"))
        markdown = governance.related_markdown(edges)
        markdown = markdown.followed_by(*governance.nearest_lines(edges.hinted))
        answer = partial(RelatedFound, edges=edges.documents, nearest=edges.nearest, instead=edges.instead)
    freshness = replies.of_status(read_status(workspace), bench.notes())
    text = markdown.followed_by("", f"[{replies.freshness_line(freshness)}]")
    return Reply(text, answer(freshness=freshness))


def history(
    bench: Workbench,
    call: ToolCall,
    query: Annotated[str, Field(description="What commits may say.")] = "",
    lines: Annotated[str, Field(description="Instead: path:first-last.")] = "",
    path: Annotated[str, Field(description="Only commits that change it.")] = "",
    limit: Annotated[int, Field(ge=1, le=20)] = 5,
) -> Reply:
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
    return Reply(said, {"commit_matches": matches, "why": reasons, "freshness": freshness})


def search_hub(
    bench: Workbench,
    call: ToolCall,
    query: Annotated[str, Field(description="A question, or an identifier.")],
    repository: Annotated[str, Field(description="Only this one; all by default.")] = "",
    asked: SearchRequest = SearchRequest(),
    limit: Annotated[int, Field(ge=1, le=50)] = 5,
) -> Reply:
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
