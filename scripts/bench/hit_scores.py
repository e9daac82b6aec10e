"""Does a hit's score say how likely the file answers, where a repository lacks features that it could have?

    .venv/bin/python scripts/bench/hit_scores.py CLONES [--only NAME] [--list] [--json FILE]

CLONES has a clone of each repository of `scripts/bench/features/` at its revision, by name; those that it
lacks are left out. Each is indexed, embedded and asked as a user asks: the default limit and least score.

Printed, by repository and over all:

- absent features: the share that gets no hit, and the share that gets none of a half or more
- present features: the share whose answer is shown, and the share whose answer is first
- the median and mean number of hits shown for a present feature
- the expected calibration error over all hits (Naeini et al., 2015), ten bins. A hit that is a test, an
  example or documentation is neither right nor wrong, as the sets say, and left out
- sufficient: of the present features, the share where `search_code` says so; of those, the share whose first
  file is right, and the share whose lines are: some line shown is among the labelled ones, of a file without
  labelled lines any; the share of the absent ones where it says so

The last table has the same by language, and the median number of lines that `search_code` shows.

--list prints absent features with a hit of a half or more, and present ones whose answer is not shown.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from calibration import calibration_error
from features import FeatureSet, Present, is_source, read_sets

from gitrag.actions.search import search
from gitrag.actions.search_code import Snippet, search_code
from gitrag.chunking.languages import language_of
from gitrag.indexing.history import read_history
from gitrag.workspace import Workspace

_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a question was answered.

    Attributes:
        repository: Who was asked.
        question: The question.
        absent: Whether there is nothing to be found.
        scores: The hits' scores, best first.
        right: Whether each hit answers; None where that is not known.
        sufficient: Whether `search_code` says so.
        first: Whether its first snippet's file answers.
        lines: Whether a snippet has lines that answer.
        shown: How many lines its snippets have.
        language: That of most files that answer.
    """

    repository: str
    question: str
    absent: bool
    scores: tuple[float, ...]
    right: tuple[bool | None, ...]
    sufficient: bool
    first: bool
    lines: bool
    shown: int
    language: str


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clones", type=Path)
    parser.add_argument("--only", action="append", help="a repository's name; may be repeated")
    parser.add_argument("--list", action="store_true", help="list the wrong answers")
    parser.add_argument("--json", type=Path, help="keep the figures here")
    arguments = parser.parse_args()
    outcomes: list[Outcome] = []
    print(
        f"{'':16} absent: none <half  present: shown first hits  error  sufficient: said  file lines absent"
    )
    for features in read_sets():
        place = arguments.clones / features.name
        if (arguments.only and features.name not in arguments.only) or not place.exists():
            continue
        own = measure(features, place)
        report(features.name, own)
        outcomes += own
    report("all", outcomes)
    report_sufficient(outcomes)
    for outcome in outcomes if arguments.list else ():
        if outcome.absent and max(outcome.scores, default=0.0) >= _HALF:
            print(f"absent   {outcome.scores[0]:.2f} {outcome.repository:16} {outcome.question}")
        elif not outcome.absent and True not in outcome.right:
            print(f"present       {outcome.repository:16} {outcome.question}")
        elif outcome.sufficient and not outcome.absent and not outcome.lines:
            print(f"lines         {outcome.repository:16} {outcome.question}")
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(outcome) for outcome in outcomes], indent=1), "utf-8")


def measure(features: FeatureSet, place: Path) -> list[Outcome]:
    """Ask a repository for what it has and what it has not."""
    workspace = Workspace.open(place, environ=os.environ)
    indexed = workspace.update()
    workspace.embed()
    read_history(workspace.store, workspace.repo, indexed.refreshed.head.commit or "")
    asked: list[tuple[str, Present | None, frozenset[str]]] = [
        (row.text, None, frozenset(row.mentioned_in)) for row in features.absent
    ]
    asked += [(row.text, row, frozenset()) for row in features.present]
    languages = Counter(language_of(path) or "" for row in features.present for path in row.files)
    language = languages.most_common(1)[0][0]
    outcomes = []
    for text, present, mentioned in asked:
        absent, targets = present is None, frozenset(present.files if present else ())
        hits = search(workspace, text).hits
        right = tuple(
            True
            if hit.path in targets
            else None
            if hit.path in mentioned or not (absent or is_source(hit.path))
            else False
            for hit in hits
        )
        code = search_code(workspace, text)
        first = bool(code.snippets) and code.snippets[0].path in targets
        scores = tuple(hit.score for hit in hits)
        lines = present is not None and any(answers(snippet, present) for snippet in code.snippets)
        shown = sum(snippet.line_end - snippet.line_start + 1 for snippet in code.snippets)
        outcomes.append(
            Outcome(
                features.name, text, absent, scores, right, code.sufficient, first, lines, shown, language
            )
        )
    return outcomes


def answers(snippet: Snippet, present: Present) -> bool:
    """Tell whether a snippet has lines that answer."""
    own = [lines for lines in present.lines if lines.path == snippet.path]
    if not own:
        return snippet.path in present.files
    return any(snippet.line_start <= each.last and each.first <= snippet.line_end for each in own)


def report(name: str, outcomes: list[Outcome]) -> None:
    """Print a line of figures."""
    absent = [outcome for outcome in outcomes if outcome.absent]
    present = [outcome for outcome in outcomes if not outcome.absent]
    said = [outcome for outcome in present if outcome.sufficient]
    known = [
        (score, right)
        for outcome in outcomes
        for score, right in zip(outcome.scores, outcome.right, strict=True)
        if right is not None
    ]
    if not absent or not present or not known:
        return
    error, _bins = calibration_error(
        np.array([score for score, _ in known]), np.array([right for _, right in known])
    )
    hits = [len(outcome.scores) for outcome in present]
    print(
        f"{name:16} {np.mean([not outcome.scores for outcome in absent]):12.3f}"
        f" {np.mean([max(outcome.scores, default=0.0) < _HALF for outcome in absent]):5.3f}"
        f" {np.mean([True in outcome.right for outcome in present]):15.3f}"
        f" {np.mean([outcome.right[:1] == (True,) for outcome in present]):5.3f}"
        f" {np.median(hits):4.0f} {np.mean(hits):4.1f} {error:6.3f}"
        f" {np.mean([outcome.sufficient for outcome in present]):16.3f}"
        f" {np.mean([outcome.first for outcome in said] or [0.0]):5.3f}"
        f" {np.mean([outcome.lines for outcome in said] or [0.0]):5.3f}"
        f" {np.mean([outcome.sufficient for outcome in absent]):6.3f}",
        flush=True,
    )


def report_sufficient(outcomes: list[Outcome]) -> None:
    """Print what `search_code` says is sufficient, by language."""
    print(f"\n{'sufficient':16} present said right file lines   absent said   lines shown")
    for language in [*sorted({outcome.language for outcome in outcomes}), "all"]:
        own = [outcome for outcome in outcomes if language in (outcome.language, "all")]
        present = [outcome for outcome in own if not outcome.absent]
        said = [outcome for outcome in present if outcome.sufficient]
        absent = [outcome for outcome in own if outcome.absent]
        print(
            f"{language:16} {len(present):7} {len(said):4}"
            f" {np.mean([outcome.first for outcome in said] or [0.0]):10.3f}"
            f" {np.mean([outcome.lines for outcome in said] or [0.0]):5.3f}"
            f" {len(absent):8} {sum(outcome.sufficient for outcome in absent):4}"
            f" {np.median([outcome.shown for outcome in present]):13.0f}"
        )


if __name__ == "__main__":
    main()
