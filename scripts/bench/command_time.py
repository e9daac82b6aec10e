"""How long `gitrag search` takes as a command, with the helper that a search leaves behind and without.

    .venv/bin/python scripts/bench/command_time.py REPOSITORY... [--rounds 2] [--output text] [--prime]

Each repository must be indexed (`gitrag index`). Ten questions are asked, each twice in turn: `gitrag search`
in a process of its own with `GITRAG_RESIDENT` on and off. Prints the median and the 95th percentile of the
wall time from start to exit, the median of the ratio of the two, and the machine's load. The first search of
each repository is not counted. Drafts that a page shows are not refined meanwhile.

With `--prime`, `gitrag prime` is timed in place of them, as a session's start runs it, ten times a round.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from projects import GITRAG, QUESTIONS

_READY_S = 5.0
"""What a helper is given to load the libraries."""

_ANSWERED = (0, 1)
"""Exit statuses: something was found, nothing was."""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repositories", nargs="+", type=Path, metavar="REPOSITORY")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--output", default="text")
    parser.add_argument("--prime", action="store_true")
    arguments = parser.parse_args()
    commands = [("search", "--output", arguments.output, question) for question in QUESTIONS]
    if arguments.prime:
        commands = [("prime",)] * len(QUESTIONS)
    print(f"{'':24} {'with: p50':>10} {'p95':>6} {'without: p50':>13} {'p95':>6} ratio  (ms)")
    for repository in arguments.repositories:
        run(repository, commands[0], "on")
        time.sleep(_READY_S)
        pairs = [
            tuple(run(repository, command, each) for each in ("on", "off"))
            for _ in range(arguments.rounds)
            for command in commands
        ]
        cells = " ".join(
            f"{statistics.median(own):10.0f} {statistics.quantiles(own, n=20)[-1]:6.0f}"
            for own in zip(*pairs, strict=True)
        )
        ratio = statistics.median(on / off for on, off in pairs)
        print(f"{repository.name:24} {cells} {ratio:5.2f}  load {os.getloadavg()[0]:.1f}", flush=True)


def run(repository: Path, command: tuple[str, ...], resident: str) -> float:
    """Run a command, and return its wall time in milliseconds."""
    environment = {**os.environ, "GITRAG_RESIDENT": resident, "GITRAG_REFINE_S": "0"}
    began = time.perf_counter()
    done = subprocess.run(
        [GITRAG, *command],
        cwd=repository,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    took = 1000 * (time.perf_counter() - began)
    if done.returncode not in _ANSWERED:
        sys.exit(done.stderr.decode())
    return took


if __name__ == "__main__":
    main()
