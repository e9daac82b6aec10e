"""Fit what a document's score says, on pages: how likely it is that a question's page holds an answer.

    .venv/bin/pip install scipy
    .venv/bin/python scripts/training/fit_calibration.py QUESTIONS [--work DIR] [--ridge R]

QUESTIONS and --work are as in `scripts/bench/quality.py`, the questions those of
`scripts/bench/calibration.py`, asked of the source folder and of the whole repository. A logistic regression
of whether the page holds a target on `page_facts`, with an L2 penalty on the standardised
weights, once with vectors and once by words alone. Prints the figures on repositories left out, without each
fact too, and the weights for `gitrag/search/ranking.py`. No randomness anywhere. The ranker's own weights are
the product's, fitted on all of these repositories.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from gitrag.search import engine, ranking
from gitrag.search.evidence import Evidence
from gitrag.search.question import read

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
from calibration import calibration_error, read_absent
from questions import PAGE, Project, Target, open_files, parser_of, prepare, read_projects

MIN_SCORE = 0.3

FIXED = {"verbatim": 4.0}
"""Next to no question here quotes a text: a weight that is set, for messages that people paste."""


@dataclass(frozen=True, slots=True)
class Row:
    """A question as it was answered.

    Attributes:
        mode: source or whole.
        repository: Who was asked.
        kind: An absent question's, or "" for an annotated one.
        facts: `page_facts`.
        answered: Whether the page holds a target.
    """

    mode: str
    repository: str
    kind: str
    facts: dict[str, float]
    answered: bool


def main() -> None:
    """Fit, cross-validate and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--ridge", type=float, default=1.0)
    arguments = parser.parse_args()
    projects = read_projects(arguments.questions)
    for name, by_meaning in (("CHANCE", True), ("CHANCE_BY_WORDS", False)):
        rows: list[Row] = []
        for place, project in enumerate(projects):
            if arguments.only and project.name not in arguments.only:
                continue  # its place decides what it is asked
            whole = prepare(project, "whole", arguments.work)
            asked = [(question.text, "", question.targets) for question in project.questions]
            asked += [(row.text, row.kind, ()) for row in read_absent(project.name, place, whole)]
            for mode in ("source", "whole"):
                rows += collect(project, mode, arguments.work, asked, by_meaning)
        facts = list(dict.fromkeys(fact for row in rows for fact in row.facts if fact not in FIXED))
        print(f"\n== {name}")
        report("all facts", facts, rows, arguments.ridge)
        for left in facts[1:]:
            report(f"without {left}", [fact for fact in facts if fact != left], rows, arguments.ridge)
        weights = fit(facts, rows, arguments.ridge)
        print(f"{name}: Mapping[str, float] = {{")
        for fact, weight in (dict(zip(facts, weights, strict=True)) | FIXED).items():
            print(f'    "{fact}": {weight:.2f},')
        print("}", flush=True)


def collect(
    project: Project,
    mode: str,
    work: Path,
    asked: Sequence[tuple[str, str, tuple[Target, ...]]],
    by_meaning: bool,
) -> list[Row]:
    """Ask a repository its questions and keep what says whether there is an answer."""
    rows = []
    with open_files(project, mode, work) as (workspace, db, scope, own):
        for text, kind, targets in asked:
            question = read(text)
            vector = workspace.encoder.encode_query(question.text) if by_meaning else None
            evidence = engine.collect(db, question, scope, vector)
            sums = ranking.candidates(evidence, PAGE)
            page = ranking.page(sums, scope.files.content_id, own, PAGE)
            answered = any(target.is_at(own[file]) for target in targets for file in page)
            facts = page_facts(evidence, page[0]) if page else {"bias": 1.0}
            rows.append(Row(mode, project.name, kind, facts, answered))
    return rows


def page_facts(evidence: Evidence, first: int) -> dict[str, float]:
    """Return ``ranking.document_facts`` of a page as if it were one document."""
    facts = ranking.document_facts(evidence, first)
    facts["coverage"] = float(evidence.coverage.max(initial=0.0))
    if "cosine" in facts:
        nearest = float(evidence.cosine.max(initial=0.0))
        facts |= {"cosine": nearest, "above": facts["above"] + nearest - facts["cosine"]}
    return facts


def fit(facts: Sequence[str], rows: Sequence[Row], ridge: float) -> NDArray[np.float64]:
    """Give the weights of a logistic regression, the first of them the bias."""
    x = _matrix(facts, rows)
    y = np.array([row.answered for row in rows], dtype=np.float64)
    scale = np.concatenate([[1.0], x[:, 1:].std(axis=0) + 1e-6])
    centre = np.concatenate([[0.0], x[:, 1:].mean(axis=0)])
    x = (x - centre) / scale
    held = np.concatenate([[0.0], np.full(x.shape[1] - 1, ridge)])

    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        sums = x @ w
        value = float((np.logaddexp(0, sums) - y * sums).sum() + (held * w * w).sum() / 2)
        return value, x.T @ (1 / (1 + np.exp(-sums)) - y) + held * w

    found = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x / scale
    found[0] -= float(found[1:] @ centre[1:])
    return np.asarray(found)


def _matrix(facts: Sequence[str], rows: Sequence[Row]) -> NDArray[np.float64]:
    """Put the facts in columns; what a question without any hit has no figure for counts as 0."""
    return np.array([[row.facts.get(fact, 0.0) for fact in facts] for row in rows])


def report(label: str, facts: Sequence[str], rows: Sequence[Row], ridge: float) -> None:
    """Cross-validate by repository and print the figures."""
    chance = np.zeros(len(rows))
    for repository in sorted({row.repository for row in rows}):
        weights = fit(facts, [row for row in rows if row.repository != repository], ridge)
        left = [place for place, row in enumerate(rows) if row.repository == repository]
        chance[left] = 1 / (1 + np.exp(-(_matrix(facts, [rows[place] for place in left]) @ weights)))
    parts = []
    kinds = np.array([row.kind for row in rows])
    answered = np.array([row.answered for row in rows])
    for mode in ("source", "whole"):
        chosen = np.array([row.mode == mode for row in rows])
        absent = chosen & (kinds != "")
        groups = {"all": absent} | {kind: absent & (kinds == kind) for kind in np.unique(kinds[absent])}
        silent = [f"{kind} {np.mean(chance[group] < MIN_SCORE):.3f}" for kind, group in groups.items()]
        kept = np.mean(chance[chosen & answered] >= MIN_SCORE)
        error, _bins = calibration_error(chance[chosen], answered[chosen])
        parts.append(f"{mode} no match {' '.join(silent)} kept {kept:.3f} error {error:.3f}")
    print(f"{label:24} {' | '.join(parts)}", flush=True)


if __name__ == "__main__":
    main()
