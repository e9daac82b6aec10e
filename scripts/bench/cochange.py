"""Does gitrag know which file is missing from a change, by what changed together before?

    .venv/bin/python scripts/bench/cochange.py CLONE... [--most 500] [--seed 1]

Of each clone, commits of the newer half of its history with two to fifty files (no merges), drawn by lot. One
of the files that such a commit modifies is hidden; the others are given, and only what was committed before.

Printed: the share with the hidden file first, and among the first five suggestions. Then for warnings
("usually changes with it, and does not here"): the share of warnings that name the hidden file, the share of
commits whose hidden file is named, and the share of whole commits that get a warning all the same.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gitrag.search.cochange import companions
from gitrag.store.histories import PastChanges

_FIVE = 5
_MOST_FILES = 50
_NEWEST = 20_000


@dataclass(frozen=True, slots=True)
class Change:
    """A commit: the paths that it changes, and those of them that it modifies."""

    paths: tuple[str, ...]
    modified: tuple[str, ...]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clones", nargs="+", type=Path, metavar="CLONE")
    parser.add_argument("--most", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(f"{'':24} {'n':>4}  first   five   warnings right   found   wrong on a whole commit")
    rows = []
    for clone in arguments.clones:
        changes = read(clone)
        drawn = draw(changes, arguments.most, arguments.seed)
        if not drawn:
            continue
        tried = [trial(changes, place, hidden) for place, hidden in drawn]
        warned = sum(each[3] for each in tried)
        row = [
            statistics.fmean(each[0] for each in tried),
            statistics.fmean(each[1] for each in tried),
            sum(each[2] for each in tried) / max(warned, 1),
            statistics.fmean(each[2] for each in tried),
            statistics.fmean(each[4] for each in tried),
        ]
        rows.append(row)
        name = clone.parent.name if clone.name == "repo" else clone.name
        print(f"{name:24} {len(drawn):4}  " + "  ".join(f"{share:6.3f}" for share in row), flush=True)
    total = [statistics.fmean(column) for column in zip(*rows, strict=True)]
    print(f"{'mean':24}       " + "  ".join(f"{share:6.3f}" for share in total))


def read(clone: Path) -> list[Change]:
    """Read the newest commits of a clone, newest first; nothing is fetched."""
    asked = [
        "git",
        "-C",
        clone,
        "log",
        f"--max-count={_NEWEST}",
        "--no-merges",
        "--name-status",
        "--no-renames",
    ]
    environment = os.environ | {"GIT_NO_LAZY_FETCH": "1"}
    done = subprocess.run(
        [*asked, "-z", "--format=%x01"], check=True, stdout=subprocess.PIPE, env=environment
    )
    found = []
    for each in done.stdout.decode("utf-8", "surrogateescape").split("\x01")[1:]:
        fields = [field for part in each.split("\0") if (field := part.strip("\n"))]
        rows = list(zip(fields[::2], fields[1::2], strict=False))
        found.append(Change(tuple(path for _, path in rows), tuple(path for how, path in rows if how == "M")))
    return found


def draw(changes: list[Change], most: int, seed: int) -> list[tuple[int, str]]:
    """Draw commits, and of each the file that is hidden."""
    lot = random.Random(seed)
    newer = range(len(changes) // 2)
    fit = [at for at in newer if 2 <= len(changes[at].paths) <= _MOST_FILES and changes[at].modified]
    lot.shuffle(fit)
    return [(at, lot.choice(changes[at].modified)) for at in fit[:most]]


def trial(changes: list[Change], at: int, hidden: str) -> tuple[bool, bool, bool, int, bool]:
    """Return if the file is first, in five, warned of; how many warnings there are; if the whole has any."""
    whole = changes[at].paths
    given = [path for path in whole if path != hidden]
    found = companions(past(changes, at, given), given)
    five = [each.path for each in found[:_FIVE]]
    warned = [each.path for each in found if each.is_usual]
    amiss = any(each.is_usual for each in companions(past(changes, at, whole), whole))
    return five[:1] == [hidden], hidden in five, hidden in warned, len(warned), amiss


def past(changes: list[Change], at: int, given: tuple[str, ...] | list[str]) -> PastChanges:
    """Return the commits before one that changed the files that are given, as the store does."""
    wanted = set(given)
    own = [
        (age, path)
        for age, each in enumerate(changes[at + 1 :])
        if len(each.paths) <= _MOST_FILES and not wanted.isdisjoint(each.paths)
        for path in each.paths
    ]
    names = sorted({path for _, path in own})
    places = {path: place for place, path in enumerate(names)}
    return PastChanges(
        np.array([age for age, _ in own], dtype=np.int64),
        np.array([places[path] for _, path in own], dtype=np.int32),
        names,
        len(changes) - at - 1,
    )


if __name__ == "__main__":
    main()
