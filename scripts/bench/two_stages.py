"""Are a question's answers the same when the signs of the vectors choose what is compared exactly?

    .venv/bin/python scripts/bench/two_stages.py QUESTIONS [--work DIR] [--only NAME]

QUESTIONS and --work are as in `scripts/bench/quality.py`, on whole repositories. Each question is asked with
all vectors compared and with those that the signs choose; prints how many have the same files, in the same
order, among the first ten, and the median time of both.
"""

from __future__ import annotations

import os
import statistics
import time

from questions import ask, chosen_projects, parser_of, prepare

from gitrag.search import engine
from gitrag.store import candidates
from gitrag.workspace import Workspace

EVERYTHING = 1 << 20


def main() -> None:
    """Run the comparison."""
    arguments = parser_of(__doc__).parse_args()
    same = asked = 0
    times: dict[int, list[float]] = {EVERYTHING: [], candidates.SURPLUS: []}
    for project in chosen_projects(arguments):
        workspace = Workspace.open(prepare(project, "whole", arguments.work), environ=os.environ)
        indexed = workspace.update()
        if indexed.counts.chunks <= engine.NEAREST * min(times):
            continue  # one stage is all it has
        workspace.embed()
        own = 0
        with workspace.store.read() as db:
            view_id = indexed.refreshed.view.view_id
            for question in project.questions:
                vector = workspace.encoder.encode_query(question.text)
                answers = []
                for surplus, spent in times.items():
                    candidates.SURPLUS = surplus
                    began = time.perf_counter()
                    hits = ask(db, view_id, question.text, lambda _text, vector=vector: vector)
                    spent.append(1000 * (time.perf_counter() - began))
                    answers.append([hit.path for hit in hits])
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
