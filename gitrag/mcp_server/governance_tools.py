"""The tools on what was decided and done before. Their docstrings are what an agent reads."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from gitrag.errors import UsageError
from gitrag.governance import checking, forms, relating, reviewing
from gitrag.issues import sync_before_reading
from gitrag.mcp_server import replies
from gitrag.mcp_server.binding import Reply
from gitrag.mcp_server.workbench import Call, Workbench


@dataclass(frozen=True, slots=True)
class Governing:
    """What bears on a file."""

    target: str
    candidates: list[dict[str, Any]]
    issues: list[dict[str, Any]]
    missing: list[str]
    freshness: replies.Freshness


@dataclass(frozen=True, slots=True)
class RelatedFound:
    """What is there already: of these lists those that were asked for."""

    edges: list[dict[str, Any]]
    duplicates: list[dict[str, Any]]
    nearest: list[dict[str, Any]]
    questions: list[dict[str, Any]]
    helpers: list[dict[str, Any]]
    freshness: replies.Freshness


def check(
    bench: Workbench,
    call: Call,
    target: Annotated[str, Field(description="A file or directory, relative to the repository's top level.")],
) -> Reply[Governing]:
    """Find the decisions (ADRs) and specifications that bear on a file, by semantic search, before a change.

    At most eight, with why each came up and whether the file names it. Read them in full. Issues beside.
    """
    app = bench.app
    sync_before_reading(app, bench.hearing(call))
    found = checking.check(app, (app.repo.root or app.repo.git_dir) / target)
    data = json.loads(forms.checked_json(found))
    freshness = replies.of_status(app.status(), bench.notes())
    return Reply(
        _text(forms.checked_markdown(found), freshness),
        Governing(data["target"], data["candidates"], data["issues"], data["missing"], freshness),
    )


def related(
    bench: Workbench,
    call: Call,
    text: Annotated[str, Field(description="What is about to be written or decided.")] = "",
    diff: Annotated[str, Field(description="Instead: a change, as git diff takes it: main...HEAD.")] = "",
    mode: Annotated[
        Literal["edges", "duplicates"],
        Field(description="Of text: edges that a new ADR or spec may have, or what covers it already."),
    ] = "edges",
    threshold: Annotated[
        float, Field(ge=-1, le=1, description="Least cosine of what is called alike.")
    ] = relating.THRESHOLD,
) -> Reply[RelatedFound]:
    """Say what is there already, by vector embeddings: related to a text, covering it, or like a diff's code.

    Before writing a helper: text and mode duplicates. In a review: diff.
    """
    app = bench.app
    if bool(text) == bool(diff):
        raise UsageError("related takes either text or diff.", "Give one of them.")
    if diff or mode == "duplicates":  # among them issues
        sync_before_reading(app, bench.hearing(call))
    if diff:
        review = reviewing.review(app, diff, threshold, call.advance)
        markdown, data = forms.review_markdown(review), json.loads(forms.review_json(review))
    elif mode == "duplicates":
        alike = relating.duplicates(app, text, threshold)
        near = [] if alike else relating.nearest(app, text)
        markdown = forms.duplicates_markdown(alike, threshold, nearest=near)
        data = json.loads(forms.duplicates_json(text, alike, threshold, nearest=near))
    else:
        proposals = relating.related(app, text)
        markdown = forms.related_markdown(text, proposals)
        data = json.loads(forms.related_json(text, proposals))
    freshness = replies.of_status(app.status(), bench.notes())
    answer = RelatedFound(
        edges=data.get("edges", []),
        duplicates=data.get("duplicates", []),
        nearest=data.get("nearest", []),
        questions=data.get("questions", []),
        helpers=data.get("helpers", []),
        freshness=freshness,
    )
    return Reply(_text(markdown, freshness), answer)


def _text(markdown: str, freshness: replies.Freshness) -> str:
    return f"{markdown}\n\n[{replies.freshness_line(freshness)}]"
