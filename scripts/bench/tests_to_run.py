"""Are the tests that a commit changed among those that `gitrag impact --tests` names, and how many are named?

    .venv/bin/python scripts/bench/tests_to_run.py CLONE... [--most 30] [--seed 1] [--show missed|named]

Of each clone, commits drawn by lot that change code and modify tests (no merges, at most 50 files). In a copy
their parent is checked out, what the commit changes but its tests is put in place, uncommitted, and it is
asked what to run; no vectors are needed. Printed for all that is named, and for each reason alone: the share
of commits of which a changed test is named, the share of the changed tests that are (mean over commits), and
how many are named, in the median and at the ninth decile.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from gitrag.actions.governance.change_impact import BearingTest, bearing_tests
from gitrag.actions.impact import callers_of_change
from gitrag.chunking.languages import is_code, language_of
from gitrag.git.difference import changed_files
from gitrag.words.path_traits import Trait, is_of_an_example, traits
from gitrag.workspace import Workspace

_MOST_FILES = 50
_NEWEST = 3_000
_CALLS_S = 60.0

REASONS: Mapping[str, Callable[[BearingTest], object]] = {
    "all": lambda _each: True,
    "calls": lambda each: each.calls,
    "through": lambda each: each.through,
    "names": lambda each: each.is_named_alike,
    "together": lambda each: each.companion,
}

Commit = tuple[str, dict[str, str], frozenset[str]]
"""Its id, how it changes each file but tests, and the tests that it modifies."""

Row = tuple[frozenset[str], dict[str, set[str]]]
"""The tests of a commit, and those that are named, by reason."""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clones", nargs="+", type=Path, metavar="CLONE")
    parser.add_argument("--most", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", choices=("missed", "named"))
    arguments = parser.parse_args()
    print(f"{'':24} {'n':>4} {'':9}   any  share  named (median, 9th decile)")
    every: list[Row] = []
    for clone in arguments.clones:
        commits = read(clone)
        drawn = set(
            random.Random(arguments.seed).sample(range(len(commits)), min(arguments.most, len(commits)))
        )
        rows = []
        with tempfile.TemporaryDirectory() as place:
            for at in sorted(drawn, reverse=True):  # oldest first: each has most of what the next one needs
                if row := trial(copy(clone, Path(place)), commits[at]):
                    rows.append(row)
                    show(arguments.show, commits[at], row)
        print_rows(clone.name, rows)
        every += rows
    print_rows("all", every)


def print_rows(name: str, rows: list[Row]) -> None:
    """Print the figures of some commits, a line a reason."""
    for reason in REASONS if rows else ():
        met = [len(wanted & named[reason]) / len(wanted) for wanted, named in rows]
        sizes = sorted(len(named[reason]) for _, named in rows)
        print(
            f"{name:24} {len(rows):>4} {reason:9} {statistics.fmean(share > 0 for share in met):5.2f}"
            f"  {statistics.fmean(met):5.2f}  {statistics.median(sizes):g}, {sizes[len(sizes) * 9 // 10]}",
            flush=True,
        )


def show(what: str | None, commit: Commit, row: Row) -> None:
    """Print the tests that a commit changed and that are not named, or those that are, with their reasons."""
    wanted, named = row
    for path in sorted({"missed": wanted - named["all"], "named": named["all"]}.get(what or "", ())):
        reasons = [reason for reason in named if path in named[reason]][1:]
        print(f"  {commit[0][:10]} {path} {','.join(reasons)}{' *' if path in wanted else ''}")


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
    """Return the newest commits that change code and modify tests."""
    listed = git(
        clone, "log", "--no-merges", "--no-renames", "--name-status", f"-{_NEWEST}", "--format=%x00%H"
    )
    found: list[Commit] = []
    for commit in listed.split("\0")[1:]:
        own, *lines = commit.split("\n")
        rows = [line.split("\t") for line in lines if "\t" in line]
        tests = frozenset(path for how, path in rows if how == "M" and is_test(path))
        others = {path: how for how, path in rows if not is_test(path)}
        is_of_code = any(is_code(language_of(path) or "") for path in others)
        if tests and is_of_code and len(rows) <= _MOST_FILES:
            found.append((own, others, tests))
    return found


def is_test(path: str) -> bool:
    """Tell whether a path is of a test that is code."""
    of_tests = bool(traits(path) & Trait.TEST) and not is_of_an_example(path)
    return of_tests and is_code(language_of(path) or "") and not path.endswith("/__init__.py")


def trial(place: Path, commit: Commit) -> Row | None:
    """Return what is named for one commit; None if a file of it or its parent is not there."""
    own, others, wanted = commit
    gone = [path for path, how in others.items() if how == "D"]
    try:
        git(place, "checkout", "--quiet", "--force", "--detach", f"{own}^")
        if len(gone) < len(others):
            git(place, "checkout", "--quiet", own, "--", *(others.keys() - set(gone)))
        if gone:
            git(place, "rm", "--quiet", "--force", "--", *gone)
    except subprocess.CalledProcessError:
        return None
    workspace = Workspace.open(place, environ=os.environ)
    workspace.update(register=False)
    callers = callers_of_change(workspace, "HEAD", changed_files(workspace.repo, "HEAD"), timeout_s=_CALLS_S)
    found = bearing_tests(workspace, "HEAD", callers)
    return wanted, {
        reason: {each.path for each in found if applies(each)} for reason, applies in REASONS.items()
    }


if __name__ == "__main__":
    main()
