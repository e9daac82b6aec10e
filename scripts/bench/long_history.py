"""How long does the background need for a long history, and is it in the way of a search of files?

    .venv/bin/python scripts/bench/long_history.py CLONE [--work DIR] [--rounds 6]

CLONE has more than 20,000 commits and a working tree. Printed: seconds and processor time (own, and git's) of
reading the newest commits, drafting them, reading the older ones and drafting these; bytes a commit on disk;
then ten questions that messages count for, asked in turn with the older commits there and away: the median
time, and whether the answers are the same; and the time of `gitrag history` in one process.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from gitrag.actions import catch_up
from gitrag.actions.history import history
from gitrag.actions.search import SearchOptions, search
from gitrag.indexing import older_commits
from gitrag.indexing.history import draft, read_history
from gitrag.workspace import Workspace

QUESTIONS = (
    "allow symbols with assumptions in integrals",
    "fix printing of matrices in latex",
    "speed up polynomial factorization",
    "add support for unicode pretty printing",
    "remove deprecated solve flags",
    "make evaluation more accurate for large numbers",
    "handle infinities in limits correctly",
    "raise an error for an invalid dimension",
    "cache the results of substitution",
    "improve tests of the solver",
)
_ANY = SearchOptions(min_score=0.0, refine_s=0.0)  # or the indexes would differ in what has been refined


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clone", type=Path)
    parser.add_argument("--work", type=Path, help="where to put the indexes; default: a temporary directory")
    parser.add_argument("--rounds", type=int, default=6)
    arguments = parser.parse_args()
    catch_up.start_worker = lambda _workspace: None
    with tempfile.TemporaryDirectory(prefix="gitrag-bench-") as folder:
        work = arguments.work or Path(folder)
        workspace = Workspace.open(arguments.clone, environ=os.environ, store_directory=work / "with")
        workspace.update()
        head = workspace.repo.head().commit or ""
        store, older, repo = workspace.store, workspace.older, workspace.repo
        timed("newest commits", lambda: read_history(store, repo, head))
        shutil.copytree(work / "with", work / "without", dirs_exist_ok=True)
        timed("drafts of these", lambda: draft(store))
        timed("older commits", lambda: older_commits.read_older(older, store, repo, head))
        timed("drafts of these", lambda: draft(older))
        with older.read() as db:
            ((commits,),) = db.execute("SELECT count(*) FROM commits").fetchall()
        print(f"{commits:,} older commits, {older.size_bytes() / commits:.0f} bytes each")
        for resident in (True, False):
            compare(arguments.clone, work, arguments.rounds, resident=resident)
        times = [seconds(lambda q=q: history(workspace, q))[0] for q in QUESTIONS]
        print(f"gitrag history, in one process: {statistics.median(times):.2f} s")


def compare(clone: Path, work: Path, rounds: int, *, resident: bool) -> None:
    """Print how long a search of files takes with the older commits and without, and what differs."""
    places = {
        name: Workspace.open(clone, environ=os.environ, store_directory=work / name, resident=resident)
        for name in ("without", "with")
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in places}
    same = 0
    for number in range(-1, rounds):  # the first one is not counted
        for question in QUESTIONS:
            found = []
            for name in sorted(places, reverse=number % 2 == 0):
                begin, used = time.perf_counter(), time.process_time()
                hits = search(places[name], question, _ANY).hits
                if number >= 0:
                    times[name].append((time.perf_counter() - begin, time.process_time() - used))
                found.append([(hit.path, hit.score, hit.reasons) for hit in hits])
            same += number >= 0 and found[0] == found[1]
    how = "kept" if resident else "opened"
    for name, own in times.items():
        wall, cpu = (statistics.median(column) * 1e3 for column in zip(*own, strict=True))
        print(f"search, index {how}, {name:7} {wall:6.1f} ms, processor {cpu:6.1f} ms")
    print(f"same answers: {same} of {rounds * len(QUESTIONS)}, load {os.getloadavg()[0]:.1f}", flush=True)


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds and the processor time that something takes."""
    begin, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - begin, time.process_time() - used


def timed(what: str, work: Callable[[], object]) -> None:
    """Print how long something takes."""
    before = os.times()
    wall, own = seconds(work)
    after = os.times()
    git = sum(after[2:4]) - sum(before[2:4])
    load = os.getloadavg()[0]
    print(f"{what}: {wall:.1f} s, processor {own:.1f} s and git's {git:.1f} s, load {load:.1f}", flush=True)


if __name__ == "__main__":
    main()
