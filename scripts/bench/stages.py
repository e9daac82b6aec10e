"""What an answer is worth while vectors are still drafts: NDCG@10 at each stage of the refinement.

    .venv/bin/python scripts/bench/stages.py QUESTIONS [--only NAME] [--work DIR]

QUESTIONS, --work and the metric are as in `scripts/bench/quality.py`, on whole repositories. Each one is
indexed into a store of its own in a temporary directory; its questions are asked by words alone, with drafts
only, with half of the vectors refined (the newest first), and with all of them. The last column asks drafts
with a drafted question: no model at all.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from questions import (
    Project,
    VectorOf,
    ask,
    chosen_projects,
    draft_index,
    ndcg,
    parser_of,
    prepare,
    rank_of,
)

from gitrag.embedding.draft import drafter
from gitrag.indexing.embed_texts import embed_pending
from gitrag.workspace import Workspace

STAGES = ("words", "drafts", "half", "refined", "no model")


def main() -> None:
    """Run the benchmark."""
    parser = parser_of(__doc__)
    arguments = parser.parse_args()
    print(f"{'':20} {'texts':>7}" + "".join(f"{stage:>10}" for stage in STAGES) + "  text index, vectors")
    rows = [
        measure(prepare(project, "whole", arguments.work), project) for project in chosen_projects(arguments)
    ]
    print(f"{'mean':28}" + "".join(f"{statistics.fmean(column):10.3f}" for column in zip(*rows, strict=True)))


def measure(repository: Path, project: Project) -> list[float]:
    """Ask a repository's questions at each stage, and print a row."""
    began = time.perf_counter()
    with draft_index(repository) as (workspace, view_id):
        text_s = time.perf_counter() - began
        encoder = workspace.encoder
        texts = workspace.count_unembedded()
        means = {
            "words": mean_ndcg(workspace, project, view_id, lambda _text: None),
            "drafts": mean_ndcg(workspace, project, view_id, encoder.encode_query),
            "no model": mean_ndcg(workspace, project, view_id, lambda text: drafter().draft([text])[0]),
        }
        began = time.perf_counter()
        embed_pending(workspace.store, encoder, limit=texts // 2)
        means["half"] = mean_ndcg(workspace, project, view_id, encoder.encode_query)
        embed_pending(workspace.store, encoder)
        vectors_s = time.perf_counter() - began
        means["refined"] = mean_ndcg(workspace, project, view_id, encoder.encode_query)
    row = [means[stage] for stage in STAGES]
    figures = "".join(f"{mean:10.3f}" for mean in row)
    print(f"{project.name:20} {texts:7,}{figures}  {text_s:.1f} s, {vectors_s:.1f} s", flush=True)
    return row


def mean_ndcg(workspace: Workspace, project: Project, view_id: int, vector_of: VectorOf) -> float:
    """Ask every question; the mean NDCG@10."""
    values = []
    with workspace.store.read() as db:
        for question in project.questions:
            hits = ask(db, view_id, question.text, vector_of)
            values.append(ndcg([rank_of(target, hits) for target in question.targets]))
    return statistics.fmean(values)


if __name__ == "__main__":
    main()
