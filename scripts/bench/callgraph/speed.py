"""How long the call graph of a directory of Python files takes.

    .venv/bin/python scripts/bench/callgraph/speed.py DIRECTORY

Facts from nothing, on one process and two; filtered graphs, of five names and of classes drawn by lot.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import time
from contextlib import closing
from pathlib import Path

from gitrag.callgraph.answering import GraphQuestion, answer
from gitrag.callgraph.drawing import as_mermaid
from gitrag.callgraph.extraction import extract, extract_all
from gitrag.callgraph.facts import EMPTY, pack, unpack
from gitrag.callgraph.resolution import ResolvedCalls, without_collecting
from gitrag.machine.processes import Pool

DRAWN = 60
"""Classes whose calls are drawn, for a time that nobody has chosen."""


def main() -> None:
    """Time facts and filtered graphs of a directory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("directory", type=Path)
    directory = parser.parse_args().directory
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
    with closing(Pool(2)) as pool:
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
