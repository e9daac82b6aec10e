"""The tools on earlier decisions and existing code. Agents read their docstrings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import PurePath
from typing import Annotated, Literal

from msgspec import Struct
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
from gitrag.actions.governance.bearings import Bearing
from gitrag.actions.governance.check import Checked
from gitrag.actions.governance.review import Added
from gitrag.actions.impact import Impact
from gitrag.actions.instead import Instead
from gitrag.actions.issues import sync_before_reading
from gitrag.actions.status import read_status
from gitrag.errors import UsageError
from gitrag.git import meant_path
from gitrag.mcp_server import replies
from gitrag.mcp_server.binding import Reply
from gitrag.mcp_server.workbench import ToolCall, Workbench
from gitrag.report import governance
from gitrag.report.impact import MOST_TESTS
from gitrag.report.tests_to_run import PATHS, arguments
from gitrag.report.told import plain_data
from gitrag.search.similar_chunks import SimilarChunk


class Governing(Struct, frozen=True):
    """What bears on a file."""

    found: Checked
    freshness: replies.Freshness


class RelatedFound(Struct, frozen=True, kw_only=True):
    """What is there already: of these lists those that were asked for."""

    edges: tuple[Bearing, ...] = ()
    duplicates: Sequence[SimilarChunk] = ()
    nearest: Sequence[Bearing | SimilarChunk | Mapping[str, object]] = ()
    questions: tuple[Bearing, ...] = ()
    helpers: tuple[Added, ...] = ()
    impact: Impact | None = None
    tests: tuple[str, ...] = ()
    freshness: replies.Freshness
    instead: Instead | Mapping[str, object] = {}


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
    freshness = replies.of_status(read_status(workspace), bench.notes())
    text = governance.checked_markdown(found).followed_by("", f"[{replies.freshness_line(freshness)}]")
    return Reply(text, Governing(found, freshness))


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
    if diff:
        review = review_action.review(workspace, diff, threshold, call.advance)
        markdown = governance.review_markdown(review)
        bearing = change_impact_action.bearing_tests(workspace, diff, review.impact)
        tests = arguments([each.path for each in bearing], PATHS)
        if tests:
            more = ", …" if len(tests) > MOST_TESTS else ""
            markdown = markdown.followed_by("", f"Tests to run: {', '.join(tests[:MOST_TESTS])}{more}")
        answer = partial(
            RelatedFound,
            questions=review.questions,
            helpers=review.added,
            nearest=plain_data(review.unreached.nearest, "NearDocument") if review.unreached else (),
            impact=review.impact,
            tests=tests,
        )
    elif mode == "duplicates":
        found = related_action.duplicates(workspace, text, threshold)
        near = [] if found else related_action.nearest(workspace, text)
        markdown = governance.duplicates_markdown(found, threshold, nearest=near)
        answer = partial(RelatedFound, duplicates=found, nearest=near)
    else:
        edges = related_action.related(workspace, text, (purpose,) if purpose else ("adr", "spec"))
        markdown = governance.related_markdown(text, edges)
        markdown = markdown.followed_by(*governance.nearest_lines(edges.hinted))
        answer = partial(RelatedFound, edges=edges.proposals, nearest=edges.nearest, instead=edges.instead)
    freshness = replies.of_status(read_status(workspace), bench.notes())
    text = markdown.followed_by("", f"[{replies.freshness_line(freshness)}]")
    return Reply(text, answer(freshness=freshness))
