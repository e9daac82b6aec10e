"""Fuse what the ways of looking found, and order it. Pure.

Each weight is a named constant with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gitrag.model import Kind
from gitrag.search.question import Question

RANK_CONSTANT = 60
"""Reciprocal rank fusion's k (Cormack, Clarke and Büttcher, 2009)."""

WEIGHTS: Mapping[str, float] = {
    "lexical": 1.0,
    "semantic": 1.0,
    "name": 1.5,  # a definition of exactly the name asked for is what was asked for
    "path": 0.4,  # a file's name says what it is about, but of all its chunks alike
}

_COSINE_NOISE = 0.25
"""MiniLM's cosine of unrelated question and code seldom goes beyond."""
_COSINE_SURE = 0.65
"""Seldom reached but by a text that answers the question."""

_FLOORS: Mapping[str, float] = {"semantic": _COSINE_NOISE}
"""Values up to here say nothing, in ways of looking that have a value for every chunk."""

_TEST = re.compile(
    r"(^|/)(tests?|testing|__tests__|specs?|e2e|fixtures?|testdata|mocks?)/|(^|/)test_|[_.-](test|tests|spec)\.\w+$"
    r"|(^|/)conftest\.py$|Tests?\.\w+$",
)
_EXAMPLE = re.compile(r"(^|/)(examples?|samples?|demos?|benchmarks?|bench|docs?_src)/", re.IGNORECASE)
_DOCUMENT = re.compile(r"(^|/)(docs?|documentation)/|\.(md|mdx|markdown|rst|adoc|txt|org)$", re.IGNORECASE)
_SUPPORT = re.compile(
    r"(^|/)(\.github|\.circleci|ci|legacy|compat|_?compat\.\w+$|deprecated)(/|$)", re.IGNORECASE
)

PRIORS: tuple[tuple[re.Pattern[str], float, tuple[str, ...]], ...] = (
    (_TEST, 0.6, ("test", "tests", "testing", "spec", "fixture", "mock")),
    (_EXAMPLE, 0.7, ("example", "examples", "sample", "demo", "benchmark", "tutorial")),
    (_DOCUMENT, 0.7, ("doc", "docs", "documentation", "readme", "guide", "changelog", "decision", "adr")),
    (_SUPPORT, 0.8, ("ci", "workflow", "legacy", "compat", "deprecated")),
)
"""Kinds of path that repeat what other code is about: what each is worth, and the words that ask for it."""

_MODULE_WORTH = 0.9
"""Imports and constants name everything and explain little."""

_REPEAT_WORTH = 0.15
"""What further chunks of a file add to its best one: a file about the question has several."""


@dataclass(frozen=True, slots=True)
class Signal:
    """What one way of looking says of a chunk.

    Attributes:
        rank: Its place there, from 0.
        value: BM25, cosine, or 1 for a name.
    """

    rank: int
    value: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """A chunk at a path, ranked.

    Attributes:
        chunk_id: The chunk.
        path_id: The path.
        fused: Reciprocal rank fusion with its priors; comparable within one question only.
        signals: What each way of looking says, by its name in ``WEIGHTS``.
    """

    chunk_id: int
    path_id: int
    fused: float
    signals: Mapping[str, Signal]


def fuse(lists: Mapping[str, Sequence[tuple[int, int, float]]]) -> list[Ranked]:
    """Fuse lists of (chunk id, path id, value), each best first, by rank and by value.

    A chunk has from each list the list's weight, times its reciprocal rank, times its value as a share of the
    best one's. By rank alone a near miss and a far one count alike, and in a small repository everything is
    near the top of every list. On 863 questions to eight Python packages (docstrings' first sentences, the
    docstrings removed) the file asked for is first for 75 % instead of 70 %, MRR@10 0.845 instead of 0.809.
    """
    fused: dict[tuple[int, int], float] = {}
    signals: dict[tuple[int, int], dict[str, Signal]] = {}
    for name, found in lists.items():
        floor = _FLOORS.get(name, 0.0)
        rank = -1
        last: float | None = None
        for place, (chunk_id, path_id, value) in enumerate(found):
            if value <= floor:
                break
            if value != last:  # equals share a rank, so that the order of ids decides nothing
                rank, last = place, value
            share = (value - floor) / (found[0][2] - floor)
            key = chunk_id, path_id
            fused[key] = fused.get(key, 0.0) + WEIGHTS[name] * share / (RANK_CONSTANT + 1 + rank)
            signals.setdefault(key, {})[name] = Signal(rank, value)
    return sorted((Ranked(*key, worth, signals[key]) for key, worth in fused.items()), key=_order)


def prior(path: str, kind: Kind, question: Question) -> float:
    """Give what a chunk is worth before the question is looked at, in (0, 1]."""
    worth = _MODULE_WORTH if kind is Kind.MODULE else 1.0
    for pattern, value, words in PRIORS:
        if pattern.search(path) and not question.mentions(*words):
            worth *= value
    return worth


def order(
    ranked: Iterable[Ranked], paths: Mapping[int, str], kinds: Mapping[int, Kind], question: Question
) -> list[list[Ranked]]:
    """Apply the priors and group by file: files best first, within each its chunks best first."""
    files: dict[int, list[Ranked]] = {}
    for item in ranked:
        worth = prior(paths[item.path_id], kinds[item.chunk_id], question)
        files.setdefault(item.path_id, []).append(
            Ranked(item.chunk_id, item.path_id, item.fused * worth, item.signals)
        )
    for group in files.values():
        group.sort(key=_order)
    return sorted(files.values(), key=lambda group: (-_file_worth(group), paths[group[0].path_id]))


def cut(
    files: Sequence[list[Ranked]], sure: float, *, limit: int, min_score: float
) -> list[tuple[float, list[Ranked]]]:
    """Score the files and keep those that are worth showing.

    A score is the evidence for the best hit times the share of its fused rank that a file has; it never rises
    down the list. Of files with the same content the first stays.

    Args:
        files: Groups of ranked chunks, best first.
        sure: The evidence, in [0, 1].
        limit: How many to keep at most.
        min_score: Those below go.
    """
    best = max((group[0].fused for group in files), default=0.0)
    kept: list[tuple[float, list[Ranked]]] = []
    seen: set[int] = set()
    score = sure
    for group in files:
        if group[0].chunk_id in seen:
            continue
        seen.add(group[0].chunk_id)
        score = min(score, sure * group[0].fused / best)
        if score < min_score or len(kept) == limit:
            break
        kept.append((score, group))
    return kept


def _file_worth(group: Sequence[Ranked]) -> float:
    return group[0].fused + _REPEAT_WORTH * sum(item.fused for item in group[1:4])


def _order(item: Ranked) -> tuple[float, int, int]:
    return -item.fused, item.path_id, item.chunk_id


def evidence(coverage: float, cosine: float, *, named: bool) -> float:
    """Say how much speaks for the best hit at all, in [0, 1], so that nonsense finds nothing.

    Args:
        coverage: Share of the question's information (idf) that one chunk's terms cover.
        cosine: The best cosine.
        named: Whether a definition has exactly the name asked for.
    """
    if named:
        return 1.0
    near = min(max((cosine - _COSINE_NOISE) / (_COSINE_SURE - _COSINE_NOISE), 0.0), 1.0)
    return 1.0 - (1.0 - coverage**2) * (1.0 - near)
