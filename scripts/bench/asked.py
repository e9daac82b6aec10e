"""Asked in the words of those who ask: is a file that answers first, among three, among ten?

    .venv/bin/python scripts/bench/asked.py CLONES [--only NAME] [--aside] [--refined] [--features]
    .venv/bin/python scripts/bench/asked.py CLONES --foreign [--only NAME] [--refined]
    .venv/bin/python scripts/bench/asked.py CLONES --check [--only NAME]

`asked/<name>.toml` holds ten questions to a repository at one revision, written from its source with git and
grep alone, in the words of a user, a tester, a product manager or a new developer:

    url = "https://…"
    revision = "…"
    kind = "application"      # or "library"

    [[question]]
    text = "where do uploaded pictures go"
    answers = [{ path = "src/storage.py", line = "def save_upload", lines = 20 }]

An answer is a file that a maintainer would accept as the place to look or to change, the best first; of it, a
regular expression finds the decisive line (the first that matches), of which the next ``lines`` count too.

Each repository, the clone CLONES/<name> with its history, is indexed with draft vectors into a store of its
own (--refined: with the model's); its questions are asked of all its files. Printed are the shares of
questions with a file that answers first, among three, among ten, and NDCG@10 (binary, by file): mean over a
repository's questions, then over repositories, applications and libraries apart. One repository in three is
kept aside: no weight was fitted on it, and only --aside asks it. --features prints, beside the ranker, each
of its features alone and pairs of them by reciprocal ranks: none may be better.

--foreign asks those that `asked/foreign.tsv` has in another language (name, number, language, text), as a
search reads them, and prints each language's figures.

--check compares each set with its clone instead: its revision, that each path is there and each expression
matches, that a question has 4 to 12 words and five of ten share no stemmed word with the name of the first
answer's file or of its definitions. It prints what is off, and exits with 1 if anything is.
"""

from __future__ import annotations

import argparse
import math
import re
import subprocess
import sys
import tomllib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace
from questions import PAGE, draft_index, ndcg

from gitrag.actions import search
from gitrag.chunking.chunker import chunk
from gitrag.chunking.languages import language_of
from gitrag.corpus.layout import CollectionKind
from gitrag.indexing.history import read_history
from gitrag.search import collecting, engine, sections
from gitrag.search.everyday import in_code_words
from gitrag.search.evidence import Evidence
from gitrag.search.question import STOP_WORDS, read
from gitrag.store import scopes
from gitrag.store.source import IndexFile
from gitrag.words.terms import parts_of

if TYPE_CHECKING:
    from gitrag.store.connection import Connection
    from gitrag.workspace import Workspace

SETS = Path(__file__).parent / "asked"
EACH = 10
KINDS = ("application", "library")
WORDS = range(4, 13)
PLACES = (1, 3, 10)
FUSED = 10
"""Added to a rank before its reciprocal is taken."""

COMPARED = ("bm25", "bm25_file", "cosine", "cosine_sum", "in_names", "file_name_share", "history", "meant")
"""Features that order files by themselves."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A file that answers, and where in it.

    Attributes:
        path: The file's path.
        line: A regular expression of the decisive line.
        lines: How many lines matter from there.
    """

    path: str
    line: str
    lines: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and every file that answers it, the best first."""

    text: str
    answers: tuple[Answer, ...]
    language: str = ""

    @property
    def paths(self) -> list[str]:
        """The files that answer it, each once."""
        return list(dict.fromkeys(answer.path for answer in self.answers))


@dataclass(frozen=True, slots=True)
class AskedSet:
    """The questions to a repository at one revision."""

    name: str
    url: str
    revision: str
    kind: str
    questions: tuple[Asked, ...]

    @property
    def is_aside(self) -> bool:
        """Whether nothing may be fitted on it."""
        return zlib.crc32(self.name.encode()) % 3 == 0


def main() -> None:
    """Ask, or check the sets."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clones", type=Path, metavar="CLONES", help="folder of the clones")
    parser.add_argument("--only", action="append", help="a repository's name; may be repeated")
    parser.add_argument("--check", action="store_true", help="compare the sets with the clones instead")
    parser.add_argument("--aside", action="store_true", help="ask those that are kept aside, not the others")
    parser.add_argument("--refined", action="store_true", help="with the model's vectors")
    parser.add_argument("--features", action="store_true", help="each feature by itself, too")
    parser.add_argument("--foreign", action="store_true", help="in other languages than English")
    arguments = parser.parse_args()
    sets = [each for each in read_sets() if not arguments.only or each.name in arguments.only]
    if arguments.foreign:
        sets = [own for each in sets if (own := in_other_languages(each)).questions]
    if arguments.check:
        faults = [
            f"{each.name}: {fault}" for each in sets for fault in check(each, arguments.clones / each.name)
        ]
        print(*faults, sep="\n", end="\n" if faults else "")
        sys.exit(1 if faults else 0)
    rows: dict[str, dict[str, list[list[float]]]] = {kind: {} for kind in KINDS}
    print(f"{'':30} {'first':>6} {'three':>6} {'ten':>6} {'NDCG':>6}")
    for each in sets:
        if arguments.only or each.is_aside == arguments.aside:
            found = ask(each, arguments.clones / each.name, arguments)
            for way, means in found.items():
                rows[each.kind].setdefault(way, []).append(means)
            print(line(each.name, found["ranker"]), flush=True)
    for kind, ways in rows.items():
        print(f"\n{kind}: {len(next(iter(ways.values()), []))} repositories")
        for way, figures in sorted(ways.items(), key=lambda item: -float(np.mean(item[1], axis=0)[-1])):
            print(line(way, np.mean(figures, axis=0).tolist()))


def line(label: str, figures: Sequence[float]) -> str:
    """Write a row of the table."""
    return f"{label:30} " + " ".join(f"{figure:6.3f}" for figure in figures)


def ask(asked: AskedSet, clone: Path, arguments: argparse.Namespace) -> dict[str, list[float]]:
    """Ask a repository's questions; for the ranker and other ways of ordering files, the means."""
    scored: dict[str, list[list[float]]] = {}
    with draft_index(clone) as (workspace, _view_id):
        refreshed = workspace.update().refreshed
        read_history(workspace.store, workspace.repo, refreshed.head.commit or "")
        if arguments.refined:
            workspace.embed()
        with workspace.store.read() as db:
            overlay = replace(refreshed.overlay, commit=refreshed.head.commit or "")
            scoped = engine.Scoped(refreshed.view.view_id, overlay, scopes.NO_FILTERS, limit=PAGE)
            for question in asked.questions:
                if question.language:
                    source = IndexFile(db)
                    code = sections.Wanted((CollectionKind.CODE,))
                    own = read(question.text)
                    found = search.rank(
                        source, own, scoped, code, workspace.encoder, engine.Memo(), reword=True
                    )
                    hits = [hit.path for hit in found.sections[0].hits]
                    for way in ("ranker", question.language):
                        scored.setdefault(way, []).append(figures(hits, question.paths))
                    continue
                for way, shown in ordered(db, scoped, question.text, workspace, alone_too=arguments.features):
                    scored.setdefault(way, []).append(figures(shown, question.paths))
    return {way: np.mean(each, axis=0).tolist() for way, each in scored.items()}


def ordered(
    db: Connection, scoped: engine.Scoped, text: str, workspace: Workspace, *, alone_too: bool
) -> Iterator[tuple[str, list[str]]]:
    """Order files by the ranker; with ``alone_too`` by features and pairs, too. The first page of each."""
    question = read(text)
    vector_of = workspace.encoder.encode_query
    hits = engine.ask(IndexFile(db), question, scoped, vector_of, engine.Memo()).hits
    yield "ranker", [hit.path for hit in hits]
    if alone_too:
        scope = scopes.open_scope(db, scoped.view_id, scoped.overlay)
        question = in_code_words(IndexFile(db), question, scope, None)
        vector = vector_of(question.meaning)
        told = IndexFile(db).messages(scope, scoped.overlay.commit or "", question.hashes, vector)
        evidence = collecting.collect(IndexFile(db), question, scope, vector, told=told)
        number = scope.files.path_id.tolist()
        paths = scopes.read_paths(db, number)
        for way, best in alone(evidence):
            yield way, [paths[number[file]] for file in best]


def alone(evidence: Evidence) -> Iterator[tuple[str, Sequence[int]]]:
    """Order the product's own files by single features, and by pairs of them; the first page of each."""
    outside = evidence.features["test_or_doc"] + (1 - evidence.features["code"])
    ranks: Mapping[str, Any] = {
        name: np.argsort(np.lexsort((-evidence.features[name], outside))) for name in COMPARED
    }
    for name, rank in ranks.items():
        yield name, np.argsort(rank)[:PAGE].tolist()
    for one, other in combinations(ranks, 2):
        fused = 1 / (FUSED + ranks[one]) + 1 / (FUSED + ranks[other])
        yield f"{one} + {other}", np.argsort(-fused, kind="stable")[:PAGE].tolist()


def figures(shown: Sequence[str], answers: Sequence[str]) -> list[float]:
    """Return whether one of some files is first, among three, among ten of those shown, and NDCG@10."""
    places = [shown.index(path) + 1 if path in shown else 0 for path in answers]
    best = min(filter(None, places), default=math.inf)
    return [*(float(best <= most) for most in PLACES), ndcg(places)]


def read_sets() -> list[AskedSet]:
    """Read every set, by name; KeyError, TypeError or ValueError says what one lacks."""
    return [_read(path) for path in sorted(SETS.glob("*.toml"))]


def in_other_languages(asked: AskedSet) -> AskedSet:
    """Return those of a set's questions that there are in another language, in that."""
    rows = [line.split("\t") for line in (SETS / "foreign.tsv").read_text("utf-8").splitlines()]
    questions = tuple(
        Asked(text, asked.questions[int(number) - 1].answers, language)
        for name, number, language, text in rows
        if name == asked.name
    )
    return AskedSet(asked.name, asked.url, asked.revision, asked.kind, questions)


def _read(path: Path) -> AskedSet:
    data: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    if data["kind"] not in KINDS:
        raise ValueError(f"{path.name}: kind {data['kind']!r}; use one of {', '.join(KINDS)}")
    questions = tuple(
        Asked(row["text"], tuple(Answer(**answer) for answer in row["answers"])) for row in data["question"]
    )
    return AskedSet(path.stem, data["url"], data["revision"], data["kind"], questions)


def shared(question: Asked, clone: Path) -> set[str]:
    """List the stems that a question has in common with the names of its first answer."""
    path = question.answers[0].path
    data = (clone / path).read_bytes()
    first_line = data[:200].decode("utf-8", "replace").partition("\n")[0]
    names = [Path(path).name, *(part.name for part in chunk(data, language_of(path, first_line)))]
    return (set(parts_of(question.text)) - STOP_WORDS) & {stem for name in names for stem in parts_of(name)}


def check(asked: AskedSet, clone: Path) -> list[str]:
    """Compare a set with its clone; say what is off."""
    if not (clone / ".git").exists():
        return [f"no clone at {clone}; clone {asked.url} there at {asked.revision}"]
    head = subprocess.run(
        ["git", "-C", clone, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    faults = []
    if head != asked.revision:
        faults.append(f"the clone stands at {head}, the set is of {asked.revision}")
    if len(asked.questions) != EACH:
        faults.append(f"{len(asked.questions)} questions, not {EACH}")
    for question in asked.questions:
        if len(question.text.split()) not in WORDS or not question.answers:
            faults.append(f"{question.text!r}: too long or short, or without an answer")
        faults += [fault for answer in question.answers for fault in _check_answer(answer, clone)]
    if not faults:
        named = {question.text: shared(question, clone) for question in asked.questions}
        if sum(map(bool, named.values())) > EACH // 2:
            faults += [f"{text!r} shares {', '.join(sorted(own))}" for text, own in named.items() if own]
    return faults


def _check_answer(answer: Answer, clone: Path) -> list[str]:
    place = clone / answer.path
    if not place.is_file():
        return [f"no file {answer.path}"]
    if not re.search(answer.line, place.read_text("utf-8", "replace"), re.MULTILINE):
        return [f"no line {answer.line!r} in {answer.path}"]
    return []


if __name__ == "__main__":
    main()
