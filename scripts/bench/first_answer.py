"""From `gitrag init` to the first hybrid answer, against what semble takes to index the same files.

    python -m venv semble-env && semble-env/bin/pip install semble
    .venv/bin/python scripts/bench/first_answer.py --semble semble-env/bin/python [--rounds 3] [--keep DIR]

Commits the source archive of django into a temporary repository and times, in turn, each time from nothing
and with process starts: `gitrag init` and a first `gitrag search`, whose vectors are drafts; and semble's
index of all its content types, its own model replaced by a stub that gives zeros in no time, since the model
cannot be had offline. Prints every round, the medians and their ratio.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from projects import GITRAG, PROJECTS, make_repository

QUESTION = "where are retries with backoff implemented"

SEMBLE = """
import sys, numpy, semble.index.index as index
from semble import SembleIndex
from semble.types import ContentType
class Stub:
    dim = 256
    def encode(self, texts, **_options):
        return numpy.zeros((len(texts), self.dim), dtype=numpy.float32)
index.load_model = lambda _path=None: (Stub(), "stub")
built = SembleIndex.from_path(sys.argv[1], content=list(ContentType))
print(built.stats)
"""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--semble", type=Path, required=True, help="a Python that has semble")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="keep archives here between runs")
    arguments = parser.parse_args()
    print(f"python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(prefix="gitrag-bench-") as folder:
        project = next(project for project in PROJECTS if project.name == "django")
        repository = make_repository(project, arguments.keep or Path(folder) / "archives", Path(folder))
        ours, theirs = [], []
        for number in range(arguments.rounds):
            ours.append(first_answer(repository))
            theirs.append(semble(repository, arguments.semble.absolute(), Path(folder) / f"home{number}"))
            print(f"gitrag init {ours[-1][0]:.1f} s + search {ours[-1][1]:.1f} s; semble {theirs[-1]:.1f} s")
    mine, other = statistics.median(map(sum, ours)), statistics.median(theirs)
    print(f"median {mine:.1f} s against {other:.1f} s: {mine / other:.2f}")


def first_answer(repository: Path) -> tuple[float, float]:
    """Time `gitrag init` and a first search, seconds; leaves nothing behind."""
    began = time.perf_counter()
    subprocess.run([GITRAG, "init"], cwd=repository, check=True, capture_output=True)
    middle = time.perf_counter()
    found = subprocess.run(
        [GITRAG, "search", "--no-graph", "--min-score", "0", QUESTION],
        cwd=repository,
        check=True,
        capture_output=True,
    )
    end = time.perf_counter()
    if not found.stdout:
        raise SystemExit("gitrag found nothing")
    subprocess.run(["pkill", "-TERM", "-f", f"gitrag -C {repository} hook run worker"], check=False)
    time.sleep(3)
    for command in (("hooks", "uninstall"), ("index", "remove", "--yes")):
        subprocess.run([GITRAG, *command], cwd=repository, check=False, capture_output=True)
    shutil.rmtree(repository / ".git" / "gitrag", ignore_errors=True)
    return middle - began, end - middle


def semble(repository: Path, python: Path, home: Path) -> float:
    """Time semble's index of the repository's files, seconds, its cache empty."""
    home.mkdir()
    environment = os.environ | {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    began = time.perf_counter()
    subprocess.run(
        [python, "-c", SEMBLE, repository], env=environment, check=True, capture_output=True, cwd=home
    )
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
