"""An answer for a terminal or an agent: a compact block for each file, best first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from textwrap import wrap

from msgspec import Struct

from gitrag.actions.answer import Answer
from gitrag.corpus.layout import CollectionKind
from gitrag.model import CallGraph
from gitrag.report.parts import (
    PIECE,
    TAB,
    Style,
    cut,
    kind_of,
    listed_paths,
    nearest_line,
    no_match,
    place_of,
    plain,
    plain_list,
    range_of,
    standing,
)
from gitrag.search.engine import Hit
from gitrag.search.features import FEATURES, OWN_CODE
from gitrag.words.control_characters import Text, joined
from gitrag.words.terms import query_terms

_NO_END = 1 << 30
_SCORE_COLUMNS = 6
"""Of a score, and the space before it."""

_LEAST_COLUMNS = 20
"""Least columns for a name, and for callees, however long what is before them."""

_TITLES = {
    CollectionKind.ADRS: "Decisions",
    CollectionKind.SPECS: "Specifications",
    CollectionKind.CODE: "Code",
    CollectionKind.ISSUES: "Issues",
}


class _Block(Struct, frozen=True):
    """What is shown of a hit: its place, in a line or two, the lines below it, and the rows of the place."""

    head: tuple[str, ...]
    lines: tuple[str, ...]
    head_rows: int = 1


def as_text(
    answer: Answer,
    style: Style = plain,
    *,
    explain: str = "",
    lately: Mapping[str, str] | None = None,
    columns: int | None = None,
    rows: int | None = None,
    gaps: bool = False,
) -> Text:
    """Return an answer as text: only sections with hits; no title when there is only code.

    Args:
        explain: Say why each file was found: ``words`` in three sentences, ``all`` by numbers; empty not to.
        lately: For each file what changed it lately, a sentence; said with ``words``.
        columns: The terminal's width, to which lines of files are shortened; None to leave them.
        rows: Lines of a page: of as many hits as fit, the likeliest first, more is shown than the place.
            None to show it of every hit.
        gaps: Mark where lines of a file are left out between two that are shown.
    """
    if not answer.hits:
        return no_match(answer)
    graph = answer.graph
    held = [section for section in answer.sections if section.hits]
    titled = graph is not None or [section.kind for section in held] != [CollectionKind.CODE]
    line = nearest_line(answer)
    words = answer.words
    mark = _marker(frozenset(words), style)
    blocks = {
        id(hit): _block(
            hit,
            words,
            style,
            mark,
            columns or _NO_END,
            explain=explain,
            lately=(lately or {}).get(hit.path, ""),
            gaps=gaps,
        )
        for hit in answer.hits
    }
    if rows is not None:
        above = (2 if line else 0) + (2 * len(held) if titled else 0)
        blocks = _fitted(blocks, rows - above)
    parts = [f"{line}; nearest:", ""] if line else []
    for section in held:
        if titled:
            parts.append(style(_TITLES[section.kind], "section"))
        for hit in section.hits:
            block = blocks[id(hit)]
            parts += [*block.head, *block.lines, *([""] if block.lines else [])]
        if parts[-1]:
            parts.append("")
    if graph is not None:
        parts += _graph(graph, style, columns or _NO_END)
    return joined(parts)


def _fitted(blocks: dict[int, _Block], rows: int) -> dict[int, _Block]:
    """Leave out what is shown below the places of the least likely hits, so that all of them fit a page."""
    left = rows - sum(block.head_rows for block in blocks.values())
    fitted = {}
    for key, block in blocks.items():
        needed = len(block.lines) + 1  # the line between two blocks
        fitted[key] = block if needed <= left else _Block(block.head, (), block.head_rows)
        left -= needed if needed <= left else 0
    return fitted


def _marker(words: frozenset[str], style: Style) -> Callable[[str], str]:
    """Return what marks the question's words in a line."""

    def marked(found: re.Match[str]) -> str:
        return style(found[0], "word") if words.intersection(query_terms(found[0])) else found[0]

    return lambda text: PIECE.sub(marked, text)


def _block(
    hit: Hit,
    words: Mapping[str, bool],
    style: Style,
    mark: Callable[[str], str],
    columns: int,
    *,
    explain: str,
    lately: str,
    gaps: bool,
) -> _Block:
    chunk, document = hit.chunk, hit.document
    path, lines = place_of(hit), f":{range_of(chunk.line_start, chunk.line_end)}"
    state = f" ({said})" if document and (said := standing(document)) else ""
    kind = "" if document else f"{kind_of(chunk)} "
    name = f"{document.id}: {document.title}" if document else chunk.qualified_name
    # The score stays whole at the edge of the screen: a long name is cut, and begins a line below a long path
    nearest = " nearest" if hit.is_nearest else ""
    taken = _SCORE_COLUMNS + len(kind) + len(state) + len(nearest)
    room = columns - len(path) - len(lines) - 2 - taken
    is_below = room < min(len(name), _LEAST_COLUMNS)
    name = cut(name, max(columns - 2 - taken if is_below else room, _LEAST_COLUMNS))
    what = f"{kind}{style(name, 'name') if name else ''}{state}".strip()
    place = style(path, "path") + style(lines, "number")
    said = f"{what}  {style(f'{hit.score:.2f}', 'score')}{nearest}".strip()
    head = (place, f"  {said}") if is_below else (f"{place}  {said}",)
    below = _below(hit, words, style, mark, columns, explain=explain, lately=lately, gaps=gaps)
    rows = (len(path) + len(lines) - 1) // columns + len(head)
    return _Block(head, tuple(below), rows)


def _below(
    hit: Hit,
    words: Mapping[str, bool],
    style: Style,
    mark: Callable[[str], str],
    columns: int,
    *,
    explain: str,
    lately: str,
    gaps: bool,
) -> Iterator[str]:
    width = len(str(hit.snippet[-1].number)) if hit.snippet else 0
    last = hit.snippet[0].number if hit.snippet else 0
    for line in hit.snippet:
        if gaps and line.number > last + 1:
            yield f"  {style('…', 'dim')}"
        last = line.number
        shortened = cut(line.text.expandtabs(TAB), columns - width - 4)
        text = style(mark(shortened), "match") if line.matches else style(shortened, "dim")
        yield f"  {style(f'{line.number:>{width}}', 'number')}  {text}".rstrip()
    if hit.also:
        also = ", ".join(
            range_of(other.line_start, other.line_end) + (f" {other.name}" if other.name else "")
            for other, _ in hit.also
        )
        yield f"  {style(cut('also ' + also, columns - 2), 'dim')}"
    if hit.variants:
        yield f"  {style(cut(f'also: {listed_paths(hit.variants)}', columns - 2), 'dim')}"
    if explain == "words":
        for sentence in (*sentences(hit, words), *([lately] if lately else [])):
            folded = wrap(sentence, columns - 2, subsequent_indent="  ") if columns < _NO_END else [sentence]
            yield from (f"  {style(line, 'dim')}" for line in folded)
    elif explain == "all":
        said = [f"cosine {hit.cosine:.2f}"] if hit.cosine is not None else []
        said += [f"BM25 {hit.bm25:.1f}", *(f"{name} {value:+.2f}" for name, value in hit.reasons)]
        yield f"  {style('why: ' + ', '.join(said), 'dim')}"


def _graph(graph: CallGraph, style: Style, columns: int) -> Iterator[str]:
    """Yield the calls as lines: Mermaid is not readable in a terminal."""
    yield style("Call graph", "section")
    yield from graph.notes
    if graph.error is not None:
        yield graph.error
    for path, caller, callees in graph.calls:
        head = f"{path}  {caller}"
        calls = cut(f" → {', '.join(callees)}", max(columns - len(head), _LEAST_COLUMNS))
        yield style(path, "path") + "  " + style(caller, "name") + style(calls, "dim")
    if graph.left_out:
        part = f"{graph.nodes - graph.left_out:,} of {graph.nodes:,} definitions"
        yield style(f"Only calls between the {part} that are best connected.", "dim")
    if graph.mermaid is not None and not graph.calls:
        yield style(f"{graph.nodes} definitions, no call found between those looked at", "dim")


_MOST_WORDS = 6
_NAMED = 2
_LONGEST = 40


def sentences(hit: Hit, words: Mapping[str, bool]) -> list[str]:
    """Return three sentences: the words in a hit (``Answer.words``), what counted most, how sure it is."""
    text = f"{hit.path} {hit.chunk.qualified_name} {hit.chunk.text}"
    pieces: dict[str, str] = {}  # by term, as the hit spells it
    for piece in PIECE.findall(text):
        for term in words.keys() & query_terms(piece):
            pieces.setdefault(term, cut(piece.casefold(), _LONGEST))
    held, other = (
        list(dict.fromkeys(piece for term, piece in pieces.items() if words[term] == is_own))[:_MOST_WORDS]
        for is_own in (True, False)
    )
    first = f"It has {plain_list(held)} of the question" if held else "It has no word of the question"
    other = [piece for piece in other if piece not in held]
    first += f", {'and' if held else 'but'} {plain_list(other)}, as code may say it." if other else "."
    worth = dict(hit.reasons)
    weighed = dict.fromkeys((each.said for each in FEATURES if each.said), 0.0)
    for each in FEATURES:
        if each.said:
            weighed[each.said] += worth.get(each.name, 0.0)
    best = sorted(
        (said for said in weighed if weighed[said] > 0), key=lambda said: (said == OWN_CODE, -weighed[said])
    )[:_NAMED]
    second = f"For it counts most that {' and that '.join(best)}" if best else "It was looked up by its name"
    against = [each.against for each in FEATURES if each.against and worth.get(each.name, 0.0) < 0]
    second += f"; against it, that {against[0]}." if against else "."
    third = f"It is {chance(hit)} to answer."
    return [first, second, third]


def chance(hit: Hit) -> str:
    """Return a hit's score in words: ``72 % likely``; bare by another model than ours."""
    return f"score {hit.score:.2f}" if hit.model and hit.score < 1.0 else f"{round(hit.score * 100)} % likely"
