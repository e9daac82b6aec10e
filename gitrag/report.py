"""An answer as text, Markdown or JSON. Pure: the same answer gives the same bytes."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace

from gitrag.app import Answer
from gitrag.model import Chunk, Kind
from gitrag.search.engine import Hit

Style = Callable[[str, str], str]
"""Gives a text the style of a role: path, name, kind, score, number, match, dim."""

_TAB = 4
_GIST = 160
"""Characters of a signature, and of a docstring's first sentence, in Markdown."""
_NO_END = 1 << 30

NO_MATCH = "No relevant ADRs, specs, or code found for '{query}'. Try a broader search term."


def plain(text: str, _role: str) -> str:
    """Style nothing."""
    return text


def cleaned(answer: Answer, clean: Callable[[str], str]) -> Answer:
    """Give an answer whose lines have been through a function, for a terminal; the chunks' texts have not."""
    return replace(
        answer,
        query=clean(answer.query),
        hits=tuple(
            replace(
                hit,
                path=clean(hit.path),
                chunk=replace(
                    hit.chunk,
                    qualified_name=clean(hit.chunk.qualified_name),
                    signature=clean(hit.chunk.signature),
                    docstring=clean(" ".join(hit.chunk.docstring.split())),
                ),
                lines=tuple(replace(line, text=clean(line.text.expandtabs(_TAB))) for line in hit.lines),
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
        word = "line" if chunk.line_start == chunk.line_end else "lines"
        lines.append(f"- **{shown(hit.path)}** (score: {hit.score:.2f}) {word} {_range(chunk)}")
        lines.append(f"  {_gist(hit)}")
        lines += [f"  also {place.line_start}-{place.line_end} {place.name}" for place in hit.also]
    return "\n".join(line.rstrip() for line in lines)


def as_text(
    answer: Answer, style: Style = plain, *, explain: bool = False, columns: int | None = None
) -> str:
    """Give an answer for a terminal: a compact block a file, best first.

    Args:
        answer: The answer.
        style: Gives a text the style of a role.
        explain: Say where each score comes from.
        columns: The terminal's width, at which the lines of files are cut; None to leave them.
    """
    if not answer.hits:
        return NO_MATCH.format(query=answer.query)
    return "\n\n".join(
        "\n".join(_block(hit, style, columns or _NO_END, explain=explain)) for hit in answer.hits
    )


def _block(hit: Hit, style: Style, columns: int, *, explain: bool) -> Iterator[str]:
    chunk = hit.chunk
    place = style(shown(hit.path), "path") + style(f":{_range(chunk)}", "number")
    what = " ".join(part for part in (chunk.kind.value, style(chunk.qualified_name, "name")) if part)
    yield f"{place}  {what}  {style(f'{hit.score:.2f}', 'score')}"
    width = len(str(hit.lines[-1].number)) if hit.lines else 0
    for line in hit.lines:
        shortened = cut(line.text, columns - width - 4)
        text = style(shortened, "match") if line.matches else style(shortened, "dim")
        yield f"  {style(f'{line.number:>{width}}', 'number')}  {text}"
    if hit.also:
        also = ", ".join(
            f"{other.line_start}-{other.line_end}" + (f" {other.name}" if other.name else "")
            for other in hit.also
        )
        yield f"  {style(cut('also ' + also, columns - 2), 'dim')}"
    if explain:
        said = [f"cosine {hit.cosine:.2f}"] if hit.cosine > -1 else []
        said += [f"BM25 {hit.bm25:.1f}", *(f"{name} {value:+.2f}" for name, value in hit.reasons)]
        yield f"  {style('why: ' + ', '.join(said), 'dim')}"


def _gist(hit: Hit) -> str:
    """Say what a chunk is in a line: its signature, and the first sentence of its docstring."""
    chunk = hit.chunk
    head = cut(chunk.signature or next((line.text.strip() for line in hit.lines), ""), _GIST)
    first = " ".join(chunk.docstring.split())
    first = cut(first[: first.find(". ") + 1] or first, _GIST)
    code = f"`{head}`" if chunk.kind is not Kind.SECTION else head
    return f"{code} — {first}" if first and chunk.kind is not Kind.SECTION else code


def _range(chunk: Chunk) -> str:
    if chunk.line_start == chunk.line_end:
        return str(chunk.line_start)
    return f"{chunk.line_start}-{chunk.line_end}"


def cut(text: str, columns: int) -> str:
    """Shorten a line to a terminal's columns; East Asian wide characters take two."""
    if 2 * len(text) <= columns:
        return text
    taken = 0
    room = None
    for place, character in enumerate(text):
        taken += _columns_of(character)
        if room is None and taken > columns - 1:
            room = place
        if taken > columns:
            return text[:room] + "…"
    return text


def _columns_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shown(path: str) -> str:
    """Give a path as valid text; bytes that are not UTF-8 become a replacement character."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
