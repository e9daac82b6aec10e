"""Are the tests that a commit changed among those that `gitrag impact --tests` names, and how many are named?

    .venv/bin/python scripts/bench/tests_to_run.py CLONE... [--most 30] [--seed 1]

Of each clone, commits drawn by lot that modify code and tests that were there before (no merges, at most 50
files). In a copy their parent is checked out, what the commit modifies but its tests is put in place,
uncommitted, and it is asked what to run. Printed: the share of the changed tests that calls alone find, and
that are named at all; the share of commits of which any is named, and all are; the files named, of how many.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

from gitrag.actions.governance.change_impact import bearing_tests
from gitrag.actions.impact import callers_of_change
from gitrag.chunking.languages import is_code, language_of
from gitrag.git.difference import changed_files
from gitrag.words.path_traits import Trait, is_of_an_example, traits
from gitrag.workspace import Workspace

_MOST_FILES = 50
_NEWEST = 3_000
_CALLS_S = 60.0

Commit = tuple[str, tuple[str, ...], frozenset[str]]
"""Its id, the other files that it changes, and the tests that it modifies."""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clones", nargs="+", type=Path, metavar="CLONE")
    parser.add_argument("--most", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(f"{'':24} {'n':>4}  calls   tests    any    all   named of files (median)")
    for clone in arguments.clones:
        every = list(read(clone))
        drawn = random.Random(arguments.seed).sample(every, min(arguments.most, len(every)))
        with tempfile.TemporaryDirectory() as place:
            rows = [row for each in drawn if (row := trial(copy(clone, Path(place)), each))]
        if rows:
            means = [statistics.fmean(row[at] for row in rows) for at in range(4)]
            named, there = (statistics.median(row[at] for row in rows) for at in (4, 5))
            shares = "  ".join(f"{each:5.2f}" for each in means)
            print(f"{clone.name:24} {len(rows):>4}  {shares}  {named:6.0f} {there:6.0f}")


def git(place: Path, *asked: str) -> str:
    """Ask git; return what it says."""
    done = subprocess.run(["git", "-C", place, *asked], check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")


def copy(clone: Path, place: Path) -> Path:
    """Return a copy of a clone, made at the first call."""
    if not (place / "copy").exists():
        git(clone, "clone", "--quiet", "--shared", "--no-checkout", str(clone.resolve()), str(place / "copy"))
    return place / "copy"


def read(clone: Path) -> list[Commit]:
    """Return the newest commits that modify code and tests."""
    listed = git(
        clone, "log", "--no-merges", "--no-renames", "--name-status", f"-{_NEWEST}", "--format=%x00%H"
    )
    found: list[Commit] = []
    for commit in listed.split("\0")[1:]:
        own, *lines = commit.split("\n")
        rows = [line.split("\t") for line in lines if "\t" in line]
        tests = frozenset(path for how, path in rows if how == "M" and is_test(path))
        others = tuple(path for how, path in rows if how == "M" and not is_test(path))
        is_of_code = any(is_code(language_of(path) or "") for path in others)
        if tests and is_of_code and len(rows) <= _MOST_FILES:
            found.append((own, others, tests))
    return found


def is_test(path: str) -> bool:
    """Tell whether a path is of a test that is code."""
    of_tests = bool(traits(path) & Trait.TEST) and not is_of_an_example(path)
    return of_tests and is_code(language_of(path) or "") and not path.endswith("/__init__.py")


def trial(place: Path, commit: Commit) -> tuple[float, ...] | None:
    """Return the shares and numbers of one commit; None if its parent is not there."""
    own, others, wanted = commit
    try:
        git(place, "checkout", "--quiet", "--force", "--detach", f"{own}^")
        git(place, "checkout", "--quiet", own, "--", *others)
    except subprocess.CalledProcessError:
        return None
    workspace = Workspace.open(place, environ=os.environ)
    workspace.update(register=False)
    callers = callers_of_change(workspace, "HEAD", changed_files(workspace.repo, "HEAD"), timeout_s=_CALLS_S)
    found = bearing_tests(workspace, "HEAD", callers)
    named = {each.path for each in found}
    by_calls = {each.path for each in found if each.calls}
    there = sum(map(is_test, git(place, "ls-files", "-z").split("\0")))
    met = len(named & wanted)
    shares = len(by_calls & wanted) / len(wanted), met / len(wanted), met > 0, met == len(wanted)
    return *map(float, shares), len(named), there


if __name__ == "__main__":
    main()
