"""An answer as JSON, for programs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from gitrag.actions.repositories.ask import Asked
from gitrag.actions.search import Answer
from gitrag.corpus.layout import CollectionKind
from gitrag.model import CallGraph
from gitrag.report.documents import (
    AskedRepository,
    CodeMatch,
    DocumentMatch,
    DrawnGraph,
    SearchDocument,
    json_text,
)
from gitrag.report.parts import asked_for, hits_of, shown
from gitrag.search.engine import Hit


def as_json(answer: Answer, graph: CallGraph | None = None, asked: Sequence[Asked] = ()) -> str:
    """Return an answer as one JSON object; scores rounded to four places.

    It always has the same five keys, ``issue_matches`` too if issues were searched, ``repositories`` if
    several were asked, and ``not_indexed`` if anything asked for is left out of the index.
    """
    hits = {kind: hits_of(answer, kind) for kind in CollectionKind}
    graphs = () if graph is None else (DrawnGraph(graph.filter, graph.mermaid, graph.error),)
    return json_text(
        SearchDocument(
            query=answer.query,
            adr_matches=_documents(hits[CollectionKind.ADRS]),
            spec_matches=_documents(hits[CollectionKind.SPECS]),
            code_snippets=tuple(map(code_match, hits[CollectionKind.CODE])),
            call_graphs=graphs,
            issue_matches=_documents(hits[CollectionKind.ISSUES])
            if asked_for(answer, CollectionKind.ISSUES)
            else UNSET,
            repositories=tuple(
                AskedRepository(each.name, shown(str(each.path)), each.outcome.value, each.why, each.commit)
                for each in asked
            )
            or UNSET,
            not_indexed=tuple(map(shown, answer.not_indexed)) or UNSET,
        )
    )


def _documents(hits: Sequence[Hit]) -> tuple[DocumentMatch, ...]:
    return tuple(
        DocumentMatch(
            id=hit.document.id if hit.document else "",
            title=hit.document.title if hit.document else "",
            path=shown(hit.path),
            score=round(hit.score, 4),
            snippet=hit.chunk.text,
            repository=hit.repository or UNSET,
            nearest=hit.is_nearest or UNSET,
        )
        for hit in hits
    )


def code_match(hit: Hit) -> CodeMatch:
    """Return a hit of code for JSON."""
    return CodeMatch(
        path=shown(hit.path),
        score=round(hit.score, 4),
        snippet=hit.chunk.text,
        name=hit.chunk.qualified_name,
        kind=hit.chunk.kind.value,
        line_start=hit.chunk.line_start,
        line_end=hit.chunk.line_end,
        repository=hit.repository or UNSET,
        nearest=hit.is_nearest or UNSET,
    )
