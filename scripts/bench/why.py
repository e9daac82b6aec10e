"""Does `gitrag why` put lines down to the commits that git does?

    .venv/bin/python scripts/bench/why.py CLONE... [--lines 20] [--seed 1]

Of each clone, lines of code drawn by lot from its HEAD, without blank ones and lone brackets. `gitrag why
PATH:LINE` is held against `git blame -w -C -M` of that line (with `.git-blame-ignore-revs`, if the clone has
one) and against `git log -L`, which follows the line and counts white space.

Printed: of how many lines `why` names the commit that blame names, one that `git log -L` lists, the newest
of these; the median and the longest time of `why`, decisions included where there is an index.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from gitrag.actions.why import why
from gitrag.chunking.languages import is_code, language_of
from gitrag.git.blame import IGNORED_REVISIONS
from gitrag.workspace import Workspace

_MOST_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class Line:
    """How a line compares.

    Attributes:
        as_blamed: Whether `why` names the commit that blame does.
        listed: Whether `git log -L` lists it.
        newest: Whether that lists it first.
        seconds: How long `why` took.
        told: The place, and what both say.
    """

    as_blamed: bool
    listed: bool
    newest: bool
    seconds: float
    told: str


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clones", nargs="+", type=Path, metavar="CLONE")
    parser.add_argument("--lines", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(f"{'':16} {'n':>4}  as blamed  in log -L  its newest  median s  longest s")
    every: list[Line] = []
    for clone in arguments.clones:
        drawn = draw(clone, arguments.lines, arguments.seed)
        found = [compare(clone, path, number) for path, number in drawn]
        every += found
        print(row(clone.name, found), flush=True)
        for each in found:
            if not each.as_blamed:
                print(f"    {each.told}")
    print(row("all", every))


def row(name: str, found: list[Line]) -> str:
    """Return a row of the table."""
    times = [each.seconds for each in found]
    sums = (sum(getattr(each, field) for each in found) for field in ("as_blamed", "listed", "newest"))
    counts = "  ".join(f"{number:9}" for number in sums)
    return f"{name:16} {len(found):4}  {counts}  {statistics.median(times):8.2f}  {max(times):9.2f}"


def draw(clone: Path, most: int, seed: int) -> list[tuple[str, int]]:
    """Draw lines of code."""
    lot = random.Random(seed)
    paths = [path for path in sorted(_git(clone, "ls-files", "-z").split("\0")) if path]
    code = [path for path in paths if is_code(language_of(path) or "")]
    lines: list[tuple[str, int]] = []
    for path in code:
        file = clone / path
        if file.is_file() and not file.is_symlink() and file.stat().st_size <= _MOST_BYTES:
            text = file.read_text("utf-8", errors="replace").split("\n")
            lines += [(path, number) for number, line in enumerate(text, 1) if re.search(r"\w\w\w", line)]
    return lot.sample(lines, min(most, len(lines)))


def compare(clone: Path, path: str, number: int) -> Line:
    """Compare what is said of a line."""
    workspace = Workspace.open(clone, environ=os.environ)
    begin = time.perf_counter()
    found = why(workspace, clone, f"{path}:{number}")
    seconds = time.perf_counter() - begin
    own = found.reasons[0].commit if found.reasons else ""
    listed = clone / IGNORED_REVISIONS
    passed = ("--ignore-revs-file", str(listed)) if listed.is_file() else ()
    span = f"{number},{number}"
    blamed = _git(clone, "blame", "-w", "-C", "-M", *passed, "--porcelain", "-L", span, "HEAD", "--", path)
    commit = blamed.split(" ", 1)[0]
    changed = _git(clone, "log", f"-L{span}:{path}", "--no-patch", "--format=%H", "HEAD").split()
    told = f"{path}:{number}: why {own[:10]}, blame {commit[:10]}"
    return Line(own == commit, own in changed, changed[:1] == [own], seconds, told)


def _git(place: Path, *args: str) -> str:
    done = subprocess.run(["git", "-C", place, *args], check=True, stdout=subprocess.PIPE)
    return done.stdout.decode("utf-8", "surrogateescape")


if __name__ == "__main__":
    main()
