"""Fit what ranks and scores the hits of bug reports, and check it on repositories left out.

    .venv/bin/pip install scipy
    .venv/bin/python scripts/training/fit_reports.py REPORTS CLONES [--only NAME] [--ridge R] [--ablate]

REPORTS and CLONES are as in `scripts/bench/reports.py`; with drafts only. The weights of the ranker
(`gitrag/search/features.py`) are set by hand: few reports are at hand, and a fit follows them. So a listwise
softmax is fitted with a penalty on the distance from those weights, and both are printed:
the weights as they are, and fitted, each repository's reports by a fit to the others. --ablate prints what
each feature is worth as the weights are.

Then the weights of a hit's score are fitted, a logistic regression: each report is asked of its own
repository, and every fourth of another one too, where no file answers. No randomness anywhere.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from gitrag.indexing.history import read_history
from gitrag.search import collecting, engine, ranking
from gitrag.search.features import REPORT_WEIGHTS
from gitrag.search.question import read
from gitrag.store import commit_evidence, scopes
from gitrag.store.source import IndexFile
from gitrag.workspace import Workspace

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
from questions import PAGE
from reports import draft, index, read_reports

UNUSED = {"defines", "defines_it", "verbatim"}
CANDIDATES = 60
"""Files of each report that take part in the fit, those that the weights as they are put first."""

OTHERS = 4
"""Of the reports on other repositories each fourth is asked."""


@dataclass(frozen=True, slots=True)
class Item:
    """What a repository has for a report.

    Attributes:
        repository: The repository.
        features: float32 (f, n), of the files that may answer.
        answers: bool (f,).
        facts: Of each hit of the page, ``ranking.hit_facts``.
        right: bool, whether each hit of the page answers.
        own: Whether the report is about the repository.
    """

    repository: str
    features: NDArray[np.float32]
    answers: NDArray[np.bool_]
    facts: list[Mapping[str, float]]
    right: list[bool]
    own: bool


def main() -> None:
    """Fit, check and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("reports", type=Path)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--only", action="append", help="a repository, OWNER+NAME; may be repeated")
    parser.add_argument("--ridge", type=float, default=30.0)
    parser.add_argument("--ablate", action="store_true")
    arguments = parser.parse_args()
    names, items = collect(arguments)
    fit_ranker(names, [item for item in items if item.own], arguments.ridge, ablate=arguments.ablate)
    for label in ("HIT_OF_REPORT", "HIT_OF_REPORT_BY_WORDS"):
        fit_scores(label, items)


def collect(arguments: argparse.Namespace) -> tuple[list[str], list[Item]]:
    """Ask every report, and keep what speaks for each file."""
    paths = [
        path
        for path in sorted(arguments.reports.glob("*.json"))
        if not arguments.only or path.stem in arguments.only
    ]
    reports = {path.stem: list(read_reports(path)) for path in paths}
    items: list[Item] = []
    names: list[str] = []
    for number, repository in enumerate(reports):
        workspace = Workspace.open(arguments.clones / repository, environ=os.environ)
        elsewhere = [report for other, own in reports.items() if other != repository for report in own]
        asked = [(report, report.base, True) for report in reports[repository]]
        last = reports[repository][-1].base
        asked += [(report, last, False) for report in elsewhere[number % OTHERS :: OTHERS]]
        for report, base, own in asked:
            view_id = index(workspace, base, model=False)
            read_history(workspace.store, workspace.repo, base)
            with workspace.store.read() as db:
                question = read(report.text)
                scope = scopes.open_scope(db, view_id)
                told = commit_evidence.messages(db, scope, base, question.hashes)
                evidence = collecting.collect(
                    IndexFile(db), question, scope, draft(question.meaning), told=told
                )
                names = [name for name in evidence.features if name not in UNUSED]
                ids = scope.files.path_id.tolist()
                by_id = scopes.read_paths(db, ids)
                files = [by_id[path_id] for path_id in ids]
                sums = ranking.candidates(evidence, PAGE)
                page = ranking.page(sums, scope.files.content_id, files, PAGE)
                said = engine.say(IndexFile(db), question, evidence, page, files)
                facts = [ranking.hit_facts(evidence, page, sums, said, place) for place in range(len(page))]
            answers = np.array([own and path in report.files for path in files])
            chosen = np.unique(evidence.file)
            features = np.stack([evidence.features[name][chosen] for name in names], axis=1)
            right = [bool(answers[file]) for file in page]
            items.append(Item(repository, features, answers[chosen], facts, right, own))
    return names, items


def fit_ranker(names: Sequence[str], items: Sequence[Item], ridge: float, *, ablate: bool) -> None:
    """Print how good the weights are as they are, and fitted."""
    by_hand = np.array([REPORT_WEIGHTS[name] for name in names])
    print_ranks("as they are", [rank(item, by_hand) for item in items])
    for place, name in enumerate(names) if ablate else ():
        without = by_hand.copy()
        without[place] = 0.0
        print_ranks(f"without {name}", [rank(item, without) for item in items])
    ranks = []
    for left_out in sorted({item.repository for item in items}):
        fitted = listwise([item for item in items if item.repository != left_out], by_hand, ridge)
        ranks += [rank(item, fitted) for item in items if item.repository == left_out]
    print_ranks("fitted, left out", ranks)
    fitted = listwise(items, by_hand, ridge)
    print_weights("REPORT_WEIGHTS", dict(zip(names, fitted.tolist(), strict=True)))


def rank(item: Item, weights: NDArray[np.float64]) -> int:
    """Return the place of the first file that answers; a large number for none."""
    order = np.argsort(-(item.features @ weights), kind="stable")
    return next((place for place, file in enumerate(order, 1) if item.answers[file]), 10**6)


def print_ranks(label: str, ranks: Sequence[int]) -> None:
    """Print the shares of reports with an answer among the first few."""
    found = np.array(ranks)
    shares = "  ".join(f"@{k} {np.mean(found <= k):.3f}" for k in (1, 3, 5, 10))
    print(f"{label:26} {shares}  MRR {np.mean(1 / found):.3f}", flush=True)


def listwise(items: Sequence[Item], by_hand: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
    """Fit weights near those by hand (ListNet's top-one loss)."""
    rows, wanted = [], []
    for item in items:
        if item.answers.any():
            keep = item.answers.copy()
            keep[np.argsort(-(item.features @ by_hand), kind="stable")[:CANDIDATES]] = True
            rows.append(item.features[keep])
            wanted.append(item.answers[keep] / item.answers.sum())
    sizes = [len(own) for own in rows]
    x, y = np.concatenate(rows).astype(np.float64), np.concatenate(wanted)
    owner, starts = np.repeat(np.arange(len(sizes)), sizes), np.cumsum([0, *sizes[:-1]])
    scale = x.std(axis=0) + 1e-6

    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        sums = x @ w
        sums -= np.maximum.reduceat(sums, starts)[owner]
        totals = np.add.reduceat(np.exp(sums), starts)[owner]
        away = (w - by_hand) * scale
        value = -float(y @ (sums - np.log(totals))) + ridge * float(away @ away) / 2
        return value, x.T @ (np.exp(sums) / totals - y) + ridge * away * scale

    return np.asarray(minimize(loss, by_hand, jac=True, method="L-BFGS-B").x)


def fit_scores(label: str, items: Sequence[Item]) -> None:
    """Fit the weights of a hit's score, and print how good they are on repositories left out."""
    names = list(getattr(ranking, label))
    likely, right, own = [], [], []
    for left_out in sorted({item.repository for item in items}):
        weights = logistic(names, [item for item in items if item.repository != left_out])
        for item in items:
            if item.repository == left_out:
                likely.append(list(falling(names, weights, item)))
                right.append(item.right)
                own.append(item.own)
    flat, hits = np.concatenate(likely), np.concatenate(right)
    bins = np.minimum((flat * 10).astype(int), 9)
    error = sum(
        float((bins == own_bin).mean()) * abs(float((flat - hits)[bins == own_bin].mean()))
        for own_bin in np.unique(bins)
    )
    first = np.array([each[0] for each in likely])
    about = np.array(own)
    print(f"\n{label}: calibration error {error:.3f}, first hit of its repository {first[about].mean():.2f},")
    print(
        f"of another {first[~about].mean():.2f}, at most 0.3 for {np.mean(first[~about] <= 0.3):.2f} of them"
    )
    print_weights(label, dict(zip(names, logistic(names, items).tolist(), strict=True)))


def falling(names: Sequence[str], weights: NDArray[np.float64], item: Item) -> Iterator[float]:
    """Yield the score of each hit: never more than the one before."""
    highest = 1.0
    for facts in item.facts:
        odds = sum(weight * facts[name] for name, weight in zip(names, weights, strict=True))
        highest = min(highest, 1 / (1 + float(np.exp(-odds))))
        yield highest


def logistic(names: Sequence[str], items: Sequence[Item], ridge: float = 1.0) -> NDArray[np.float64]:
    """Fit a logistic regression on whether a hit answers."""
    x = np.array([[facts[name] for name in names] for item in items for facts in item.facts])
    y = np.array([own for item in items for own in item.right], dtype=float)
    scale = x.std(axis=0)

    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        odds = x @ w
        value = float((np.logaddexp(0, odds) - y * odds).sum()) + ridge * float(((w * scale) ** 2).sum()) / 2
        return value, x.T @ (1 / (1 + np.exp(-odds)) - y) + ridge * w * scale**2

    return np.asarray(minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B").x)


def print_weights(label: str, weights: Mapping[str, float]) -> None:
    """Print weights to write into the table."""
    print(label)
    for name, weight in weights.items():
        print(f"{name:16} {weight:.2f}")


if __name__ == "__main__":
    main()
