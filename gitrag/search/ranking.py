"""Order files by their evidence, and estimate how likely an answer is. Pure.

A linear ranker: the sum of a file's features times fixed weights. `scripts/training/fit_ranker.py` fits them
on annotated questions, `scripts/training/fit_hit_scores.py` fits the score of a hit; both validate on
repositories left out, and print the values to paste here.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.chunking.languages import is_code
from gitrag.late import np
from gitrag.search.evidence import Evidence
from gitrag.search.other_words import Said
from gitrag.words.bulk_files import Bulk, bulk
from gitrag.words.declarations import implementations

if TYPE_CHECKING:
    from numpy.typing import NDArray

WEIGHTS: Mapping[str, float] = {
    "bm25": -1.348,
    "bm25_file": 1.789,
    "bm25_share": 4.582,
    "cosine": 7.732,
    "cosine_sum": 1.496,
    "cosine_best": 0.221,
    "agreed": 0.426,
    "file_name_share": 2.376,
    "file_name_asked": 0.695,
    "file_name_part": -0.672,
    "defines": 1.595,
    "history": 0.781,
    "like": 0.341,
    "meant": 1.583,
    "test_or_doc": -2.738,
    "support": -0.254,
    "code": 2.233,
    "prose": -1.580,
    "top_share": 1.140,
    "size": -0.158,
    "defines_it": 5.000,
    "verbatim": 6.000,
    "rare_name": 6.000,
}
"""Weight of one unit of each feature, fitted on two kinds of question at once: annotated ones (436, 22
repositories, 17 languages), and everyday ones to 52 applications and libraries; beside them features and
commits' messages of 31 repositories. Each repository by weights fitted on the others, NDCG@10 is 0.918 on
source folders and 0.912 on whole repositories of the first kind, and 0.401 on applications of the second
(before: 0.337).
"""

REPORT_WEIGHTS: Mapping[str, float] = {
    "bm25": 0.924,
    "bm25_file": 2.242,
    "cosine": 0.8,
    "cosine_sum": 1.0,
    "cosine_best": 0.2,
    "in_names": 0.525,
    "test_or_doc": -5.0,
    "support": -1.330,
    "code": 4.0,
    "prose": -3.0,
    "top_share": 2.189,
    "size": -0.15,
    "file_name": 0.5,
    "title_bm25": 0.5,
    "title_bm25_file": 1.5,
    "title_in_names": 1.0,
    "title_file_name": 1.5,
    "title_cosine": 4.0,
    "votes": 4.0,
    "frame": 2.5,
    "frames": 7.0,
    "mentions": 5.0,
    "modules": 1.0,
    "symbols": 0.7,
    "title_symbols": 1.0,
    "quoted": 3.0,
    "history": 1.0,
    "like": 1.0,
    "verbatim": 4.0,
}
"""The same for a bug report, set by hand: with them a changed file is first for 0.74 of 62 reports on five
repositories, among three for 0.90, among ten for 0.97; of 130 on a repository that was kept aside, without
history, 0.67, 0.80 and 0.89. Fitted to few reports they hold up less well:
`scripts/training/fit_reports.py`, on repositories left out of the 62, 0.57, 0.86 and 0.95."""

HIT: Mapping[str, float] = {
    "bias": -4.06,
    "coverage": 0.51,
    "missing": -2.91,
    "unknown_name": -3.26,
    "said": 4.42,
    "said_missing": -1.01,
    "rank": -0.54,
    "gap": 0.43,
    "behind": 0.15,
    "outside": -3.18,
    "cosine": 0.84,
    "above": 4.13,
    "verbatim": 4.00,
}
"""Weights of a logistic regression on whether a file of a page answers its question: ``hit_facts``.

`scripts/training/fit_hit_scores.py` fits them on the pages of 1,918 questions to 76 repositories, of
annotated, everyday and absent ones. On repositories left out the expected calibration error over all hits is
0.021, 0.95 of the absent features get no hit above 0.5, and of the targets on a page 0.99 (annotated), 0.92
(everyday) and 0.96 (features) score at least 0.02.
"""

HIT_BY_WORDS: Mapping[str, float] = {
    "bias": -5.27,
    "coverage": 0.98,
    "missing": -2.72,
    "unknown_name": -3.52,
    "said": 5.47,
    "said_missing": -0.85,
    "rank": -0.92,
    "gap": 0.38,
    "behind": 0.96,
    "outside": -4.30,
    "verbatim": 4.00,
}
"""The same where no chunk in the scope has a vector: 0.017, 0.98, 0.98, 0.84 and 0.96."""

HIT_OF_REPORT: Mapping[str, float] = {
    "bias": -6.79,
    "coverage": 1.79,
    "missing": -2.40,
    "said": 1.97,
    "rank": -1.10,
    "gap": 0.14,
    "behind": 1.05,
    "named": 2.15,
    "outside": -2.87,
    "cosine": 4.84,
    "above": 0.40,
    "verbatim": 4.00,
}
"""The same where the question is a bug report. `scripts/training/fit_reports.py` fits them on 62 reports,
each asked of its own repository and of another one; ``verbatim`` is set, for pasted code. On repositories
left out the expected calibration error is 0.019, and of the reports on another repository 0.98 have no hit
above 0.3.
"""

HIT_OF_REPORT_BY_WORDS: Mapping[str, float] = {
    "bias": -5.03,
    "coverage": 2.30,
    "missing": -3.75,
    "said": 3.45,
    "rank": -1.23,
    "gap": 0.17,
    "behind": 0.97,
    "named": 2.19,
    "outside": -2.94,
    "verbatim": 4.00,
}
"""The same where no chunk in the scope has a vector: 0.009 and 0.97."""

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
        score: Relevance in [0, 1].
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
        limit: Maximum number of files.
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
            paths: The files' paths.
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
        bulky: Which of them come in numbers.
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
        bulky: Which of them come in numbers.
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
        evidence: The evidence for the files.
        files: The ``page``.
        sums: ``candidates``.
        said: How much of the question each of them says.
    """
    found: list[Ranked] = []
    highest = 1.0
    for place, file in enumerate(files):
        facts = hit_facts(evidence, files, sums, said, place)
        weights = _hit_weights(evidence, by_meaning="cosine" in facts)
        highest = min(
            highest, _logistic(sum(weights.get(name, 0.0) * value for name, value in facts.items()))
        )
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
    """Return the facts that tell whether a file of a page answers the question.

    - ``coverage``: the largest share of the question's information that the words of one file cover;
      ``missing``: the share that no file of the product's own code has; ``unknown_name``: whether the
      question is a single word that names no definition
    - ``said``: how much of the question its first chunk says (`other_words`), ``said_missing``: how much of
      the words that the source lacks
    - ``cosine``: that of its nearest chunk, and ``above``: its distance from the median of the nearest 1,000,
      other collections included; left out where no vector is known
    - ``rank``: ln(its place), ``gap``: its sum less the first file's, and ``behind``: exp(gap / 4)
    - ``outside``: whether it is a test, an example or documentation that the question does not ask for
    - ``verbatim``: whether it contains the question word for word, or a name that hardly another file has;
      then it has what the source lacks
    - ``named``: of a bug report, how surely it names the file or something that the file has
    - ``bias``: 1
    """
    file = files[place]
    gap = sums[file] - sums[files[0]]
    idf = float(evidence.idf.sum())
    facts = {
        "bias": 1.0,
        "coverage": float(evidence.coverage.max(initial=0.0)),
        "missing": float(evidence.idf[~evidence.in_source].sum()) / max(idf, 1e-9),
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
    many = 4 * limit + 50
    if many < len(speaking):  # a few are sorted in a hundredth of the time
        least = np.partition(sums[speaking], -many)[-many]
        speaking = speaking[sums[speaking] >= least]
    best = speaking[np.argsort(-sums[speaking], kind="stable")[:many]]
    return {int(file): round(float(sums[file]), 6) for file in best}


def weights_of(evidence: Evidence) -> Mapping[str, float]:
    """Return the weights for the kind of question."""
    return REPORT_WEIGHTS if evidence.is_report else WEIGHTS


def total(evidence: Evidence) -> NDArray[np.float32]:
    """Return the weighted sum of each file's features, float32 (f,)."""
    weights = weights_of(evidence)
    sums = np.zeros(len(evidence.coverage), dtype=np.float32)
    for name, column in evidence.features.items():
        if name in weights:
            sums += np.float32(weights[name]) * column
    return sums


def reasons(evidence: Evidence, file: int) -> tuple[tuple[str, float], ...]:
    """List what each feature adds to a file, largest first."""
    weights = weights_of(evidence)
    parts = [
        (name, weights[name] * float(column[file]))
        for name, column in evidence.features.items()
        if name in weights
    ]
    return tuple(
        sorted(((name, part) for name, part in parts if abs(part) > 0.005), key=lambda item: -abs(item[1]))
    )


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
