"""Does a search for what a commit says find the files that it changed, with history and without?

    .venv/bin/python scripts/bench/changes.py QUESTIONS NAME=GITDIR … [--work DIR] [--issue] [--json FILE]

QUESTIONS holds `NAME.json` for each repository, {base, questions: [{commit, query, issue, relevant}]}:
messages of commits made after ``base``, and the files that they changed. Each repository is cloned at its
base (kept under --work, which makes a second run quick) and indexed with draft vectors only.

Printed are the shares of questions with a changed file first, among the first five and the first ten,
without and with history; how many commits there are, the seconds that it takes to read them, the bytes that
each takes on disk, and the milliseconds that they add to a question. --issue asks with subject and body,
where a commit has a body, instead of the subject.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from questions import PAGE, own_commit, run

from gitrag.actions.search import SearchOptions, search
from gitrag.embedding.draft import drafter
from gitrag.indexing.history import read_history
from gitrag.indexing.refresh import refresh
from gitrag.search.features import WEIGHTS
from gitrag.search.history import message_features
from gitrag.search.question import read
from gitrag.store import commit_evidence, scopes, views
from gitrag.workspace import Workspace

PLACES = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class Change:
    """A commit's message, and the files that it changed."""

    text: str
    relevant: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answers:
    """The place of the first changed file for each question, 0 if there is none."""

    places: tuple[int, ...]

    def shares(self) -> list[float]:
        """Return the shares of questions with a file among the first so many."""
        return [statistics.fmean(0 < place <= most for place in self.places) for most in PLACES]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the questions to one repository were answered, and what its history cost."""

    name: str
    without: Answers
    given: Answers
    commits: int
    read_s: float
    size_bytes: int
    question_ms: float


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path)
    parser.add_argument("repositories", nargs="+", metavar="NAME=GITDIR")
    parser.add_argument("--work", type=Path, default=Path.home() / ".cache" / "gitrag-bench" / "changes")
    parser.add_argument("--issue", action="store_true", help="ask with subject and body")
    parser.add_argument("--json", type=Path, help="keep the figures here")
    arguments = parser.parse_args()
    outcomes: list[Outcome] = []
    print(f"{'':16} {'n':>3}  {'without: first, five, ten':26} {'with history':22} commits     s  bytes   ms")
    for name, _, clone in (given.partition("=") for given in arguments.repositories):
        asked = json.loads((arguments.questions / f"{name}.json").read_text("utf-8"))
        field = "issue" if arguments.issue else "query"
        changes = [
            Change(row[field], tuple(row["relevant"])) for row in asked["questions"] if row[field].strip()
        ]
        if not changes:
            continue
        outcome = measure(name, prepare(name, clone, asked["base"], arguments.work), changes)
        outcomes.append(outcome)
        _print(outcome)
    means = [
        [statistics.fmean(values) for values in zip(*(each.shares() for each in side), strict=True)]
        for side in ([each.without for each in outcomes], [each.given for each in outcomes])
    ]
    print(f"{'mean':16} {len(outcomes):3}  {_shares(means[0]):26} {_shares(means[1])}")
    if arguments.json:
        rows = [
            {
                "name": each.name,
                "without": each.without.places,
                "with": each.given.places,
                "commits": each.commits,
                "read_s": each.read_s,
                "size_bytes": each.size_bytes,
            }
            for each in outcomes
        ]
        arguments.json.write_text(json.dumps({"commit": own_commit(), "rows": rows}, indent=1), "utf-8")


def prepare(name: str, clone: str, base: str, work: Path) -> Path:
    """Clone a repository at its base."""
    place = work / name
    if not (place / ".git").exists():
        work.mkdir(parents=True, exist_ok=True)
        run("git", "clone", "--quiet", "--shared", "--no-checkout", clone, str(place))
        run("git", "-C", str(place), "checkout", "--quiet", "--detach", base)
    return place


def measure(name: str, place: Path, changes: Sequence[Change]) -> Outcome:
    """Ask all questions, without history and with it; the index is made anew, of drafts."""
    environ = {**os.environ, "GITRAG_MODEL_DIR": str(place / "no-model")}
    workspace = Workspace.open(place, environ=environ)
    workspace.store.remove()
    now = workspace.snapshot()
    refresh(workspace.store, now)
    workspace.store.compact()
    before = workspace.store.size_bytes()
    began = time.perf_counter()
    read_history(workspace.store, workspace.repo, now.head.commit or "")
    read_s = time.perf_counter() - began
    workspace.store.compact()
    size_bytes = workspace.store.size_bytes() - before
    with workspace.store.read() as db:
        row = db.execute("SELECT count(*) FROM commits").fetchone()
    given = ask(workspace, changes)
    with patch.dict(WEIGHTS, {"history": 0.0, "like": 0.0, "meant": 0.0}):
        without = ask(workspace, changes)
    each_ms = [reading_ms(workspace, change.text) for change in changes]
    return Outcome(
        name, without, given, int(row[0]) if row else 0, read_s, size_bytes, statistics.median(each_ms)
    )


def reading_ms(workspace: Workspace, text: str) -> float:
    """Measure what commits add to a question in a process of its own."""
    question, vector = read(text), drafter().draft([text])[0]
    with workspace.store.read() as db:
        view = views.current(db, workspace.repo.worktree)
        if view is None or view.commit is None:
            raise AssertionError("no view of the base")
        scope = scopes.open_scope(db, view.view_id)
        each = []
        for _ in range(5):  # the machine is never quite idle
            began = time.perf_counter()
            told = commit_evidence.messages(db, scope, view.commit, question.hashes, vector)
            message_features(told, len(scope.files), question)
            each.append(1000 * (time.perf_counter() - began))
        return min(each)


def ask(workspace: Workspace, changes: Sequence[Change]) -> Answers:
    """Ask for each change."""
    places = []
    options = SearchOptions(limit=PAGE, min_score=0.0)
    for change in changes:
        paths = [hit.path for hit in search(workspace, change.text, options).sections[-1].hits]
        places.append(next((i for i, path in enumerate(paths, 1) if path in change.relevant), 0))
    return Answers(tuple(places))


def _print(outcome: Outcome) -> None:
    each = outcome.size_bytes / max(outcome.commits, 1)
    print(
        f"{outcome.name:16} {len(outcome.given.places):3}  {_shares(outcome.without.shares()):26}"
        f" {_shares(outcome.given.shares()):22} {outcome.commits:7} {outcome.read_s:5.1f} {each:6.0f}"
        f" {outcome.question_ms:4.1f}",
        flush=True,
    )


def _shares(shares: Sequence[float]) -> str:
    return " ".join(f"{share:.3f}" for share in shares)


if __name__ == "__main__":
    main()
