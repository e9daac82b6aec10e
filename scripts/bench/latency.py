"""How long a question takes in one process, on indexes of any size.

    .venv/bin/python scripts/bench/latency.py REPOSITORY... [--rounds 4]

Each repository must be indexed (`gitrag index`). Ten questions are asked through the product's own search,
with all that it does to be right (git is asked what has changed), of an index that is opened for each
question and of one that is kept in memory while it does not change. Prints the median, the 95th percentile,
and the process's memory. Drafts that a page shows are not refined meanwhile: that is another benchmark's.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path

from projects import QUESTIONS, WARM_UP, memory_mb

from gitrag.actions.search import search
from gitrag.actions.status import read_status
from gitrag.workspace import Workspace


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repositories", nargs="+", type=Path, metavar="REPOSITORY")
    parser.add_argument("--rounds", type=int, default=4)
    arguments = parser.parse_args()
    print(f"{'':24} {'chunks':>9} {'opened: p50':>12} {'p95':>6} {'kept: p50':>10} {'p95':>6}  memory")
    for repository in arguments.repositories:
        cells = []
        chunks = 0
        for resident in (False, True):
            workspace = Workspace.open(
                repository, environ=os.environ, flags={"refine_s": 0.0}, resident=resident
            )
            for question in QUESTIONS[:WARM_UP]:
                search(workspace, question)
            times = []
            for question in QUESTIONS * arguments.rounds:
                begin = time.perf_counter()
                search(workspace, question)
                times.append(1000 * (time.perf_counter() - begin))
            cells += [statistics.median(times), sorted(times)[int(len(times) * 0.95)]]
            view = read_status(workspace).view
            chunks = view.chunks if view else 0
        opened, opened_95, kept, kept_95 = cells
        print(
            f"{repository.resolve().name:24} {chunks:9,} {opened:9.0f} ms {opened_95:6.0f} {kept:7.0f} ms"
            f" {kept_95:6.0f}  {memory_mb():.0f} MB"
        )


if __name__ == "__main__":
    main()
