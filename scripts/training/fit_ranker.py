"""Fit the ranker's weights on questions of five kinds at once, and score them on repositories left out.

    .venv/bin/pip install scipy
    .venv/bin/python scripts/training/fit_ranker.py QUESTIONS CLONES [CHANGES NAME=GITDIR …] [--work DIR]
        [--ridge R] [--ablate] [--errors N]

QUESTIONS and --work are as in `scripts/bench/quality.py`; each of those is asked of the source folder and of
the whole repository. CLONES has the clones of `scripts/bench/asked.py`, of which those kept aside are not
asked, and those of `scripts/bench/features.py` in CLONES/features; CHANGES and the rest are as in
`scripts/bench/changes.py`. The features that the product's own search gathers (`gitrag/search/evidence.py`)
are fitted by a listwise softmax (ListNet's top-one loss, Cao et al., 2007) with an L2 penalty on the
standardised weights; a question counts as `COUNTS` says of its kind. Prints NDCG@10 of each kind, each
repository's by the weights fitted on the others, and the weights for `gitrag/search/features.py`. Nothing is
random.

--ablate prints what leaving each feature out changes.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from gitrag.search import collecting
from gitrag.search.everyday import in_code_words
from gitrag.search.question import read
from gitrag.store.source import IndexFile

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
from questions import PAGE, Question, ndcg, open_repository, parser_of
from rule import repositories

FIXED = {"defines_it": 5.0, "verbatim": 6.0, "rare_name": 6.0}
"""Weights that are set, not fitted: of 68 questions for a symbol all but a few have the definition first
anyway, and next to none quotes a text, so that a fit learns nothing from them. The first is worth 0.014 on
symbols, both nothing elsewhere."""

LEFT_OUT = {"file_name", "in_names"}
"""Features that count for bug reports alone: beside the others they are worth less than 0.001 here."""

COUNTS = {
    "application": 1.5,
    "library": 1.5,
    "source": 1.0,
    "whole": 1.0,
    "features": 0.5,
    "changes": 0.5,
}
"""How much a question of each kind counts."""

CANDIDATES = 60
"""Files of each question that take part in the fit: those that each of a few features puts first, and any
that answers it."""


@dataclass(frozen=True, slots=True)
class Item:
    """A question's files.

    Attributes:
        kind: One of `COUNTS`.
        repository: Whose question; the same for all kinds.
        question: The question.
        features: float32 (f, n).
        answers: bool (f, t), which file is which target.
        files: Paths.
    """

    kind: str
    repository: str
    question: Question
    features: NDArray[np.float32]
    answers: NDArray[np.bool_]
    files: list[str]


def main() -> None:
    """Fit, cross-validate and print."""
    parser = parser_of(__doc__)
    parser.add_argument("clones", type=Path, metavar="CLONES")
    parser.add_argument("changes", nargs="*", metavar="CHANGES NAME=GITDIR", help="as in changes.py")
    parser.add_argument("--ridge", type=float, default=10.0)
    parser.add_argument("--ablate", action="store_true")
    parser.add_argument("--errors", type=int, default=0, help="list so many of the worst answers")
    arguments = parser.parse_args()
    items: list[Item] = []
    names: list[str] = []
    for kind, repository, place, questions in repositories(arguments):
        if arguments.only and repository not in arguments.only:
            continue
        names, more = collect(kind, repository, place, questions)
        items += more
    fitted = [name for name in names if name not in {*FIXED, *LEFT_OUT}]
    scored = report("all features", names, items, fitted, arguments.ridge)
    for item, value in sorted(scored, key=lambda pair: pair[1])[: arguments.errors]:
        wanted = [path for path, row in zip(item.files, item.answers, strict=True) if row.any()]
        print(f"{value:.2f} {item.kind} {item.repository}: {item.question.text} -> {', '.join(wanted)}")
    if arguments.ablate:
        for name in fitted:
            kept = [other for other in fitted if other != name]
            report(f"without {name}", names, items, kept, arguments.ridge)
    weights = dict(zip(fitted, Fit(names, items, fitted).weights("", arguments.ridge), strict=True))
    print("\nthe first weights of FEATURES, gitrag/search/features.py")
    for name, weight in (weights | FIXED).items():
        print(f"{name:16} {weight:.3f}")


def collect(
    kind: str, repository: str, place: Path, questions: Sequence[Question]
) -> tuple[list[str], list[Item]]:
    """Ask a repository's questions and keep what speaks for each file; the features' names, too."""
    items: list[Item] = []
    names: list[str] = []
    with open_repository(place) as (workspace, db, scope, own):
        head = workspace.repo.head().commit or ""
        for question in questions:
            text = in_code_words(IndexFile(db), read(question.text), scope, None)
            vector = workspace.encoder.encode_query(text.meaning)
            told = IndexFile(db).messages(scope, head, text.hashes, vector)
            evidence = collecting.collect(IndexFile(db), text, scope, vector, told=told)
            if evidence.is_report:
                continue
            names = list(evidence.features)
            columns = np.stack([evidence.features[name] for name in names], axis=1)
            answers = np.array([[target.is_at(path) for target in question.targets] for path in own])
            items.append(Item(kind, repository, question, columns, answers, own))
    return names, items


class Fit:
    """The questions' candidates, stacked, for fitting with some of the features."""

    def __init__(self, names: Sequence[str], items: Sequence[Item], kept: Sequence[str]) -> None:
        self.columns = [names.index(name) for name in kept]
        leads = [
            names.index(name)
            for name in ("bm25", "bm25_file", "cosine", "agreed", "file_name_share", "in_names", "meant")
        ]
        self.items = [item for item in items if item.answers.any()]
        chosen = [self._chosen(item, leads) for item in self.items]
        rows = [item.features[keep][:, self.columns] for item, keep in zip(self.items, chosen, strict=True)]
        self.sizes = np.array([len(row) for row in rows])
        stacked = np.concatenate(rows)
        self.scale = stacked.std(axis=0) + 1e-6
        self.rows = ((stacked - stacked.mean(axis=0)) / self.scale).astype(np.float32)
        hits = [item.answers[keep].any(axis=1) for item, keep in zip(self.items, chosen, strict=True)]
        counts = [COUNTS[item.kind] for item in self.items]
        self.wanted = np.concatenate(
            [count * hit / hit.sum() for count, hit in zip(counts, hits, strict=True)]
        ).astype(np.float32)
        self.counts = np.array(counts, dtype=np.float32)

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
        chosen = np.array([item.repository != left_out for item in self.items])
        rows = np.repeat(chosen, self.sizes)
        x, y, sizes, counts = self.rows[rows], self.wanted[rows], self.sizes[chosen], self.counts[chosen]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        owner = np.repeat(np.arange(len(sizes)), sizes)

        def shares(w: NDArray[np.float64]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
            sums = x @ w.astype(np.float32)
            sums -= np.maximum.reduceat(sums, starts)[owner]
            exp = np.exp(sums)
            totals = np.add.reduceat(exp, starts)[owner]
            return sums - np.log(totals), counts[owner] * exp / totals

        def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            logs, share = shares(w)
            value = -float((y * logs).sum(dtype=np.float64)) + ridge * float(w @ w) / 2
            return value, (x.T @ (share - y)).astype(np.float64) + ridge * w

        def curvature(w: NDArray[np.float64]) -> NDArray[np.float64]:
            weighted = x * shares(w)[1][:, None]
            means = np.add.reduceat(weighted, starts, axis=0) / np.sqrt(counts)[:, None]
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
    for repository in sorted({item.repository for item in items}):
        weights = fit.weights(repository, ridge, whole)
        for item in items:
            if item.repository == repository:
                set_by_hand = sum(
                    item.features[:, names.index(name)] * weight for name, weight in FIXED.items()
                )
                scored.append((item, score(item, item.features[:, columns] @ weights + set_by_hand)))
    parts = []
    for kind in COUNTS:
        values: dict[str, list[float]] = defaultdict(list)
        for item, value in scored:
            if item.kind == kind:
                values[item.repository].append(value)
        if values:
            parts.append(f"{kind} {np.mean([np.mean(own) for own in values.values()]):.3f}")
    print(f"{label:24} {' | '.join(parts)}", flush=True)
    return scored


def score(item: Item, sums: NDArray[np.float64]) -> float:
    """NDCG@10 of the files in the order of their sums."""
    order = np.argsort(-sums, kind="stable")[:PAGE]
    ranks = [int(np.flatnonzero(column)[0]) + 1 if column.any() else 0 for column in item.answers[order].T]
    return ndcg(ranks)


if __name__ == "__main__":
    main()
