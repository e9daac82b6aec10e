"""Do `check` and `related` find the decisions and specifications that bear on a file or a plan?

    .venv/bin/python scripts/bench/governance.py [--work DIR] [--only NAME] [--embed] [--list] [--json FILE]

Each file of `scripts/bench/governance` is a public repository at a revision, with files and sentences and the
documents that bear on each, judged by reading both: grade 2 for one that decides it, which whoever edits the
file or has the plan must know, and 1 for one that bears on it. Some have none: nothing there is about them.
A document that is shown beside these is not counted as wrong; it is where nothing bears. What is shown as
merely near, below 0.3, counts as shown.
The repository is cloned as in `scripts/bench/quality.py` (to use a copy that is at hand, put it or a link to
it at DIR/clones/NAME), indexed, and asked as `gitrag check FILE` and `gitrag related SENTENCE` do. --embed
computes every vector first; without it all but the nearest are drafts, as right after a first index.

Printed for each repository and for all:

- files: the share of the documents that are among the first eight (recall@8, the mean over files), of all
  and of those with grade 2
- sentences: the share that has a document of grade 2 among the first three, and the share of those documents
  that are among the first three and the first eight (means over sentences)
- sure: the same for what scores 0.3 or more
- unrelated files and sentences: the share with nothing above 0.5

--list prints what is wrong: a document that is missing, with what was shown in its place, and what is shown
above 0.5 where nothing is right.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from questions import HERE, Project, own_commit, prepare

from gitrag.actions.governance.check import check
from gitrag.actions.governance.related import related
from gitrag.workspace import Workspace

FILES_SHOWN = 8
SENTENCES_SHOWN = 3
DECIDES = 2
SURE = 0.5
LEAST = 0.3
"""Least score of what is not only called the nearest."""

HEADER = f"""{"":20}{"files, found":>33}  {"sentences, found":>41}  {"unrelated, quiet":>18}
{"":20}{"number":>6} {"all @8":>9} {"2 @8":>9} {"sure":>6}\
  {"number":>9} {"any 2 @3":>9} {"2 @3":>7} {"2 @8":>6} {"sure":>6}\
  {"files":>7} {"sentences":>10}"""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A file or a sentence.

    Attributes:
        subject: The path, or the text.
        documents: The grade of each document that bears on it, by path; empty where none does.
    """

    subject: str
    documents: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Governed:
    """A repository with its labels.

    Attributes:
        project: Where it is and at which revision.
        settings: The settings that it needs, as environment variables.
        files: Its labelled files.
        sentences: Its labelled sentences.
    """

    project: Project
    settings: Mapping[str, str]
    files: tuple[Labelled, ...]
    sentences: tuple[Labelled, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one file or sentence was answered.

    Attributes:
        repository: Who was asked.
        kind: ``file`` or ``sentence``.
        subject: The path, or the text.
        documents: The grade of each document that bears on it.
        shown: Path and score of the documents shown, in their order.
    """

    repository: str
    kind: str
    subject: str
    documents: Mapping[str, int]
    shown: tuple[tuple[str, float], ...]

    def recall(self, most: int, grade: int = 1, least: float = 0.0) -> float:
        """Measure the share of the documents of at least a grade that are among the first shown."""
        wanted = self._wanted(grade)
        return len(wanted & {path for path, score in self.shown[:most] if score >= least}) / len(wanted)

    def missing(self, most: int, grade: int) -> list[str]:
        """List the documents of at least a grade that are not among the first shown."""
        return sorted(self._wanted(grade) - {path for path, _ in self.shown[:most]})

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is shown above 0.5."""
        return all(score <= SURE for _, score in self.shown)

    def _wanted(self, grade: int) -> set[str]:
        return {path for path, own in self.documents.items() if own >= grade}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, default=Path.home() / ".cache" / "gitrag-bench")
    parser.add_argument("--only", action="append", help="a repository's name; may be repeated")
    parser.add_argument("--embed", action="store_true", help="compute every vector first")
    parser.add_argument("--list", action="store_true", help="list the wrong answers")
    parser.add_argument("--json", type=Path, help="keep the answers here")
    arguments = parser.parse_args()
    outcomes: list[Outcome] = []
    print(HEADER)
    for governed in read_labels():
        name = governed.project.name
        if arguments.only and name not in arguments.only:
            continue
        own = measure(governed, prepare(governed.project, "whole", arguments.work), embed=arguments.embed)
        print(row(name, own), flush=True)
        outcomes += own
    if outcomes:
        print(row("all", outcomes))
    if arguments.list:
        for outcome in outcomes:
            for line in wrong(outcome):
                print(line)
    if arguments.json:
        kept = [asdict(outcome) for outcome in outcomes]
        arguments.json.write_text(json.dumps({"commit": own_commit(), "answers": kept}, indent=1), "utf-8")


def read_labels() -> list[Governed]:
    """Read the labelled repositories."""
    return [_governed(path) for path in sorted((HERE / "governance").glob("*.toml"))]


def _governed(path: Path) -> Governed:
    data: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    project = Project(path.stem, data["language"], data["url"], data["revision"], None, ())
    settings = {f"GITRAG_{kind.upper()}": ",".join(data[kind]) for kind in ("adrs", "specs") if kind in data}
    return Governed(
        project,
        settings,
        tuple(Labelled(each["path"], each["documents"]) for each in data["file"]),
        tuple(Labelled(each["text"], each["documents"]) for each in data["sentence"]),
    )


def measure(governed: Governed, place: Path, *, embed: bool) -> list[Outcome]:
    """Index a repository and ask it about its files and sentences.

    Raises:
        SystemExit: A label names a file or a document that is not there.
    """
    name = governed.project.name
    if absent := _absent(governed, place):
        raise SystemExit(f"{name} at {governed.project.revision} has no {', '.join(absent)}")
    workspace = Workspace.open(place, environ={**os.environ, **governed.settings})
    workspace.update()
    if embed:
        workspace.embed()

    def of_file(path: str) -> Sequence[tuple[str, float]]:
        return [(each.document.path, each.score) for each in check(workspace, place / path).documents]

    def of_sentence(text: str) -> Sequence[tuple[str, float]]:
        found = related(workspace, text)
        return [(each.document.path, each.score) for each in (*found.documents, *found.nearest)]

    return [
        *_ask(name, "file", governed.files, of_file),
        *_ask(name, "sentence", governed.sentences, of_sentence),
    ]


def _ask(
    name: str, kind: str, rows: Sequence[Labelled], answer: Callable[[str], Sequence[tuple[str, float]]]
) -> Iterable[Outcome]:
    for each in rows:
        yield Outcome(name, kind, each.subject, each.documents, tuple(answer(each.subject)))


def _absent(governed: Governed, place: Path) -> list[str]:
    done = subprocess.run(
        ["git", "-C", place, "ls-files", "-z"], capture_output=True, text=True, check=True
    ).stdout
    named = {each.subject for each in governed.files}
    named |= {path for each in (*governed.files, *governed.sentences) for path in each.documents}
    return sorted(named - set(done.split("\0")))


def row(name: str, outcomes: Sequence[Outcome]) -> str:
    """Write the figures of one repository, or of all, as a line."""
    files, sentences = (
        [each for each in outcomes if each.kind == kind and each.documents] for kind in ("file", "sentence")
    )
    quiet = [
        [each.is_quiet for each in outcomes if each.kind == kind and not each.documents]
        for kind in ("file", "sentence")
    ]
    decided = [each.recall(SENTENCES_SHOWN, DECIDES) for each in sentences]
    sure = [each.recall(SENTENCES_SHOWN, DECIDES, LEAST) > 0 for each in sentences]
    return (
        f"{name:20}{len(files):6} {_mean([each.recall(FILES_SHOWN) for each in files]):9.3f}"
        f" {_mean([each.recall(FILES_SHOWN, DECIDES) for each in files]):9.3f}"
        f" {_mean([each.recall(FILES_SHOWN, least=LEAST) for each in files]):6.3f}"
        f"  {len(sentences):9} {_mean([share > 0 for share in decided]):9.3f} {_mean(decided):7.3f}"
        f" {_mean([each.recall(FILES_SHOWN, DECIDES) for each in sentences]):6.3f} {_mean(sure):6.3f}"
        f"  {_mean(quiet[0]):7.3f} {_mean(quiet[1]):10.3f}"
    )


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def wrong(outcome: Outcome) -> Iterable[str]:
    """Describe what is wrong with an answer, in lines."""
    most, grade = (FILES_SHOWN, 1) if outcome.kind == "file" else (SENTENCES_SHOWN, DECIDES)
    missing = outcome.missing(most, grade)
    if not missing and (outcome.documents or outcome.is_quiet):
        return
    yield f"\n{outcome.repository}, {outcome.kind}: {outcome.subject}"
    for path in missing:
        place = next((place for place, (own, _) in enumerate(outcome.shown, 1) if own == path), None)
        yield f"  missing {outcome.documents[path]} {path}" + (f" (at {place})" if place else "")
    for path, score in outcome.shown[:most]:
        if outcome.documents or score > SURE:
            yield f"    {score:.2f} {outcome.documents.get(path, '-')} {path}"


if __name__ == "__main__":
    main()
