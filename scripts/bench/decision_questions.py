"""Does `gitrag search` find the decision or specification that a question asks for, and score it well?

    .venv/bin/python scripts/bench/decision_questions.py [--work DIR] [--only NAME] [--embed] [--list]

Asked are the sentences of `scripts/bench/governance` and the questions of `decision_questions.toml` ("which X
do we use", "why not Y"), of the same seven repositories, as `gitrag search` is: decisions and specifications
with a score of 0.3 or more are shown, each kind in a section of its own. The repositories are prepared as in
`governance.py`.

Printed for each repository, and for all, of sentences and of questions:

- first: the share where a document that decides the matter is the first of its section
- in three: the share where one is among the first three
- shown: how many documents are shown on the mean
- quiet: of those that no document answers, the share with nothing of a half or more, and with nothing at all

--list prints where none is among the first three, and what is shown above a half where nothing answers.
"""

from __future__ import annotations

import argparse
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from governance import Governed, Labelled, read_labels
from questions import HERE, prepare

from gitrag.actions.search import SearchOptions, search
from gitrag.corpus.layout import CollectionKind
from gitrag.search.sections import Wanted
from gitrag.workspace import Workspace

DECIDES = 2
FIRST = 3
HALF = 0.5


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a question was answered.

    Attributes:
        repository: Who was asked.
        kind: ``sentence`` or ``question``.
        label: The question, with the documents that answer it.
        sections: Path and score of the documents of each section, best first.
    """

    repository: str
    kind: str
    label: Labelled
    sections: tuple[tuple[tuple[str, float], ...], ...]

    def has_decider(self, most: int) -> bool:
        """Tell whether a document that decides the matter is among the first of its section."""
        return any(
            self.label.documents.get(path) == DECIDES for own in self.sections for path, _ in own[:most]
        )

    @property
    def best(self) -> float:
        """The highest score; 0 where nothing is shown."""
        return max((score for own in self.sections for _, score in own), default=0.0)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, default=Path.home() / ".cache" / "gitrag-bench")
    parser.add_argument("--only", action="append", help="a repository's name; may be repeated")
    parser.add_argument("--embed", action="store_true", help="compute every vector first")
    parser.add_argument("--list", action="store_true", help="list the wrong answers")
    arguments = parser.parse_args()
    print(f"{'':20}{'sentences':>10} first in three shown  quiet: half all{'questions':>12} first …")
    questions = read_questions()
    outcomes: list[Outcome] = []
    for governed in read_labels():
        name = governed.project.name
        if arguments.only and name not in arguments.only:
            continue
        place = prepare(governed.project, "whole", arguments.work)
        own = measure(governed, questions.get(name, ()), place, embed=arguments.embed)
        print(row(name, own), flush=True)
        outcomes += own
    print(row("all", outcomes))
    for outcome in outcomes if arguments.list else ():
        documents = outcome.label.documents
        if (not outcome.has_decider(FIRST)) if documents else outcome.best >= HALF:
            print(f"\n{outcome.repository}, {outcome.kind}: {outcome.label.subject}")
            for path, score in (each for own in outcome.sections for each in own[:FIRST]):
                print(f"    {score:.2f} {documents.get(path, '-')} {path}")


def read_questions() -> Mapping[str, Sequence[Labelled]]:
    """Read the questions of each repository."""
    data: dict[str, Any] = tomllib.loads((HERE / "decision_questions.toml").read_text("utf-8"))
    found: dict[str, list[Labelled]] = {}
    for each in data["question"]:
        label = Labelled(each["text"], dict.fromkeys(each["documents"], DECIDES))
        found.setdefault(each["repository"], []).append(label)
    return found


def measure(governed: Governed, questions: Sequence[Labelled], place: Path, *, embed: bool) -> list[Outcome]:
    """Index a repository and ask it."""
    workspace = Workspace.open(place, environ={**os.environ, **governed.settings})
    workspace.update()
    if embed:
        workspace.embed()
    kinds = (CollectionKind.ADRS, CollectionKind.SPECS)
    options = SearchOptions(wanted=Wanted(kinds))
    asked = [("sentence", label) for label in governed.sentences]
    asked += [("question", label) for label in questions]
    return [
        Outcome(
            governed.project.name,
            kind,
            label,
            tuple(
                tuple((hit.path, hit.score) for hit in section.hits)
                for section in search(workspace, label.subject, options).sections
            ),
        )
        for kind, label in asked
    ]


def row(name: str, outcomes: Sequence[Outcome]) -> str:
    """Write the figures of one repository, or of all, as a line."""
    cells = [f"{name:20}"]
    for kind in ("sentence", "question"):
        own = [each for each in outcomes if each.kind == kind]
        there = [each for each in own if each.label.documents]
        absent = [each for each in own if not each.label.documents]
        shown = [sum(map(len, each.sections)) for each in there]
        cells.append(
            f"{len(there):10} {_mean([each.has_decider(1) for each in there]):5.3f}"
            f" {_mean([each.has_decider(FIRST) for each in there]):8.3f} {_mean(shown):5.1f}"
            f" {_mean([each.best < HALF for each in absent]):11.3f}"
            f" {_mean([not any(each.sections) for each in absent]):5.3f}"
        )
    return "".join(cells)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


if __name__ == "__main__":
    main()
