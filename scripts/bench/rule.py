"""On no set of questions may a feature alone, or two by reciprocal ranks, beat the ranker: pass or fail.

    .venv/bin/python scripts/bench/rule.py QUESTIONS CLONES [CHANGES NAME=GITDIR …]
        [--reports REPORTS GITDIRS] [--aside] [--only NAME] [--work DIR]

QUESTIONS and --work are as in `scripts/bench/quality.py`, CLONES, CHANGES and the rest as in
`scripts/training/fit_ranker.py`, REPORTS and GITDIRS as in `scripts/bench/reports.py`. Each set is asked of
drafts, with the history that was read; a feature or a pair orders the product's own files
(`scripts/bench/asked.py`). Printed are, for each set, the share of questions with an answer first and
NDCG@10, means over repositories, of the ranker and of the best other way; exits with 1 if one is better.

--aside asks those everyday questions on which no weight was fitted, instead of the others. --only leaves out
all other repositories: a few of them say little.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import asked
import changes
import features
import numpy as np
import reports
from questions import Question, Target, chosen_projects, ndcg, parser_of, prepare

from gitrag.search.engine import Scoped
from gitrag.store.scopes import NO_FILTERS
from gitrag.store.views import ViewOverlay
from gitrag.workspace import Workspace

FIGURES = ("first", "NDCG@10")


def main() -> None:
    """Ask every set in every way, and judge."""
    parser = parser_of(__doc__)
    parser.add_argument("clones", type=Path, metavar="CLONES")
    parser.add_argument("changes", nargs="*", metavar="CHANGES NAME=GITDIR", help="as in changes.py")
    parser.add_argument("--reports", nargs=2, type=Path, metavar=("REPORTS", "GITDIRS"))
    parser.add_argument("--aside", action="store_true", help="everyday questions that are kept aside")
    arguments = parser.parse_args()
    found: dict[str, dict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for kind, name, place, questions in [
        *((*row[:3], [("", question) for question in row[3]]) for row in repositories(arguments)),
        *_reports(arguments),
    ]:
        if not arguments.only or name in arguments.only:
            for way, means in ask(place, questions).items():
                found[kind][way].append(means)
            print(f"{kind:12} {name}", file=sys.stderr, flush=True)
    sys.exit(int(max((judge(kind, ways) for kind, ways in found.items()), default=False)))


def judge(kind: str, ways: dict[str, list[list[float]]]) -> bool:
    """Print how the ranker compares on a set; tell whether another way is better."""
    means = {way: np.mean(rows, axis=0) for way, rows in ways.items()}
    own, worse = means.pop("ranker"), False
    for place, figure in enumerate(FIGURES):
        best = max(means, key=lambda way: float(means[way][place]))
        is_worse = bool(means[best][place] > own[place])
        worse |= is_worse
        print(
            f"{'FAIL' if is_worse else 'PASS'} {kind:12} {len(ways['ranker']):3} repositories, {figure:8}"
            f" ranker {own[place]:.3f}, {best} {means[best][place]:.3f}"
        )
    return worse


def repositories(arguments: argparse.Namespace) -> Iterator[tuple[str, str, Path, list[Question]]]:
    """Yield kind, name and place of each repository, and its questions; of bug reports none."""

    def question(text: str, kind: str, paths: Sequence[str]) -> Question:
        return Question(text, kind, tuple(map(Target, paths)))

    for project in chosen_projects(arguments):
        for mode in ("source", "whole"):
            place = prepare(project, mode, arguments.work)
            yield mode, project.name, place, list(project.questions)
    for each in asked.read_sets():
        if each.is_aside == getattr(arguments, "aside", False):
            own = [question(row.text, each.kind, row.paths) for row in each.questions]
            yield each.kind, each.name, arguments.clones / each.name, own
    for known in features.read_sets():
        if (place := arguments.clones / "features" / known.name).exists():
            own = [question(row.text, "features", row.files) for row in known.present]
            yield "features", known.name, place, own
    for given in arguments.changes[1:]:
        name, _, clone = given.partition("=")
        data = json.loads(Path(arguments.changes[0], f"{name}.json").read_text("utf-8"))
        own = [question(row["query"], "changes", row["relevant"]) for row in data["questions"]]
        place = changes.prepare(name, clone, data["base"], arguments.work / "changes")
        yield "changes", name, place, own


def _reports(arguments: argparse.Namespace) -> Iterator[tuple[str, str, Path, list[tuple[str, Question]]]]:
    """Yield the repositories of bug reports, each report with the commit that it is about."""
    folder, clones = arguments.reports or (Path(), Path())
    for path in sorted(folder.glob("*.json")) if arguments.reports else ():
        own = [
            (row.base, Question(row.text, "reports", tuple(map(Target, row.files))))
            for row in reports.read_reports(path)
        ]
        yield "reports", path.stem, clones / path.stem, own


def ask(place: Path, questions: Sequence[tuple[str, Question]]) -> dict[str, list[float]]:
    """Ask a repository questions, each of a revision or of HEAD; the mean figures of each way."""
    scored: dict[str, list[list[float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="gitrag-bench-") as folder:
        workspace = Workspace.open(place, environ=os.environ, store_directory=Path(folder))
        for revision, rows in groupby(questions, key=lambda row: row[0]):
            commit = revision or workspace.repo.head().commit or ""
            view_id = reports.index(workspace, commit, model=False)
            with workspace.store.read() as db:
                scoped = Scoped(view_id, ViewOverlay(commit=commit), NO_FILTERS, limit=asked.PAGE)
                for _revision, question in rows:
                    for way, shown in asked.ordered(db, scoped, question.text, workspace, alone_too=True):
                        places = [
                            next((at for at, path in enumerate(shown, 1) if target.is_at(path)), 0)
                            for target in question.targets
                        ]
                        scored[way].append([float(1 in places), ndcg(places)])
    return {way: np.mean(rows, axis=0).tolist() for way, rows in scored.items()}


if __name__ == "__main__":
    main()
