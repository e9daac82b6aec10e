"""The part of the call graph that belongs to an answer. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gitrag.chunking import language_of
from gitrag.chunking.languages import is_code
from gitrag.model import Kind
from gitrag.search.engine import Hit
from gitrag.words.regular_expressions import MOST_CHARACTERS

_LEFT_OUT = frozenset("the a an for with of in and or to".split())


def graph_filter(query: str, code: Sequence[Hit]) -> str:
    """Return a pattern for nodes: names and locations of the code hits, else the query's words.

    Args:
        code: The answer's code, best first. Prose and data in it are ignored, since they have no calls.

    Returns:
        A regular expression: escaped words joined by ``|``, each once, in order; empty for none. Only
        the first words where it would exceed the maximum length of a filter.
    """
    words = [word for hit in code if is_graphed(hit) for word in _words_of(hit)]
    if not words:
        words = [word for word in re.split(r"[\W_]+", query.lower()) if word and word not in _LEFT_OUT]
    pattern = ""
    for word in dict.fromkeys(words):
        longer = f"{pattern}|{re.escape(word)}" if pattern else re.escape(word)
        if len(longer) > MOST_CHARACTERS:
            break
        pattern = longer
    return pattern


def is_graphed(hit: Hit) -> bool:
    """Tell whether a hit is program code, which has calls."""
    return hit.chunk.kind is not Kind.SECTION and is_code(hit.language or language_of(hit.path) or "")


def _words_of(hit: Hit) -> Iterator[str]:
    directory, _, name = hit.path.rpartition("/")
    stem = name[: name.rfind(".")] if name.rfind(".") > 0 else name
    names = [hit.chunk.name, *(chunk.name for chunk, _ in hit.also)]
    yield from filter(None, (stem, directory.rpartition("/")[2], *names))
