"""Calls from one repository into another, drawn by lot, to be judged by reading.

    .venv/bin/python scripts/bench/calls_elsewhere.py CALLED CALLING [--sample N]

Both are clones that are indexed. The definitions of each file or directory at the top of CALLED are asked
about at once. Printed are how many files import it, the calls by their confidence, and a sample with lines.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections import Counter
from pathlib import Path

from gitrag.actions.lines import file_lines
from gitrag.actions.repositories.calls import calls_elsewhere
from gitrag.actions.repositories.chosen import Chosen
from gitrag.callgraph.answering import Direction
from gitrag.workspace import Workspace


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("called", type=Path)
    parser.add_argument("calling", type=Path)
    parser.add_argument("--sample", type=int, default=6)
    arguments = parser.parse_args()
    called = Workspace.open(arguments.called, environ=os.environ)
    calling = Workspace.open(arguments.calling, environ=os.environ)
    other = Chosen(arguments.calling.name, arguments.calling.resolve(), calling.repo.common_dir)
    tops = sorted({path.name for path in arguments.called.iterdir() if path.name != ".git"})
    began = time.process_time()
    edges = set()
    for top in tops:
        found, _ = calls_elsewhere(
            called,
            top,
            [other],
            lambda each: Workspace.open(each.place, environ=os.environ),
            direction=Direction.CALLERS,
            timeout_s=600,
        )
        for between in found:
            edges.update(between.edges)
            print(f"{top}: {between.found_by}; {len(between.edges):,} calls")
    print(
        f"{time.process_time() - began:.1f} s of processor time; {Counter(each.confidence for each in edges)}"
    )
    for edge in random.Random(7).sample(sorted(edges), min(arguments.sample, len(edges))):
        line = file_lines(calling, edge.caller.path)[edge.line - 1].strip()
        callee = f"{edge.callee.path} {edge.callee.name}"
        print(f"{edge.confidence:.1f} {edge.caller.path}:{edge.line} -> {callee} | {line}")


if __name__ == "__main__":
    main()
