"""Does a review of a change that adds a helper find the helper that was there?

    .venv/bin/python scripts/bench/related.py [--work DIR] [--embed] [--only TEXT]

Each of `scripts/bench/near_duplicates.toml` is a commit of a public project that added a definition though
one like it existed. The repository is cloned (kept under --work), put at the commit and indexed, and the
change reviewed as `gitrag related --diff COMMIT~1..COMMIT` does. --embed computes every vector first; without
it all but the nearest are drafts, as right after a first index.

Prints the rank of the existing definition among those shown for the added one, its cosine, and the share
found among the first five by least cosine; and of how many other added definitions something is shown: what
a reviewer would have to read.
"""

from __future__ import annotations

import argparse
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from questions import HERE, run

from gitrag.actions.governance.likeness import HELPERS, MOST_COMPARED, is_compared, with_like
from gitrag.actions.governance.related import THRESHOLD
from gitrag.actions.touched import Touched, cutting_once, touched_by
from gitrag.git.difference import changed_files
from gitrag.workspace import Workspace

THRESHOLDS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)


@dataclass(frozen=True, slots=True)
class Pair:
    """A definition that was added, and the one that was there."""

    url: str
    commit: str
    unified: str
    added: tuple[str, str]
    existing: tuple[str, str]

    @property
    def name(self) -> str:
        return f"{self.url.rpartition('/')[2]} {self.added[1]}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a pair was answered.

    Attributes:
        rank: Of the existing definition among those shown, from 1; 0 where it is not among them.
        cosine: With the added one; 0 where it is not among the nearest.
        others: Of the change's other added definitions, the best cosine of each.
    """

    pair: Pair
    rank: int
    cosine: float
    others: tuple[float, ...]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, default=Path.home() / ".cache" / "gitrag-bench")
    parser.add_argument("--embed", action="store_true", help="compute every vector first")
    parser.add_argument("--only", default="", help="pairs whose name has this")
    arguments = parser.parse_args()
    outcomes = []
    for pair in read_pairs():
        if arguments.only in pair.name:
            outcome = measure(pair, place_of(pair, arguments.work), embed=arguments.embed)
            outcomes.append(outcome)
            print(
                f"{outcome.rank or '-':>4} {outcome.cosine:6.2f}  {pair.name} ~ {pair.existing[1]}",
                flush=True,
            )
    report(outcomes)


def read_pairs() -> list[Pair]:
    """Read the test set."""
    rows = tomllib.loads((HERE / "near_duplicates.toml").read_text("utf-8"))["pair"]
    return [
        Pair(row["url"], row["commit"], row["unified"], tuple(row["added"]), tuple(row["existing"]))
        for row in rows
    ]


def place_of(pair: Pair, work: Path) -> Path:
    """Clone a pair's repository, and put a copy of its own at the pair's commit."""
    clone = work / "clones" / "__".join(pair.url.split("/")[-2:])
    if not clone.exists():
        clone.parent.mkdir(parents=True, exist_ok=True)
        run("git", "clone", "--quiet", "--no-checkout", pair.url, str(clone))
    place = work / "related" / f"{clone.name}-{pair.commit[:12]}"
    if not place.exists():
        building = place.with_name(place.name + ".part")
        run("rm", "-rf", str(building))
        run("git", "clone", "--quiet", "--shared", "--no-checkout", str(clone), str(building))
        run("git", "-C", str(building), "checkout", "--quiet", "--detach", pair.commit)
        building.rename(place)
    return place


def measure(pair: Pair, place: Path, *, embed: bool) -> Outcome:
    """Review the commit of a pair."""
    workspace = Workspace.open(place, environ=os.environ)
    workspace.update()
    if embed:
        workspace.embed()
    files = changed_files(workspace.repo, f"{pair.commit}~1..{pair.commit}")
    touched = touched_by(files, cutting_once(), [])
    added = [each for each in touched if each.how == "added" and not each.is_moved and is_compared(each)]
    found = {(each.path, each.name): each for each in with_like(workspace, added[:MOST_COMPARED], 0.0)}
    own = found.pop(pair.added, None)
    others = tuple(each.existing[0].cosine for each in found.values())
    if own is None:
        return Outcome(pair, 0, 0.0, others)
    return next(_places(pair, own, others), Outcome(pair, 0, 0.0, others))


def _places(pair: Pair, own: Touched, others: tuple[float, ...]) -> Iterator[Outcome]:
    for rank, each in enumerate(own.existing, 1):
        if (each.path, each.chunk.qualified_name) == pair.existing:
            yield Outcome(pair, rank, each.cosine, others)


def report(outcomes: list[Outcome]) -> None:
    """Print shares by least cosine."""
    if not outcomes:
        return
    others = [cosine for outcome in outcomes for cosine in outcome.others]
    print(f"\n{'cosine':>8}{'top-1':>8}{f'top-{HELPERS}':>8}   others with something shown ({len(others)})")
    for least in THRESHOLDS:
        first, all_of_them = (
            sum(0 < each.rank <= most and each.cosine >= least for each in outcomes) / len(outcomes)
            for most in (1, HELPERS)
        )
        shown = sum(cosine >= least for cosine in others) / max(len(others), 1)
        mark = " <" if abs(least - THRESHOLD) < 1e-6 else ""
        print(f"{least:8.2f}{first:8.2f}{all_of_them:8.2f}   {shown:.2f}{mark}")


if __name__ == "__main__":
    main()
