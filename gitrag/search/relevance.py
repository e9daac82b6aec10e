"""The note that says why a document matched: a sentence or two of its own. Pure."""

from __future__ import annotations

import re

from gitrag.corpus.documents import plain
from gitrag.words import terms

_LONGEST = 240
"""Maximum characters of a note; a longer sentence is cut."""

_ROOM = 160
"""A first sentence shorter than this leaves room for the next one."""

_FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})")
_NO_PROSE = re.compile(r"\s*(?:#{1,6}(?:\s|$)|=+\s*$|-{2,}\s*$|\||<!--|:::|!\[)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)]|>)\s+(?:\[[ xX]\]\s+)?")
_FIELD = re.compile(
    r"\W{0,3}(?:status|date|deciders|decision-makers|consulted|informed|tags)\W{0,3}:", re.IGNORECASE
)
_END = re.compile(r"(?<=[.!?])[\"')\]]?\s+(?=[A-Z`\"'(\[*_\d])")


def relevance(text: str, words: frozenset[str], instead: str = "") -> str:
    """Return the one or two sentences of a text that say most about a question.

    Args:
        text: The matching part of a document.
        words: The question's words as terms (``question.words``).
        instead: The whole document; its first sentences are used when the part has none.
    """
    found = _sentences(text)
    if not found:
        found = _sentences(instead)
    if not found:
        return ""
    shared = [len(words & set(terms.query_terms(sentence))) for sentence in found]
    best = max(range(len(found)), key=lambda place: (shared[place], -place))
    first = found[best]
    if len(first) < _ROOM and best + 1 < len(found) and len(first) + len(found[best + 1]) < _LONGEST:
        return f"{first}{'' if first[-1] in '.!?:;,…' else '.'} {found[best + 1]}"
    return first if len(first) <= _LONGEST else first[: _LONGEST - 1].rstrip() + "…"


def _sentences(text: str) -> list[str]:
    """Split prose into sentences; a list item is a paragraph of its own."""
    paragraphs: list[list[str]] = [[]]
    fenced = False
    lines = text.split("\n")
    start = 0
    if lines[0].rstrip() == "---":  # front matter has no sentences
        start = next((row + 1 for row in range(1, len(lines)) if lines[row].rstrip() == "---"), 0)
    for line in lines[start:]:
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced:
            continue
        elif not line.strip() or _NO_PROSE.match(line) or _FIELD.match(line.strip()):
            paragraphs.append([])
        elif item := _ITEM.match(line):
            paragraphs.append([line[item.end() :]])
        else:
            paragraphs[-1].append(line)
    whole = (plain(" ".join(paragraph)) for paragraph in paragraphs)
    return [sentence for paragraph in whole for sentence in _END.split(paragraph) if _says(sentence)]


def _says(sentence: str) -> bool:
    return len(sentence.split()) > 1
