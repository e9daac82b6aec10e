"""What an answer is worth while vectors are still drafts: NDCG@10 at each stage of the refinement.

    .venv/bin/python scripts/bench/stages.py QUESTIONS --only NAME [--only NAME ...] [--work DIR]

QUESTIONS, --work and the metric are as in `scripts/bench/quality.py`, on whole repositories. Each one is
indexed into a store of its own in a temporary directory; its questions are asked by words alone, with drafts
only, with half of the vectors refined (the newest first), and with all of them. The last column asks drafts
with a drafted question: no model at all.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from quality import PAGE, Project, ndcg, prepare, rank_of, read_projects

from gitrag.app import RECIPE, App
from gitrag.embedding.draft import Drafter
from gitrag.indexing.embedding import embed_pending
from gitrag.search import engine
from gitrag.search.question import read
from gitrag.store.candidates import NO_FILTERS
from gitrag.store.connection import Store

STAGES = ("words", "drafts", "half", "refined", "no model")
Vector = Callable[[str], NDArray[np.float32] | None]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path)
    parser.add_argument("--work", type=Path, default=Path.home() / ".cache" / "gitrag-bench")
    parser.add_argument("--only", action="append", required=True)
    arguments = parser.parse_args()
    print(f"{'':20} {'texts':>7}" + "".join(f"{stage:>10}" for stage in STAGES) + "  text index, vectors")
    rows = [
        measure(prepare(project, "whole", arguments.work), project)
        for project in read_projects(arguments.questions)
        if project.name in arguments.only
    ]
    print(f"{'mean':28}" + "".join(f"{statistics.fmean(column):10.3f}" for column in zip(*rows, strict=True)))


def measure(repository: Path, project: Project) -> list[float]:
    """Ask a repository's questions at each stage, and print a row."""
    drafter = Drafter.load()
    with tempfile.TemporaryDirectory(prefix="gitrag-bench-") as folder:
        app = App.open(repository, environ=os.environ)
        app.store = Store(Path(folder), recipe=RECIPE)
        encoder = app.encoder
        began = time.perf_counter()
        view_id = app.update().refreshed.view.view_id
        text_s = time.perf_counter() - began
        texts = app.count_unembedded()
        means = {
            "words": ask(app, project, view_id, lambda _text: None),
            "drafts": ask(app, project, view_id, encoder.encode_query),
            "no model": ask(app, project, view_id, lambda text: drafter.draft([text])[0]),
        }
        began = time.perf_counter()
        embed_pending(app.store, encoder, limit=texts // 2)
        means["half"] = ask(app, project, view_id, encoder.encode_query)
        embed_pending(app.store, encoder)
        vectors_s = time.perf_counter() - began
        means["refined"] = ask(app, project, view_id, encoder.encode_query)
    row = [means[stage] for stage in STAGES]
    figures = "".join(f"{mean:10.3f}" for mean in row)
    print(f"{project.name:20} {texts:7,}{figures}  {text_s:.1f} s, {vectors_s:.1f} s", flush=True)
    return row


def ask(app: App, project: Project, view_id: int, vector: Vector) -> float:
    """Ask every question; the mean NDCG@10."""
    values = []
    with app.store.read() as db:
        for question in project.questions:
            scoped = engine.Scoped(view_id, engine.Overlay(), NO_FILTERS)
            asked = read(question.text)
            found = engine.ask(db, asked, scoped, vector(asked.text), limit=PAGE, min_score=0.0)
            values.append(ndcg([rank_of(target, found.hits) for target in question.targets]))
    return statistics.fmean(values)


if __name__ == "__main__":
    main()
