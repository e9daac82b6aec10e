"""Why a file was found, in sentences. Pure."""

from __future__ import annotations

from gitrag.report.parts import PIECE, cut, plain_list
from gitrag.search.engine import Hit
from gitrag.words.terms import query_terms

_OWN = "it is the product's own code"
"""True of most hits: said only where little else is."""

_FOR = {
    "its meaning is near the question's": (
        *("cosine", "cosine_sum", "cosine_best", "agreed", "title_cosine"),
    ),
    "its text has the question's words": ("bm25", "bm25_file", "bm25_share"),
    "it has the question word for word, or filled in": ("verbatim", "quoted"),
    "it has a name of the question that hardly another file has": ("rare_name",),
    "its path has the question's words": (
        *("file_name", "file_name_share", "file_name_asked", "title_file_name"),
    ),
    "names in it have the question's words": ("in_names", "title_in_names", "symbols", "title_symbols"),
    "it defines what the question names": ("defines", "defines_it", "named"),
    "commits about this changed it": ("history", "like", "meant", "votes"),
    "the traceback goes through it, or ends in its message": ("frame", "frames"),
    "the report names it": ("mentions", "modules"),
    _OWN: ("code", "top_share"),
}
"""What each feature of the ranking means (``gitrag.search.evidence``), those of one meaning together."""

_AGAINST = {
    "test_or_doc": "it is a test, an example or a document",
    "support": "it only supports the product: a script, a build file",
    "prose": "it is prose",
}
_MOST_WORDS = 6
_NAMED = 2
_LONGEST = 40


def sentences(hit: Hit, words: frozenset[str]) -> list[str]:
    """Return three sentences: the question's words in a hit, what counted most, how sure the score is.

    Args:
        words: The terms of the question.
    """
    text = f"{hit.path} {hit.chunk.qualified_name} {hit.chunk.text}"
    pieces: dict[str, str] = {}  # by term, as the hit spells it
    for piece in PIECE.findall(text):
        for term in words.intersection(query_terms(piece)):
            pieces.setdefault(term, cut(piece.casefold(), _LONGEST))
    held = list(dict.fromkeys(pieces.values()))[:_MOST_WORDS]
    first = f"It has {plain_list(held)} of the question." if held else "It has no word of the question."
    worth = dict(hit.reasons)
    weighed = {said: sum(worth.get(name, 0.0) for name in names) for said, names in _FOR.items()}
    best = sorted(
        (said for said in weighed if weighed[said] > 0), key=lambda said: (said == _OWN, -weighed[said])
    )[:_NAMED]
    second = f"For it counts most that {' and that '.join(best)}" if best else "It was looked up by its name"
    against = [said for name, said in _AGAINST.items() if worth.get(name, 0.0) < 0]
    second += f"; against it, that {against[0]}." if against else "."
    third = f"It is {chance(hit.score)} to answer."
    return [first, second, third]


def chance(score: float) -> str:
    """Return a score in words: ``72 % likely``."""
    return f"{round(score * 100)} % likely"
