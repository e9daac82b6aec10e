"""Does a bug report find the file that its fix changed?

    .venv/bin/python scripts/bench/reports.py REPORTS CLONES [--only NAME] [--model] [--list]

REPORTS has a file a repository, ``OWNER+NAME.json``: a list of ``{id, base, query, relevant, functions}``,
where ``query`` is the report as it was written, ``base`` the commit that it is about, ``relevant`` the files
that its fix changed and ``functions`` the definitions whose bodies it changed. CLONES has a clone of each,
named alike.

Each report is asked of its own commit, as ``gitrag search --ref BASE`` asks. Printed: the share of reports
with a changed file first and among the first 3, 5 and 10; of those that name a definition the share with one
shown, as the name of the lines that a hit shows or in them, and with the other places of the hit counted too;
and how long a question took in one process.

Without --model questions and chunks have drafts only. --list prints each report's first changed file.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from questions import PAGE, VectorOf

from gitrag.embedding.draft import drafter
from gitrag.indexing.history import read_history
from gitrag.indexing.refresh import refresh
from gitrag.indexing.snapshot import look_at
from gitrag.search import engine
from gitrag.search.engine import Hit
from gitrag.search.question import read
from gitrag.store.scopes import NO_FILTERS
from gitrag.store.source import IndexFile
from gitrag.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Report:
    """A bug report, the commit that it is about, and what its fix changed."""

    id: str
    base: str
    text: str
    files: tuple[str, ...]
    definitions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search made of a report.

    Attributes:
        rank: The place of the first changed file, from 1; 0 for none.
        shown: Whether a changed definition is shown; None where the report names none.
        named: The same with the other places of the hits.
        seconds: How long it took.
    """

    rank: int
    shown: bool | None
    named: bool | None
    seconds: float


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("reports", type=Path)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--only", action="append", help="a repository, OWNER+NAME; may be repeated")
    parser.add_argument("--model", action="store_true", help="with the model's vectors")
    parser.add_argument("--list", action="store_true", help="list the reports")
    arguments = parser.parse_args()
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    for path in sorted(arguments.reports.glob("*.json")):
        if arguments.only and path.stem not in arguments.only:
            continue
        workspace = Workspace.open(arguments.clones / path.stem, environ=os.environ)
        for report in read_reports(path):
            view_id = index(workspace, report.base, model=arguments.model)
            outcome = ask(
                workspace, view_id, report, workspace.encoder.encode_query if arguments.model else draft
            )
            outcomes[path.stem].append(outcome)
            if arguments.list:
                print(
                    f"{outcome.rank:3} {outcome.shown!s:6} {outcome.seconds * 1000:5.0f} ms  {report.id}",
                    flush=True,
                )
        print_row(path.stem, outcomes[path.stem])
    print_row("all", [each for own in outcomes.values() for each in own])


def read_reports(path: Path) -> Iterator[Report]:
    """Read the reports of a repository."""
    for row in json.loads(path.read_text("utf-8")):
        yield Report(row["id"], row["base"], row["query"], tuple(row["relevant"]), tuple(row["functions"]))


def index(workspace: Workspace, revision: str, *, model: bool) -> int:
    """Index a revision, and return its view."""
    snapshot = look_at(workspace.repo, workspace.options, revision)
    view_id = refresh(workspace.store, snapshot).view.view_id
    read_history(workspace.store, workspace.repo, snapshot.head.commit or "")
    if model:
        workspace.embed()
    return view_id


def draft(text: str) -> np.ndarray:
    """Return the draft vector of a question."""
    return drafter().draft([text])[0]


def ask(workspace: Workspace, view_id: int, report: Report, vector_of: VectorOf) -> Outcome:
    """Ask a view, twice, and time the second time."""
    with workspace.store.read() as db:
        scoped = engine.Scoped(view_id, engine.ViewOverlay(commit=report.base), NO_FILTERS, limit=PAGE)
        memo = workspace.store.memo
        for _ in range(2):
            began = time.perf_counter()
            question = read(report.text)
            hits = engine.ask(IndexFile(db), question, scoped, vector_of, memo).hits
            seconds = time.perf_counter() - began
    rank = next((place for place, hit in enumerate(hits, 1) if hit.path in report.files), 0)
    right = [hit for hit in hits if hit.path in report.files]
    shown = any(shows(hit, report.definitions) for hit in right)
    named = shown or any(
        chunk.qualified_name.rpartition(".")[2] in report.definitions
        for hit in right
        for chunk, _ in hit.also
    )
    some = bool(report.definitions)
    return Outcome(rank, shown if some else None, named if some else None, seconds)


def shows(hit: Hit, definitions: Sequence[str]) -> bool:
    """Tell whether the lines that a hit shows first are in one of some definitions, or define it."""
    lines = "\n".join(line.text for line in hit.snippet)
    return any(
        name in hit.chunk.qualified_name.split(".")[-1:]
        or re.search(rf"\b(?:def|class)\s+{re.escape(name)}\b", lines)
        for name in definitions
    )


def print_row(name: str, outcomes: Sequence[Outcome]) -> None:
    """Print the figures of some reports."""
    ranks = np.array([each.rank for each in outcomes])
    shares = "  ".join(f"@{k} {np.mean((ranks > 0) & (ranks <= k)):.3f}" for k in (1, 3, 5, 10))
    shown = [each.shown for each in outcomes if each.shown is not None]
    named = [each.named for each in outcomes if each.named is not None]
    times = np.array([each.seconds for each in outcomes]) * 1000
    print(
        f"{name:20} {len(outcomes):4} reports  {shares}"
        f"  definition {np.mean(shown):.3f} (named {np.mean(named):.3f})"
        f"  {np.median(times):.0f} ms, at most {times.max():.0f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
