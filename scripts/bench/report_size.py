"""How long is what `gitrag search` prints in a pipe, and does it have the lines that answer?

    .venv/bin/python scripts/bench/report_size.py CLONES [--only NAME] [--questions N] [--output FORM]

CLONES has clones of repositories of `scripts/bench/features/` at their revisions, by name, indexed. The first
N present features of each that have labelled lines are asked, each by a process of its own.

Printed, by repository and over all: the median and mean number of characters; the share of questions of which
a labelled line is printed, with its number; the share of which a range of lines that is named overlaps one;
and the share with a graph.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from features import Present, read_sets

GITRAG = Path(sys.executable).with_name("gitrag")

_PLACE = re.compile(
    r"(?:- \*\*)?(?P<path>[^\s*:]+)(?:\*\* \(score: [\d.]+\) lines? |:)(?P<first>\d+)(?:-(?P<last>\d+))?"
)
_ALSO = re.compile(r"(\d+)(?:-(\d+))?(?: |,|$)")
_LINE = re.compile(r"\s+(\d+)(?:: |  )")


@dataclass(frozen=True, slots=True)
class Printed:
    """What was printed for a question."""

    characters: int
    lines: bool
    ranges: bool
    graph: bool


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clones", type=Path)
    parser.add_argument("--only", action="append", help="a repository's name; may be repeated")
    parser.add_argument("--questions", type=int, default=10, metavar="N")
    parser.add_argument("--output", default="markdown")
    arguments = parser.parse_args()
    every: list[Printed] = []
    for features in read_sets():
        place = arguments.clones / features.name
        if (arguments.only and features.name not in arguments.only) or not place.exists():
            continue
        asked = [question for question in features.present if question.lines][: arguments.questions]
        own = [ask(place, question, arguments.output) for question in asked]
        report(features.name, own)
        every += own
    report("all", every)


def ask(place: Path, question: Present, output: str) -> Printed:
    """Ask a question, and compare what is printed with what answers."""
    command = [str(GITRAG), "search", "--output", output, question.text]
    text = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False).stdout
    path = ""
    lines: set[tuple[str, int]] = set()
    ranges: list[tuple[str, int, int]] = []
    for row in text.splitlines():
        if found := _PLACE.match(row):
            path = found["path"]
            ranges.append((path, int(found["first"]), int(found["last"] or found["first"])))
        elif found := _LINE.match(row):
            lines.add((path, int(found[1])))
        elif row.startswith("  also "):
            ranges += [(path, int(a), int(b or a)) for a, b in _ALSO.findall(row)]
    return Printed(
        len(text),
        any(
            each.path == path and each.first <= line <= each.last
            for path, line in lines
            for each in question.lines
        ),
        any(
            each.path == path and first <= each.last and each.first <= last
            for path, first, last in ranges
            for each in question.lines
        ),
        "```mermaid" in text,
    )


def report(name: str, found: list[Printed]) -> None:
    """Print a line of figures."""
    characters = [each.characters for each in found]
    print(
        f"{name:16} {len(found):3} questions  characters: median {np.median(characters):6,.0f}"
        f" mean {np.mean(characters):6,.0f}  lines printed {np.mean([each.lines for each in found]):.2f}"
        f"  ranges named {np.mean([each.ranges for each in found]):.2f}"
        f"  graphs {np.mean([each.graph for each in found]):.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
