"""An answer as places for other programs: an editor's list of errors, file names."""

from __future__ import annotations

import re
from pathlib import Path
from posixpath import relpath

from msgspec.structs import replace

from gitrag.actions.answer import Answer
from gitrag.report.parts import place_of
from gitrag.search.engine import Hit
from gitrag.search.snippet import Line
from gitrag.words.control_characters import Text, joined, sanitise_line
from gitrag.words.terms import query_terms

_WORD = re.compile(r"\w+")


def relative_to(answer: Answer, directory: str) -> Answer:
    """Return an answer whose paths start in a directory, itself relative to the worktree's top.

    Paths of hits that name their repository stay relative to that one's top.
    """
    if not directory:
        return answer

    def moved(hit: Hit) -> Hit:
        if hit.repository:
            return hit
        variants = tuple(relpath(each, directory) for each in hit.variants)
        return replace(hit, path=relpath(hit.path, directory), variants=variants)

    return answer.changed(moved)


def located(answer: Answer, directory: Path) -> Answer:
    """Return an answer of several repositories whose paths lead from a directory, absolute, to the files."""
    roots = answer.roots

    def moved(hit: Hit) -> Hit:
        root = roots.get(hit.repository)
        return hit if root is None else replace(hit, path=relpath(root / hit.path, directory), repository="")

    return answer.changed(moved)


def as_vimgrep(answer: Answer) -> Text:
    """Return ``path:line:column:text`` for each matching line, best hit first; columns are bytes, from 1.

    Tabs of a line are left, which columns count as one.
    """
    words = frozenset(answer.words)
    return joined(
        place_line(place_of(hit), line, _column(line.text, words))
        for hit in answer.hits
        for line in best_lines(hit)
    )


def place_line(path: str, line: Line, column: int) -> str:
    """Return a line of an editor's list of places."""
    return f"{sanitise_line(path)}:{line.number}:{column}:{line.text}"


def as_paths(answer: Answer) -> Text:
    """Return the path of each hit, best first."""
    return joined(dict.fromkeys(sanitise_line(place_of(hit)) for hit in answer.hits))


def best_lines(hit: Hit) -> list[Line]:
    """Return the lines of a hit that match, or its first one."""
    first = hit.chunk.text.split("\n")[0]
    lines = hit.snippet[:1] or (Line(hit.chunk.line_start, first, matches=False),)
    return [line for line in hit.snippet if line.matches] or list(lines)


def _column(text: str, words: frozenset[str]) -> int:
    """Return the byte, from 1, at which the first word of the question starts, else the text."""
    starts = (word.start() for word in _WORD.finditer(text) if words.intersection(query_terms(word[0])))
    start = next(starts, len(text) - len(text.lstrip()))
    return len(text[:start].encode("utf-8", "surrogateescape")) + 1
