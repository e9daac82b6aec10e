"""Fit how likely a decision or specification bears on a file or a sentence (`gitrag/search/bearing.py`).

    .venv/bin/python scripts/training/fit_bearing.py [--work DIR] [--on NAME ...] [--embed]

A logistic regression for files and one for sentences, each with and without vectors, on the labels of
`scripts/bench/governance`. Printed: the weights to paste, and how repositories that are left out fare: for
files the recall among the first eight, for sentences the share with a deciding document among the first
three, the same with nothing below 0.3 counted, and the expected calibration error over all documents.
--on names the repositories to fit on, each left out in turn; the others of the set are held out for all.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
from governance import Governed, Labelled, read_labels
from questions import prepare

from gitrag.actions.governance.bearings import FileTarget, ask
from gitrag.chunking import decode
from gitrag.workspace import Workspace

FIT_ON = ("OpenSpec", "content-publisher", "edx-enterprise", "jaeger")
FACTS = {
    "file": ("above", "path_above", "titled", "words", "words_share", "mention", "names", "messages"),
    "text": ("cosine", "above", "words", "lead"),
}
NO_VECTOR = frozenset({"above", "path_above", "cosine"})
LEAST = 0.3
_STEPS = 60
_RIDGE = 1.0
"""Of the standardised facts."""


@dataclass(frozen=True, slots=True)
class Page:
    """A target with the facts of each document, (documents, facts), and its grade, (documents,)."""

    facts: NDArray[np.float64]
    grades: NDArray[np.int64]


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, default=Path.home() / ".cache" / "gitrag-bench")
    parser.add_argument("--on", nargs="*", default=list(FIT_ON))
    parser.add_argument("--embed", action="store_true", help="compute every vector first")
    arguments = parser.parse_args()
    pages: dict[str, dict[str, list[Page]]] = {"file": {}, "text": {}}
    for governed in read_labels():
        name = governed.project.name
        if name in arguments.on:
            place = prepare(governed.project, "whole", arguments.work)
            pages["file"][name], pages["text"][name] = read_pages(governed, place, embed=arguments.embed)
            print(name, "read", flush=True)
    for kind, names in FACTS.items():
        for without in (frozenset(), NO_VECTOR):
            columns = [place for place, name in enumerate(names) if name not in without]
            report(kind, [names[place] for place in columns], columns, pages[kind])


def read_pages(governed: Governed, place: Path, *, embed: bool) -> tuple[list[Page], list[Page]]:
    """Return the pages of a repository's files and sentences."""
    workspace = Workspace.open(place, environ={**os.environ, **governed.settings})
    workspace.update()
    if embed:
        workspace.embed()
    files = [
        (each.subject, ((each.subject, decode((place / each.subject).read_bytes())),))
        for each in governed.files
    ]
    texts = [each.subject for each in governed.sentences]
    return (
        _pages(workspace, files, governed.files, FACTS["file"]),
        _pages(workspace, texts, governed.sentences, FACTS["text"]),
    )


def _pages(
    workspace: Workspace,
    targets: Sequence[FileTarget | str],
    labels: Sequence[Labelled],
    names: Sequence[str],
) -> list[Page]:
    documents, asked = ask(workspace, targets)
    paths = [document.path for document in documents.documents]
    found = []
    for own, label in zip(asked, labels, strict=True):
        facts = own.facts(documents)
        grades = np.array([label.documents.get(path, 0) for path in paths])
        found.append(Page(np.stack([facts[name] for name in names], axis=1), grades))
    return found


def report(
    kind: str, names: Sequence[str], columns: Sequence[int], pages: Mapping[str, Sequence[Page]]
) -> None:
    """Fit on all, and on all but each in turn; print."""
    every = [page for own in pages.values() for page in own]
    weights = fit(every, columns)
    print(f"\n{kind}")
    for name, weight in zip([*names, "bias"], weights, strict=True):
        print(f'    "{name}": {weight:.2f},')
    figures = []
    for left_out, own in pages.items():
        others = [page for name, rest in pages.items() if name != left_out for page in rest]
        figures.append(measure(kind, own, fit(others, columns), columns))
        print(f"{left_out:20} " + "  ".join(f"{value:.3f}" for value in figures[-1]))
    print(f"{'mean':20} " + "  ".join(f"{value:.3f}" for value in np.mean(figures, axis=0)))


def fit(pages: Sequence[Page], columns: Sequence[int]) -> NDArray[np.float64]:
    """Fit by Newton's method, the facts standardised; the bias is last."""
    facts = np.concatenate([page.facts[:, columns] for page in pages])
    wanted = np.concatenate([page.grades > 0 for page in pages]).astype(float)
    mean, deviation = facts.mean(axis=0), facts.std(axis=0) + 1e-9
    design = np.column_stack([(facts - mean) / deviation, np.ones(len(facts))])
    ridge = np.array([*[_RIDGE] * len(columns), 1e-6])
    weights = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-design @ weights))
        slope = design.T @ (chance - wanted) + ridge * weights
        curve = (design.T * (chance * (1 - chance))) @ design + np.diag(ridge)
        weights -= np.linalg.solve(curve, slope)
    own = weights[:-1] / deviation
    return np.array([*own, weights[-1] - float(own @ mean)])


def measure(
    kind: str, pages: Sequence[Page], weights: NDArray[np.float64], columns: Sequence[int]
) -> tuple[float, float, float, float]:
    """Return recall, recall without what is below 0.3, share of quiet unrelated, calibration error."""
    most, grade = (8, 1) if kind == "file" else (3, 2)
    recalls: list[float] = []
    sure: list[float] = []
    quiet: list[bool] = []
    scores = [1 / (1 + np.exp(-(page.facts[:, columns] @ weights[:-1] + weights[-1]))) for page in pages]
    for page, own in zip(pages, scores, strict=True):
        if not page.grades.any():
            quiet.append(bool(own.max() <= 0.5))
            continue
        best = np.argsort(-own, kind="stable")[:most]
        total = (page.grades >= grade).sum()
        for least, shares in ((0.0, recalls), (LEAST, sure)):
            found = (page.grades[best[own[best] >= least]] >= grade).sum()
            shares.append(found / total if kind == "file" else float(found > 0))
    every = np.concatenate(scores)
    wanted = np.concatenate([page.grades > 0 for page in pages])
    bins = np.minimum((every * 10).astype(int), 9)
    error = sum(abs(every[bins == place].sum() - wanted[bins == place].sum()) for place in range(10)) / len(
        every
    )
    return float(np.mean(recalls)), float(np.mean(sure)), float(np.mean(quiet)), float(error)


if __name__ == "__main__":
    main()
