"""Honest scores: is there an answer where the score says so, and none where there is none?

    .venv/bin/python scripts/bench/calibration.py QUESTIONS [--work DIR] [--only NAME] [--drafts] [--list]
                                                  [--json FILE]

QUESTIONS and --work are as in `scripts/bench/quality.py`; whole repositories. Beside the annotated questions
each repository is asked those of `absent.toml`, which it has nothing on. Printed:

- absent questions: the share that gives no hit by default, and the share that gives none of a half or more
- annotated questions with a target in the top 10: the share that keeps one by default
- reliability: how far the first hit's score is from the share of first hits that are a target, over ten bins
  of the score (expected calibration error, Naeini et al., 2015); of an absent question none is

--drafts prints the same before a vector is refined, without the model (questions drafted too) and by words
alone, from a store of its own in a temporary directory. --list prints the wrong answers.
"""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from questions import (
    HERE,
    PAGE,
    Project,
    VectorOf,
    ask,
    draft_index,
    own_commit,
    parser_of,
    prepare,
    rank_of,
    read_projects,
)

from gitrag.actions.search import SearchOptions, search
from gitrag.embedding.draft import drafter
from gitrag.search.engine import Hit
from gitrag.workspace import Workspace

EACH = 5
"""Shared questions of a kind that a repository is asked."""

MENTIONS = 3
"""A pattern found in more files than this is no longer a mention in passing."""

BINS = 10
LEAST = 0.02
NOTHING = 0.05
"""By default hits below the first are left out, and a page whose best hit is below the second is empty."""

HALF = 0.5
Search = Callable[[str], Sequence[Hit]]


@dataclass(frozen=True, slots=True)
class Absent:
    """A question that a repository has nothing on.

    Attributes:
        kind: domain, nonsense, symbol or feature.
        text: The question.
        pattern: What is missing, for ``git grep -iE``.
    """

    kind: str
    text: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one question was answered.

    Attributes:
        repository: Who was asked.
        kind: An absent question's, or that of the annotation.
        question: The question.
        absent: Whether there is nothing to be found.
        score: The first hit's; 0 without a hit.
        target_score: The best score of a hit that shows a target; -1 when none of the page does.
        first: Whether the first hit is in the file of a target.
    """

    repository: str
    kind: str
    question: str
    absent: bool
    score: float
    target_score: float
    first: bool


def main() -> None:
    """Run the benchmark."""
    parser = parser_of(__doc__)
    parser.add_argument("--drafts", action="store_true", help="also without true vectors")
    parser.add_argument("--list", action="store_true", help="list the wrong answers")
    parser.add_argument("--json", type=Path, help="keep the figures here")
    arguments = parser.parse_args()
    stages: dict[str, list[Outcome]] = {}
    for place, project in enumerate(read_projects(arguments.questions)):
        if arguments.only and project.name not in arguments.only:
            continue
        repository = prepare(project, "whole", arguments.work)
        absent = read_absent(project.name, place, repository)
        for question in absent:
            if len(found := files_with(repository, question.pattern)) > MENTIONS:
                print(f"{project.name}: {question.text!r} is about {found[0]} and {len(found) - 1} others")
        workspace = Workspace.open(repository, environ=os.environ)
        workspace.update()
        workspace.embed()
        stages.setdefault("vectors", []).extend(measure(partial(_search, workspace), project, absent))
        if arguments.drafts:
            for stage, outcomes in measure_drafts(repository, project, absent).items():
                stages.setdefault(stage, []).extend(outcomes)
    for stage, outcomes in stages.items():
        report(stage, outcomes, wrong=arguments.list)
    if arguments.json:
        kept = {stage: [asdict(outcome) for outcome in outcomes] for stage, outcomes in stages.items()}
        arguments.json.write_text(json.dumps({"commit": own_commit(), "stages": kept}, indent=1), "utf-8")


def read_absent(name: str, place: int, repository: Path) -> list[Absent]:
    """Choose a repository's absent questions: its own, and of the shared ones the next few in turn."""
    data: dict[str, Any] = tomllib.loads((HERE / "absent.toml").read_text("utf-8"))
    chosen = [Absent("feature", *row) for row in data["features"][name]]
    for kind, rows in data["shared"].items():
        turned = [rows[(place * EACH + i) % len(rows)] for i in range(EACH)]
        chosen += [Absent(kind, *row) for row in turned]
    others = [symbol for owner, symbols in data["symbols"].items() if owner != name for symbol in symbols]
    turned = [others[(place * EACH + i) % len(others)] for i in range(len(others))]
    unknown = (symbol for symbol in turned if not files_with(repository, symbol.replace(".", "\\.")))
    return chosen + [
        Absent("symbol", symbol, symbol) for symbol, _ in zip(unknown, range(EACH), strict=False)
    ]


def files_with(repository: Path, pattern: str) -> list[str]:
    """List the tracked files that match a pattern, case aside."""
    found = subprocess.run(
        ["git", "-C", repository, "grep", "-IilE", "-e", pattern], capture_output=True, text=True, check=False
    )
    return found.stdout.splitlines()


def _search(workspace: Workspace, text: str) -> Sequence[Hit]:
    return search(workspace, text, SearchOptions(limit=PAGE, min_score=0.0)).hits


def measure(search: Search, project: Project, absent: Sequence[Absent]) -> list[Outcome]:
    """Ask a repository its questions, annotated and absent."""
    outcomes = []
    for question in project.questions:
        hits = search(question.text)
        ranks = [rank for target in question.targets if (rank := rank_of(target, hits))]
        target_score = hits[min(ranks) - 1].score if ranks else -1.0
        first = bool(hits) and any(target.is_at(hits[0].path) for target in question.targets)
        outcomes.append(_outcome(project, question.kind, question.text, hits, target_score, first))
    return outcomes + [_outcome(project, row.kind, row.text, search(row.text), -1.0, None) for row in absent]


def _outcome(
    project: Project, kind: str, text: str, hits: Sequence[Hit], target_score: float, first: bool | None
) -> Outcome:
    score = hits[0].score if hits else 0.0
    return Outcome(project.name, kind, text, first is None, score, target_score, bool(first))


def measure_drafts(repository: Path, project: Project, absent: Sequence[Absent]) -> dict[str, list[Outcome]]:
    """Ask with drafts only, without the model, and by words alone."""
    with draft_index(repository) as (workspace, view_id), workspace.store.read() as db:
        vectors: dict[str, VectorOf] = {
            "drafts only": workspace.encoder.encode_query,
            "no model": lambda text: drafter().draft([text])[0],
            "words alone": lambda _text: None,
        }
        return {
            stage: measure(partial(ask, db, view_id, vector_of=vector_of), project, absent)
            for stage, vector_of in vectors.items()
        }


def report(stage: str, outcomes: Sequence[Outcome], *, wrong: bool) -> None:
    """Print the tables of one stage."""
    print(f"\n== {stage}\n{'absent':24} {'questions':>9} {'no match':>9} {'< half':>9}")
    absent = [outcome for outcome in outcomes if outcome.absent]
    groups = {kind: [o for o in absent if o.kind == kind] for kind in dict.fromkeys(o.kind for o in absent)}
    for kind, chosen in [*groups.items(), ("all", absent)]:
        silent = np.mean([outcome.score < NOTHING for outcome in chosen])
        low = np.mean([outcome.score < HALF for outcome in chosen])
        print(f"{kind:24} {len(chosen):9} {silent:9.3f} {low:9.3f}")
    present = [outcome for outcome in outcomes if outcome.target_score >= 0]
    kept = np.mean([outcome.score >= NOTHING and outcome.target_score >= LEAST for outcome in present])
    print(f"{'target kept':24} {len(present):9} {kept:9.3f}")
    scores = np.array([outcome.score for outcome in outcomes])
    answered = np.array([outcome.first for outcome in outcomes])
    error, bins = calibration_error(scores, answered)
    print("score of the first hit, questions, mean score, share of first hits that are a target")
    for low, (count, mean, share) in bins.items():
        print(f"{low / BINS:.1f}-{(low + 1) / BINS:.1f}  {count:6}  {mean:.3f}  {share:.3f}")
    print(f"expected calibration error {error:.3f}")
    if wrong:
        for outcome in sorted(outcomes, key=lambda outcome: outcome.score):
            hidden = 0 <= outcome.target_score < LEAST
            if hidden or (outcome.absent and outcome.score >= HALF):
                print(f"{outcome.score:.2f}  {outcome.kind:12} {outcome.repository:20} {outcome.question}")


def calibration_error(
    scores: NDArray[np.float64], answered: NDArray[np.bool_]
) -> tuple[float, dict[int, tuple[int, float, float]]]:
    """Give the expected calibration error, and for each bin its number, mean score and share answered."""
    place = np.minimum((scores * BINS).astype(int), BINS - 1)
    bins = {
        low: (
            int((place == low).sum()),
            float(scores[place == low].mean()),
            float(answered[place == low].mean()),
        )
        for low in np.unique(place).tolist()
    }
    return sum(count * abs(mean - share) for count, mean, share in bins.values()) / len(scores), bins


if __name__ == "__main__":
    main()
