"""Search code in steps, each adding to the one before (requirement 6.2).

By meaning and words first; where that gives fewer than two sufficient snippets, exact matches in the working
tree; of both, line ranges and never whole files. Where the engine fails, the exact matches alone.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from gitrag.actions.core_context import outline
from gitrag.actions.lines import file_lines, hit_id
from gitrag.actions.search import Answer, SearchOptions, search
from gitrag.chunking.languages import language_of
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import GitragError, UsageError
from gitrag.git.grep import GrepLine, grep
from gitrag.model import Chunk
from gitrag.search.engine import Hit
from gitrag.search.question import Question, read
from gitrag.search.sections import Wanted
from gitrag.store.candidates import Filters
from gitrag.words.terms import query_terms
from gitrag.workspace import Workspace

LIMIT = 5
SUFFICIENT = 2
"""So many snippets of the engine's are enough."""

FALLBACK = "RAG search unavailable, fell back to grep — consider checking MCP server status"

MOST_LINES = 60
"""Of a snippet: most functions whole, and the lines that say most of the others."""

_AROUND = 8
"""Lines shown around an exact match that lies in no definition."""

_SHORTEST_WORD = 4
"""Shorter words of a question are in every file."""

_HALF_THE_WORDS = 0.5
_NAMED = 2.0
_WHOLE = 100.0
"""What a line is worth: a share of the question's words, a name in it, or the question itself. Only the last
two make a snippet that is sufficient."""

_BY_MEANING = frozenset({"cosine", "cosine_sum", "cosine_best"})
_BY_WORDS = frozenset(
    {
        *("bm25", "bm25_file", "verbatim", "file_name", "file_name_share", "file_name_part"),
        *("in_names", "defines", "defines_it"),
    }
)


class Via(StrEnum):
    """How a snippet was found."""

    SEMANTIC = "semantic"
    LEXICAL = "lexical"
    GREP = "grep"


@dataclass(frozen=True, slots=True)
class Snippet:
    """Lines of a file that bear on a question.

    Attributes:
        id: What `lines.read_range` reads them again by.
        path: The file.
        line_start: First line, 1-based.
        line_end: Last line, inclusive.
        name: The definition they are of, or of a part; empty for none.
        enclosing: The class or namespace that it is in; empty for none.
        kind: What it is.
        language: The file's language; empty where it is not known.
        score: Relevance in [0, 1]; None for an exact match, which has none.
        via: How it was found.
        text: The lines, exactly.
    """

    id: str
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


@dataclass(frozen=True, slots=True)
class Cascade:
    """What a question was answered with.

    Attributes:
        query: The question.
        snippets: Best first; exact matches last.
        sufficient: Whether there are enough, so that no other search is called for.
        answer: What the engine answered; None when it failed.
        notes: What the reader should know.
    """

    query: str
    snippets: tuple[Snippet, ...]
    sufficient: bool
    answer: Answer | None
    notes: tuple[str, ...] = ()


def search_code(
    workspace: Workspace, query: str, *, limit: int = LIMIT, globs: Sequence[str] = ()
) -> Cascade:
    """Search the code of a repository as it is now, uncommitted changes included.

    Args:
        workspace: The repository.
        query: A question in words, or a name.
        limit: How many snippets at most.
        globs: Only paths like these, as in .gitignore.

    Raises:
        UsageError: The question is empty, or a limit is none.
    """
    if not query.strip():
        raise UsageError("The query is empty.", "Ask in words, or for a name.")
    question = read(query)
    answer, notes = _ask(workspace, query, question, limit, globs)
    found = [_of_hit(hit) for hit in answer.hits] if answer is not None else []
    telling = len(found)
    if telling < SUFFICIENT and not globs:
        whole = FALLBACK not in notes
        for worth, snippet in _exact(workspace, question, found, limit - len(found), whole=whole):
            found.append(snippet)
            telling += worth >= _NAMED
    return Cascade(question.text, tuple(found[:limit]), telling >= SUFFICIENT, answer, notes)


def _ask(
    workspace: Workspace, query: str, question: Question, limit: int, globs: Sequence[str]
) -> tuple[Answer | None, tuple[str, ...]]:
    """Ask the engine; None, and why, when it fails: the next step answers."""
    if not question.words:
        return None, ("The query has no words: only exact matches are given.",)
    options = SearchOptions(
        filters=Filters(globs=tuple(globs)), wanted=Wanted((CollectionKind.CODE,)), limit=limit
    )
    try:
        return search(workspace, query, options), ()
    except UsageError:
        raise
    except GitragError as error:
        logging.getLogger("gitrag").warning("search_code fell back to grep: %s", error)
        return None, (FALLBACK, f"{error} {error.hint}".strip())
    except Exception:
        logging.getLogger("gitrag").exception("search_code fell back to grep")
        return None, (FALLBACK,)


def _of_hit(hit: Hit) -> Snippet:
    centre = max((line for line in hit.lines if line.matches), key=lambda line: len(line.text), default=None)
    place = centre.number if centre is not None else hit.chunk.line_start
    snippet = _of_chunk(hit.path, hit.chunk, place)
    return replace(snippet, score=round(hit.score, 4), via=via(hit))


def via(hit: Hit) -> Via:
    """Say whether words or meaning put a hit where it is, whichever added more."""
    if hit.cosine <= -1:
        return Via.LEXICAL
    meaning = sum(value for name, value in hit.reasons if name in _BY_MEANING)
    words = sum(value for name, value in hit.reasons if name in _BY_WORDS)
    return Via.LEXICAL if hit.bm25 > 0 and words >= meaning else Via.SEMANTIC


def _of_chunk(path: str, chunk: Chunk, place: int) -> Snippet:
    """Give a chunk, or as many of its lines around a place as are shown."""
    lines = chunk.text.split("\n")
    first = chunk.line_start
    if len(lines) > MOST_LINES:
        start = min(max(place - chunk.line_start - MOST_LINES // 3, 0), len(lines) - MOST_LINES)
        first, lines = chunk.line_start + start, lines[start : start + MOST_LINES]
    last = min(first + len(lines) - 1, chunk.line_end)  # a chunk of a very long line is a part of it
    text = "\n".join(lines)
    return Snippet(
        id=hit_id(path, first, last, text),
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
    workspace: Workspace, question: Question, found: Sequence[Snippet], most: int, *, whole: bool
) -> list[tuple[float, Snippet]]:
    """Give line ranges with exact matches, best first, and what each is worth; none that is there already.

    Args:
        workspace: The repository.
        question: What is asked.
        found: What was found before.
        most: How many at most.
        whole: Give definitions, as the index has them; only lines where it cannot be read.
    """
    names = [name for name in question.names if len(name) >= SUFFICIENT]
    telling = set(question.words)
    words = [
        word
        for word in dict.fromkeys(re.findall(r"\w+", question.text))
        if len(word) >= _SHORTEST_WORD and telling.intersection(query_terms(word))
    ]
    lines = grep(workspace.repo, [question.text, *names, *words])
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
        if snippet is not None:
            snippets.append((worth, snippet))
    return snippets


def _worth(line: GrepLine, whole: str, names: Sequence[str], words: Sequence[str]) -> float:
    """Say how much of a question a line holds: all of it, names in it, or a share of its words."""
    if whole.casefold() in line.text.casefold():
        return _WHOLE + (whole in line.text)
    held = {word.casefold() for word in re.findall(r"\w+", line.text)}
    named = sum(not {part.casefold() for part in re.findall(r"\w+", name)} - held for name in names)
    share = sum(word.casefold() in held for word in words) / max(len(words), 1)
    return named * _NAMED + share


def _holds(snippet: Snippet, line: GrepLine) -> bool:
    return snippet.path == line.path and snippet.line_start <= line.number <= snippet.line_end


def _around(workspace: Workspace, line: GrepLine, chunks: Sequence[Chunk]) -> Snippet | None:
    """Give the definition that a line is in, or the lines around it, as the file is now."""
    try:
        lines = file_lines(workspace, line.path)
    except GitragError:  # gone meanwhile, or too large to be read
        return None
    for chunk in chunks:
        if chunk.line_start <= line.number <= chunk.line_end and chunk.text == "\n".join(
            lines[chunk.line_start - 1 : chunk.line_end]
        ):
            return _of_chunk(line.path, chunk, line.number)
    first, last = max(1, line.number - _AROUND), min(len(lines), line.number + _AROUND)
    text = "\n".join(lines[first - 1 : last])
    return Snippet(
        id=hit_id(line.path, first, last, text),
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
