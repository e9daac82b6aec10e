"""Order files by their evidence, and estimate how likely an answer is. Pure.

A linear ranker: the sum of a file's features times fixed weights. `scripts/training/fit_ranker.py` fits them
on annotated questions, `scripts/training/fit_calibration.py` fits the score's calibration; both validate on
repositories left out, and print the values to paste here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitrag.search.evidence import Evidence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WEIGHTS: Mapping[str, float] = {
    "bm25": 0.924,
    "bm25_file": 2.242,
    "cosine": 1.602,
    "cosine_sum": 4.398,
    "cosine_best": 0.352,
    "file_name": 1.597,
    "file_name_share": 1.425,
    "file_name_part": -0.333,
    "in_names": 0.525,
    "defines": 1.761,
    "test_or_doc": -3.469,
    "support": -1.330,
    "code": 2.230,
    "prose": -2.111,
    "top_share": 2.189,
    "size": 0.191,
    "defines_it": 5.000,
    "verbatim": 4.000,
}
"""Weight of one unit of each feature: NDCG@10 0.923 on source folders and 0.916 on whole repositories, each
scored by weights fitted on the other repositories (436 questions, 22 repositories, 17 languages).
"""

CHANCE: Mapping[str, float] = {
    "bias": -11.65,
    "coverage": 4.43,
    "first_coverage": 6.68,
    "unknown_name": -3.73,
    "cosine": 6.11,
    "above": 12.47,
    "verbatim": 4.00,
}
"""Weights of a logistic regression on whether a page of ten files answers its question: ``question_facts``.

`scripts/training/fit_calibration.py` fits them on 436 questions with an answer and 462 without. On whole
repositories
left out, 0.961 of the questions without an answer score below 0.3, of those with one 0.991 score above, and
the expected calibration error is 0.013; on source folders 0.976, 0.982 and 0.014. Questions about plausible
features that the repository lacks are the hard kind: 0.864. Without ``cosine`` 0.959, 0.991 and 0.015.
"""

CHANCE_BY_WORDS: Mapping[str, float] = {
    "bias": -6.35,
    "coverage": 6.25,
    "first_coverage": 7.03,
    "unknown_name": -4.61,
    "verbatim": 4.00,
}
"""The same where no chunk in the scope has a vector: 0.920, 0.982 and 0.028."""

_FEW = 100
"""Minimum background sample; missing chunks count as unrelated."""

_SHARE_KEPT = 0.5
"""Share of the best hit's score that a hit far behind it keeps: it is still on a page that answers."""

_FAR_BEHIND = 4.0
"""Distance to the best file's sum at which another file's chance has fallen to 1/e."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A ranked file.

    Attributes:
        file: Its number in the scope.
        score: Relevance in [0, 1].
        chunks: Indices in the evidence of its chunks to show, best first.
        reasons: What each feature contributes to its rank, largest first; features that contribute nothing
            are left out.
    """

    file: int
    score: float
    chunks: tuple[int, ...]
    reasons: tuple[tuple[str, float], ...]


def rank(
    evidence: Evidence,
    sums: Mapping[int, float],
    twins: NDArray[np.int32],
    ties: Mapping[int, str] | Sequence[str],
    *,
    limit: int,
    min_score: float,
    each_alone: bool = False,
) -> list[Ranked]:
    """Return the best files, best first.

    Args:
        evidence: The evidence for the files.
        sums: ``candidates`` of at least ``limit`` files.
        twins: For each file a number shared by files with the same content; only the best of them is kept.
        ties: For each candidate its path, which decides between equals.
        limit: Maximum number of files.
        min_score: Files that score lower are left out.
        each_alone: Score and order each file by its own evidence alone. Of few documents every one is on any
            page that answers, so being on it says nothing.
    """
    if not sums:
        return []
    if each_alone:
        scores = {file: chance(evidence, file, alone=True) for file in sums}
    else:
        first = min(sums, key=lambda file: (-sums[file], ties[file]))
        sure = chance(evidence, first)
        behind = {file: math.exp((own - sums[first]) / _FAR_BEHIND) for file, own in sums.items()}
        scores = {file: sure * (_SHARE_KEPT + (1 - _SHARE_KEPT) * behind[file]) for file in sums}
    found: list[Ranked] = []
    seen: set[int] = set()
    for file in sorted(sums, key=lambda file: (-scores[file], -sums[file], ties[file])):
        if int(twins[file]) in seen:
            continue
        seen.add(int(twins[file]))
        if scores[file] < min_score or len(found) == limit:
            break
        why = reasons(evidence, file, alone=each_alone)
        found.append(Ranked(file, scores[file], _chunks(evidence, file), why))
    return found


def candidates(evidence: Evidence, limit: int) -> dict[int, float]:
    """Return the files that may be among the ``limit`` best, with their sums, counting twins only once.

    Sums are rounded to six places, so that near-equal values count as equal.
    """
    import numpy as np

    speaking = np.unique(evidence.file)
    sums = total(evidence)
    best = speaking[np.argsort(-sums[speaking], kind="stable")[: 4 * limit + 50]]
    return {int(file): round(float(sums[file]), 6) for file in best}


def total(evidence: Evidence) -> NDArray[np.float32]:
    """Return the weighted sum of each file's features, float32 (f,)."""
    import numpy as np

    columns = [
        np.float32(WEIGHTS[name]) * column for name, column in evidence.features.items() if name in WEIGHTS
    ]
    return np.sum(columns, axis=0, dtype=np.float32) if columns else np.zeros(0, dtype=np.float32)


def reasons(evidence: Evidence, file: int, *, alone: bool = False) -> tuple[tuple[str, float], ...]:
    """List what each feature adds to a file, or with ``alone`` each fact to its chance, largest first."""
    if alone:
        weighed = _weighed(question_facts(evidence, file, alone=True))
        parts = [(name, part) for name, part in weighed if name != "bias"]
    else:
        parts = [
            (name, WEIGHTS[name] * float(column[file]))
            for name, column in evidence.features.items()
            if name in WEIGHTS
        ]
    return tuple(
        sorted(((name, part) for name, part in parts if abs(part) > 0.005), key=lambda item: -abs(item[1]))
    )


def chance(evidence: Evidence, first: int, *, alone: bool = False) -> float:
    """Return the probability that the files answer the question, in [0, 1].

    Args:
        evidence: The evidence for the files.
        first: The file that is ranked first.
        alone: Whether it must answer by itself.
    """
    weighed = _weighed(question_facts(evidence, first, alone=alone))
    return 1 / (1 + math.exp(-sum(part for _name, part in weighed)))


def _weighed(facts: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return what each fact adds to the log-odds, by the weights for a scope with or without vectors."""
    weights = CHANCE if "cosine" in facts else CHANCE_BY_WORDS
    return [(name, weights[name] * value) for name, value in facts.items()]


def question_facts(evidence: Evidence, first: int, *, alone: bool = False) -> dict[str, float]:
    """Return the facts that tell whether there is an answer; ``alone``, by the first file's evidence only.

    - ``cosine``: that of the nearest chunk, and ``above``: its distance from the median of the
      nearest 1,000, other collections included; left out where no vector is known
    - ``coverage``: the largest share of the question's information that the words of one file cover, and
      ``first_coverage``: the share that the first file covers
    - ``unknown_name``: whether the question is a single word that names no definition
    - ``verbatim``: whether the first file contains the question word for word
    - ``bias``: 1
    """
    import numpy as np

    coverage, defines = evidence.coverage, evidence.features["defines"]
    facts = {
        "bias": 1.0,
        "coverage": float(coverage[first] if alone else coverage.max(initial=0.0)),
        "first_coverage": float(coverage[first]),
        "unknown_name": float(evidence.is_name and not defines.any()),
        "verbatim": float(evidence.features["verbatim"][first]),
    }
    known = evidence.cosine[evidence.cosine > -1]
    if len(known):
        around = evidence.around
        # Too small a background has no meaningful median: missing chunks count as unrelated.
        around = np.concatenate([around, np.zeros(max(0, _FEW - len(around)), dtype=np.float32)])
        own = evidence.cosine[evidence.file == first] if alone else known
        facts["cosine"] = float(own.max(initial=0.0))
        facts["above"] = facts["cosine"] - float(np.median(around))
    return facts


def _chunks(evidence: Evidence, file: int) -> tuple[int, ...]:
    import numpy as np

    own = np.flatnonzero(evidence.file == file)
    return tuple(own[np.lexsort((evidence.chunk_id[own], -evidence.worth[own]))].tolist())


def singles(evidence: Evidence, found: Sequence[Ranked], *, limit: int, min_score: float) -> list[Ranked]:
    """Turn each chunk of the files into a hit: its file's score, lowered by its distance to the best."""

    def each() -> Iterator[Ranked]:
        for item in found:
            best = float(evidence.worth[item.chunks[0]])
            for place in item.chunks:
                share = float(evidence.worth[place]) / best if best else 1.0
                yield Ranked(item.file, item.score * share, (place,), item.reasons)

    chosen = [item for item in each() if item.score >= min_score]
    return sorted(chosen, key=lambda item: -item.score)[:limit]
