"""Whether the call graph of a search is about what the search has found.

    .venv/bin/python scripts/bench/graph_of_search.py QUESTIONS [--work DIR] [--only NAME] [--every N]

QUESTIONS and --work are those of `quality.py`. Each repository is indexed into a store of its own, without
vectors; every Nth question is asked as `gitrag search` would, with the graph.

- drawn: the questions with a picture; without one there is nothing to see that could mislead.
- own: of the nodes of a picture, those that lie in the lines of a code hit, or in a class that is one.
- near: those, and those that a line in the picture joins with one of them. Means over the pictures.
- half: the pictures in which at least half of the nodes are near.
- best: of the three best code hits, those that the picture has a definition of.
- s: seconds for a graph, the median and the longest.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from questions import Project, chosen_projects, draft_index, parser_of, prepare

from gitrag.actions.graph import code_of, graph_of
from gitrag.actions.search import SearchOptions, search
from gitrag.callgraph import drawing
from gitrag.callgraph.graph import MODULE, Graph, Node
from gitrag.model import Kind
from gitrag.search.engine import Hit

_BEST = 3


@dataclass(frozen=True, slots=True)
class Picture:
    """What one question's picture shows; shares are between 0 and 1."""

    own: float
    near: float
    best: float


def main() -> None:
    """Run the benchmark."""
    parser = parser_of(__doc__)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="ask every Nth question")
    arguments = parser.parse_args()
    print(f"{'':20} {'asked':>6} {'drawn':>6} {'own':>6} {'near':>6} {'half':>6} {'best':>6} {'s':>12}")
    every: list[Picture] = []
    asked = 0
    took: list[float] = []
    for project in chosen_projects(arguments):
        pictures, seconds = measure(project, arguments.work, arguments.every)
        print_row(project.name, pictures, seconds)
        every += pictures
        took += seconds
        asked += len(seconds)
    if asked:
        print_row("all", every, took)


def measure(project: Project, work: Path, every: int) -> tuple[list[Picture], list[float]]:
    """Ask a repository's questions; return the pictures drawn, and the seconds that each graph took."""
    pictures: list[Picture] = []
    seconds: list[float] = []
    with draft_index(prepare(project, "whole", work)) as (workspace, _):
        for question in project.questions[::every]:
            answer = search(workspace, question.text, SearchOptions())
            began = time.process_time()
            with drawn() as graphs:
                graph_of(workspace, answer)
            seconds.append(time.process_time() - began)
            if graphs:
                pictures.append(judged(graphs[0], code_of(answer)))
    return pictures, seconds


@contextmanager
def drawn() -> Iterator[list[Graph]]:
    """Collect the graphs that are drawn, as far as they are."""
    graphs: list[Graph] = []
    own = drawing.most_connected

    def kept(whole: Graph, limit: int) -> tuple[Graph, int]:
        graphs.append(own(whole, limit)[0])
        return graphs[-1], len(whole.nodes) - len(graphs[-1].nodes)

    drawing.most_connected = kept
    try:
        yield graphs
    finally:
        drawing.most_connected = own


def judged(graph: Graph, hits: tuple[Hit, ...]) -> Picture:
    """Say how much of a picture is about the hits."""
    own = {node for node in graph.nodes if any(lies_in(node, hit) for hit in hits)}
    near = own | {
        end
        for edge in graph.edges
        if edge.caller in own or edge.callee in own
        for end in (edge.caller, edge.callee)
    }
    best = hits[:_BEST]
    shown = sum(any(lies_in(node, hit) for node in own) for hit in best)
    many = len(graph.nodes)
    return Picture(len(own) / many, len(near) / many, shown / max(1, len(best)))


def lies_in(node: Node, hit: Hit) -> bool:
    """Tell whether a definition and a hit's lines overlap, or it is of a class that is a hit.

    A file's own code does if a hit has no name.
    """
    if node.path != hit.path:
        return False
    chunks = [hit.chunk, *(chunk for chunk, _ in hit.also)]
    if node.name == MODULE:
        return not all(chunk.name for chunk in chunks)
    if any(chunk.kind is Kind.CLASS and f".{chunk.name}." in f".{node.name}" for chunk in chunks):
        return True
    return any(node.line_start <= chunk.line_end and chunk.line_start <= node.line_end for chunk in chunks)


def print_row(name: str, pictures: list[Picture], seconds: list[float]) -> None:
    """Print a row of the table."""
    said = f"{name:20} {len(seconds):6} {len(pictures):6}"
    if pictures:
        said += "".join(
            f" {statistics.mean(values):6.2f}"
            for values in (
                [each.own for each in pictures],
                [each.near for each in pictures],
                [float(each.near >= 0.5) for each in pictures],
                [each.best for each in pictures],
            )
        )
    print(f"{said} {statistics.median(seconds):6.2f} {max(seconds):5.2f}", flush=True)


if __name__ == "__main__":
    main()
