"""Search code in steps, each adding to the results of the one before.

First by meaning and words; where no file found so is likely enough to answer, by exact matches in the working
tree too. Both return line ranges, never whole files. If the index fails, only exact matches are returned.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from gitrag.actions.answer import Answer
from gitrag.actions.core_context import outline
from gitrag.actions.exact_search import ExactAnswer, search_exactly
from gitrag.actions.hit_lines import PACKED_HITS, Passage, likelihood, packed, passages_of, tokens
from gitrag.actions.lines import file_lines
from gitrag.actions.search import NoCollectionError, SearchOptions, search
from gitrag.chunking.languages import language_of
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import GitragError, UsageError
from gitrag.git import matcher
from gitrag.git.grep import GrepLine, grep
from gitrag.model import Chunk, place_id
from gitrag.search.engine import LEAST_ANSWER, Hit
from gitrag.search.exact import Pattern
from gitrag.search.features import BY
from gitrag.search.passages import LIKELY
from gitrag.search.question import Question, looks_like_code, read
from gitrag.search.sections import Wanted
from gitrag.store.scopes import Filters
from gitrag.words.terms import query_terms
from gitrag.workspace import Workspace

LIMIT = 5
SUFFICIENT = 0.5
"""Probability that some of the lines found answer, at which no other search is needed: in twelve repositories
0.59 of 240 questions get such an answer, 0.89 of those have labelled lines; 0.02 of 240 about absent features
do (`scripts/bench/hit_scores.py`)."""

_ALSO = 4
_OF_THE_FIRST = 3
"""Most snippets of the likeliest file: what answers is often its second or third best passage."""

FALLBACK = "RAG search unavailable, fell back to grep — consider checking MCP server status"

MOST_LINES = 60
"""Lines of a snippet: most functions fit; of longer ones, the most telling lines are shown."""

_AROUND = 8
"""Lines shown around an exact match outside any definition."""

_SHORTEST_WORD = 4
"""Shorter words of a query occur in every file."""

_SHORTEST_NAME = 2
_EXACT = 2
"""Snippets of a page for which exact matches take the place of hits that are not likely enough."""

_HALF_THE_WORDS = 0.5
_NAMED = 2.0
_WHOLE = 100.0
"""Scores of a line: a share of the query's words, a name from it, or the whole query."""


class Via(StrEnum):
    """How a snippet was found."""

    SEMANTIC = "semantic"
    LEXICAL = "lexical"
    GREP = "grep"


class Snippet(Struct, frozen=True):
    """Lines of a file that bear on a query.

    Attributes:
        name: The definition that they are, or are part of; empty if there is none.
        enclosing: The class or namespace around it; empty if there is none.
        score: Relevance of the file in [0, 1]; None for an exact match, which is not scored.
        variants: Paths of files that are nearly the same, and not among the snippets for that.
        repository: The repository's name, where several were asked; empty where one was.
        also: Further lines of the file that may answer, with the names of their definitions.
    """

    path: str
    line_start: int
    line_end: int
    name: str
    enclosing: str
    kind: str
    language: str
    score: float | None
    via: Via
    text: str
    variants: tuple[str, ...] = ()
    repository: str = ""
    also: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """What `lines.read_range` reads the lines again by."""
        return place_id(self.path, self.line_start, self.line_end, self.text)

    @property
    def is_nearest(self) -> bool:
        """Whether it is only near, and likely no answer; an exact match is none such."""
        return self.score is not None and self.score < LEAST_ANSWER


class Cascade(Struct, frozen=True):
    """The results of a search in steps.

    Attributes:
        snippets: Best file first; exact matches last.
        sufficient: Whether one of them most likely answers, or has the whole query where that is several
            words or an identifier: no other search is needed.
        answer: The answer from the index; None when that failed.
        notes: Lines that the reader should see.
        not_indexed: What exists and is not in the index, or not all of it, a sentence each.
    """

    query: str
    snippets: tuple[Snippet, ...]
    sufficient: bool
    answer: Answer | None
    notes: tuple[str, ...] = ()
    not_indexed: tuple[str, ...] = ()


_FEW = SearchOptions(limit=LIMIT)


def search_code(
    workspace: Workspace, query: str, limits: SearchOptions = _FEW, max_tokens: int = 0
) -> Cascade:
    """Search the code of a repository as it is now, uncommitted changes included.

    Args:
        query: A question in words, or a name.
        limits: Most snippets to return, and what of; of collections that are named, in place of all code, no
            exact matches are looked for.
        max_tokens: In place of that limit, as many snippets as fit; 0 to go by the limit.
    """
    if not query.strip():
        raise UsageError("The query is empty.", "Ask in words, or for a name.")
    question = read(query)
    if max_tokens:
        limits = replace(limits, limit=PACKED_HITS)
    limit = LIMIT if limits.limit is None else limits.limit
    answer, notes = _ask(workspace, query, question, limits)
    hits, left_out = (answer.hits, answer.not_indexed) if answer is not None else ((), ())
    passages = likeliest(hits, limit, max_tokens)
    found = [_of_hit(hit, chunk) for hit, chunk, _ in passages]
    if _any_answers(passages) >= SUFFICIENT:
        return Cascade(question.text, tuple(found), True, answer, notes, left_out)
    if limits.collections:
        return Cascade(question.text, tuple(found), False, answer, notes, left_out)
    exact = _exact(workspace, question, found, limit, limits.filters, whole=FALLBACK not in notes)
    if max_tokens:
        exact, left = _within_half(exact[:_EXACT], max_tokens)
        found = [_of_hit(hit, chunk) for hit, chunk, _ in likeliest(hits, limit, left)]
    else:
        found = found[: max(limit - len(exact), limit - _EXACT, 1)]
        exact = exact[: limit - len(found)]
    telling = len(question.text.split()) > 1 or looks_like_code(question.text)
    snippets = (*found, *(snippet for _, snippet in exact))
    whole = question.text.casefold()
    told = telling and any(whole in each.text.casefold() for each in snippets)
    return Cascade(question.text, snippets, told, answer, notes, left_out)


def _within_half(
    exact: Sequence[tuple[float, Snippet]], max_tokens: int
) -> tuple[list[tuple[float, Snippet]], int]:
    """Return the exact matches that half a budget holds, and what is left of all of it."""
    kept, left = [], max_tokens
    for worth, each in exact:
        if (after := left - tokens(each.path, each.text)) >= max_tokens / 2:
            kept.append((worth, each))
            left = after
    return kept, left


def of_several(answer: Answer, limit: int, max_tokens: int = 0) -> Cascade:
    """Return what several repositories answer as snippets; exact matches are not looked for."""
    passages = likeliest(answer.hits, limit, max_tokens)
    found = tuple(_of_hit(hit, chunk) for hit, chunk, _ in passages)
    notes, sufficient = tuple(answer.lacking), _any_answers(passages) >= SUFFICIENT
    return Cascade(answer.query, found, sufficient, answer, notes, answer.not_indexed)


def exact_lines(workspace: Workspace, pattern: Pattern, limits: SearchOptions) -> tuple[Cascade, ExactAnswer]:
    """Find lines exactly, each a snippet of its own."""
    found = search_exactly(workspace, pattern, limits)
    snippets = tuple(
        _of_chunk(
            hit.path,
            replace(hit.chunk, text=line.text, line_start=line.number, line_end=line.number),
            line.number,
        )
        for hit in found.answer.hits
        for line in hit.snippet
    )
    complete = bool(snippets) and not found.omitted
    return Cascade(pattern.text, snippets, complete, found.answer, (), found.not_indexed), found


def of_code(limits: SearchOptions) -> SearchOptions:
    """Return what a search is limited to where no collection is named: to code."""
    wanted = limits.wanted if limits.collections else Wanted((CollectionKind.CODE,))
    return replace(limits, wanted=wanted, grouped=True)


def _ask(
    workspace: Workspace, query: str, question: Question, limits: SearchOptions
) -> tuple[Answer | None, tuple[str, ...]]:
    """Search the index; return None and the reason when that fails, so that the next step is tried."""
    if not question.words:
        return None, ("The query has no words: only exact matches are given.",)
    try:
        return search(workspace, query, of_code(limits)), ()
    except (UsageError, NoCollectionError):
        raise
    except GitragError as error:
        logging.getLogger("gitrag").warning("search_code fell back to grep: %s", error)
        return None, (FALLBACK, f"{error} {error.hint}".strip())
    except Exception:
        logging.getLogger("gitrag").exception("search_code fell back to grep")
        return None, (FALLBACK,)


def likeliest(hits: Sequence[Hit], limit: int, max_tokens: int = 0) -> list[Passage]:
    """Choose what most likely answers: the best passage of each file, and likely ones of the first file.

    Within a budget of tokens it is as many as fit, of whatever file.
    """
    if max_tokens:
        return packed(hits, max_tokens)
    each = [passages_of(hit)[0] for hit in hits]
    for hit in hits[:1]:
        likely = [other for other in passages_of(hit)[1:] if likelihood(other) >= LIKELY]
        each[1:1] = likely[: _OF_THE_FIRST - 1]
    chosen = sorted(range(len(each)), key=lambda at: -likelihood(each[at]))[:limit]
    return [each[at] for at in sorted(chosen)]


def _any_answers(passages: Sequence[Passage]) -> float:
    """Return the probability that some passage answers, files taken as independent of each other."""
    found: dict[str, float] = {}
    for passage in passages:
        file = f"{passage[0].repository}:{passage[0].path}"
        found[file] = found.get(file, 0.0) + likelihood(passage)
    return 1 - math.prod(1 - share for share in found.values())


def _of_hit(hit: Hit, chunk: Chunk) -> Snippet:
    own = [line for line in hit.snippet if line.matches and chunk.line_start <= line.number <= chunk.line_end]
    centre = max(own, key=lambda line: len(line.text), default=None)
    place = centre.number if centre is not None else chunk.line_start
    snippet = _of_chunk(hit.path, chunk, place)
    return replace(
        snippet,
        language=hit.language,
        score=round(hit.score, 4),
        via=via(hit),
        variants=hit.variants,
        repository=hit.repository,
        also=tuple(
            f"{other.line_start}-{other.line_end} {other.name}".rstrip()
            for other, _ in hit.also[:_ALSO]
            if other.line_start != chunk.line_start
        ),
    )


def via(hit: Hit) -> Via:
    """Return whether words or meaning contributed more to a hit's score."""
    if hit.cosine is None:
        return Via.LEXICAL
    meaning, words = (
        sum(value for name, value in hit.reasons if BY.get(name) == way) for way in ("meaning", "words")
    )
    return Via.LEXICAL if hit.bm25 > 0 and words >= meaning else Via.SEMANTIC


def _of_chunk(path: str, chunk: Chunk, place: int) -> Snippet:
    """Return a chunk as a snippet, or if it is long, its lines around a place."""
    lines = chunk.text.split("\n")
    first = chunk.line_start
    if len(lines) > MOST_LINES:
        start = min(max(place - chunk.line_start - MOST_LINES // 3, 0), len(lines) - MOST_LINES)
        first, lines = chunk.line_start + start, lines[start : start + MOST_LINES]
    last = min(first + len(lines) - 1, chunk.line_end)  # a chunk may be a part of a very long line
    text = "\n".join(lines)
    return Snippet(
        path=path,
        line_start=first,
        line_end=last,
        name=chunk.name,
        enclosing=chunk.qualified_name.removesuffix(chunk.name).rstrip(". >"),
        kind=chunk.kind.value,
        language=language_of(path) or "",
        score=None,
        via=Via.GREP,
        text=text,
    )


def _exact(
    workspace: Workspace,
    question: Question,
    found: Sequence[Snippet],
    most: int,
    filters: Filters,
    *,
    whole: bool,
) -> list[tuple[float, Snippet]]:
    """Return snippets with exact matches and their scores, best first, without those found before.

    Args:
        whole: Return whole definitions, which needs the index; only lines where it cannot be read.
    """
    names = [name for name in question.names if len(name) >= _SHORTEST_NAME]
    telling = set(question.words)
    words = [
        word
        for word in dict.fromkeys(re.findall(r"\w+", question.text))
        if len(word) >= _SHORTEST_WORD and telling.intersection(query_terms(word))
    ]
    within = matcher(filters.globs) if filters.globs else None
    lines = [
        line
        for line in grep(workspace.repo, [question.text, *names, *words])[0]
        if (within is None or within(line.path))
        and (not filters.languages or language_of(line.path) in filters.languages)
    ]
    best = sorted(
        ((_worth(line, question.text, names, words), line) for line in lines),
        key=lambda item: (-item[0], item[1].path, item[1].number),
    )
    snippets: list[tuple[float, Snippet]] = []
    chunks: dict[str, list[Chunk]] = {}
    for worth, line in best:
        if worth <= _HALF_THE_WORDS or len(snippets) >= most:
            break
        if any(_holds(each, line) for each in (*found, *(each for _, each in snippets))):
            continue
        if line.path not in chunks:
            chunks |= {line.path: []} | (outline(workspace, [line.path]) if whole else {})
        snippet = _around(workspace, line, chunks[line.path])
        if snippet is not None and (not filters.kinds or snippet.kind in filters.kinds):
            snippets.append((worth, snippet))
    return snippets


def _worth(line: GrepLine, whole: str, names: Sequence[str], words: Sequence[str]) -> float:
    """Score how much of a query a line holds: all of it, names from it, or a share of its words."""
    if whole.casefold() in line.text.casefold():
        return _WHOLE + (whole in line.text)
    held = {word.casefold() for word in re.findall(r"\w+", line.text)}
    named = sum(not {part.casefold() for part in re.findall(r"\w+", name)} - held for name in names)
    share = sum(word.casefold() in held for word in words) / max(len(words), 1)
    return named * _NAMED + share


def _holds(snippet: Snippet, line: GrepLine) -> bool:
    return snippet.path == line.path and snippet.line_start <= line.number <= snippet.line_end


def _around(workspace: Workspace, line: GrepLine, chunks: Sequence[Chunk]) -> Snippet | None:
    """Return the definition that a line is in, or the lines around it, as the file is now."""
    try:
        lines = file_lines(workspace, line.path)
    except GitragError:  # deleted since, or too large to be read
        return None
    for chunk in chunks:
        if chunk.line_start <= line.number <= chunk.line_end and chunk.text == "\n".join(
            lines[chunk.line_start - 1 : chunk.line_end]
        ):
            return _of_chunk(line.path, chunk, line.number)
    first, last = max(1, line.number - _AROUND), min(len(lines), line.number + _AROUND)
    text = "\n".join(lines[first - 1 : last])
    return Snippet(
        path=line.path,
        line_start=first,
        line_end=last,
        name="",
        enclosing="",
        kind="lines",
        language=language_of(line.path) or "",
        score=None,
        via=Via.GREP,
        text=text,
    )
