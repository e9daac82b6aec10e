"""Order files by their evidence, and estimate how likely an answer is. Pure.

A linear ranker: the sum of a file's features times fixed weights, which are rows of `features.py`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.chunking.languages import is_code
from gitrag.late import np
from gitrag.search.bm25 import highest
from gitrag.search.evidence import Evidence
from gitrag.search.features import (
    HIT,
    HIT_BY_WORDS,
    HIT_OF_REPORT,
    HIT_OF_REPORT_BY_WORDS,
    REPORT_WEIGHTS,
    WEIGHTS,
)
from gitrag.search.other_words import Said
from gitrag.words.bulk_files import Bulk, bulk
from gitrag.words.declarations import implementations

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FEW = 100
"""Minimum background sample; missing chunks count as unrelated."""

_NAMED_OUTRIGHT = ("frames", "mentions", "quoted", "symbols", "title_symbols")

_UNLISTED = 0.1
"""How far below the median a file's cosine is taken to be when none of its chunks is among the nearest."""

_CLOSE = 1.5
"""Least difference of two sums that a declaration before its implementation may keep."""

_COPIES = frozenset({Bulk.VENDORED, Bulk.GENERATED})
_DATA = frozenset({Bulk.TRANSLATION, Bulk.RECORDED})
_COPY = 3.0
"""What a copy of another project, or of what it was generated from, loses. Of 79 on the pages of changes to
53 repositories and of 316 annotated questions none was right; of 62 bug reports 0.77 have a changed file
first in place of 0.74 (requests has urllib3 in it). From 2 to 5 it makes no difference."""

_SEEN = 7
"""Files before which nothing is moved: a page has eight."""

LEAST_ALONE = 0.05
"""Least score of a file that alone has a word of the question (``Evidence.alone``): so it is shown."""

_FAR_BEHIND = 4.0
"""Distance to the best file's sum at which ``behind`` has fallen to 1/e."""


class Ranked(Struct, frozen=True):
    """A ranked file.

    Attributes:
        file: Its number in the scope.
        chunks: Indices in the evidence of its chunks to show, best first.
        reasons: What each feature contributes to its rank, largest first; features that contribute nothing
            are left out.
    """

    file: int
    score: float
    chunks: tuple[int, ...]
    reasons: tuple[tuple[str, float], ...]


def page(
    sums: Mapping[int, float],
    twins: NDArray[np.int32],
    ties: Mapping[int, str] | Sequence[str],
    limit: int,
) -> list[int]:
    """Return the best files, best first; of files with the same content only the best.

    A file that only declares never stands before the one that implements it, if that is close: 0.008 more
    of 1,000 commits' messages have a file first that the commit changed, in 38 repositories.

    Args:
        sums: ``candidates`` of at least ``limit`` files.
        twins: For each file a number shared by files with the same content.
        ties: For each candidate its path, which decides between equals.
    """
    order = sorted(sums, key=lambda file: (-sums[file], ties[file]))
    return without_twins(_implementations_first(order, sums, ties, limit), twins)[:limit]


class InNumbers(Struct, frozen=True):
    """Which of some files come in numbers (`words/bulk_files.py`).

    Attributes:
        kinds: The kind of each that does, unless the question asks for it.
        data: Those that are data and no program: translations, recordings, lists of words; but where only
            data have what is asked, word for word or a name, not those.
    """

    kinds: Mapping[int, Bulk]
    data: frozenset[int] = frozenset()

    @classmethod
    def among(
        cls,
        paths: Mapping[int, str],
        languages: Mapping[int, str],
        asked: frozenset[str],
        has: Collection[int] = (),
    ) -> InNumbers:
        """Tell which of some files do.

        Args:
            asked: The question's lower-case words.
            has: Those that have the question word for word, or a name that hardly another file has.
        """
        found = {file: bulk(path, asked, languages[file]) for file, path in paths.items()}
        kinds = {file: kind for file, kind in found.items() if kind is not None}
        data = {file for file, kind in kinds.items() if kind in _DATA and not is_code(languages[file])}
        return cls(kinds, frozenset(data.difference(has) if data.issuperset(has) else data))


def one_of_a_kind(order: Sequence[int], bulky: InNumbers) -> list[int]:
    """Move files that come in numbers behind all others, but the first of each kind; and all data.

    Those of the best file's kind stay: the question is about them.

    Args:
        order: Files, best first.
    """
    kinds = [bulky.kinds.get(file) for file in order]
    best = kinds[0] if kinds else None
    last = [
        file in bulky.data or (kind is not None and kind is not best and kind in kinds[:place])
        for place, (file, kind) in enumerate(zip(order, kinds, strict=True))
    ]
    return [file for _is_last, _place, file in sorted(zip(last, range(len(order)), order, strict=True))]


def alone_among_the_first(order: Sequence[int], alone: NDArray[np.bool_]) -> list[int]:
    """Move files that alone have a word of the question to place `_SEEN`, where they stand behind that."""
    late = [file for file in order[_SEEN:] if alone[file]]
    return [*order[:_SEEN], *late, *(file for file in order[_SEEN:] if not alone[file])]


def copies_behind(sums: Mapping[int, float], bulky: InNumbers) -> dict[int, float]:
    """Lower the sums of vendored and generated files and of data, unless they are asked for.

    Args:
        sums: ``candidates``.
    """
    lowered = {file for file, kind in bulky.kinds.items() if kind in _COPIES} | bulky.data
    return {file: total - _COPY * (file in lowered) for file, total in sums.items()}


def _implementations_first(
    order: Sequence[int], sums: Mapping[int, float], paths: Mapping[int, str] | Sequence[str], limit: int
) -> list[int]:
    """Move what a file of the page declares before it, where the sums differ by less than `_CLOSE`."""
    by_name: dict[str, list[int]] = {}
    for file in order:
        by_name.setdefault(paths[file].rpartition("/")[2], []).append(file)
    moved = list(order)
    for file in order[:limit]:
        found = [other for name in implementations(paths[file]) for other in by_name.get(name, ())]
        behind = [
            other
            for other in found
            if moved.index(other) > moved.index(file) and sums[file] - sums[other] < _CLOSE
        ]
        if behind:
            best = max(behind, key=lambda other: sums[other])
            moved.remove(best)
            moved.insert(moved.index(file), best)
    return moved


def scored(
    evidence: Evidence, files: Sequence[int], sums: Mapping[int, float], said: Sequence[Said]
) -> list[Ranked]:
    """Score a page: the probability of each file that it answers the question.

    A file behind another in order never scores higher, but for one that alone has a word of the question.

    Args:
        files: The ``page``.
        sums: ``candidates``.
        said: How much of the question each of them says.
    """
    found: list[Ranked] = []
    highest = 1.0
    for place, file in enumerate(files):
        facts = hit_facts(evidence, files, sums, said, place)
        weights = _hit_weights(evidence, by_meaning="cosine" in facts)
        highest = min(highest, _logistic(sum(weights[name] * value for name, value in facts.items())))
        # Rounded, since the last bits of ``said`` depend on the size of the page.
        score = max(round(highest, 4), LEAST_ALONE * bool(evidence.alone[file]))
        found.append(Ranked(file, score, chunks_of(evidence, file), reasons(evidence, file)))
    return found


def _hit_weights(evidence: Evidence, *, by_meaning: bool) -> Mapping[str, float]:
    if evidence.is_report:
        return HIT_OF_REPORT if by_meaning else HIT_OF_REPORT_BY_WORDS
    return HIT if by_meaning else HIT_BY_WORDS


def hit_facts(
    evidence: Evidence, files: Sequence[int], sums: Mapping[int, float], said: Sequence[Said], place: int
) -> dict[str, float]:
    """Return the facts that tell whether a file of a page answers the question (`features.FACTS`).

    Where no vector is known, ``cosine`` and ``above`` are left out; what has the question lacks nothing.
    """
    file = files[place]
    gap = sums[file] - sums[files[0]]
    idf, is_there = evidence.idf[evidence.own], evidence.in_source[evidence.own]
    facts = {
        "bias": 1.0,
        "coverage": float(evidence.coverage.max(initial=0.0)),
        "missing": float(idf[~is_there].sum()) / max(float(idf.sum()), 1e-9),
        "unknown_name": float(evidence.is_name and not evidence.features["defines"].any()),
        "said": said[place].share,
        "said_missing": said[place].missing,
        "rank": math.log1p(place),
        "gap": gap,
        "behind": math.exp(gap / _FAR_BEHIND),
        "outside": float(evidence.features["test_or_doc"][file]),
        "verbatim": float(evidence.features["verbatim"][file] + evidence.features["rare_name"][file]),
    }
    if facts["verbatim"]:
        facts |= {"missing": 0.0, "unknown_name": 0.0}
    if evidence.is_report:
        facts["named"] = min(1.0, max(float(evidence.features[name][file]) for name in _NAMED_OUTRIGHT))
    if (evidence.cosine > -1).any():
        median = _median(evidence)
        best = float(evidence.cosine[evidence.rows_of(file)].max(initial=-1.0))
        facts["cosine"] = best if best > -1 else median - _UNLISTED
        facts["above"] = facts["cosine"] - median
    return facts


def having(evidence: Evidence, files: Iterable[int]) -> set[int]:
    """Return which files have the question word for word, or a name of it that hardly another file has."""
    has = evidence.features["verbatim"] + evidence.features["rare_name"]
    return {file for file in files if has[file]}


def without_twins(files: Sequence[int], twins: NDArray[np.int32]) -> list[int]:
    """Return the first of the files with the same content each, in their order."""
    seen: dict[int, int] = {}
    for file in files:
        seen.setdefault(int(twins[file]), file)
    return list(seen.values())


def candidates(evidence: Evidence, limit: int) -> dict[int, float]:
    """Return the files that may be among the ``limit`` best, with their sums, counting twins only once.

    Sums are rounded to six places, so that near-equal values count as equal.
    """
    sums = total(evidence)
    speaking = np.flatnonzero(np.bincount(evidence.file))
    best = speaking[highest(sums[speaking], 4 * limit + 50)]
    return {int(file): round(float(sums[file]), 6) for file in best}


def weights_of(evidence: Evidence) -> Mapping[str, float]:
    """Return the weights for the kind of question."""
    return REPORT_WEIGHTS if evidence.is_report else WEIGHTS


def total(evidence: Evidence) -> NDArray[np.float32]:
    """Return the weighted sum of each file's features, float32 (f,).

    Raises:
        KeyError: A feature has no weight for the kind of question.
    """
    weights = weights_of(evidence)
    sums = np.zeros(len(evidence.coverage), dtype=np.float32)
    for name, column in evidence.features.items():
        if weight := weights[name]:
            sums += np.float32(weight) * column
    return sums


def reasons(evidence: Evidence, file: int) -> tuple[tuple[str, float], ...]:
    """List what each feature adds to a file, largest first."""
    weights = weights_of(evidence)
    return largest((name, weights[name] * float(column[file])) for name, column in evidence.features.items())


def largest(parts: Iterable[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """Return what features contribute, largest first, without what is too little to name."""
    return tuple(sorted((each for each in parts if abs(each[1]) > 0.005), key=lambda each: -abs(each[1])))


def _logistic(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))


def _median(evidence: Evidence) -> float:
    """Return the median of the nearest cosines; missing chunks of a small background count as unrelated."""
    around = evidence.around
    missing = np.zeros(max(0, _FEW - len(around)), dtype=np.float32)
    return float(np.median(np.concatenate([around, missing])))


def chunks_of(evidence: Evidence, file: int) -> tuple[int, ...]:
    """Return the indices in the evidence of a file's chunks, the best to show first."""
    own = evidence.rows_of(file)
    order = np.lexsort((evidence.chunk_id[own], -evidence.worth[own]))
    return tuple((own.start + order).tolist())


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
