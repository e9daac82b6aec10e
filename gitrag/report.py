"""An answer as text, Markdown or JSON. Pure: the same answer gives the same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

from gitrag.app import Answer
from gitrag.model import Chunk, Kind
from gitrag.search.engine import Hit

Style = Callable[[str, str], str]
"""Gives a text the style of a role: path, name, kind, score, number, match, dim."""

NO_MATCH = "No relevant ADRs, specs, or code found for '{query}'. Try a broader search term."


def plain(text: str, _role: str) -> str:
    """Style nothing."""
    return text


def cleaned(answer: Answer, clean: Callable[[str], str]) -> Answer:
    """Give an answer whose paths and lines have been through a function, for a terminal."""
    return replace(
        answer,
        query=clean(answer.query),
        hits=tuple(
            replace(
                hit,
                path=clean(hit.path),
                chunk=replace(hit.chunk, qualified_name=clean(hit.chunk.qualified_name)),
                lines=tuple(replace(line, text=clean(line.text)) for line in hit.lines),
                also=tuple(replace(place, name=clean(place.name)) for place in hit.also),
            )
            for hit in answer.hits
        ),
    )


def as_json(answer: Answer) -> str:
    """Give an answer as JSON, one object; scores rounded to four places."""
    return json.dumps(
        {
            "query": answer.query,
            "adr_matches": [],
            "spec_matches": [],
            "code_snippets": [
                {
                    "path": shown(hit.path),
                    "score": round(hit.score, 4),
                    "snippet": hit.chunk.text,
                    "name": hit.chunk.qualified_name,
                    "kind": hit.chunk.kind.value,
                    "line_start": hit.chunk.line_start,
                    "line_end": hit.chunk.line_end,
                }
                for hit in answer.hits
            ],
            "call_graphs": [],
        },
        ensure_ascii=False,
        indent=2,
    )


def as_markdown(answer: Answer) -> str:
    """Give an answer as Markdown."""
    if not answer.hits:
        return NO_MATCH.format(query=answer.query)
    lines = [f"## Search Results: {answer.query}", "", "### Relevant Code Snippets", ""]
    for hit in answer.hits:
        chunk = hit.chunk
        lines.append(f"- **{shown(hit.path)}** (score: {hit.score:.2f}) lines {_range(chunk)}")
        lines.append(f"  {_gist(chunk)}")
        lines += [f"  also {place.line_start}-{place.line_end} {place.name}" for place in hit.also]
    return "\n".join(line.rstrip() for line in lines)


def as_text(answer: Answer, style: Style = plain, *, explain: bool = False) -> str:
    """Give an answer for a terminal: a compact block a file, best first."""
    if not answer.hits:
        return NO_MATCH.format(query=answer.query)
    return "\n\n".join("\n".join(_block(hit, style, explain=explain)) for hit in answer.hits)


def _block(hit: Hit, style: Style, *, explain: bool) -> Iterator[str]:
    chunk = hit.chunk
    place = style(shown(hit.path), "path") + style(f":{_range(chunk)}", "number")
    what = " ".join(part for part in (chunk.kind.value, style(chunk.qualified_name, "name")) if part)
    yield f"{place}  {what}  {style(f'{hit.score:.2f}', 'score')}"
    width = len(str(hit.lines[-1].number)) if hit.lines else 0
    for line in hit.lines:
        text = style(line.text, "match") if line.matches else style(line.text, "dim")
        yield f"  {style(f'{line.number:>{width}}', 'number')}  {text}"
    if hit.also:
        also = ", ".join(
            f"{other.line_start}-{other.line_end}" + (f" {other.name}" if other.name else "")
            for other in hit.also
        )
        yield f"  {style('also ' + also, 'dim')}"
    if explain:
        said = ", ".join(
            f"{name} {signal.value:.3f} (#{signal.rank + 1})" for name, signal in sorted(hit.signals.items())
        )
        yield f"  {style('why: ' + said, 'dim')}"


def _gist(chunk: Chunk) -> str:
    """Say what a chunk is in a line: its signature, and the first sentence of its docstring."""
    head = chunk.signature or next((line.strip() for line in chunk.text.split("\n") if line.strip()), "")
    first = " ".join(chunk.docstring.split())
    first = first[: first.find(". ") + 1] or first
    code = f"`{head}`" if chunk.kind is not Kind.SECTION else head
    return f"{code} — {first}" if first and chunk.kind is not Kind.SECTION else code


def _range(chunk: Chunk) -> str:
    if chunk.line_start == chunk.line_end:
        return str(chunk.line_start)
    return f"{chunk.line_start}-{chunk.line_end}"


def shown(path: str) -> str:
    """Give a path as valid text; bytes that are not UTF-8 become a replacement character."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
