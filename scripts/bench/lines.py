"""Do the lines that a hit shows answer the question?

    .venv/bin/python scripts/bench/lines.py CSV CLONE [--embed] [--list]

CSV has a line of headings, then a question a row, the places that answer it, ``path:first-
last:relevance`` (2: answers it, 1: bears on it); CLONE is the repository at the commit that they are of.
A result is the line range that a hit shows first; it counts when it overlaps a place. Printed: the share
of questions with a place among the first 1, 5 and 10 ranges, MRR and NDCG@10 with graded gains (Järvelin
and Kekäläinen, 2002), the same over every range that the hits name, the share with a file of a place
among the first five, and the median number of lines shown.

Without --embed chunks have drafts only. --list prints the questions whose first range is beside every place.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from questions import PAGE, draft_index

from gitrag.search import engine
from gitrag.search.engine import Hit
from gitrag.search.question import read
from gitrag.store.candidates import NO_FILTERS
from gitrag.store.source import IndexFile
from gitrag.workspace import Workspace


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
    parser.add_argument("--embed", action="store_true", help="with the model's vectors")
    parser.add_argument("--list", action="store_true", help="list the questions whose first range is beside")
    arguments = parser.parse_args()
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
            vector = workspace.encoder.encode_query(question.text)
            scoped = engine.Scoped(view_id, engine.ViewOverlay(), NO_FILTERS, limit=PAGE)
            hits = engine.ask(IndexFile(db), question, scoped, vector, engine.Memo()).hits
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


def _ranges(hit: Hit) -> list[Range]:
    return [
        (hit.path, hit.chunk.line_start, hit.chunk.line_end),
        *((hit.path, other.chunk.line_start, other.chunk.line_end) for other in hit.also),
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
