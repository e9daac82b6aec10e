"""Fit what a hit's score says: how likely it is that this file answers the question.

    .venv/bin/pip install scipy
    .venv/bin/python scripts/training/fit_hit_scores.py QUESTIONS CLONES [--work DIR] [--only NAME]

QUESTIONS and --work are as in `scripts/bench/quality.py`, whole repositories; CLONES as in
`scripts/bench/asked.py`, those that are not aside. Asked are the annotated questions, everyday ones, those of
`scripts/bench/absent.toml` and those of `scripts/bench/features/`, which has, for each
repository, features that it could have and has not, and features that it has. A logistic regression of
whether a hit is a target on ``ranking.hit_facts``, with an L2 penalty on the standardised weights, once
with vectors and once by words alone. A hit of a feature's page that is a test, an example or documentation
is neither right nor wrong and left out, as those sets say. Each kind of question counts by its share in
``_SHARES``, however many there are.

Prints the figures on repositories left out, without each fact too, and the weights for
`gitrag/search/features.py`. No randomness anywhere.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from gitrag.search import collecting, engine, ranking
from gitrag.search.everyday import in_code_words
from gitrag.search.question import read
from gitrag.store.source import IndexFile
from gitrag.words.path_traits import OUTSIDE_THE_PRODUCT

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
from asked import read_sets
from calibration import calibration_error, read_absent
from features import read_set
from questions import PAGE, Project, open_repository, parser_of, prepare, read_projects

FEATURES = Path(__file__).parents[1] / "bench" / "features"
FIXED = {"verbatim": 4.0}
"""Next to no question here quotes a text: a weight that is set, for messages that people paste."""

_SHARES = {"easy": 0.5, "absent": 0.2, "present": 0.1, "annotated": 0.1, "asked": 0.1}
"""Questions without an answer count most: scores are there to say so."""

_LEAST = 0.02
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Asked:
    """A question.

    Attributes:
        text: The question.
        kind: annotated, asked, present, easy (nothing to be found, of `absent.toml`), or absent.
        is_target: Tells whether a path answers it.
        unknown: Paths of which nothing is known.
    """

    text: str
    kind: str
    is_target: Callable[[str], bool] = lambda _path: False
    unknown: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Row:
    """A hit.

    Attributes:
        repository: Who was asked.
        kind: The question's.
        question: Its number in the repository.
        facts: ``ranking.hit_facts``.
        right: Whether the hit is a target; None where that is not known.
    """

    repository: str
    kind: str
    question: int
    facts: dict[str, float]
    right: bool | None


def main() -> None:
    """Fit, cross-validate and print."""
    parser = parser_of(__doc__)
    parser.add_argument("clones", type=Path, metavar="CLONES")
    parser.add_argument("--ridge", type=float, default=3.0)
    arguments = parser.parse_args()
    chosen = {
        project.name: (
            prepare(project, "whole", arguments.work),
            questions_of(number, project, arguments.work),
        )
        for number, project in enumerate(read_projects(arguments.questions))
    }
    for each in read_sets():
        if not each.is_aside:
            asked = [
                Asked(question.text, "asked", question.paths.__contains__) for question in each.questions
            ]
            chosen[each.name] = (arguments.clones / each.name, asked)
    for name, by_meaning in (("HIT", True), ("HIT_BY_WORDS", False)):
        rows = [
            row
            for repository, (place, asked) in chosen.items()
            if not arguments.only or repository in arguments.only
            for row in collect(repository, place, asked, by_meaning)
        ]
        facts = list(dict.fromkeys(fact for row in rows for fact in row.facts if fact not in FIXED))
        print(f"\n== {name}: {len(rows)} hits")
        report("all facts", facts, rows, arguments.ridge)
        for left in facts[1:]:
            report(f"without {left}", [fact for fact in facts if fact != left], rows, arguments.ridge)
        weights = fit(facts, rows, arguments.ridge)
        print(name)
        for fact, weight in (dict(zip(facts, weights, strict=True)) | FIXED).items():
            print(f"{fact:16} {weight:.2f}", flush=True)


def questions_of(place: int, project: Project, work: Path) -> list[Asked]:
    """List what a repository is asked."""

    def among(targets: Sequence[Callable[[str], bool]]) -> Callable[[str], bool]:
        return lambda path: any(target(path) for target in targets)

    asked = [
        Asked(question.text, "annotated", among([target.is_at for target in question.targets]))
        for question in project.questions
    ]
    whole = prepare(project, "whole", work)
    asked += [Asked(row.text, "easy") for row in read_absent(project.name, place, whole)]
    features = FEATURES / f"{project.name}.toml"
    if features.exists():
        known = read_set(features)
        asked += [Asked(row.text, "absent", unknown=frozenset(row.mentioned_in)) for row in known.absent]
        asked += [Asked(row.text, "present", frozenset(row.files).__contains__) for row in known.present]
    return asked


def collect(repository: str, place: Path, questions: Sequence[Asked], by_meaning: bool) -> list[Row]:
    """Ask a repository its questions and keep what is known of each hit."""
    rows = []
    with open_repository(place) as (workspace, db, scope, own):
        head = workspace.repo.head().commit or ""
        for number, asked in enumerate(questions):
            question = in_code_words(IndexFile(db), read(asked.text), scope, None)
            vector = workspace.encoder.encode_query(question.meaning) if by_meaning else None
            told = IndexFile(db).messages(scope, head, question.hashes, vector)
            evidence = collecting.collect(IndexFile(db), question, scope, vector, told=told)
            sums = ranking.candidates(evidence, PAGE)
            page = ranking.page(sums, scope.files.content_id, own, PAGE)
            said = engine.say(IndexFile(db), question, evidence, page, own)
            for at, file in enumerate(page):
                facts = ranking.hit_facts(evidence, page, sums, said, at)
                right: bool | None = asked.is_target(own[file])
                beside = bool(scope.files.traits[file] & OUTSIDE_THE_PRODUCT)
                if not right and (own[file] in asked.unknown or (asked.kind == "present" and beside)):
                    right = None
                rows.append(Row(repository, asked.kind, number, facts, right))
    return rows


def fit(facts: Sequence[str], rows: Sequence[Row], ridge: float) -> NDArray[np.float64]:
    """Return the weights of a logistic regression, the first of them the bias."""
    rows = [row for row in rows if row.right is not None]
    x = _matrix(facts, rows)
    y = np.array([row.right for row in rows], dtype=np.float64)
    given = _given(rows)
    many = Counter(row.kind for row in rows)
    weight = np.array([_SHARES[row.kind] / many[row.kind] for row in rows]) * len(rows)
    scale = np.concatenate([[1.0], x[:, 1:].std(axis=0) + 1e-6])
    centre = np.concatenate([[0.0], x[:, 1:].mean(axis=0)])
    x = (x - centre) / scale
    held = np.concatenate([[0.0], np.full(x.shape[1] - 1, ridge)])

    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        sums = x @ w + given
        value = float((weight * (np.logaddexp(0, sums) - y * sums)).sum() + (held * w * w).sum() / 2)
        return value, x.T @ (weight * (1 / (1 + np.exp(-sums)) - y)) + held * w

    found = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x / scale
    found[0] -= float(found[1:] @ centre[1:])
    return np.asarray(found)


def _given(rows: Sequence[Row]) -> NDArray[np.float64]:
    """Return what the set weights add to each row."""
    return np.array([sum(row.facts[fact] * weight for fact, weight in FIXED.items()) for row in rows])


def _matrix(facts: Sequence[str], rows: Sequence[Row]) -> NDArray[np.float64]:
    return np.array([[row.facts.get(fact, 0.0) for fact in facts] for row in rows])


def report(label: str, facts: Sequence[str], rows: Sequence[Row], ridge: float) -> None:
    """Cross-validate by repository and print the figures."""
    chance = np.zeros(len(rows))
    for repository in sorted({row.repository for row in rows}):
        weights = fit(facts, [row for row in rows if row.repository != repository], ridge)
        left = [place for place, row in enumerate(rows) if row.repository == repository]
        ours = [rows[place] for place in left]
        chance[left] = 1 / (1 + np.exp(-(_matrix(facts, ours) @ weights + _given(ours))))
    pages: dict[tuple[str, int], list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        pages[row.repository, row.question].append(place)
    for own in pages.values():
        chance[own] = np.minimum.accumulate(chance[own])
    known = np.array([row.right is not None for row in rows])
    right = np.array([bool(row.right) for row in rows])
    error, _bins = calibration_error(chance[known], right[known])
    low = {kind: [chance[own[0]] < _HALF for own in _of(pages, rows, kind)] for kind in ("easy", "absent")}
    kept = {
        kind: [max(chance[own][right[own]]) >= _LEAST for own in _of(pages, rows, kind) if right[own].any()]
        for kind in ("annotated", "asked", "present")
    }
    shown = [
        int((chance[own] >= _LEAST).sum()) for own in _of(pages, rows, "present") if right[own].sum() <= 1
    ]
    odds = np.where(right, chance, 1 - chance)[known]
    print(
        f"{label:22} error {error:.4f} loss {-np.log(np.maximum(odds, 1e-9)).mean():.4f}"
        f" below half: {' '.join(f'{kind} {np.mean(own):.3f}' for kind, own in low.items())}"
        f" kept: {' '.join(f'{kind} {np.mean(own):.3f}' for kind, own in kept.items())}"
        f" shown {np.median(shown):.0f}",
        flush=True,
    )


def _of(pages: dict[tuple[str, int], list[int]], rows: Sequence[Row], kind: str) -> list[list[int]]:
    return [own for own in pages.values() if rows[own[0]].kind == kind]


if __name__ == "__main__":
    main()
