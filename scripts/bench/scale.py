"""What grows with an index: questions, as new processes and kept, status, memory; and are answers exact.

    .venv/bin/python scripts/bench/scale.py REPOSITORY... [--questions 40] [--exact 200]
        [--word WORD]... [--regex EXPRESSION]... [--switch COMMIT [--soon]] [--beside CHECKOUT]

Each repository must be indexed (`gitrag index`). The questions are the first sentences of comments, drawn by
lot from its definitions. A row has the chunks; the milliseconds of a question where the index is kept, with
git asked each time, p50 and p95, and those of processor time, its own and git's; those of `gitrag search
--no-graph` as a new process and of `gitrag status`, processor time with git's, with modules compiled before;
memory in MB. With --exact, so many are asked again with all vectors compared: of how many the first ten files
are the same, unlikely ones too, in the same order, and of how many the first. With --word and --regex nothing
else is measured but exact searches and `git grep` of the same; with --switch a search after `git checkout` of
a commit, and after that of the one before; with --soon as a person asks, who does not wait for all files.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from projects import GITRAG, memory_mb

from gitrag.actions import catch_up
from gitrag.actions.answer import Answer
from gitrag.actions.exact_search import search_exactly
from gitrag.actions.search import SearchOptions, search
from gitrag.actions.status import read_status
from gitrag.machine import environment
from gitrag.search.exact import Pattern
from gitrag.store import nearby
from gitrag.workspace import Workspace

EVERYTHING = 1 << 24
NEW_PROCESSES = 7
PRINTED_EVERY = 20
FEWEST_WORDS = 4
WARMING = 8


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repositories", nargs="+", type=Path, metavar="REPOSITORY")
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--exact", type=int, default=0, metavar="N")
    parser.add_argument("--word", action="append", default=[])
    parser.add_argument("--regex", action="append", default=[])
    parser.add_argument("--switch", metavar="COMMIT")
    parser.add_argument("--soon", action="store_true")
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT")
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    environment.multiply_in_one_thread()  # as `gitrag` itself does
    catch_up.start_worker = lambda _workspace: None  # it would take the processor from what is measured
    patterns = [*(Pattern(each, False) for each in arguments.word)]
    patterns += [Pattern(each, True) for each in arguments.regex]
    for repository in arguments.repositories:
        if patterns or arguments.switch:
            workspace = Workspace.open(repository, environ=os.environ, flags={"refine_s": 0.0}, resident=True)
            exactly(workspace, patterns)
            if arguments.switch:
                switched(workspace, arguments.switch, soon=arguments.soon)
            continue
        if arguments.answer:
            answer(repository)
        elif arguments.beside:
            beside(repository, arguments.questions, arguments.beside)
        else:
            measure(repository, arguments.questions, arguments.exact)


def answer(repository: Path) -> None:
    """Answer questions from stdin, one a line, with the processor time that each took, as JSON."""
    workspace = Workspace.open(repository, environ=os.environ, flags={"refine_s": 0.0}, resident=True)
    for line in sys.stdin:
        found: list[Answer] = []
        _, own, _ = spent(
            lambda: found.append(search(workspace, json.loads(line), SearchOptions(limit=10, min_score=0.0)))  # noqa: B023
        )
        print(json.dumps([own, [(hit.path, hit.score) for hit in found[0].hits]]), flush=True)


def beside(repository: Path, many: int, other: Path) -> None:
    """Ask this version and another one in turn."""
    workspace = Workspace.open(repository, environ=os.environ, flags={"refine_s": 0.0})
    workspace.store.cache_chunks()  # as the worker does
    asked = questions(workspace, many + WARMING)
    asking = []
    for checkout in (other, Path(__file__).parents[2]):
        command = [sys.executable, __file__, str(repository), "--answer"]
        environ = os.environ | {"PYTHONPATH": str(checkout.resolve())}
        pipe = subprocess.PIPE
        asking.append(subprocess.Popen(command, env=environ, stdin=pipe, stdout=pipe, text=True, bufsize=1))
    times: list[list[float]] = [[], []]
    same = 0
    for number, question in enumerate(asked):
        hits: list[object] = [None, None]
        for which in (0, 1) if number % 2 else (1, 0):
            print(json.dumps(question), file=asking[which].stdin)
            own, hits[which] = json.loads(asking[which].stdout.readline())
            times[which].append(own)
        same += number >= WARMING and hits[0] == hits[1]
    for process in asking:
        process.communicate()
    means = [statistics.mean(each[WARMING:]) for each in times]
    print(
        f"{repository.resolve().name}: {means[0]:.0f} -> {means[1]:.0f} ms; the same answer to {same} of"
        f" {len(asked) - WARMING}; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


def measure(repository: Path, many: int, exact: int) -> None:
    """Print a repository's row."""
    workspace = Workspace.open(repository, environ=os.environ, flags={"refine_s": 0.0}, resident=True)
    workspace.store.cache_chunks()  # as the worker does
    asked = questions(workspace, max(many, exact))
    for question in asked[:4]:
        search(workspace, question)
    times = [spent(lambda question=question: search(workspace, question)) for question in asked[:many]]
    memory = memory_mb()
    wall = sorted(each[0] for each in times)
    view = read_status(workspace).view
    with tempfile.TemporaryDirectory() as bytecode:
        environ = os.environ | {"GITRAG_RESIDENT": "off", "PYTHONPYCACHEPREFIX": bytecode}
        environ.pop("PYTHONDONTWRITEBYTECODE", None)
        commands = [["search", "--no-graph", question] for question in asked[:NEW_PROCESSES]]
        _first, *new = [new_process(repository, environ, *each) for each in commands[:1] + commands]
        status = [new_process(repository, environ, "status") for _ in range(4)][1:]
    _wall, own, of_git = middle(times)
    new_ms, _, new_cpu = middle(new)
    status_ms, _, status_cpu = middle(status)
    print(
        f"{view.chunks if view else 0:,} chunks: kept p50 {statistics.median(wall):.0f}"
        f" p95 {wall[int(0.95 * len(wall))]:.0f} ms, processor {own:.0f} + {of_git:.0f};"
        f" new process p50 {new_ms:.0f} ms, processor {new_cpu:.0f};"
        f" status {status_ms:.0f} ms, processor {status_cpu:.0f};"
        f" {memory:.0f} MB; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    if exact:
        compare(workspace, asked[:exact])


def exactly(workspace: Workspace, patterns: list[Pattern]) -> None:
    """Print what exact searches take, and `git grep`."""
    for pattern in patterns:
        found = search_exactly(workspace, pattern)
        _, own, of_git = middle([spent(lambda: search_exactly(workspace, pattern)) for _ in range(3)])  # noqa: B023
        flags = "-nIE" if pattern.is_regex else "-nIwF"
        command = ["git", "-C", str(workspace.place), "grep", flags, "-e", pattern.text]
        grep = middle([spent(lambda: subprocess.run(command, capture_output=True)) for _ in range(3)])  # noqa: B023, PLW1510
        print(f"{pattern.text}: {found.lines:,} lines, {own:.0f} + {of_git:.0f} ms; git grep {grep[2]:.0f}")


def switched(workspace: Workspace, commit: str, *, soon: bool) -> None:
    """Print what the first search after a checkout takes, and how many files are not in its answer."""
    options = SearchOptions(catch_up_s=600.0, soon=soon)
    search(workspace, "where are errors handled", options)
    for each in (commit, "-"):
        subprocess.run(["git", "-C", str(workspace.place), "checkout", "-q", each], check=True)
        waiting: list[int] = []
        asked = lambda: waiting.append(search(workspace, "where are errors handled", options).waiting)  # noqa: B023, E731
        wall, own, others = spent(asked)
        print(f"after a checkout: {wall:.0f} ms, processor {own:.0f} + {others:.0f}, {waiting[0]} files wait")


def middle(times: list[tuple[float, float, float]]) -> tuple[float, ...]:
    """Return the medians."""
    return tuple(statistics.median(column) for column in zip(*times, strict=True))


def compare(workspace: Workspace, asked: list[str]) -> None:
    """Count the questions with the same answer, unlikely files included, where all vectors are compared."""
    surplus, same, same_first = nearby.SURPLUS, 0, 0
    for number, question in enumerate(asked, 1):
        answers = []
        for nearby.SURPLUS in (surplus, EVERYTHING):
            found = search(workspace, question, SearchOptions(limit=10, min_score=0.0))
            answers.append([hit.path for hit in found.hits])
        same += answers[0] == answers[1]
        same_first += answers[0][:1] == answers[1][:1]
        if number % PRINTED_EVERY == 0 or number == len(asked):
            said = f"the same first ten as with all vectors compared: {same} of {number}; first: {same_first}"
            print(said, flush=True)
    nearby.SURPLUS = surplus


def questions(workspace: Workspace, many: int) -> list[str]:
    """Draw first sentences of comments by lot."""
    with workspace.store.read() as db:
        rows = db.execute(
            "SELECT docstring FROM chunks WHERE kind IN ('function', 'method', 'class') AND length(docstring)"
            " BETWEEN 20 AND 400 ORDER BY hash(chunk_id) LIMIT ?",
            [20 * many],
        ).fetchall()
    sentences = {re.split(r"[.:;\n]", text, maxsplit=1)[0].strip() for (text,) in rows}
    fit = sorted(each for each in sentences if FEWEST_WORDS <= len(re.findall(r"[A-Za-z]{3,}", each)) <= 15)
    return random.Random(1).sample(fit, min(many, len(fit)))


def spent(run: object) -> tuple[float, float, float]:
    """Return the milliseconds that a call takes: in all, of processor time, of its children's."""
    before, begin = os.times(), time.perf_counter()
    run()  # type: ignore[operator]
    wall, after = time.perf_counter() - begin, os.times()
    own = after.user + after.system - before.user - before.system
    children = after.children_user + after.children_system - before.children_user - before.children_system
    return 1000 * wall, 1000 * own, 1000 * children


def new_process(repository: Path, environ: dict[str, str], *command: str) -> tuple[float, float, float]:
    """Run a command of gitrag, and return what it takes."""
    return spent(
        lambda: subprocess.run(
            [GITRAG, *command], cwd=repository, env=environ, capture_output=True, check=True
        )
    )


if __name__ == "__main__":
    main()
