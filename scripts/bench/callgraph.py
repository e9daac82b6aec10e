"""How right the call graph is, against what test suites really call; and how long it takes.

    .venv/bin/python scripts/bench/callgraph.py [PROJECT …] [--work DIR] [--show missed|wrong]
    .venv/bin/python scripts/bench/callgraph.py --speed DIRECTORY

Each project's source archive is downloaded from the package index, installed into a virtual environment of
its own, and its tests are run with `trace_calls.py` watching. Counted are distinct pairs of functions of the
package, of which one's frame lies right below the other's: lambdas and comprehensions as the function they
stand in, class bodies and a file's own code as its module; running a module or class body is no call. Code
that runs through other packages (contextlib, functools) is no pair.

recall: of the pairs that happened, those that the graph has.
seen: of the graph's calls whose caller ran, those that happened.

`--speed` measures a directory of Python files instead: facts from nothing, on one process and two, and
filtered graphs, of five names and of classes drawn by lot.
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
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path

from gitrag.callgraph.answering import GraphQuestion, answer
from gitrag.callgraph.drawing import as_mermaid
from gitrag.callgraph.extraction import extract, extract_all
from gitrag.callgraph.facts import EMPTY, Facts, pack, unpack
from gitrag.callgraph.python.view import PythonView
from gitrag.callgraph.resolution import LIKELY, ResolvedCalls, without_collecting
from gitrag.machine.processes import pool_of

Id = tuple[str, int]

DRAWN = 60
"""Classes whose calls are drawn, for a time that nobody has chosen."""


@dataclass(frozen=True, slots=True)
class Project:
    """A project whose tests are run.

    Attributes:
        requirement: Its archive.
        package: Its package's directory within the archive.
        needs: What its tests need.
        tests: Where they are, and what of them is left out.
    """

    requirement: str
    package: str
    needs: tuple[str, ...] = ("pytest<9",)
    tests: tuple[str, ...] = ("tests",)


PROJECTS = {
    # The graph was built with these three before our eyes,
    "click": Project("click==8.1.8", "src/click"),
    "jinja2": Project("jinja2==3.1.6", "src/jinja2", ("pytest<9", "trio", "markupsafe")),
    "sqlparse": Project("sqlparse==0.6.1", "sqlparse"),
    # and without a look at these two.
    "werkzeug": Project(
        "werkzeug==3.1.9",
        "src/werkzeug",
        ("pytest<9", "pytest-timeout", "ephemeral-port-reserve", "cryptography", "watchdog", "markupsafe"),
        ("tests", "--ignore=tests/test_serving.py"),  # starts servers, which do not end under a tracer
    ),
    "mistune": Project("mistune==3.4.0", "src/mistune"),
}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("projects", nargs="*", default=list(PROJECTS), metavar="PROJECT")
    parser.add_argument("--work", type=Path, default=Path.home() / ".cache/gitrag-bench/callgraph")
    parser.add_argument("--speed", type=Path)
    parser.add_argument("--show", choices=["missed", "wrong"])
    arguments = parser.parse_args()
    if arguments.speed:
        measure_speed(arguments.speed)
        return
    print(f"{'':10} {'tests':>28} {'pairs':>6} {'edges':>6} {'recall':>7} {'seen':>6}")
    for name in arguments.projects:
        measure(name, PROJECTS[name], arguments.work / name, arguments.show)


def measure(name: str, project: Project, work: Path, show: str | None) -> None:
    """Compare a project's graph with its tests, and print a row."""
    source = unpacked(project, work)
    summary, rows = traced(project, source, work)
    facts = read_facts(source / project.package)
    pairs, ran = happened(rows, facts)
    every = PythonView(facts).everything()
    edges = {
        pair
        for pair, (confidence, _) in every.items()
        if confidence >= LIKELY and facts[pair[1][0]].definitions[pair[1][1]].kind != "class"
    }  # making an instance of a class without a constructor runs nothing that can be traced
    found = edges & pairs
    judged = {pair for pair in edges if pair[0] in ran}
    print(
        f"{name:10} {summary:>28} {len(pairs):6} {len(edges):6}"
        f" {len(found) / len(pairs):7.3f} {len(found) / len(judged):6.3f}",
        flush=True,
    )
    chosen = {"missed": pairs - edges, "wrong": judged - pairs}.get(show or "", set())
    for caller, callee in sorted(chosen):
        print(f"    {shown(caller, facts)} -> {shown(callee, facts)}")


def unpacked(project: Project, work: Path) -> Path:
    """Download and unpack a project's archive, once; give its directory."""
    work.mkdir(parents=True, exist_ok=True)
    found = [path for path in work.iterdir() if path.is_dir() and (path / project.package).is_dir()]
    if not found:
        pip = [sys.executable, "-m", "pip", "-q"]
        asked = ["download", "--no-binary", ":all:", "--no-deps", "-d", str(work), project.requirement]
        subprocess.run([*pip, *asked], check=True)
        with tarfile.open(next(work.glob("*.tar.gz"))) as archive:
            archive.extractall(work, filter="data")
        found = [path for path in work.iterdir() if path.is_dir() and (path / project.package).is_dir()]
    return found[0]


def traced(project: Project, source: Path, work: Path) -> tuple[str, list[list[object]]]:
    """Run a project's tests under the tracer, once; give pytest's last line, and the pairs."""
    out, said = work / "calls.json", work / "said.txt"
    if not out.exists():
        python = work / "venv/bin/python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(work / "venv")], check=True)
            install = [str(python), "-m", "pip", "install", "-q"]
            subprocess.run([*install, *project.needs], check=True)
            subprocess.run([*install, "--no-deps", "-e", str(source)], check=True)
        environ = {
            **os.environ,
            "TRACE_PACKAGE": str(source / project.package),
            "TRACE_OUT": str(out),
            "PYTHONPATH": str(Path(__file__).parent),
        }
        command = [
            str(python),
            "-m",
            "pytest",
            "-q",
            "-p",
            "trace_calls",
            "-p",
            "no:cacheprovider",
            *project.tests,
        ]
        done = subprocess.run(command, cwd=source, env=environ, check=False, capture_output=True, text=True)
        said.write_text(done.stdout.strip().splitlines()[-1])
    summary = re.sub(r" in [\d.]+s.*|=", "", said.read_text()).strip()
    return summary, json.loads(out.read_text())


def read_facts(package: Path) -> dict[str, Facts]:
    """Read the facts of a package's files, by their path below its parent."""
    return {
        str(path.relative_to(package.parent)): extract(path.read_bytes(), "python")
        for path in sorted(package.rglob("*.py"))
    }


def happened(rows: list[list[object]], facts: dict[str, Facts]) -> tuple[set[tuple[Id, Id]], set[Id]]:
    """Give the pairs that happened as definitions, and all that ran."""
    top = next(iter(facts)).partition("/")[0]
    pairs: set[tuple[Id, Id]] = set()
    ran: set[Id] = set()
    for caller_file, caller_line, caller_kind, file, line, kind in rows:
        caller = place(f"{top}/{caller_file}", caller_line, caller_kind, facts)
        callee = place(f"{top}/{file}", line, kind, facts)
        if caller is None or callee is None:
            continue
        ran |= {caller, callee}
        folded = "inner" in (caller_kind, kind)
        if kind not in {"class", "module"} and not (caller == callee and folded):
            pairs.add((caller, callee))
    return pairs, ran


def place(path: str, line: int, kind: str, facts: dict[str, Facts]) -> Id | None:
    """Find the function of the facts that a code object is, or stands in."""
    if path not in facts:
        return None
    if kind == "module":
        return (path, 0)
    definitions = facts[path].definitions
    if kind == "function":
        for index, each in enumerate(definitions):
            if each.kind == "function" and each.line_start == line:
                return (path, index)
    inside = [
        index
        for index, each in enumerate(definitions)
        if each.kind == "function" and each.line_start <= line <= each.line_end
    ]
    return (path, inside[-1] if inside else 0)


def shown(own: Id, facts: dict[str, Facts]) -> str:
    """Show a definition."""
    each = facts[own[0]].definitions[own[1]]
    return f"{own[0]}:{each.line_start} {each.name or '<module>'}"


def measure_speed(directory: Path) -> None:
    """Time facts and filtered graphs of a directory."""
    sources = [(path, path.read_bytes()) for path in sorted(directory.rglob("*.py"))]
    size = sum(len(data) for _, data in sources)
    print(f"{len(sources):,} files, {size / 1e6:.1f} MB")
    began = time.perf_counter()
    packed = {str(path): pack(extract(data, "python")) for path, data in sources}
    print(
        f"facts, one process: {time.perf_counter() - began:.1f} s,"
        f" {sum(map(len, packed.values())) / 1e6:.1f} MB"
    )
    began = time.perf_counter()
    jobs = [(number, data, "python") for number, (_, data) in enumerate(sources)]
    with pool_of(2) as pool:
        if pool is not None:
            for future in [pool.submit(extract_all, jobs[i : i + 16]) for i in range(0, len(jobs), 16)]:
                future.result()
    print(f"facts, two processes: {time.perf_counter() - began:.1f} s")
    began = time.perf_counter()
    extract(sources[0][1], "python")
    print(f"facts, one file: {(time.perf_counter() - began) * 1000:.1f} ms")

    def drawn(pattern: str) -> tuple[str, float]:
        began = time.perf_counter()
        with without_collecting():
            files = {path: ("python", facts) for path, data in packed.items() if (facts := unpack(data))}
            text = as_mermaid(answer(ResolvedCalls(files), GraphQuestion(filter=pattern)))
        return text, time.perf_counter() - began

    for pattern in ("^QuerySet\\.", "^Resolver", "cache", "^slugify$", "^Signal\\."):
        text, taken = drawn(pattern)
        print(f"graph of {pattern}: {text.count('-->')} calls drawn, {taken:.2f} s")
    classes = {
        definition.name.partition(".")[0]
        for data in packed.values()
        for definition in (unpack(data) or EMPTY).definitions
        if definition.kind == "function" and "." in definition.name
    }
    chosen = random.Random(1).sample(sorted(classes), min(DRAWN, len(classes)))
    times = sorted(drawn(f"^{re.escape(name)}\\.")[1] for name in chosen)
    print(
        f"graphs of {len(times)} classes drawn by lot: median {statistics.median(times):.2f} s,"
        f" {sum(taken < 1 for taken in times)} under 1 s, longest {times[-1]:.2f} s"
    )


if __name__ == "__main__":
    main()
