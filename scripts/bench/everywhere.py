"""Questions asked of many repositories at once, the right one not named.

    .venv/bin/python scripts/bench/everywhere.py QUESTIONS [--work DIR] [--only NAME] [--every N] [--misses]

QUESTIONS and --work as in `quality.py`, mode whole. Every repository is indexed and embedded, then each
question is asked of all of them together, through what `gitrag search --everywhere` does, indexes kept in
memory. Printed are, by the repository that a question is about and as means over repositories:

- NDCG@10 over the merged page: a hit counts where its repository is the right one and its path is a target.
- NDCG@10 of the right repository asked alone: what the merged page could reach.
- the share of questions whose first hit is from the right repository.
- milliseconds of a question, p50 and p95; and of `gitrag search --everywhere` as a new process, without the
  resident helper and with it (registry of its own, so that the user's is left alone).

--every N asks each Nth question; --misses lists those whose first hit is from elsewhere. Many questions were
written for one repository and fit several ("how are routes registered"): no order gets all of them right.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from projects import GITRAG
from questions import PAGE, Project, Target, chosen_projects, ndcg, own_commit, parser_of, prepare

from gitrag.actions.repositories.chosen import Chosen
from gitrag.actions.repositories.kept import KeptRepositories
from gitrag.actions.search import SearchOptions, search
from gitrag.indexing.history import read_history
from gitrag.search.engine import Hit
from gitrag.workspace import Workspace

_PROCESSES = 15
"""Questions asked as processes, of each kind."""


def main() -> None:
    """Run the benchmark."""
    parser = parser_of(__doc__)
    parser.add_argument("--every", type=int, default=1, help="ask each Nth question")
    parser.add_argument(
        "--misses", action="store_true", help="list the questions that another one answers first"
    )
    arguments = parser.parse_args()
    projects = chosen_projects(arguments)
    places = {project.name: prepare(project, "whole", arguments.work) for project in projects}
    chunks = sum(map(_index, places.values()))
    chosen = [Chosen(name, place, place / ".git") for name, place in sorted(places.items())]
    print(f"{own_commit()}: {len(chosen)} repositories, {chunks:,} chunks")
    measure(projects, chosen, every=arguments.every, misses=arguments.misses)
    measure_processes(places, [question.text for project in projects for question in project.questions[:1]])


def measure(projects: list[Project], chosen: list[Chosen], *, every: int, misses: bool) -> None:
    """Ask every question of all repositories, and of its own."""
    kept = KeptRepositories(os.environ, lambda _line: None)
    options = SearchOptions(limit=PAGE, min_score=0.0)
    together: dict[str, list[float]] = defaultdict(list)
    alone: dict[str, list[float]] = defaultdict(list)
    right: dict[str, list[bool]] = defaultdict(list)
    times, missed = [], []
    for _ in range(3):  # the second finds each index unchanged, and keeps it
        kept.ask(chosen, "warm up", options)
    for project in projects:
        own = kept.find(project.name)
        if own is None:
            raise SystemExit(f"{project.name} has not answered")
        for question in project.questions[::every]:
            began = time.perf_counter()
            answer = kept.ask(chosen, question.text, options)
            times.append(1000 * (time.perf_counter() - began))
            hits = answer.hits[:PAGE]
            of_it = search(own, question.text, options).hits[:PAGE]
            together[project.name].append(
                ndcg([_rank(each, hits, project.name) for each in question.targets])
            )
            alone[project.name].append(ndcg([_rank(each, of_it, "") for each in question.targets]))
            is_right = bool(hits) and hits[0].repository == project.name
            right[project.name].append(is_right)
            if not is_right:
                first = hits[0].repository if hits else "nothing"
                missed.append(f"{project.name:20} {first:20} {question.text}")
    print(f"{'':20} {'questions':>9} {'NDCG@10':>8} {'alone':>6} {'right':>6}")
    for name, values in sorted(together.items()):
        figures = (statistics.fmean(values), statistics.fmean(alone[name]), statistics.fmean(right[name]))
        print(f"{name:20} {len(values):9} {figures[0]:8.3f} {figures[1]:6.3f} {figures[2]:6.2f}")
    means = [statistics.fmean(map(statistics.fmean, each.values())) for each in (together, alone, right)]
    print(f"{'mean of repositories':20} {len(times):9} {means[0]:8.3f} {means[1]:6.3f} {means[2]:6.3f}")
    every_one = [value for values in right.values() for value in values]
    print(f"first hits from the right repository, of all questions: {statistics.fmean(every_one):.3f}")
    print(f"kept in memory: {_percentiles(times)}")
    if misses:
        print("about                first hit from       question", *missed, sep="\n")


def measure_processes(places: dict[str, Path], questions: list[str]) -> None:
    """Time `gitrag search --everywhere` as a command."""
    with tempfile.TemporaryDirectory(prefix="gitrag-bench-") as folder:
        environ = os.environ | {"XDG_STATE_HOME": folder}
        subprocess.run(
            [GITRAG, "repos", "add", *places.values()], env=environ, check=True, capture_output=True
        )
        asked = [questions[at % len(questions)] for at in range(_PROCESSES)]
        for resident in ("off", "on"):
            own = environ | {"GITRAG_RESIDENT": resident}
            times = []
            for at, question in enumerate([questions[0], *asked]):
                command = [GITRAG, "search", "--everywhere", "-n", "8", question]
                began = time.perf_counter()
                subprocess.run(command, cwd="/", env=own, check=False, capture_output=True)
                if at:
                    times.append(1000 * (time.perf_counter() - began))
                elif resident == "on":
                    time.sleep(3)  # until the helper listens
            print(f"a new process, helper {resident}: {_percentiles(times)}")


def _index(place: Path) -> int:
    workspace = Workspace.open(place, environ=os.environ)
    indexed = workspace.update(register=False)
    workspace.embed()
    read_history(workspace.store, workspace.repo, indexed.refreshed.head.commit or "")
    return indexed.counts.chunks


def _rank(target: Target, hits: list[Hit] | tuple[Hit, ...], repository: str) -> int:
    ranks = (
        place for place, hit in enumerate(hits, start=1) if hit.repository == repository and target.is_in(hit)
    )
    return next(ranks, 0)


def _percentiles(times: list[float]) -> str:
    ordered = sorted(times)
    return f"p50 {ordered[len(ordered) // 2]:.0f} ms, p95 {ordered[int(len(ordered) * 0.95)]:.0f} ms"


if __name__ == "__main__":
    main()
