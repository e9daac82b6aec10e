"""Retrieval quality on annotated questions, through the product's own search.

    .venv/bin/python scripts/bench/quality.py QUESTIONS [--work DIR] [--mode source|whole] [--only NAME]
                                              [--json FILE] [--against FILE] [--worst N]

QUESTIONS holds `repos.json` (name, language, url, revision, benchmark_root) and `annotations/<name>.json`,
lists of {query, relevant, secondary, category}: the format of MinishLab/semble's public benchmark. Each
repository is cloned at its revision (kept under --work, which makes a second run quick), indexed and asked
every question.

- source: only the folder named in the file. whole: the repository as its users have it.
- NDCG@10 with binary gains: the rank of a target is that of the first result whose path ends in it and,
  where it has a span, overlaps it; a further result of a file already shown uses up a place. Mean over
  questions and over repositories.
- recall@10: the share of a question's targets among the first ten. MRR: of the first target found.

--json keeps the figures with the commit that made them; --against prints the differences to such a file.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from questions import (
    PAGE,
    Project,
    chosen_projects,
    ndcg,
    own_commit,
    parser_of,
    prepare,
    rank_of,
)

from gitrag.actions.search import SearchOptions, search
from gitrag.indexing.history import read_history
from gitrag.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one question was answered."""

    repository: str
    language: str
    kind: str
    question: str
    ndcg: float
    recall: float
    mrr: float
    milliseconds: float


def main() -> None:
    """Run the benchmark."""
    parser = parser_of(__doc__)
    parser.add_argument("--mode", choices=["source", "whole"], action="append")
    parser.add_argument("--json", type=Path, help="keep the figures here")
    parser.add_argument("--against", type=Path, help="figures kept before, to compare with")
    parser.add_argument("--worst", type=int, default=0, help="list so many of the worst answers")
    arguments = parser.parse_args()
    projects = chosen_projects(arguments)
    before = json.loads(arguments.against.read_text("utf-8")) if arguments.against else {"modes": {}}
    kept: dict[str, Any] = {"commit": own_commit(), "modes": {}}
    for mode in arguments.mode or ["source", "whole"]:
        outcomes: list[Outcome] = []
        index_s = 0.0
        for project in projects:
            seconds, answered = measure(prepare(project, mode, arguments.work), project)
            outcomes += answered
            index_s += seconds
        report(mode, outcomes, index_s, [Outcome(**row) for row in before["modes"].get(mode, [])])
        for outcome in sorted(outcomes, key=lambda outcome: outcome.ndcg)[: arguments.worst]:
            print(f"{outcome.ndcg:.2f}  {outcome.repository:20} {outcome.question}")
        kept["modes"][mode] = [asdict(outcome) for outcome in outcomes]
    if arguments.json:
        arguments.json.write_text(json.dumps(kept, indent=1), "utf-8")


def measure(repository: Path, project: Project) -> tuple[float, list[Outcome]]:
    """Index a repository, seconds, and ask it every question."""
    workspace = Workspace.open(repository, environ=os.environ)
    began = time.perf_counter()
    indexed = workspace.update()
    seconds = time.perf_counter() - began
    workspace.embed()
    read_history(workspace.store, workspace.repo, indexed.refreshed.head.commit or "")
    search(workspace, "warm up", SearchOptions())
    outcomes = []
    for question in project.questions:
        began = time.perf_counter()
        answer = search(workspace, question.text, SearchOptions(limit=PAGE, min_score=0.0))
        milliseconds = 1000 * (time.perf_counter() - began)
        ranks = [rank_of(target, answer.hits) for target in question.targets]
        found = [rank for rank in ranks if rank]
        outcomes.append(
            Outcome(
                repository=project.name,
                language=project.language,
                kind=question.kind,
                question=question.text,
                ndcg=ndcg(ranks),
                recall=len(found) / len(ranks),
                mrr=1 / min(found) if found else 0.0,
                milliseconds=milliseconds,
            )
        )
    return seconds, outcomes


def report(mode: str, outcomes: Sequence[Outcome], index_s: float, before: Sequence[Outcome]) -> None:
    """Print the tables of one mode."""
    old = {(outcome.repository, outcome.question): outcome.ndcg for outcome in before}
    print(
        f"\n== {mode}\n{'':24} {'questions':>9} {'NDCG@10':>8} {'recall':>7} {'MRR':>6}"
        + ("   change" if old else "")
    )

    def line(label: str, chosen: Sequence[Outcome]) -> None:
        means = [
            statistics.fmean(getattr(outcome, name) for outcome in chosen)
            for name in ("ndcg", "recall", "mrr")
        ]
        changes = [
            o.ndcg - old[o.repository, o.question] for o in chosen if (o.repository, o.question) in old
        ]
        change = f"   {statistics.fmean(changes):+.3f}" if changes else ""
        print(f"{label:24} {len(chosen):9} {means[0]:8.3f} {means[1]:7.3f} {means[2]:6.3f}{change}")

    for field in ("repository", "language", "kind"):
        groups: dict[str, list[Outcome]] = defaultdict(list)
        for outcome in outcomes:
            groups[getattr(outcome, field)].append(outcome)
        for label, chosen in sorted(groups.items()):
            line(label, chosen)
        print()
        if field == "repository":
            mean = statistics.fmean(statistics.fmean(o.ndcg for o in chosen) for chosen in groups.values())
    line("all questions", outcomes)
    times = sorted(outcome.milliseconds for outcome in outcomes)
    print(
        f"mean over repositories {mean:.3f}; search p50 {times[len(times) // 2]:.0f} ms, "
        f"p95 {times[int(len(times) * 0.95)]:.0f} ms; text index of all {index_s:.1f} s"
    )


if __name__ == "__main__":
    main()
