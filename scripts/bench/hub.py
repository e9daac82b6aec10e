"""Measure a hub: how fast it takes chunks, how large they are there, and how fast and how well it answers.

    python scripts/bench/hub.py QUESTIONS ADDRESS [--only NAME]… [--seconds 60] [--readers 8] [--pushers 4]

ADDRESS is a database without a hub that this role owns. The repositories of QUESTIONS that are cloned under
--work (`questions.py`) are indexed, embedded and pushed; then every question is asked of its own repository,
and of all at once without naming one. NDCG@10 as in `quality.py`; a target counts in its repository only.
With --seconds, readers ask and pushers push at the same time.
"""

from __future__ import annotations

import os
import resource
import statistics
import threading
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence

import psycopg
from questions import PAGE, Project, Target, chosen_projects, ndcg, parser_of, prepare

from gitrag.actions.hub import search as hub_search
from gitrag.actions.hub.push import push_head
from gitrag.actions.search import SearchOptions
from gitrag.errors import GitragError
from gitrag.hub.hub import initialise
from gitrag.indexing.recipe import RECIPE
from gitrag.workspace import Workspace

_OPTIONS = SearchOptions(limit=PAGE, min_score=0.0)

_SIZES = """
    SELECT regexp_replace(c.relname, '_[0-9]+$', ''), sum(pg_total_relation_size(c.oid))::bigint
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'gitrag' AND c.relkind = 'r' GROUP BY 1 ORDER BY 2 DESC
"""


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("address")
    parser.add_argument("--seconds", type=float, default=0.0, help="ask and push at once for so long")
    parser.add_argument("--readers", type=int, default=8)
    parser.add_argument("--pushers", type=int, default=4)
    parser.add_argument("--hnsw", action="store_true")
    arguments = parser.parse_args()
    projects = [
        each for each in chosen_projects(arguments) if (arguments.work / "whole" / each.name).exists()
    ]
    initialise(arguments.address, RECIPE, hnsw=arguments.hnsw)
    workspaces = {each.name: _open(each, arguments) for each in projects}
    push_all(workspaces)
    sizes(arguments.address)
    ask_all(projects, workspaces, arguments.address)
    if arguments.seconds:
        under_load(projects, workspaces, arguments)


def _open(project: Project, arguments: Namespace) -> Workspace:
    environ = os.environ | {"GITRAG_HUB": arguments.address}
    workspace = Workspace.open(prepare(project, "whole", arguments.work), environ=environ)
    workspace.update()
    workspace.embed()
    return workspace


def push_all(workspaces: dict[str, Workspace]) -> None:
    """Push every repository; say how many chunks a second."""
    chunks = seconds = 0.0
    for workspace in workspaces.values():
        begin = time.perf_counter()
        chunks += push_head(workspace, branch="main").chunks
        seconds += time.perf_counter() - begin
    print(f"pushed {len(workspaces)} repositories, {chunks:,.0f} chunks: {chunks / seconds:,.0f} chunks/s")


def sizes(address: str) -> None:
    """Print the bytes a chunk of each table, with its indexes."""
    with psycopg.connect(address, autocommit=True) as db:
        db.execute("VACUUM ANALYZE")
        row = db.execute("SELECT sum(chunks) FROM gitrag.contents").fetchone()
        chunks = int(row[0]) if row else 1
        found = db.execute(_SIZES).fetchall()
    print(f"{chunks:,} chunks, {sum(size for _, size in found) / chunks:,.0f} bytes a chunk: ", end="")
    print(", ".join(f"{name} {size / chunks:,.0f}" for name, size in found if size / chunks >= 5))


def ask_all(projects: list[Project], workspaces: dict[str, Workspace], address: str) -> None:
    """Ask every question of its repository, and of all at once."""
    for everywhere in (False, True):
        ranks: list[float] = []
        took: list[float] = []
        for project in projects:
            workspace = workspaces[project.name]
            encoder = workspace.encoder_if_ready()
            for question in project.questions:
                begin = time.perf_counter()
                answer = hub_search.search(
                    address,
                    question.text,
                    workspace.config,
                    repositories=() if everywhere else (workspace.name,),
                    options=_OPTIONS,
                    encoder=encoder,
                )
                took.append(time.perf_counter() - begin)
                ranks.append(ndcg(list(_ranks(question.targets, answer, workspace.name))))
        where = "all repositories at once" if everywhere else "its own repository"
        print(
            f"{len(ranks)} questions asked of {where}: NDCG@10 {statistics.mean(ranks):.3f};"
            f" p50 {statistics.median(took):.3f} s, p95 {statistics.quantiles(took, n=20)[-1]:.3f} s"
        )
    print(
        f"largest resident memory here: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB"
    )


def _ranks(targets: Sequence[Target], answer: hub_search.HubAnswer, repository: str) -> Iterator[int]:
    code = [each for each in answer.hits if each.kind.value == "code"][:PAGE]
    for target in targets:
        yield next(
            (
                place
                for place, each in enumerate(code, 1)
                if each.repository == repository and target.is_in(each.hit)
            ),
            0,
        )


def under_load(projects: list[Project], workspaces: dict[str, Workspace], arguments: Namespace) -> None:
    """Ask and push at once; a server that goes away meanwhile is waited for."""
    names = list(workspaces)
    end = time.monotonic() + arguments.seconds
    took: list[float] = []
    pushed: list[float] = []
    away: list[str] = []
    encoder = workspaces[names[0]].encoder_if_ready()
    questions = [each.text for project in projects for each in project.questions]

    def read(number: int) -> None:
        place = number
        while time.monotonic() < end:
            begin = time.perf_counter()
            try:
                hub_search.search(
                    arguments.address, questions[place % len(questions)], workspaces[names[0]].config,
                    options=_OPTIONS, encoder=encoder,
                )  # fmt: skip
                took.append(time.perf_counter() - begin)
            except GitragError as error:
                away.append(str(error))
                time.sleep(0.2)
            place += arguments.readers

    def push(number: int) -> None:
        place = number
        while time.monotonic() < end:
            begin = time.perf_counter()
            try:
                push_head(workspaces[names[place % len(names)]], branch=f"load-{place}")
                pushed.append(time.perf_counter() - begin)
            except GitragError as error:
                away.append(str(error))
                time.sleep(0.2)
            place += arguments.pushers

    threads = [threading.Thread(target=read, args=[each]) for each in range(arguments.readers)]
    threads += [threading.Thread(target=push, args=[each]) for each in range(arguments.pushers)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    print(
        f"{arguments.readers} readers and {arguments.pushers} pushers for {arguments.seconds:.0f} s:"
        f" {len(took)} answers, p50 {statistics.median(took):.2f} s; {len(pushed)} pushes,"
        f" p50 {statistics.median(pushed):.2f} s; {len(away)} failures ({', '.join(sorted(set(away)))[:300]})"
    )


if __name__ == "__main__":
    main()
