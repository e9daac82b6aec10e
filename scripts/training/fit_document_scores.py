"""Fit how likely a document answers a question that is searched for (`gitrag/search/document_scores.py`).

    .venv/bin/python scripts/training/fit_document_scores.py [--work DIR] [--on NAME ...] [--embed]

A logistic regression with and without vectors, on the sentences of `scripts/bench/governance` and on
`scripts/bench/decision_questions.toml`. Printed: the weights to paste, and how repositories that are left out
fare: the share with a deciding document among the first three, the same with nothing below 0.3 counted, the
share of those without a document that have nothing above 0.5, and the expected calibration error over all
documents. --on names the repositories to fit on, each left out in turn; the others are held out for all.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from fit_bearing import FIT_ON, Page, report
from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
from decision_questions import read_questions
from governance import Governed, Labelled, read_labels
from questions import prepare

from gitrag.actions.current_view import CurrentView
from gitrag.corpus.layout import CollectionKind
from gitrag.search import collecting, document_scores
from gitrag.search.question import read
from gitrag.search.sections import Wanted, choose
from gitrag.store import scopes
from gitrag.store.scopes import NO_FILTERS
from gitrag.store.source import IndexFile
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from gitrag.store.connection import Connection
    from gitrag.store.views import ViewOverlay

FACTS = ("cosine", "above", "words", "lead", "alone")
FACTS_BY_WORDS = ("words", "lead", "missing")


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, default=Path.home() / ".cache" / "gitrag-bench")
    parser.add_argument("--on", nargs="*", default=list(FIT_ON))
    parser.add_argument("--embed", action="store_true", help="compute every vector first")
    arguments = parser.parse_args()
    for facts, by_meaning in ((FACTS, True), (FACTS_BY_WORDS, False)):
        pages = {}
        for governed in read_labels():
            name = governed.project.name
            if name in arguments.on:
                place = prepare(governed.project, "whole", arguments.work)
                pages[name] = read_pages(governed, place, facts, by_meaning=by_meaning, embed=arguments.embed)
        report("text", facts, range(len(facts)), pages)


def read_pages(
    governed: Governed, place: Path, names: tuple[str, ...], *, by_meaning: bool, embed: bool
) -> list[Page]:
    """Return a page for each sentence and question, and for each kind of document."""
    workspace = Workspace.open(place, environ={**os.environ, **governed.settings})
    workspace.update()
    if embed:
        workspace.embed()
    labels = [*governed.sentences, *read_questions().get(governed.project.name, ())]
    vectors = [
        workspace.encoder.encode_query(read(label.subject).text) if by_meaning else None for label in labels
    ]

    def pages(db: Connection, view_id: int, overlay: ViewOverlay) -> list[Page]:
        present = {*IndexFile(db).touched(view_id), *overlay.collections}
        found = []
        for kind, collections in choose(Wanted(), present).items():
            if kind is CollectionKind.CODE:
                continue
            filters = replace(NO_FILTERS, collections=collections)
            scope = scopes.open_scope(db, view_id, overlay, filters)
            path_ids = scope.files.path_id.tolist()
            paths = scopes.read_paths(db, path_ids)
            for label, vector in zip(labels, vectors, strict=True):
                evidence = collecting.collect(IndexFile(db), read(label.subject), scope, vector)
                facts = document_scores.facts(evidence, scope.files)
                found.append(
                    Page(np.stack([facts[name] for name in names], axis=1), _grades(label, paths, path_ids))
                )
        return found

    return CurrentView(workspace).read(pages).found


def _grades(label: Labelled, paths: dict[int, str], path_ids: list[int]) -> np.ndarray:
    return np.array([label.documents.get(paths[path_id], 0) for path_id in path_ids])


if __name__ == "__main__":
    main()
