"""Which files usually change together: from the commits that changed the ones given. Pure.

A commit of n files counts 1/n, since one of many says little of any two, and one that 1,000 commits came
after counts half. Fitted on ten projects (`scripts/bench/cochange.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.late import np

if TYPE_CHECKING:
    from gitrag.store.histories import PastChanges

USUAL = 0.8
"""Share of the last commits of a file from which on a second one is called usual, and missed where it is not
changed. See "What changes together" in `docs/figures.md` for how often that is wrong."""

FEWEST = 5
"""Commits that a usual companion has in common with the file at least."""

_COUNTED = 50
"""Newest commits of a file that are counted in words: "12 of the last 15"."""

_MOST_COMMITS = 300
"""Newest commits of a file that are looked at."""

_HALF_LIFE = 1_000
_DOUBT = 1.0
"""Added to the commits of a file: of one that changed once, little is known."""


class Companion(Struct, frozen=True):
    """A file that has changed together with one that is given.

    Attributes:
        path: The file.
        beside: The given file with which it has changed most regularly.
        together: How many of the last commits of that one changed both.
        of: How many last commits there are, at most 50.
    """

    path: str
    beside: str
    together: int
    of: int
    score: float

    @property
    def is_usual(self) -> bool:
        """Whether a change of the given file without it is rare."""
        return self.together >= FEWEST and self.together >= USUAL * self.of


def companions(past: PastChanges, given: Sequence[str], most: int | None = None) -> list[Companion]:
    """Return the files that have changed together with those given, and are none of them, best first.

    Args:
        past: The commits that changed them, without those of very many files.
    """
    places = {path: place for place, path in enumerate(past.paths)}
    own = [places[path] for path in dict.fromkeys(given) if path in places]
    many = len(past.paths)
    ages, commit = np.unique(past.age, return_inverse=True)
    sizes = np.bincount(commit)
    weights = np.exp2(-ages / _HALF_LIFE) / np.maximum(sizes, 1)
    score = np.zeros(many)
    share = np.full(many, -1.0)
    together, of, beside = (np.zeros(many, dtype=np.int64) for _ in range(3))
    for place in own:
        having = np.unique(commit[past.path == place])[:_MOST_COMMITS]  # newest first, as ages ascend
        if not len(having):
            continue
        rows = np.flatnonzero(np.isin(commit, having))
        total = weights[having].sum()
        own_score = np.bincount(past.path[rows], weights[commit[rows]], many) / (total + _DOUBT)
        score += own_score
        last = having[:_COUNTED]
        counted = np.bincount(past.path[rows[np.isin(commit[rows], last)]], minlength=many)
        better = (counted / len(last) > share) | ((counted / len(last) == share) & (counted > together))
        better &= own_score > 0
        share = np.where(better, counted / len(last), share)
        together, of = np.where(better, counted, together), np.where(better, len(last), of)
        beside = np.where(better, place, beside)
    score[own] = 0.0
    order = [place for place in np.lexsort((np.arange(many), -score)).tolist() if score[place] > 0]
    return [
        Companion(
            past.paths[place],
            past.paths[beside[place]],
            int(together[place]),
            int(of[place]),
            float(score[place]),
        )
        for place in order[:most]
    ]
