"""Annotated questions, the repositories they are about, and how well a page answers them.

What `quality.py` says of QUESTIONS and --work is read here, for every script that asks such questions.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from gitrag.indexing.history import read_history
from gitrag.machine.environment import multiply_in_one_thread
from gitrag.search import engine
from gitrag.search.engine import Hit
from gitrag.search.question import read
from gitrag.store import scopes
from gitrag.store.scopes import NO_FILTERS, SearchScope
from gitrag.store.source import IndexFile
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gitrag.store.connection import Connection

multiply_in_one_thread()  # as the commands do; NumPy is loaded after this

VectorOf: TypeAlias = "Callable[[str], NDArray[np.float32] | None]"
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


@contextmanager
def draft_index(repository: Path) -> Iterator[tuple[Workspace, int]]:
    """Index a repository into a store of its own, nothing embedded; give its view too."""
    with tempfile.TemporaryDirectory(prefix="gitrag-bench-") as folder:
        workspace = Workspace.open(repository, environ=os.environ, store_directory=Path(folder))
        yield workspace, workspace.update().refreshed.view.view_id


@contextmanager
def open_files(
    project: Project, mode: str, work: Path
) -> Iterator[tuple[Workspace, Connection, SearchScope, list[str]]]:
    """Index and embed a project, and open all its files as a scope; give their paths too."""
    with open_repository(prepare(project, mode, work)) as opened:
        yield opened


@contextmanager
def open_repository(place: Path) -> Iterator[tuple[Workspace, Connection, SearchScope, list[str]]]:
    """Index and embed a repository, read its history, and open all its files; give their paths too."""
    workspace = Workspace.open(place, environ=os.environ)
    refreshed = workspace.update().refreshed
    workspace.embed()
    read_history(workspace.store, workspace.repo, refreshed.head.commit or "")
    with workspace.store.read() as db:
        scope = scopes.open_scope(db, refreshed.view.view_id, refreshed.overlay)
        path_ids = scope.files.path_id.tolist()
        paths = scopes.read_paths(db, path_ids)
        yield workspace, db, scope, [paths[path_id] for path_id in path_ids]


def ask(db: Connection, view_id: int, text: str, vector_of: VectorOf) -> Sequence[Hit]:
    """Ask a view a question with a vector from anywhere; the first page."""
    question = read(text)
    scoped = engine.Scoped(view_id, engine.ViewOverlay(), NO_FILTERS, limit=PAGE)
    return engine.ask(IndexFile(db), question, scoped, vector_of, engine.Memo()).hits


def rank_of(target: Target, hits: Iterable[Hit]) -> int:
    """Give the place of a target among the results, from 1; 0 when it is not there."""
    return next((place for place, hit in enumerate(hits, start=1) if target.is_in(hit)), 0)


def ndcg(ranks: Sequence[int]) -> float:
    """NDCG@10 with binary gains, from the targets' places (Järvelin and Kekäläinen, 2002)."""
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(PAGE, len(ranks)) + 1))
    return sum(1 / math.log2(rank + 1) for rank in ranks if rank) / ideal


def own_commit() -> str:
    """Name the commit that makes the figures, with + for uncommitted changes."""
    described = subprocess.run(
        ["git", "-C", HERE, "describe", "--always", "--dirty=+"], capture_output=True, text=True, check=False
    )
    return described.stdout.strip()


def run(*command: str) -> None:
    """Run a command that has to succeed."""
    subprocess.run(command, check=True)
