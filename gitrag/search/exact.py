"""Find lines word for word, or by a regular expression: every one of them, by path and line."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from gitrag.errors import UsageError
from gitrag.late import np
from gitrag.model import Chunk
from gitrag.search.collecting import allowed_paths
from gitrag.search.engine import Hit, Scoped
from gitrag.search.snippet import Line
from gitrag.store import candidates, content, scopes
from gitrag.store.columns import distinct
from gitrag.store.memo import Memo
from gitrag.store.scopes import SearchScope
from gitrag.store.source import IndexFile
from gitrag.words import terms
from gitrag.words.regular_expressions import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.store.connection import Connection

_MATCHING_S = 20.0
"""Limit of processor time: an expression of 10,000 characters is a hundred times slower than a word."""

_OF_THE_WHOLE = re.compile(r"\\[Az]|\(\?[a-zA-Z]*-")
"""What asks for the ends of a text, or may switch ``(?m)`` off: the store's chunks are no lines."""

_RARE = 20
"""Words that one chunk in so many has are looked up: to look at a chunk takes as long as to scan so many."""


class Pattern(Struct, frozen=True):
    """What lines are searched for.

    Attributes:
        text: A regular expression (RE2), or a text to find as it is, whole words only; case matters.
        is_regex: Which of the two.
    """

    text: str
    is_regex: bool

    def matches(self, line: str) -> bool:
        return _compiled(self).search(line) is not None

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Return where it is found in a line: first character, and the one after the last, from 0."""
        return [found.span() for found in _compiled(self).finditer(line)]


@lru_cache(maxsize=8)
def _compiled(pattern: Pattern) -> Any:
    if pattern.is_regex:
        return compiled(pattern.text)
    before = r"(?<!\w)" if re.match(r"\w", pattern.text) else ""
    after = r"(?!\w)" if re.match(r"\w", pattern.text[-1]) else ""
    return re.compile(before + re.escape(pattern.text) + after)


class ExactLines(Struct, frozen=True):
    """The lines found.

    Attributes:
        hits: By path and line, the lines of a definition in one hit; with a score of 1.
        searched: How many files were looked at.
        collections: The collections that were searched, without the repository's slug.
    """

    hits: tuple[Hit, ...]
    lines: int
    files: int
    searched: int
    unsearched: tuple[int, int]
    collections: tuple[str, ...] = ()


def find_lines(
    db: Connection, scoped: Scoped, pattern: Pattern, limit: int, memo: Memo | None = None
) -> ExactLines:
    """Find the lines that match.

    Args:
        pattern: What to look for. Blank lines are in no chunk, and never match.
        limit: How many lines to return; all are counted.
    """
    memo = memo or Memo()
    filters = scoped.filters
    scope = scopes.open_scope(
        db,
        scoped.view_id,
        scoped.overlay,
        filters,
        path_ids=allowed_paths(IndexFile(db), filters, memo),
        memo=memo,
    )
    files = scope.files
    pattern.matches("")  # an expression that is none is refused, whatever there is to search
    found = _matching_lines(db, scope, pattern, memo)
    places = [place for place in range(len(files)) if int(files.content_id[place]) in found]
    paths = scopes.read_paths(db, [int(files.path_id[place]) for place in places])
    hits: list[Hit] = []
    counted = 0
    for place in sorted(places, key=lambda place: paths[int(files.path_id[place])]):
        content_id = int(files.content_id[place])
        shown = found[content_id][: max(limit - counted, 0)]
        counted += len(found[content_id])
        hits += _hits(paths[int(files.path_id[place])], content_id, str(files.language[place]), shown)
    rest = scopes.unsearched(db, scoped.view_id, scoped.overlay, filters.collections)
    return ExactLines(tuple(hits), counted, len(places), len(files), rest, filters.collections or ())


def _matching_lines(
    db: Connection, scope: SearchScope, pattern: Pattern, memo: Memo
) -> dict[int, list[tuple[Chunk, Line]]]:
    """Return the lines that match, each with its chunk, by content; each content once."""
    content_of = scope.files.content_id[scope.file]
    likely = _candidates(db, pattern, scope, distinct(content_of), memo)
    rows = np.arange(len(content_of))
    if likely is not None:  # a word may lie across two chunks of a line so long that it is several
        rows = rows[np.isin(scope.chunk_id, np.concatenate([likely, content.of_split_lines(db, memo)]))]
    chunks = content.read_chunks(db, distinct(scope.chunk_id[rows]).tolist(), memo)
    by_content: dict[int, dict[int, Chunk]] = {}
    for content_id, chunk_id in zip(content_of[rows].tolist(), scope.chunk_id[rows].tolist(), strict=True):
        by_content.setdefault(content_id, {})[chunk_id] = chunks[chunk_id]
    found = {}
    end = time.thread_time() + _MATCHING_S
    for content_id, own in by_content.items():
        if time.thread_time() > end:
            problem = f"{pattern.text[:60]!r} takes longer than {_MATCHING_S:.0f} s to match."
            raise UsageError(problem, "Give a simpler expression, or fewer files: --path, --lang.")
        ordered = sorted(own.items(), key=lambda item: (item[1].line_start, item[0]))
        lines = _lines([chunk for _, chunk in ordered], "" if pattern.is_regex else pattern.text)
        if matching := [(chunk, line) for chunk, line in lines if pattern.matches(line.text)]:
            found[content_id] = matching
    return found


def _candidates(
    db: Connection, pattern: Pattern, scope: SearchScope, content_ids: NDArray[np.int32], memo: Memo
) -> NDArray[np.int32] | None:
    """Return the chunks that may match, but for lines that are several chunks; None for all."""
    if not pattern.is_regex:
        likely = _with_words(db, pattern.text, memo)
        if likely is None or len(likely) * _RARE > len(scope.chunk_id):
            return content.containing(db, content_ids, pattern.text)
        return likely
    if _OF_THE_WHOLE.search(pattern.text):
        return None
    return content.matching(db, content_ids, pattern.text)


def _with_words(db: Connection, text: str, memo: Memo) -> NDArray[np.int32] | None:
    """Return the chunks that have each word of a text, in any case; None for a text without a word."""
    wanted = {terms.hashed(term) for word in re.findall(r"\w+", text) if (term := terms.whole(word))}
    if not wanted:
        return None
    found = candidates.with_terms(db, "postings", sorted(wanted), memo)["chunk_id"]
    chunk_ids, counts = np.unique(found, return_counts=True)
    likely: NDArray[np.int32] = chunk_ids[counts == len(wanted)]
    return likely


def _lines(chunks: Sequence[Chunk], needed: str) -> Iterator[tuple[Chunk, Line]]:
    """Yield each line of a file that has a text, once, with the chunk it is in; chunks may overlap."""
    last = 0
    long: tuple[Chunk, list[str]] | None = None
    for chunk in chunks:
        more = chunk.text.count("\n")
        if long is not None and (chunk.line_start != last or more):
            yield _joined_line(*long)
            long = None
        if not more and (chunk.line_start > last or long is not None):
            long = (long[0], [*long[1], chunk.text]) if long is not None else (chunk, [chunk.text])
            last = chunk.line_start
            continue
        for number, text in _having(chunk.text, needed):
            if chunk.line_start + number > last and text.strip():
                yield chunk, Line(chunk.line_start + number, text, matches=True)
        last = max(last, chunk.line_start + more)
    if long is not None:
        yield _joined_line(*long)


def _having(text: str, needed: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text that have another, each with its number from 0."""
    if not needed:
        yield from enumerate(text.split("\n"))
        return
    number = start = 0
    while (at := text.find(needed, start)) >= 0:
        number += text.count("\n", start, at)
        end = text.find("\n", at)
        yield number, text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else None]
        if end < 0:
            return
        number, start = number + 1, end + 1


def _joined_line(chunk: Chunk, parts: Sequence[str]) -> tuple[Chunk, Line]:
    """Return a line that is several chunks, as the first of them with all of the text."""
    text = "".join(parts)
    return replace(chunk, text=text), Line(chunk.line_start, text, matches=True)


def _hits(path: str, content_id: int, language: str, found: Sequence[tuple[Chunk, Line]]) -> Iterator[Hit]:
    """Yield the lines of a file, those of one chunk together."""
    at = 0
    while at < len(found):
        chunk = found[at][0]
        end = at
        while end < len(found) and found[end][0] is chunk:
            end += 1
        lines = tuple(line for _, line in found[at:end])
        yield Hit(path, chunk, 1.0, lines, (), 0.0, None, (), content_id=content_id, language=language)
        at = end
