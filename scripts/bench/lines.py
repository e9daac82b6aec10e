"""Do the lines that a hit shows answer the question?

    .venv/bin/python scripts/bench/lines.py CSV CLONE [--embed] [--list]
    .venv/bin/python scripts/bench/lines.py scripts/bench/asked CLONES [--only NAME] [--stores FOLDER]

CSV has a line of headings, then a question a row, the places that answer it, ``path:first-
last:relevance`` (2: answers it, 1: bears on it); CLONE is the repository at the commit that they are of.
A result is the line range that a hit shows first; it counts when it overlaps a place. Printed: the share
of questions with a place among the first 1, 5 and 10 ranges, MRR and NDCG@10 with graded gains (Järvelin
and Kekäläinen, 2002), the same over every range that the hits name, the share with a file of a place
among the first five, and the median number of lines shown.

Of a folder of sets, as `asked.py` has them, CLONES/<name> is asked of each that is not aside; --stores has
indexes that were kept, FOLDER/asked-<name>, which are copied. For budgets of tokens it is printed what share
of the lines of all places is shown, of the places, and of the questions any: of the passages that
`search_code` gives by default, cut at the budget, and of those that it packs into it. Means over questions,
then repositories.

Without --embed chunks have drafts only. --list prints the questions whose first range is beside every place.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from asked import AskedSet, read_sets
from msgspec.structs import replace
from questions import PAGE, draft_index

from gitrag.actions.hit_lines import PACKED_HITS, Passage, packed, tokens
from gitrag.actions.search_code import LIMIT, likeliest
from gitrag.search import engine
from gitrag.search.engine import Hit
from gitrag.search.question import read
from gitrag.store.scopes import NO_FILTERS
from gitrag.store.source import IndexFile
from gitrag.workspace import Workspace

BUDGETS = (500, 1_000, 2_000)


@dataclass(frozen=True, slots=True)
class Place:
    """Lines that bear on a question."""

    path: str
    first: int
    last: int
    relevance: int

    def overlaps(self, path: str, first: int, last: int) -> bool:
        """Tell whether a range of a file shows some of it."""
        return path == self.path and first <= self.last and self.first <= last


Range = tuple[str, int, int]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("csv", type=Path)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--only", action="append", help="a set's name; may be repeated")
    parser.add_argument("--stores", type=Path, help="folder of kept indexes")
    parser.add_argument("--embed", action="store_true", help="with the model's vectors")
    parser.add_argument("--list", action="store_true", help="list the questions whose first range is beside")
    arguments = parser.parse_args()
    if arguments.csv.is_dir():
        _ask_sets(arguments)
        return
    with arguments.csv.open(encoding="utf-8", newline="") as file:
        questions = [
            (row[0], [_place(cell) for cell in row[1:] if cell]) for row in list(csv.reader(file))[1:] if row
        ]
    questions = [(text, places) for text, places in questions if places]
    if arguments.embed:
        workspace = Workspace.open(arguments.clone, environ=os.environ)
        view_id = workspace.update().refreshed.view.view_id
        workspace.embed()
        run(workspace, view_id, questions, wrong=arguments.list)
    else:
        with draft_index(arguments.clone) as (workspace, view_id):
            run(workspace, view_id, questions, wrong=arguments.list)


def _place(cell: str) -> Place:
    path, lines, relevance = cell.rsplit(":", 2)
    first, _, last = lines.partition("-")
    return Place(path, int(first), int(last or first), int(relevance))


def run(
    workspace: Workspace, view_id: int, questions: Sequence[tuple[str, list[Place]]], *, wrong: bool
) -> None:
    """Ask and print."""
    shown: list[list[Range]] = []
    every: list[list[Range]] = []
    with workspace.store.read() as db:
        for text, _ in questions:
            question = read(text)
            scoped = engine.Scoped(view_id, engine.ViewOverlay(), NO_FILTERS, limit=PAGE)
            hits = engine.ask(
                IndexFile(db), question, scoped, workspace.encoder.encode_query, engine.Memo()
            ).hits
            shown.append([(hit.path, hit.chunk.line_start, hit.chunk.line_end) for hit in hits])
            every.append([own for hit in hits for own in _ranges(hit)])
    places = [own for _, own in questions]
    print(f"{len(questions)} questions")
    report("shown first", shown, places)
    report("every range", every, places)
    files = [
        any(place.path == path for place in own for path, *_ in ranges[:5])
        for ranges, own in zip(shown, places, strict=True)
    ]
    lines = [last - first + 1 for ranges in shown for _, first, last in ranges]
    print(f"file@5 {np.mean(files):.3f}  lines shown, median {np.median(lines):.0f}")
    for (text, own), ranges in zip(questions, shown, strict=True) if wrong else ():
        if not any(place.overlaps(*ranges[0]) for place in own):
            print(f"{text}\n    {ranges[0]}\n    {own}")


def _ask_sets(arguments: argparse.Namespace) -> None:
    """Ask sets for what fits into a budget."""
    rows = []
    for each in read_sets():
        if each.name in arguments.only if arguments.only else not each.is_aside:
            clone = arguments.clone / each.name
            kept = arguments.stores / f"asked-{each.name}" if arguments.stores else None
            with tempfile.TemporaryDirectory(prefix="gitrag-bench-") as folder:
                if kept:
                    shutil.copytree(kept, folder, dirs_exist_ok=True)
                workspace = Workspace.open(clone, environ=os.environ, store_directory=Path(folder))
                rows.append(_within_budgets(workspace, each, clone))
            print(f"{each.name:24}" + "".join(f" {figure:.3f}" for figure in rows[-1].flat), flush=True)
    print(f"{len(rows)} repositories: of lines, of places, of questions")
    for budget, ways in zip(BUDGETS, np.mean(rows, axis=0), strict=True):
        for way, figures in zip(("first five", "packed"), ways, strict=True):
            print(f"{budget:6} tokens, {way:10} " + "  ".join(f"{figure:.3f}" for figure in figures))


def _within_budgets(workspace: Workspace, asked: AskedSet, clone: Path) -> np.ndarray:
    refreshed = workspace.update().refreshed
    overlay = replace(refreshed.overlay, commit=refreshed.head.commit or "")
    scoped = engine.Scoped(refreshed.view.view_id, overlay, NO_FILTERS, limit=PACKED_HITS, grouped=True)
    rows = []
    with workspace.store.read() as db:
        for each in asked.questions:
            question = read(each.text)
            hits = engine.ask(
                IndexFile(db), question, scoped, workspace.encoder.encode_query, engine.Memo()
            ).hits
            places = [_labelled(clone, answer.path, answer.line, answer.lines) for answer in each.answers]
            ways = [
                (_first(likeliest(hits[:LIMIT], LIMIT), budget), _first(packed(hits, budget), budget))
                for budget in BUDGETS
            ]
            rows.append([[_recall(found, places) for found in own] for own in ways])
    return np.asarray(np.mean(rows, axis=0))


def _labelled(clone: Path, path: str, line: str, lines: int) -> Place:
    text = (clone / path).read_text("utf-8", "replace")
    found = re.search(line, text, re.MULTILINE)
    first = text.count("\n", 0, found.start() if found else 0) + 1
    return Place(path, first, min(first + lines - 1, text.count("\n") + 1), 2)


def _first(passages: Sequence[Passage], budget: int) -> list[Range]:
    """Return the lines of passages that are within the first so many tokens."""
    found: list[Range] = []
    for hit, own, _ in passages:
        lines = own.text.split("\n")
        while lines and tokens(hit.path, "\n".join(lines)) > budget:
            lines.pop()
        if lines:
            found.append((hit.path, own.line_start, own.line_start + len(lines) - 1))
            budget -= tokens(hit.path, "\n".join(lines))
    return found


def _recall(found: Sequence[Range], places: Sequence[Place]) -> tuple[float, float, float]:
    labelled = {(place.path, line) for place in places for line in range(place.first, place.last + 1)}
    shown = {(path, line) for path, first, last in found for line in range(first, last + 1)}
    met = [any(place.overlaps(*own) for own in found) for place in places]
    return len(labelled & shown) / len(labelled), float(np.mean(met)), float(any(met))


def _ranges(hit: Hit) -> list[Range]:
    return [
        (hit.path, hit.chunk.line_start, hit.chunk.line_end),
        *((hit.path, other.line_start, other.line_end) for other, _ in hit.also),
    ]


def report(label: str, found: Sequence[Sequence[Range]], places: Sequence[Sequence[Place]]) -> None:
    """Print the figures of one list of ranges."""
    ranks = [
        next((at for at, own in enumerate(ranges, 1) if any(place.overlaps(*own) for place in right)), 0)
        for ranges, right in zip(found, places, strict=True)
    ]
    at = {k: np.mean([0 < rank <= k for rank in ranks]) for k in (1, 5, 10)}
    mrr = np.mean([1 / rank if rank else 0.0 for rank in ranks])
    ndcg = np.mean([_ndcg(ranges[:PAGE], right) for ranges, right in zip(found, places, strict=True)])
    print(f"{label:12} hit@1 {at[1]:.3f} @5 {at[5]:.3f} @10 {at[10]:.3f}  MRR {mrr:.3f}  NDCG@10 {ndcg:.3f}")


def _ndcg(ranges: Sequence[Range], places: Sequence[Place]) -> float:
    """Each place counts once, where it is first overlapped."""
    left = list(places)
    gain = 0.0
    for rank, own in enumerate(ranges, 1):
        met = [place for place in left if place.overlaps(*own)]
        gain += sum(place.relevance for place in met) / math.log2(rank + 1)
        left = [place for place in left if place not in met]
    ideal = sorted((place.relevance for place in places), reverse=True)
    return gain / sum(own / math.log2(rank + 1) for rank, own in enumerate(ideal, 1))


if __name__ == "__main__":
    main()
