"""An answer for a terminal: a compact block for each file, best first."""

from __future__ import annotations

from collections.abc import Iterator

from gitrag.actions.search import Answer
from gitrag.corpus.layout import CollectionKind
from gitrag.model import CallGraph
from gitrag.report.parts import (
    Style,
    cut,
    listed_paths,
    no_match,
    plain,
    range_of,
    shown,
    standing,
    wording_line,
)
from gitrag.search.engine import Hit

_NO_END = 1 << 30
_LEAST_COLUMNS = 20
"""Least columns for the callees, however long the caller's path and name."""

_TITLES = {
    CollectionKind.ADRS: "Decisions",
    CollectionKind.SPECS: "Specifications",
    CollectionKind.CODE: "Code",
    CollectionKind.ISSUES: "Issues",
}


def as_text(
    answer: Answer,
    style: Style = plain,
    *,
    explain: bool = False,
    columns: int | None = None,
    graph: CallGraph | None = None,
) -> str:
    """Return an answer for a terminal: only sections with hits; no title when there is only code.

    Args:
        answer: The answer.
        style: Applies the style of a role to a text.
        explain: Show where each score comes from.
        columns: The terminal's width, to which lines of files are shortened; None to leave them.
        graph: The call graph, if it was asked for.
    """
    if not answer.hits:
        return no_match(answer)
    held = [section for section in answer.sections if section.hits]
    titled = graph is not None or [section.kind for section in held] != [CollectionKind.CODE]
    line = wording_line(answer)
    parts = [f"{line}; nearest:"] if line else []
    for section in held:
        blocks = ["\n".join(_block(hit, style, columns or _NO_END, explain=explain)) for hit in section.hits]
        if titled:
            blocks[0] = f"{style(_TITLES[section.kind], 'title')}\n{blocks[0]}"
        parts += blocks
    if graph is not None:
        parts.append("\n".join(_graph(graph, style, columns or _NO_END)))
    return "\n\n".join(parts)


def _block(hit: Hit, style: Style, columns: int, *, explain: bool) -> Iterator[str]:
    chunk, document = hit.chunk, hit.document
    place = style(shown(hit.path), "path") + style(f":{range_of(chunk.line_start, chunk.line_end)}", "number")
    if document:
        state = standing(document)
        what = style(f"{document.id}: {document.title}", "name") + (f" ({state})" if state else "")
    else:
        what = " ".join(part for part in (chunk.kind.value, style(chunk.qualified_name, "name")) if part)
    yield f"{place}  {what}  {style(f'{hit.score:.2f}', 'score')}"
    width = len(str(hit.lines[-1].number)) if hit.lines else 0
    for line in hit.lines:
        shortened = cut(line.text, columns - width - 4)
        text = style(shortened, "match") if line.matches else style(shortened, "dim")
        yield f"  {style(f'{line.number:>{width}}', 'number')}  {text}"
    if hit.also:
        also = ", ".join(
            range_of(other.line_start, other.line_end) + (f" {other.name}" if other.name else "")
            for other in (further.chunk for further in hit.also)
        )
        yield f"  {style(cut('also ' + also, columns - 2), 'dim')}"
    if hit.variants:
        yield f"  {style(cut(f'also: {listed_paths(hit.variants)}', columns - 2), 'dim')}"
    if explain:
        said = [f"cosine {hit.cosine:.2f}"] if hit.cosine > -1 else []
        said += [f"BM25 {hit.bm25:.1f}", *(f"{name} {value:+.2f}" for name, value in hit.reasons)]
        yield f"  {style('why: ' + ', '.join(said), 'dim')}"


def _graph(graph: CallGraph, style: Style, columns: int) -> Iterator[str]:
    """Yield the calls as lines: Mermaid is not readable in a terminal."""
    yield style("Call graph", "title")
    yield from graph.notes
    if graph.error is not None:
        yield graph.error
    for path, caller, callees in graph.calls:
        head = f"{shown(path)}  {caller}"
        calls = cut(f" → {', '.join(callees)}", max(columns - len(head), _LEAST_COLUMNS))
        yield style(shown(path), "path") + "  " + style(caller, "name") + style(calls, "dim")
    if graph.left_out:
        part = f"{graph.nodes - graph.left_out:,} of {graph.nodes:,} definitions"
        yield style(f"Only calls between the {part} that are best connected.", "dim")
    if graph.mermaid is not None and not graph.calls:
        yield style(f"{graph.nodes} definitions, no call found between those looked at", "dim")
