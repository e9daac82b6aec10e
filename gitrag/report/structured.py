"""An answer as JSON, for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from gitrag.actions.search import Answer
from gitrag.corpus.layout import CollectionKind
from gitrag.model import CallGraph
from gitrag.report.parts import asked_for, hits_of, shown
from gitrag.search.engine import Hit


def as_json(answer: Answer, graph: CallGraph | None = None) -> str:
    """Return an answer as one JSON object; scores rounded to four places.

    It always has the same five keys, and a sixth, ``issue_matches``, if issues were searched.
    """
    found: dict[str, Any] = {
        "query": answer.query,
        "adr_matches": _documents(hits_of(answer, CollectionKind.ADRS)),
        "spec_matches": _documents(hits_of(answer, CollectionKind.SPECS)),
        "code_snippets": [_code(hit) for hit in hits_of(answer, CollectionKind.CODE)],
        "call_graphs": [],
    }
    if asked_for(answer, CollectionKind.ISSUES):
        found["issue_matches"] = _documents(hits_of(answer, CollectionKind.ISSUES))
    if graph is not None:
        found["call_graphs"] = [{"filter": graph.filter, "mermaid": graph.mermaid, "error": graph.error}]
    return json.dumps(found, ensure_ascii=False, indent=2)


def _documents(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    return [
        {
            "id": hit.document.id if hit.document else "",
            "title": hit.document.title if hit.document else "",
            "path": shown(hit.path),
            "score": round(hit.score, 4),
            "snippet": hit.chunk.text,
        }
        for hit in hits
    ]


def _code(hit: Hit) -> dict[str, Any]:
    return {
        "path": shown(hit.path),
        "score": round(hit.score, 4),
        "snippet": hit.chunk.text,
        "name": hit.chunk.qualified_name,
        "kind": hit.chunk.kind.value,
        "line_start": hit.chunk.line_start,
        "line_end": hit.chunk.line_end,
    }
