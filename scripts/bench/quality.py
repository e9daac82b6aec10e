"""Retrieval quality on annotated questions, through the product's own search.

    .venv/bin/python scripts/bench/quality.py QUESTIONS [--work DIR] [--mode source|whole] [--only NAME]
                                              [--json FILE] [--against FILE] [--worst N]

QUESTIONS holds `repos.json` (name, language, url, revision, benchmark_root) and `annotations/<name>.json`,
lists of {query, relevant, secondary, category}: the format of MinishLab/semble's public benchmark. Each
repository is cloned at its revision (kept under --work, which makes a second run quick), indexed and asked
every question.

- source: only the folder named in the file. whole: the repository as its users have it.
- NDCG@10 with binary gains: the rank of a target is that of the first result whose path ends in it and,
  where it has a span, overlaps it; a further result of a file already shown uses up a place. Mean over
  questions and over repositories.
- recall@10: the share of a question's targets among the first ten. MRR: of the first target found.

--json keeps the figures with the commit that made them; --against prints the differences to such a file.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gitrag.actions.search import SearchOptions, search
from gitrag.indexing.recipe import RECIPE
from gitrag.search import engine
from gitrag.search.engine import Hit
from gitrag.search.question import read
from gitrag.store import candidates
from gitrag.store.candidates import NO_FILTERS, SearchScope
from gitrag.store.connection import Store
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from gitrag.store.connection import Connection

VectorOf = Callable[[str], NDArray[np.float32] | None]
"""Gives a question its vector; None to go by words alone."""

HERE = Path(__file__).parent
PAGE = 10


@dataclass(frozen=True, slots=True)
class Target:
    """What answers a question: a file, or lines of it."""

    path: str
    line_start: int = 0
    line_end: int = 0

    def is_in(self, hit: Hit) -> bool:
        """Tell whether a hit shows it."""
        return self.is_at(hit.path) and (
            not self.line_end
            or (hit.chunk.line_start <= self.line_end and self.line_start <= hit.chunk.line_end)
        )

    def is_at(self, path: str) -> bool:
        """Tell whether a path is that of its file."""
        return path == self.path or path.endswith("/" + self.path)


@dataclass(frozen=True, slots=True)
class Question:
    """An annotated question."""

    text: str
    kind: str
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Project:
    """A repository at a revision, with its questions."""

    name: str
    language: str
    url: str
    revision: str
    root: str | None
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one question was answered."""

    repository: str
    language: str
    kind: str
    question: str
    ndcg: float
    recall: float
    mrr: float
    milliseconds: float


def main() -> None:
    """Run the benchmark."""
    parser = parser_of(__doc__)
    parser.add_argument("--mode", choices=["source", "whole"], action="append")
    parser.add_argument("--json", type=Path, help="keep the figures here")
    parser.add_argument("--against", type=Path, help="figures kept before, to compare with")
    parser.add_argument("--worst", type=int, default=0, help="list so many of the worst answers")
    arguments = parser.parse_args()
    projects = chosen_projects(arguments)
    before = json.loads(arguments.against.read_text("utf-8")) if arguments.against else {"modes": {}}
    kept: dict[str, Any] = {"commit": own_commit(), "modes": {}}
    for mode in arguments.mode or ["source", "whole"]:
        outcomes: list[Outcome] = []
        index_s = 0.0
        for project in projects:
            seconds, answered = measure(prepare(project, mode, arguments.work), project)
            outcomes += answered
            index_s += seconds
        report(mode, outcomes, index_s, [Outcome(**row) for row in before["modes"].get(mode, [])])
        for outcome in sorted(outcomes, key=lambda outcome: outcome.ndcg)[: arguments.worst]:
            print(f"{outcome.ndcg:.2f}  {outcome.repository:20} {outcome.question}")
        kept["modes"][mode] = [asdict(outcome) for outcome in outcomes]
    if arguments.json:
        arguments.json.write_text(json.dumps(kept, indent=1), "utf-8")


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """Make a parser of what every benchmark on annotated questions takes."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path)
    parser.add_argument("--work", type=Path, default=Path.home() / ".cache" / "gitrag-bench")
    parser.add_argument("--only", action="append", help="a repository's name; may be repeated")
    return parser


def chosen_projects(arguments: argparse.Namespace) -> list[Project]:
    """Read the repositories that are asked for, all of them by default."""
    return [
        project
        for project in read_projects(arguments.questions)
        if not arguments.only or project.name in arguments.only
    ]


def read_projects(questions: Path) -> list[Project]:
    """Read the repositories and their questions."""
    return [
        Project(
            repo["name"],
            repo["language"],
            repo["url"],
            repo["revision"],
            repo.get("benchmark_root"),
            tuple(
                map(
                    _question,
                    json.loads((questions / "annotations" / f"{repo['name']}.json").read_text("utf-8")),
                )
            ),
        )
        for repo in json.loads((questions / "repos.json").read_text("utf-8"))
    ]


def _question(row: dict[str, Any]) -> Question:
    targets = [
        Target(item)
        if isinstance(item, str)
        else Target(item["path"], item.get("start_line", 0), item.get("end_line", 0))
        for item in [*row["relevant"], *row.get("secondary", [])]
    ]
    return Question(row["query"], row["category"], tuple(targets))


def prepare(project: Project, mode: str, work: Path) -> Path:
    """Clone a repository at its revision; in source mode, commit its source folder alone."""
    place = work / mode / project.name
    if (place / ".git").exists():
        return place
    clone = work / "clones" / project.name
    if not clone.exists():
        clone.parent.mkdir(parents=True, exist_ok=True)
        run("git", "clone", "--quiet", "--no-checkout", project.url, str(clone))
    building = place.with_name(place.name + ".part")
    shutil.rmtree(building, ignore_errors=True)
    building.parent.mkdir(parents=True, exist_ok=True)
    run("git", "clone", "--quiet", "--shared", "--no-checkout", str(clone), str(building))
    git = ("git", "-C", str(building))
    if mode == "whole" or not project.root:
        run(*git, "checkout", "--quiet", "--detach", project.revision)
    else:
        run(*git, "checkout", "--quiet", "--orphan", "source", project.revision)
        run(*git, "rm", "-r", "--quiet", "--force", "--cached", ".")
        run(*git, "clean", "-fdxq")
        run(*git, "checkout", "--quiet", project.revision, "--", project.root)
        run(*git, "-c", "user.name=b", "-c", "user.email=b@b", "commit", "--quiet", "--message", "source")
    building.rename(place)
    return place


def measure(repository: Path, project: Project) -> tuple[float, list[Outcome]]:
    """Index a repository, seconds, and ask it every question."""
    workspace = Workspace.open(repository, environ=os.environ)
    began = time.perf_counter()
    workspace.update()
    seconds = time.perf_counter() - began
    workspace.embed()
    search(workspace, "warm up", SearchOptions())
    outcomes = []
    for question in project.questions:
        began = time.perf_counter()
        answer = search(workspace, question.text, SearchOptions(limit=PAGE, min_score=0.0))
        milliseconds = 1000 * (time.perf_counter() - began)
        ranks = [rank_of(target, answer.hits) for target in question.targets]
        found = [rank for rank in ranks if rank]
        outcomes.append(
            Outcome(
                repository=project.name,
                language=project.language,
                kind=question.kind,
                question=question.text,
                ndcg=ndcg(ranks),
                recall=len(found) / len(ranks),
                mrr=1 / min(found) if found else 0.0,
                milliseconds=milliseconds,
            )
        )
    return seconds, outcomes


@contextmanager
def draft_index(repository: Path) -> Iterator[tuple[Workspace, int]]:
    """Index a repository into a store of its own, nothing embedded; give its view too."""
    with tempfile.TemporaryDirectory(prefix="gitrag-bench-") as folder:
        workspace = Workspace.open(repository, environ=os.environ)
        workspace.store = Store(Path(folder), recipe=RECIPE)
        yield workspace, workspace.update().refreshed.view.view_id


@contextmanager
def open_files(
    project: Project, mode: str, work: Path
) -> Iterator[tuple[Workspace, Connection, SearchScope, list[str]]]:
    """Index and embed a repository, and open all its files as a scope; give their paths too."""
    workspace = Workspace.open(prepare(project, mode, work), environ=os.environ)
    refreshed = workspace.update().refreshed
    workspace.embed()
    with workspace.store.read() as db:
        scope = candidates.open_scope(db, refreshed.view.view_id, refreshed.overlay)
        path_ids = scope.files.path_id.tolist()
        paths = candidates.read_paths(db, path_ids)
        yield workspace, db, scope, [paths[path_id] for path_id in path_ids]


def ask(db: Connection, view_id: int, text: str, vector_of: VectorOf) -> Sequence[Hit]:
    """Ask a view a question with a vector from anywhere; the first page."""
    question = read(text)
    scoped = engine.Scoped(view_id, engine.ViewOverlay(), NO_FILTERS)
    return engine.ask(db, question, scoped, vector_of(question.text), limit=PAGE, min_score=0.0).hits


def rank_of(target: Target, hits: Iterable[Hit]) -> int:
    """Give the place of a target among the results, from 1; 0 when it is not there."""
    return next((place for place, hit in enumerate(hits, start=1) if target.is_in(hit)), 0)


def ndcg(ranks: Sequence[int]) -> float:
    """NDCG@10 with binary gains, from the targets' places (Järvelin and Kekäläinen, 2002)."""
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(PAGE, len(ranks)) + 1))
    return sum(1 / math.log2(rank + 1) for rank in ranks if rank) / ideal


def report(mode: str, outcomes: Sequence[Outcome], index_s: float, before: Sequence[Outcome]) -> None:
    """Print the tables of one mode."""
    old = {(outcome.repository, outcome.question): outcome.ndcg for outcome in before}
    print(
        f"\n== {mode}\n{'':24} {'questions':>9} {'NDCG@10':>8} {'recall':>7} {'MRR':>6}"
        + ("   change" if old else "")
    )

    def line(label: str, chosen: Sequence[Outcome]) -> None:
        means = [
            statistics.fmean(getattr(outcome, name) for outcome in chosen)
            for name in ("ndcg", "recall", "mrr")
        ]
        changes = [
            o.ndcg - old[o.repository, o.question] for o in chosen if (o.repository, o.question) in old
        ]
        change = f"   {statistics.fmean(changes):+.3f}" if changes else ""
        print(f"{label:24} {len(chosen):9} {means[0]:8.3f} {means[1]:7.3f} {means[2]:6.3f}{change}")

    for field in ("repository", "language", "kind"):
        groups: dict[str, list[Outcome]] = defaultdict(list)
        for outcome in outcomes:
            groups[getattr(outcome, field)].append(outcome)
        for label, chosen in sorted(groups.items()):
            line(label, chosen)
        print()
        if field == "repository":
            mean = statistics.fmean(statistics.fmean(o.ndcg for o in chosen) for chosen in groups.values())
    line("all questions", outcomes)
    times = sorted(outcome.milliseconds for outcome in outcomes)
    print(
        f"mean over repositories {mean:.3f}; search p50 {times[len(times) // 2]:.0f} ms, "
        f"p95 {times[int(len(times) * 0.95)]:.0f} ms; text index of all {index_s:.1f} s"
    )


def own_commit() -> str:
    """Name the commit that makes the figures, with + for uncommitted changes."""
    described = subprocess.run(
        ["git", "-C", HERE, "describe", "--always", "--dirty=+"], capture_output=True, text=True, check=False
    )
    return described.stdout.strip()


def run(*command: str) -> None:
    """Run a command that has to succeed."""
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
