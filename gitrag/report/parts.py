"""What the forms of an answer have in common. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from gitrag.actions.answer import Answer
from gitrag.corpus.documents import Document
from gitrag.indexing.notices import drafts_line, looked_line, uncalibrated_line, undrafted_line
from gitrag.model import Chunk, Kind
from gitrag.search.engine import LEAST_ANSWER, Hit
from gitrag.search.wording import Wording
from gitrag.words.control_characters import Text, in_whole_characters, joined
from gitrag.words.numbers import count

Style = Callable[[str, str], str]
"""Applies the style of a role to a text: title, path, name, kind, score, number, match, dim."""

PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W_]+")
"""A part of an identifier, or a word: what a question's words are compared with, to mark them."""

TAB = 4
"""Columns of a tab where lines are cut to columns."""

_GIST = 160
"""Most characters shown of a signature, and of a docstring's first sentence, in Markdown."""

_MOST_PATHS = 8
_LONGEST_WORD = 40
_LONGEST_PATH = 120
_LONGEST_QUESTION = 200
"""Columns of a word, of a path and of the question itself in a sentence about them."""

NO_MATCH = "No relevant ADRs, specs, or code found for '{query}'. Try a broader search term."


def plain(text: str, _role: str) -> str:
    return text


def asked(answer: Answer) -> str:
    """Return the question; of a longer text, such as a bug report, the beginning."""
    return cut(answer.query, _LONGEST_QUESTION)


def no_match(answer: Answer) -> Text:
    """Return the message that nothing was found."""
    return joined([NO_MATCH.format(query=asked(answer))])


def notes_of(answer: Answer) -> list[str]:
    """Say what the user should know of an answer beside its hits, a line each: what it lacks as yet."""
    notes = reworded_lines(answer)
    if line := uncalibrated_line(hit.model for hit in answer.hits):
        notes.append(line)
    if not answer.hits and (line := wording_line(answer)):
        notes.append(line[0].upper() + line[1:] + ".")
    notes += [f"{line}." for line in answer.outlined]
    if answer.looked_at is not None:
        notes.append(looked_line(answer.looked_at, answer.collections, answer.least))
    if answer.waiting:
        files = count(answer.waiting, "file")
        notes.append(f"{files} not in this answer: being indexed in the background.")
    if answer.drafts and not answer.drafted:
        notes.append(undrafted_line(answer.drafts))
    elif answer.drafts:
        notes.append(drafts_line(answer.drafts))
    if not answer.model and answer.drafted:
        notes.append("The model is not ready: the question was drafted too. `gitrag model fetch` gets it.")
    return notes


def reworded_lines(answer: Answer) -> list[str]:
    """Say what was searched for instead of the question as asked, a line each."""
    said = answer.wording
    lines = [f'searched for "{said.searched_for}"'] if said.searched_for else []
    if said.foreign:
        what = f'only "{said.read_of}" was searched for' if said.read_of else "ask in English, or for a name"
        lines.append(f"The model reads English: {what}.")
    return lines


def wording_line(answer: Answer) -> str:
    """Say which of a question's words are missing, and what was looked at; empty if there is nothing to say.

    ``no file contains "jwt"; "token" occurs only in tests and docs (3 files)``
    """
    said = answer.wording
    if said.no_such_path and said.exists:
        parts = []
    elif said.no_such_path:
        path = cut(shown(said.no_such_path), _LONGEST_PATH)
        parts = [f"no {'file searched' if said.narrowed else 'indexed file'} is named {path}"]
    else:
        parts = [f"{_no_file(said)} contains {_listed(said.missing, 'or')}"] if said.missing else []
    for word, files, groups in said.only_beside:
        where = _among([group.value for group in groups], "and")
        parts.append(f'"{cut(word, _LONGEST_WORD)}" occurs only in {where} ({count(files, "file")})')
    if parts and said.unread:
        parts.append(f"{count(said.unread, 'file')} could not be looked at yet")
    return "; ".join([*said.exists, *parts])


def nearest_line(answer: Answer) -> str:
    """Say why what is shown is only the nearest; empty where it may answer."""
    if line := wording_line(answer):
        return line
    no_answer = answer.hits and all(hit.is_nearest for hit in answer.hits)
    return f"nothing scores {LEAST_ANSWER:.2f} or more" if no_answer else ""


def _no_file(said: Wording) -> str:
    """Return the subject of a sentence about every file that was searched, and no other."""
    if said.narrowed:
        return f"none of the {count(said.searched, 'file')} searched"
    return "no indexed file" if said.left_out or said.unread else "no file"


def _listed(words: Sequence[str], last: str) -> str:
    return _among([f'"{cut(word, _LONGEST_WORD)}"' for word in words], last)


def _among(words: Sequence[str], last: str) -> str:
    """Join words as in a sentence: ``a, b or c``."""
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def plain_list(words: Sequence[str]) -> str:
    """Return quoted words as in a sentence: ``"a", "b" and "c"``."""
    return _listed(words, "and")


_TYPES = frozenset(
    """
    struct enum union trait interface record object protocol message service table view type
    resource data variable output module provider locals terraform
    """.split()
)
_HEAD_WORDS = 4
"""Words of a signature that may come before a type's own: public static abstract, create or replace."""


def gist(hit: Hit) -> str:
    """Describe a chunk in a line: its signature, and the first sentence of its docstring."""
    chunk = hit.chunk
    head = cut(chunk.signature or next((line.text.strip() for line in hit.snippet), ""), _GIST)
    first = " ".join(chunk.docstring.split())
    first = cut(first[: first.find(". ") + 1] or first, _GIST)
    code = f"`{head}`" if chunk.kind is not Kind.SECTION else head
    return f"{code} — {first}" if first and chunk.kind is not Kind.SECTION else code


def kind_of(chunk: Chunk) -> str:
    """Return what a chunk is in its language's own word: a struct, a table, an output."""
    if chunk.kind is not Kind.CLASS:
        return chunk.kind.value
    words = re.findall(r"\w+", chunk.signature.lower())[:_HEAD_WORDS]
    own = "class" if "class" in words else next((word for word in words if word in _TYPES), "class")
    return "block" if own == chunk.name else own


def standing(document: Document) -> str:
    """Return the status of a document: ``accepted``, ``superseded by ADR-0007``; empty if unknown."""
    by = next((edge.target for edge in document.edges if edge.relation == "superseded-by"), "")
    return f"superseded by {by}" if by else document.status


def day(moment: int) -> str:
    """Return a date; a commit may name any time."""
    try:
        return datetime.fromtimestamp(moment, UTC).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return "date unknown"


def lines_of(chunk: Chunk) -> str:
    """Return ``line 7`` or ``lines 7-9``."""
    word = "line" if chunk.line_start == chunk.line_end else "lines"
    return f"{word} {range_of(chunk.line_start, chunk.line_end)}"


def range_of(start: int, end: int) -> str:
    """Return ``7`` or ``7-9``."""
    return str(start) if start == end else f"{start}-{end}"


def listed_paths(paths: Sequence[str]) -> str:
    """Return paths in a line, the first of very many."""
    more = len(paths) - _MOST_PATHS
    return ", ".join(paths[:_MOST_PATHS]) + (f" and {more} more" if more > 0 else "")


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


def place_of(hit: Hit) -> str:
    """Return a hit's path, as it is; where several repositories were asked, ``repository:path``."""
    return f"{hit.repository}:{hit.path}" if hit.repository else hit.path


def shown(path: str) -> str:
    """Return a path as valid text, with a replacement character for each byte that is not UTF-8."""
    return in_whole_characters(path)
