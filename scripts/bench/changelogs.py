"""Does `gitrag history` find the commit that an entry of a changelog is about?

    .venv/bin/python scripts/bench/changelogs.py CLONE:CHANGELOG... [--work DIR] [--most 50] [--json FILE]

CHANGELOG is a path in the clone. An entry that names one issue or pull request counts if one to three commits
of the history name it too, besides those that change the changelog alone. It is asked without its numbers,
links and people; right is any of those commits, and what one of them merges. Of each project the newest
entries are asked.

Printed: the share of entries with a right commit first and among the first five: by words alone, by vectors
alone (among the commits with the best words and those with the nearest drafts), and as the product orders
them; the mean over projects.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

from questions import run

from gitrag.actions import history
from gitrag.indexing.history import draft, read_history
from gitrag.indexing.refresh import refresh
from gitrag.workspace import Workspace

_BULLET = re.compile(r"^\s{0,3}[-*+]\s+")
_NUMBER = re.compile(r"(?:#|:pr:`|:issue:`|/(?:pull|issues)/|GH-)(\d+)")
_LINK = re.compile(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])?")
_NOISE = re.compile(
    r"https?://\S+|\(?(?:by|thanks(?: to)?|from)?\s*@[\w-]+\)?|:(?:pr|issue|gh|user):`[^`]*`"
    r"|\(?\s*(?:#|GH-)\d+\s*\)?|<[^>]*>|\[(?:BUGFIX|FEATURE|ENHANCEMENT|CHANGE)\]"
)
_FEWEST_WORDS = 4
_MOST_RIGHT = 3
_MOST_MERGED = 30
_DEEP = 96


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a changelog, and the commits that it is about."""

    text: str
    right: frozenset[str]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("projects", nargs="+", metavar="CLONE:CHANGELOG")
    parser.add_argument("--work", type=Path, default=Path.home() / ".cache" / "gitrag-bench" / "changelogs")
    parser.add_argument("--most", type=int, default=50)
    parser.add_argument("--json", type=Path, help="keep the words and cosines of each candidate here")
    arguments = parser.parse_args()
    means: list[list[float]] = []
    kept = []
    print(f"{'':20} {'n':>4}  words: first, five   vectors: first, five   both: first, five")
    for given in arguments.projects:
        clone, _, changelog = given.rpartition(":")
        place = prepare(Path(clone), arguments.work)
        found = entries(place, changelog, arguments.most)
        if not found:
            continue
        workspace = Workspace.open(place, environ=os.environ)
        refresh(workspace.store, workspace.snapshot())
        read_history(workspace.store, workspace.repo, workspace.repo.head().commit or "")
        draft(workspace.store)
        places: list[tuple[int, int, int]] = []
        for entry in found:
            options = history.HistoryOptions(limit=_DEEP)
            matches = history.history(workspace, entry.text, options).matches
            rows = [(each.bm25, each.cosine, each.score, each.commit.id in entry.right) for each in matches]
            places.append(tuple(_place(rows, column) for column in range(3)))  # type: ignore[arg-type]
            kept.append({"project": place.name, "text": entry.text, "rows": rows})
        shares = [
            statistics.fmean(0 < own[column] <= most for own in places)
            for column in range(3)
            for most in (1, 5)
        ]
        means.append(shares)
        print(
            f"{place.name:20} {len(found):4}  " + "   ".join(f"{share:9.3f}" for share in shares), flush=True
        )
    total = [statistics.fmean(column) for column in zip(*means, strict=True)]
    print(f"{'mean':20} {len(kept):4}  " + "   ".join(f"{share:9.3f}" for share in total))
    if arguments.json:
        arguments.json.write_text(json.dumps(kept), "utf-8")


def _place(rows: list[tuple[float, float, float, bool]], column: int) -> int:
    order = sorted(rows, key=lambda row: -row[column])
    return next((i for i, row in enumerate(order, 1) if row[3]), 0)


def prepare(clone: Path, work: Path) -> Path:
    """Clone a repository, sharing its objects."""
    place = work / (clone.parent if clone.name == "repo" else clone).name.rpartition("+")[2]
    if not (place / ".git").exists():
        work.mkdir(parents=True, exist_ok=True)
        run("git", "clone", "--quiet", "--shared", str(clone), str(place))
    return place


def entries(place: Path, changelog: str, most: int) -> list[Entry]:
    """Return the newest entries of a changelog whose commits are known."""
    named: dict[str, list[set[str]]] = {}
    separate = "%x01%H%x00%P%x00%B%x00"
    out = _git(place, "log", "--max-count=20000", "--name-only", f"--format={separate}")
    for each in out.split("\x01")[1:]:
        commit, parents, message, names = each.split("\0", 3)
        if [name for name in names.split("\n") if name] == [changelog]:
            continue
        own = {commit}
        if len(parents.split()) == 2:
            own |= set(
                _git(place, "rev-list", f"--max-count={_MOST_MERGED}", f"{commit}^1..{commit}").split()
            )
        for number in set(re.findall(r"(?:#|GH-)(\d+)\b", message)):
            named.setdefault(number, []).append(own)
    found = []
    for text in _bullets((place / changelog).read_text("utf-8", errors="replace")):
        numbers = set(_NUMBER.findall(text))
        if len(numbers) != 1:
            continue
        naming = named.get(numbers.pop(), [])
        right = frozenset().union(*naming)
        plain = " ".join(_NOISE.sub(" ", _LINK.sub(lambda link: link[1], text)).strip(" .:()[]").split())
        if 1 <= len(naming) <= _MOST_RIGHT and len(plain.split()) >= _FEWEST_WORDS:
            found.append(Entry(plain[:500], right))
    return found[:most]


def _git(place: Path, *args: str) -> str:
    done = subprocess.run(["git", "-C", place, *args], check=True, stdout=subprocess.PIPE)
    return done.stdout.decode("utf-8", "replace")


def _bullets(text: str) -> list[str]:
    """Return the entries of a list, their lines joined."""
    found: list[str] = []
    inside = False
    for line in text.split("\n"):
        if _BULLET.match(line):
            found.append(_BULLET.sub("", line))
            inside = True
        elif inside and line[:1] in {" ", "\t"} and line.strip():
            found[-1] += " " + line.strip()
        else:
            inside = False
    return found


if __name__ == "__main__":
    main()
