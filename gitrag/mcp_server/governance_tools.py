"""The tools on earlier decisions and existing code. Agents read their docstrings."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Annotated, Any, Literal

from pydantic import Field

from gitrag.actions.governance import (
    change_impact as change_impact_action,
)
from gitrag.actions.governance import (
    check as check_action,
)
from gitrag.actions.governance import (
    related as related_action,
)
from gitrag.actions.governance import (
    review as review_action,
)
from gitrag.actions.issues import sync_before_reading
from gitrag.actions.status import read_status
from gitrag.errors import UsageError
from gitrag.git import meant_path
from gitrag.mcp_server import replies
from gitrag.mcp_server.binding import Reply
from gitrag.mcp_server.workbench import ToolCall, Workbench
from gitrag.report import governance
from gitrag.report.impact import MOST_TESTS
from gitrag.report.impact_lines import MOST_CALLERS, MOST_DEFINITIONS, impact_data
from gitrag.report.tests_to_run import PATHS, arguments


@dataclass(frozen=True, slots=True)
class Governing:
    """What bears on a file."""

    target: str
    candidates: list[dict[str, Any]]
    issues: list[dict[str, Any]]
    missing: list[str]
    impact: dict[str, Any] | None
    freshness: replies.Freshness


@dataclass(frozen=True, slots=True)
class RelatedFound:
    """What is there already: of these lists those that were asked for."""

    edges: list[dict[str, Any]]
    duplicates: list[dict[str, Any]]
    nearest: list[dict[str, Any]]
    questions: list[dict[str, Any]]
    helpers: list[dict[str, Any]]
    impact: dict[str, Any] | None
    tests: list[str]
    freshness: replies.Freshness
    instead: dict[str, Any] = field(default_factory=dict)


def check(
    bench: Workbench,
    call: ToolCall,
    target: Annotated[str, Field(description="A file or directory.")],
) -> Reply[Governing]:
    """Before a change: decisions (ADRs), specifications and issues that bear on a file, by semantic search.

    Read in full those of 0.3 or more. Also who calls it from outside, tests apart.
    """
    workspace = bench.workspace
    sync_before_reading(workspace, bench.listener(call), PurePath(target).stem)
    top = workspace.repo.root or workspace.repo.git_dir
    found = check_action.check(workspace, meant_path(workspace.repo, top, target, directories=True))
    data = json.loads(governance.checked_json(found))
    freshness = replies.of_status(read_status(workspace), bench.notes())
    return Reply(
        governance.checked_markdown(found).followed_by("", f"[{replies.freshness_line(freshness)}]"),
        Governing(
            target=data["target"],
            candidates=data["candidates"],
            issues=data["issues"],
            missing=data["missing"],
            impact=impact_data(found.impact, MOST_DEFINITIONS, MOST_CALLERS),
            freshness=freshness,
        ),
    )


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
        Field(description="Of edges: plan gives code and issues, work code."),
    ] = "",
    threshold: Annotated[
        float, Field(ge=-1, le=1, description="Least cosine of a duplicate.")
    ] = related_action.THRESHOLD,
) -> Reply[RelatedFound]:
    """What is there already, by vector embeddings: related to a text, covering it, or like a diff's code.

    Before writing a helper: mode duplicates. In a review: diff, also its callers and tests to run.
    """
    workspace = bench.workspace
    if bool(text) == bool(diff):
        raise UsageError("related takes either text or diff.", "Give one of them.")
    if diff or mode == "duplicates" or purpose == "plan":  # among them issues
        sync_before_reading(workspace, bench.listener(call), text)
    impact = None
    tests: tuple[str, ...] = ()
    if diff:
        review = review_action.review(workspace, diff, threshold, call.advance)
        markdown, data = governance.review_markdown(review), json.loads(governance.review_json(review))
        impact = impact_data(review.impact, MOST_DEFINITIONS, MOST_CALLERS)
        bearing = change_impact_action.bearing_tests(workspace, diff, review.impact)
        tests = arguments([each.path for each in bearing], PATHS)
        if tests:
            more = ", …" if len(tests) > MOST_TESTS else ""
            markdown = markdown.followed_by("", f"Tests to run: {', '.join(tests[:MOST_TESTS])}{more}")
    elif mode == "duplicates":
        found = related_action.duplicates(workspace, text, threshold)
        near = [] if found else related_action.nearest(workspace, text)
        markdown = governance.duplicates_markdown(found, threshold, nearest=near)
        data = json.loads(governance.duplicates_json(text, found, threshold, nearest=near))
    else:
        edges = related_action.related(workspace, text, (purpose,) if purpose else ("adr", "spec"))
        markdown = governance.related_markdown(text, edges)
        markdown = markdown.followed_by(*governance.nearest_lines(edges.hinted))
        data = json.loads(governance.related_json(text, edges))
    freshness = replies.of_status(read_status(workspace), bench.notes())
    answer = RelatedFound(
        edges=data.get("edges", []),
        duplicates=data.get("duplicates", []),
        nearest=data.get("nearest", []),
        questions=data.get("questions", []),
        helpers=data.get("helpers", []),
        impact=impact,
        tests=list(tests),
        freshness=freshness,
        instead=data.get("instead", {}),
    )
    return Reply(markdown.followed_by("", f"[{replies.freshness_line(freshness)}]"), answer)
