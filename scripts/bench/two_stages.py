"""Are a question's answers the same when the signs of the vectors choose what is compared exactly?

    .venv/bin/python scripts/bench/two_stages.py QUESTIONS [--work DIR] [--only NAME]

QUESTIONS and --work are as in `scripts/bench/quality.py`, on whole repositories. Each question is asked with
all vectors compared and with those that the signs choose; prints how many have the same files, in the same
order, among the first ten, and the median time of both.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path

from quality import PAGE, prepare, read_projects

from gitrag.app import App
from gitrag.search import engine
from gitrag.search.question import read
from gitrag.store import candidates
from gitrag.store.candidates import NO_FILTERS

EVERYTHING = 1 << 20


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path)
    parser.add_argument("--work", type=Path, default=Path.home() / ".cache" / "gitrag-bench")
    parser.add_argument("--only", action="append")
    arguments = parser.parse_args()
    same = asked = 0
    times: dict[int, list[float]] = {EVERYTHING: [], candidates.SURPLUS: []}
    for project in read_projects(arguments.questions):
        if arguments.only and project.name not in arguments.only:
            continue
        app = App.open(prepare(project, "whole", arguments.work), environ=os.environ)
        indexed = app.update()
        if indexed.counts.chunks <= engine.NEAREST * min(times):
            continue  # one stage is all it has
        app.embed()
        own = 0
        with app.store.read() as db:
            scoped = engine.Scoped(indexed.refreshed.view.view_id, engine.Overlay(), NO_FILTERS)
            for question in project.questions:
                asking = read(question.text)
                vector = app.encoder.encode_query(asking.text)
                answers = []
                for surplus, spent in times.items():
                    candidates.SURPLUS = surplus
                    began = time.perf_counter()
                    found = engine.ask(db, asking, scoped, vector, limit=PAGE, min_score=0.0)
                    spent.append(1000 * (time.perf_counter() - began))
                    answers.append([hit.path for hit in found.hits])
                own += answers[0] == answers[1]
        same += own
        asked += len(project.questions)
        print(
            f"{project.name:20} {indexed.counts.chunks:7,} chunks  {own} of {len(project.questions)} the same"
        )
    exact, chosen = (statistics.median(spent) for spent in times.values())
    print(
        f"{same} of {asked} ({same / asked:.1%}); exact {exact:.0f} ms, by signs {chosen:.0f} ms, index open"
    )


if __name__ == "__main__":
    main()
