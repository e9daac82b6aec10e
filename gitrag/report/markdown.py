"""An answer as Markdown, for readers of reports and for agents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from gitrag.actions.answer import Answer
from gitrag.actions.hit_lines import LIKELY_SHARE
from gitrag.corpus.layout import CollectionKind
from gitrag.model import CallGraph
from gitrag.report.parts import (
    asked,
    cut,
    gist,
    kind_of,
    lines_of,
    listed_paths,
    nearest_line,
    no_match,
    place_of,
    range_of,
    shown,
    standing,
)
from gitrag.search.engine import Hit
from gitrag.words.control_characters import Text, joined

if TYPE_CHECKING:
    from gitrag.actions.similar import ComparedPlace, Similar

_NO_GRAPH = "No call graph was asked for."

_REFINED = 6
"""Alternatives of the filter in the command that refines the graph."""

_READABLE = 12
"""Alternatives of a filter that are shown above a graph."""

_BRIEF = 100
"""Characters on what a hit is where its lines are shown beside, or where it is likely none."""


def as_markdown(answer: Answer, *, date: str = "", refine: str = "") -> Text:
    """Return an answer as Markdown.

    Args:
        date: When the graph was made, formatted.
        refine: The filter for the command in the summary, which would draw a more focused call graph.
    """
    if not answer.hits:
        return no_match(answer)
    adrs, specs, code, graph = answer.decisions, answer.specifications, answer.code, answer.graph
    issues = answer.of(CollectionKind.ISSUES) if answer.has_asked(CollectionKind.ISSUES) else None
    missing = nearest_line(answer)
    lines = [
        f"## Search Results: {asked(answer)}",
        "",
        f'Found {len(adrs)} ADRs, {len(specs)} specs, {len(code)} code snippets for "{asked(answer)}".',
        *([] if issues is None else [f"Found {len(issues)} issues."]),
        *(["", f"{missing[0].upper()}{missing[1:]}; nearest:"] if missing else []),
        "",
        "### 1. Matching ADRs",
        "",
        *(_documents(adrs) or _none(answer, CollectionKind.ADRS, "No matching ADRs found.")),
        "",
        "### 2. Matching Specs",
        "",
        *(_documents(specs) or _none(answer, CollectionKind.SPECS, "No matching specs found.")),
        "",
        "### 3. Relevant Code Snippets",
        "",
        *(list(_code(code)) or _none(answer, CollectionKind.CODE, "No relevant code found.")),
        "",
    ]
    if issues is not None:
        lines += ["#### Matching Issues", "", *(_documents(issues) or ["No matching issues found."]), ""]
    lines += ["### 4. Call Graphs", "", *_graph(graph, date), ""]
    drawn = graph is not None and graph.mermaid is not None
    lines += [
        "### 5. Summary",
        "",
        "| Collection | Matches |",
        "| --- | --- |",
        f"| ADRs | {len(adrs)} |",
        f"| Specs | {len(specs)} |",
        f"| Code | {len(code)} |",
        *([] if issues is None else [f"| Issues | {len(issues)} |"]),
        f"| Call graph nodes | {graph.nodes if graph and drawn else 'unavailable'} |",
    ]
    pattern = (graph.filter if graph else None) or refine
    if pattern:
        verb = "Refine the" if drawn else "Generate a focused"
        quoted = _narrower(pattern).replace("'", "'\\''")
        lines += ["", f"{verb} call graph with: `gitrag graph --filter '{quoted}'`"]
    return joined(line.rstrip() for line in lines)


def _none(answer: Answer, kind: CollectionKind, sentence: str) -> list[str]:
    """Return that nothing of a kind was found, and where none was searched, that too."""
    return [sentence] if answer.has_asked(kind) else [sentence, "", "None were searched."]


def _documents(hits: Sequence[Hit]) -> list[str]:
    lines = []
    for hit in hits:
        document = hit.document
        name = f"{document.id}: {document.title}" if document else place_of(hit)
        lines.append(f"- **{name}** (score: {hit.score:.2f})")
        if hit.note:
            lines.append(f"  {hit.note}")
        said = standing(document) if document else ""
        place = f"  `{place_of(hit)}` {lines_of(hit.chunk)}" + (f", {said}" if said else "")
        lines.append(place + _nearest(hit))
    return lines


def _code(hits: Sequence[Hit]) -> Iterator[str]:
    """Yield the hits: of likely ones the lines that answer, of the others only the place and what it is."""
    likely = LIKELY_SHARE * max((hit.score for hit in hits), default=0.0)
    for hit in hits:
        yield f"- **{place_of(hit)}** (score: {hit.score:.2f}) {lines_of(hit.chunk)}{_nearest(hit)}"
        said = gist(hit)
        if hit.score < likely or hit.is_nearest:
            yield f"  {cut(said, _BRIEF)}"
        elif len(hit.snippet) > 1 and len(hit.snippet) == hit.chunk.line_end - hit.chunk.line_start + 1:
            yield from _passage(hit)
        else:
            yield f"  {said}"
            for line in hit.snippet:
                text = line.text.strip()
                if line.matches and text.strip("\"'#/* ").rstrip(":{ ") not in said:
                    yield f"  {line.number}: {as_code(text)}"
        also = ", ".join(
            f"{range_of(each.line_start, each.line_end)} {each.name}".rstrip() for each, _ in hit.also
        )
        if also and hit.score >= likely and not hit.is_nearest:
            yield f"  also {also}"
        if hit.variants:
            yield f"  also: {listed_paths(hit.variants)}"


def _nearest(hit: Hit) -> str:
    return ", nearest" if hit.is_nearest else ""


def _passage(hit: Hit) -> Iterator[str]:
    """Yield a passage, its signature and docstring included, with the numbers of its lines, no blank ones."""
    lines = [line for line in hit.snippet if line.text.strip()]
    indent = min((len(line.text) - len(line.text.lstrip()) for line in lines), default=0)
    fence = _fence(line.text for line in lines)
    yield f"  {fence}"
    yield from (f"  {line.number}: {line.text[indent:]}" for line in lines)
    yield f"  {fence}"


def _fence(texts: Iterable[str]) -> str:
    """Return a fence longer than any run of backquotes in a block."""
    return "`" * max(3, *(len(run) + 1 for text in texts for run in re.findall("`+", text)), 0)


def as_code(text: str) -> str:
    """Quote a line as code, whatever backquotes it has."""
    fence = "`" * (max((len(each) for each in re.findall("`+", text)), default=0) + 1)
    return f"{fence} {text} {fence}" if len(fence) > 1 else f"`{text}`"


def _narrower(pattern: str, most: int = _REFINED) -> str:
    """Return the first alternatives of a filter: the names of the best hit, where it has very many."""
    return "|".join(re.split(r"(?<!\\)\|", pattern)[:most])


def _graph(graph: CallGraph | None, date: str) -> Iterator[str]:
    if graph is None:
        yield _NO_GRAPH
        return
    for note in graph.notes:
        yield f"> {note}"
    if graph.error is not None:
        yield graph.error
    if graph.mermaid is not None:
        # The filter must not end the comment it is written into.
        pattern = "unfiltered" if graph.filter is None else graph.filter.replace("--", "- -")
        if (short := _narrower(pattern, _READABLE)) != pattern:
            pattern = f"{short}|…"
        yield f"<!-- Call graph: {pattern}, generated {date} -->"
        yield "```mermaid"
        yield from graph.mermaid.rstrip("\n").split("\n")
        yield "```"


NONE = "Nothing else was found with these options."


def similar_markdown(found: Similar) -> Text:
    """Return an answer for readers of reports and for agents."""
    lines = [f"## Similar to {place_text(found.place)}", ""]
    for hit in found.answer.hits:
        lines.append(f"- **{shown(hit.path)}** (cosine: {hit.cosine:.2f}) {lines_of(hit.chunk)}")
        name = f"{kind_of(hit.chunk)} {hit.chunk.qualified_name}: " if hit.chunk.qualified_name else ""
        lines.append(f"  {name}{gist(hit)}")
    if not found.answer.hits:
        lines.append(NONE)
    if found.copies:
        lines += ["", f"{copies_line(found)}."]
    return joined(lines)


def place_text(place: ComparedPlace) -> str:
    """Return ``src/app.py:3-9 (method App.run)``."""
    name = f" ({place.kind} {place.name})" if place.name else ""
    return f"{shown(place.path)}:{range_of(place.line_start, place.line_end)}{name}"


def copies_line(found: Similar) -> str:
    """Return where the same text lies; empty for nowhere else."""
    if not found.copies:
        return ""
    places = ", ".join(
        f"{shown(each.path)}:{range_of(each.line_start, each.line_end)}" for each in found.copies
    )
    many = len(found.copies)
    return f"{many:,} exact {'copy' if many == 1 else 'copies'}: {places}"
