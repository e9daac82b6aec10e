"""Why a file was found, in sentences. Pure."""

from __future__ import annotations

from gitrag.report.parts import PIECE, cut, plain_list
from gitrag.search.engine import Hit
from gitrag.search.features import FEATURES, OWN_CODE
from gitrag.words.terms import query_terms

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
    third = f"It is {chance(hit.score)} to answer."
    return [first, second, third]


def chance(score: float) -> str:
    """Return a score in words: ``72 % likely``."""
    return f"{round(score * 100)} % likely"
