"""Fit the ranker's weights on annotated questions, and score them on repositories left out.

    .venv/bin/pip install scipy
    .venv/bin/python scripts/training/fit_ranker.py QUESTIONS [--work DIR] [--ridge R] [--ablate] [--errors N]

QUESTIONS and --work are as in `scripts/bench/quality.py`. Each question is asked of the source folder and of
the whole repository; the features that the product's own search gathers (`gitrag/search/evidence.py`) are
fitted by a listwise softmax (ListNet's top-one loss, Cao et al., 2007) with an L2 penalty on the standardised
weights. Prints NDCG@10, each repository's by the weights fitted on the others, and the weights for
`gitrag/search/ranking.py`. No randomness anywhere.

--ablate prints what leaving each feature out changes.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from gitrag.search import engine
from gitrag.search.question import read
from gitrag.store import commits
from gitrag.store.source import IndexFile

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
from questions import PAGE, Project, Question, chosen_projects, ndcg, open_files, parser_of

FIXED = {"defines_it": 5.0, "verbatim": 4.0}
"""Weights that are set, not fitted: of 68 questions for a symbol all but a few have the definition first
anyway, and next to none quotes a text, so that a fit learns nothing from them. The first is worth 0.014 on
symbols, both nothing elsewhere."""

CANDIDATES = 60
"""Files of each question that take part in the fit: those that each of a few features puts first, and any
that answers it."""


@dataclass(frozen=True, slots=True)
class Item:
    """A question's files.

    Attributes:
        mode: source or whole.
        project: Whose question.
        question: The question.
        features: float32 (f, n).
        answers: bool (f, t), which file is which target.
        files: Paths.
    """

    mode: str
    project: Project
    question: Question
    features: NDArray[np.float32]
    answers: NDArray[np.bool_]
    files: list[str]


def main() -> None:
    """Fit, cross-validate and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--ridge", type=float, default=1.0)
    parser.add_argument("--ablate", action="store_true")
    parser.add_argument("--errors", type=int, default=0, help="list so many of the worst answers")
    arguments = parser.parse_args()
    names, items = collect(chosen_projects(arguments), arguments.work)
    fitted = [name for name in names if name not in FIXED]
    scored = report("all features", names, items, fitted, arguments.ridge)
    for item, value in sorted(scored, key=lambda pair: pair[1])[: arguments.errors]:
        wanted = [path for path, row in zip(item.files, item.answers, strict=True) if row.any()]
        print(f"{value:.2f} {item.mode} {item.project.name}: {item.question.text} -> {', '.join(wanted)}")
    if arguments.ablate:
        for name in fitted:
            kept = [other for other in fitted if other != name]
            report(f"without {name}", names, items, kept, arguments.ridge)
    weights = dict(zip(fitted, Fit(names, items, fitted).weights("", arguments.ridge), strict=True))
    print("\nWEIGHTS: Mapping[str, float] = {")
    for name, weight in (weights | FIXED).items():
        print(f'    "{name}": {weight:.3f},')
    print("}")


def collect(projects: Iterable[Project], work: Path) -> tuple[list[str], list[Item]]:
    """Ask every question and keep what speaks for each file."""
    items: list[Item] = []
    names: list[str] = []
    for mode in ("source", "whole"):
        for project in projects:
            with open_files(project, mode, work) as (workspace, db, scope, own):
                for question in project.questions:
                    asked = read(question.text)
                    vector = workspace.encoder.encode_query(asked.text)
                    head = workspace.repo.head().commit or ""
                    told = commits.messages(db, scope, head, asked.hashes)
                    evidence = engine.collect(IndexFile(db), asked, scope, vector, told=told)
                    names = list(evidence.features)
                    answers = np.array([[target.is_at(path) for target in question.targets] for path in own])
                    items.append(
                        Item(
                            mode,
                            project,
                            question,
                            np.stack([evidence.features[name] for name in names], axis=1),
                            answers,
                            own,
                        )
                    )
    return names, items


class Fit:
    """The questions' candidates, stacked, for fitting with some of the features."""

    def __init__(self, names: Sequence[str], items: Sequence[Item], kept: Sequence[str]) -> None:
        self.columns = [names.index(name) for name in kept]
        leads = [names.index(name) for name in ("bm25", "bm25_file", "cosine", "file_name_share", "in_names")]
        self.items = [item for item in items if item.answers.any()]
        chosen = [self._chosen(item, leads) for item in self.items]
        rows = [item.features[keep][:, self.columns] for item, keep in zip(self.items, chosen, strict=True)]
        self.sizes = np.array([len(row) for row in rows])
        stacked = np.concatenate(rows)
        self.scale = stacked.std(axis=0) + 1e-6
        self.rows = ((stacked - stacked.mean(axis=0)) / self.scale).astype(np.float32)
        hits = [item.answers[keep].any(axis=1) for item, keep in zip(self.items, chosen, strict=True)]
        self.wanted = np.concatenate([hit / hit.sum() for hit in hits]).astype(np.float32)

    @staticmethod
    def _chosen(item: Item, leads: Sequence[int]) -> NDArray[np.intp]:
        keep = item.answers.any(axis=1)
        for lead in leads:
            keep[np.argsort(-item.features[:, lead], kind="stable")[:CANDIDATES]] = True
        return np.flatnonzero(keep)

    def weights(
        self, left_out: str, ridge: float, start: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Fit without the repository left out; what a unit of each feature is worth.

        ``start``, the weights of another fit, only saves time: the loss is convex and has one least place.
        """
        chosen = np.array([item.project.name != left_out for item in self.items])
        rows = np.repeat(chosen, self.sizes)
        x, y, sizes = self.rows[rows], self.wanted[rows], self.sizes[chosen]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        owner = np.repeat(np.arange(len(sizes)), sizes)

        def shares(w: NDArray[np.float64]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
            sums = x @ w.astype(np.float32)
            sums -= np.maximum.reduceat(sums, starts)[owner]
            exp = np.exp(sums)
            totals = np.add.reduceat(exp, starts)[owner]
            return sums - np.log(totals), exp / totals

        def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            logs, share = shares(w)
            value = -float((y * logs).sum(dtype=np.float64)) + ridge * float(w @ w) / 2
            return value, (x.T @ (share - y)).astype(np.float64) + ridge * w

        def curvature(w: NDArray[np.float64]) -> NDArray[np.float64]:
            weighted = x * shares(w)[1][:, None]
            means = np.add.reduceat(weighted, starts, axis=0)
            return np.asarray(x.T @ weighted - means.T @ means, dtype=np.float64) + ridge * np.eye(len(w))

        begin = np.zeros(x.shape[1]) if start is None else start * self.scale
        found = minimize(loss, begin, jac=True, hess=curvature, method="trust-exact", options={"gtol": 0.01})
        return np.asarray(found.x / self.scale)


def report(
    label: str, names: Sequence[str], items: Sequence[Item], kept: Sequence[str], ridge: float
) -> list[tuple[Item, float]]:
    """Cross-validate by repository and print the means."""
    fit = Fit(names, items, kept)
    columns = fit.columns
    whole = fit.weights("", ridge)
    scored: list[tuple[Item, float]] = []
    for repository in sorted({item.project.name for item in items}):
        weights = fit.weights(repository, ridge, whole)
        for item in items:
            if item.project.name == repository:
                set_by_hand = sum(
                    item.features[:, names.index(name)] * weight for name, weight in FIXED.items()
                )
                scored.append((item, score(item, item.features[:, columns] @ weights + set_by_hand)))
    parts = []
    for mode in ("source", "whole"):
        values = defaultdict(list)
        for item, value in scored:
            if item.mode == mode:
                values["all"].append(value)
                values[item.question.kind].append(value)
                values["lowest: " + item.project.language].append(value)
        languages = {key: np.mean(found) for key, found in values.items() if key.startswith("lowest")}
        lowest = min(languages, key=lambda key: float(languages[key]))
        means = [
            f"{key[:4]} {np.mean(values[key]):.3f}" for key in ("all", "architecture", "semantic", "symbol")
        ]
        parts.append(f"{mode} {' '.join(means)} {lowest} {languages[lowest]:.3f}")
    print(f"{label:24} {' | '.join(parts)}", flush=True)
    return scored


def score(item: Item, sums: NDArray[np.float64]) -> float:
    """NDCG@10 of the files in the order of their sums."""
    order = np.argsort(-sums, kind="stable")[:PAGE]
    ranks = [int(np.flatnonzero(column)[0]) + 1 if column.any() else 0 for column in item.answers[order].T]
    return ndcg(ranks)


if __name__ == "__main__":
    main()
