"""Measure a hub: how fast it takes chunks, how large they are there, and how fast and how well it answers.

    python scripts/bench/hub.py QUESTIONS ADDRESS [--only NAME]… [--seconds 60] [--readers 8] [--pushers 4]
    python scripts/bench/hub.py QUESTIONS ADDRESS --split TREE [--chunks 1000000] [--data DIRECTORY] …

ADDRESS is a database without a hub that this role owns. The repositories of QUESTIONS that are cloned under
--work (`questions.py`) are indexed, embedded and pushed; then every question is asked of its own repository,
and of all at once without naming one. NDCG@10 as in `quality.py`; a target counts in its repository only.
With --seconds, readers ask and pushers push at the same time.

With --split, what is pushed is a large indexed repository: each of its folders as a repository of its own,
with drafts for vectors, so that only sizes and times are measured. What is beyond --chunks is pushed under
load. With --data, the directory of a server on this machine, its memory is measured, and it is killed under
load and started again; then it is looked up whether all that was said to be done is there, and nothing half.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import shlex
import signal
import statistics
import subprocess
import threading
import time
from argparse import Namespace
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psycopg
from questions import PAGE, Project, Target, chosen_projects, ndcg, parser_of, prepare

from gitrag.actions.current_view import CurrentView
from gitrag.actions.hub import search as hub_search
from gitrag.actions.hub.push import push_head
from gitrag.actions.search import SearchOptions
from gitrag.config.keys import Config
from gitrag.errors import GitragError
from gitrag.hub.hub import initialise, opened
from gitrag.hub.rights import add_repository
from gitrag.hub.sending import Branch, Pushed, push
from gitrag.indexing.recipe import recipe
from gitrag.store import export
from gitrag.store.export import ExportedChunk, ViewFile
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
    parser.add_argument(
        "--split", type=Path, help="an indexed repository, whose folders are the repositories"
    )
    parser.add_argument(
        "--chunks", type=int, default=1_000_000, help="of it, before any is pushed under load"
    )
    parser.add_argument("--asked", type=int, default=60, help="questions, with --split")
    parser.add_argument("--data", type=Path, help="the server's data directory, to kill it under load")
    arguments = parser.parse_args()
    if arguments.split:
        split(arguments)
        return
    projects = [
        each for each in chosen_projects(arguments) if (arguments.work / "whole" / each.name).exists()
    ]
    initialise(arguments.address, recipe(), hnsw=arguments.hnsw)
    workspaces = {each.name: _open(each, arguments) for each in projects}
    push_all(workspaces)
    sizes(arguments.address)
    ask_all(projects, workspaces, arguments.address)
    if arguments.seconds:
        names = list(workspaces)
        questions = [each.text for project in projects for each in project.questions]

        def push_one(place: int) -> Done:
            name, branch = names[place % len(names)], f"load-{place}"
            return Done(name, branch, push_head(workspaces[name], branch=branch).files)

        under_load(questions, push_one, arguments)


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
    print(f"largest resident memory here: {_peak():,.0f} MiB")


def _ranks(targets: Sequence[Target], answer: hub_search.HubAnswer, repository: str) -> Iterator[int]:
    code = [each for each in answer.hits if each.collection.value == "code"][:PAGE]
    for target in targets:
        yield next(
            (
                place
                for place, each in enumerate(code, 1)
                if each.repository == repository and target.is_in(each)
            ),
            0,
        )


@dataclass(frozen=True, slots=True)
class Done:
    """A push that was said to be done."""

    repository: str
    branch: str
    files: int


def under_load(questions: Sequence[str], push_one: Callable[[int], Done], arguments: Namespace) -> None:
    """Ask and push at once; a server that goes away meanwhile is waited for.

    Args:
        questions: What readers ask of everything.
        push_one: Pushes something, given a number that is used once.
        arguments: Of the command.
    """
    config = Workspace.open(Path.cwd(), environ=os.environ).config
    encoder = hub_search.load_encoder(config)
    end = time.monotonic() + arguments.seconds
    took: list[float] = []
    pushed: list[float] = []
    done: list[Done] = []
    away: dict[str, int] = defaultdict(int)
    numbers = itertools.count()

    def again(step: Callable[[], None], times: list[float]) -> None:
        while time.monotonic() < end:
            begin = time.perf_counter()
            try:
                step()
                times.append(time.perf_counter() - begin)
            except GitragError as error:
                away[str(error)[:80]] += 1
                time.sleep(0.2)

    def read() -> None:
        text = questions[next(numbers) % len(questions)]
        hub_search.search(arguments.address, text, config, options=_OPTIONS, encoder=encoder)

    steps = [(read, took)] * arguments.readers
    steps += [(lambda: done.append(push_one(next(numbers))), pushed)] * arguments.pushers
    threads = [threading.Thread(target=again, args=each) for each in steps]
    for each in threads:
        each.start()
    if arguments.data:
        time.sleep(arguments.seconds / 2)
        restart(arguments.data)
    for each in threads:
        each.join()
    print(
        f"{arguments.readers} readers and {arguments.pushers} pushers for {arguments.seconds:.0f} s:"
        f" {len(took)} answers, p50 {statistics.median(took or [0]):.2f} s; {len(pushed)} pushes,"
        f" p50 {statistics.median(pushed or [0]):.2f} s; {sum(away.values())} failures: {dict(away)}"
    )
    check(done, arguments.address)


_HALF = {
    "branches whose files are not those they say": """
        SELECT count(*) FROM gitrag.views v WHERE v.files <> (
            SELECT count(*) FROM gitrag.entries e
            WHERE e.view_id = v.view_id AND e.repository_id = v.repository_id)""",
    "contents without all of their chunks": """
        SELECT count(*) FROM gitrag.contents c LEFT JOIN (
            SELECT content_id, count(*) AS chunks FROM gitrag.chunks GROUP BY 1) k USING (content_id)
        WHERE c.chunks IS DISTINCT FROM k.chunks""",
    "contents without all of their vectors and sign bits": """
        SELECT count(*) FROM gitrag.contents c LEFT JOIN (
            SELECT content_id, count(*) AS chunks, count(signs) AS signs FROM gitrag.cuts GROUP BY 1
        ) k USING (content_id) LEFT JOIN (
            SELECT content_id, count(*) AS vectors FROM gitrag.vectors GROUP BY 1) v USING (content_id)
        WHERE c.chunks IS DISTINCT FROM k.chunks OR k.signs <> coalesce(v.vectors, 0)""",
    "rows of pushes that did not end": """
        SELECT (SELECT count(*) FROM gitrag.sent_chunks) + (SELECT count(*) FROM gitrag.sent_entries)
            + (SELECT count(*) FROM gitrag.sent_contents)""",
}


def check(done: Sequence[Done], address: str) -> None:
    """Look up whether all that was said to be pushed is there, and nothing half."""
    with psycopg.connect(address, autocommit=True) as db:
        rows = db.execute(
            "SELECT r.name, v.branch, v.files"
            " FROM gitrag.views v JOIN gitrag.repositories r USING (repository_id)"
        ).fetchall()
        there = {(name, branch): files for name, branch, files in rows}
        lost = [each for each in done if there.get((each.repository, each.branch)) != each.files]
        print(f"{len(done)} pushes were said to be done, {len(lost)} of them are not there", end="")
        for what, sql in _HALF.items():
            print(f"; {what}: {(db.execute(sql).fetchone() or [None])[0]}", end="")
    print()


def _processes(data: Path) -> list[int]:
    """List the processes of a server, the one that started the others first."""
    first = int((data / "postmaster.pid").read_text().split()[0])
    found = [first]
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
        if parent == first:
            found.append(int(stat.parent.name))
    return found


def _processor_s(data: Path | None) -> float:
    """Return what a server's processes have used of the processors, those that ended too; 0 without one."""
    if data is None:
        return 0.0
    ticks = 0
    for place, each in enumerate(_processes(data)):
        fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11 : 15 if place == 0 else 13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def restart(data: Path) -> None:
    """Kill a server as a crash of its machine would, and start it again after three seconds."""
    command = shlex.split((data / "postmaster.opts").read_text())
    own = _processes(data)
    for each in own:
        os.kill(each, signal.SIGKILL)
    time.sleep(3)
    (data / "postmaster.pid").unlink()  # of a process that nobody may have waited for
    with (data / "log").open("ab") as log:
        subprocess.Popen(
            command, user=data.stat().st_uid if os.geteuid() == 0 else None, cwd=data,
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    print(f"killed {len(own)} processes of the server, and started it again 3 s later")


def split(arguments: Namespace) -> None:
    """Push the folders of a repository as repositories, ask them all, and one by one."""
    workspace = Workspace.open(arguments.split, environ=os.environ)
    view_id = (
        CurrentView(workspace, committed_only=True, budget_s=3600)
        .read(lambda _db, view_id, _overlay: view_id)
        .found
    )
    with workspace.store.read() as db:
        files = export.files(db, view_id)
        chunks = dict(db.execute("SELECT content_id, chunks FROM contents").fetchall())
    parts = list(_parts(files, chunks, 0, ""))
    initialise(arguments.address, recipe(), hnsw=arguments.hnsw)
    many = 0
    seconds = 0.0
    names: list[str] = []
    begin_cpu = time.process_time()
    with psycopg.connect(arguments.address, autocommit=True) as db:
        there = dict(
            db.execute(
                "SELECT r.name, v.chunks FROM gitrag.repositories r JOIN gitrag.views v USING (repository_id)"
                " WHERE v.branch = 'main'"
            ).fetchall()
        )
    while parts and many + sum(there.values()) < arguments.chunks:
        name, own = parts.pop(0)
        names.append(name)
        if name in there:
            continue
        begin = time.perf_counter()
        many += push_part(workspace, arguments.address, name, "main", own).chunks
        seconds += time.perf_counter() - begin
        print(f"  {name}: {many:,} chunks after {seconds:,.0f} s", flush=True)
    names = names or list(there)
    parts = [each for each in parts if each[0] not in there]
    print(
        f"{len(names)} repositories, {many:,} chunks pushed: {many / (seconds or 1):,.0f} chunks/s;"
        f" processor time here {(time.process_time() - begin_cpu) / (many or 1) * 1e6:,.0f} µs a chunk;"
        f" largest memory here {_peak():,.0f} MiB"
    )
    sizes(arguments.address)
    texts = [each.text for project in chosen_projects(arguments) for each in project.questions]
    texts = texts[:: max(1, len(texts) // arguments.asked)]
    for what, wanted in (("everything", [()]), ("one repository", [(each,) for each in names])):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            server_s = _processor_s(arguments.data)
            asked = pool.submit(_ask, arguments.address, texts, wanted)
            server = 0.0
            while not asked.done():
                time.sleep(0.5)
                server = max(server, _memory(arguments.data) if arguments.data else 0.0)
            took, own_cpu, peak = asked.result()
            server_s = _processor_s(arguments.data) - server_s
        print(
            f"{len(took)} questions to {what}: p50 {statistics.median(took):.2f} s,"
            f" p95 {statistics.quantiles(took, n=20)[-1]:.2f} s; processor time of the client"
            f" {own_cpu / len(took):.2f} s a question, of the server {server_s / (len(took) + 1):.2f} s;"
            f" largest memory of the client {peak:,.0f} MiB,"
            f" of the server's processes together {server:,.0f} MiB",
            flush=True,
        )
    if arguments.seconds:
        pieces = [
            (name, own[start : start + 200]) for name, own in parts for start in range(0, len(own), 200)
        ]

        def push_one(number: int) -> Done:
            name, own = pieces[number % len(pieces)]
            branch = f"load-{number}"
            return Done(name, branch, push_part(workspace, arguments.address, name, branch, own).files)

        under_load(texts, push_one, arguments)


_MOST = 50_000
_FEWEST = 4_000
"""Chunks of a repository."""


def _parts(
    files: Sequence[ViewFile], chunks: dict[int, int], depth: int, name: str
) -> Iterator[tuple[str, list[ViewFile]]]:
    """Divide files by their folders into repositories; small ones beside each other are one."""
    below: dict[str, list[ViewFile]] = defaultdict(list)
    for each in files:
        steps = each.path.split(b"/")
        below[steps[depth].decode() if depth < len(steps) - 1 else "."].append(each)
    rest: list[ViewFile] = []
    for step, own in sorted(below.items()):
        many = sum(chunks[each.content_id] for each in own)
        if many > _MOST and step != ".":
            yield from _parts(own, chunks, depth + 1, f"{name}{step}-")
        elif many >= _FEWEST:
            yield f"{name}{step}", own
        else:
            rest += own
    if rest:
        yield f"{name}rest", rest


def push_part(workspace: Workspace, address: str, name: str, branch: str, files: list[ViewFile]) -> Pushed:
    """Push some files of an index as a branch, with whatever vectors there are."""
    state = Branch(name, branch, None, "", 0, files, None)
    with opened(address, recipe()) as hub, workspace.store.read() as db, hub.db.transaction():
        add_repository(hub, name)

        def read(missing: Sequence[ViewFile]) -> Iterator[list[ExportedChunk]]:
            for some in export.batches(missing):
                yield export.chunks(db, [each.content_id for each in some])

        return push(hub, state, read, compare=lambda _there: True)


def _ask(
    address: str, texts: Sequence[str], wanted: Sequence[tuple[str, ...]]
) -> tuple[list[float], float, float]:
    """Ask questions, one after another; return how long each took, and this process's time and memory."""
    config: Config = Workspace.open(Path.cwd(), environ=os.environ).config
    encoder = hub_search.load_encoder(config)
    took: list[float] = []
    hub_search.search(address, texts[0], config, repositories=wanted[0], options=_OPTIONS, encoder=encoder)
    before = time.process_time()
    for text, repositories in zip(texts, itertools.cycle(wanted), strict=False):
        begin = time.perf_counter()
        hub_search.search(address, text, config, repositories=repositories, options=_OPTIONS, encoder=encoder)
        took.append(time.perf_counter() - begin)
    return took, time.process_time() - before, _peak()


def _peak() -> float:
    """Return the largest resident memory of this process so far, in MiB; ``getrusage`` adds what began it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def _memory(data: Path) -> float:
    """Return the memory of a server's processes, in MiB; what they share is counted once."""
    found = 0
    for each in _processes(data):
        try:
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        found += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return found / 1024


if __name__ == "__main__":
    main()
