"""The pages of files and of references: what is in a folder, which file is meant, where a name stands."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import basename

from markupsafe import Markup

from gitrag.actions.graph_answer import Reference
from gitrag.actions.lines import file_lines
from gitrag.actions.references import graph_or_references
from gitrag.callgraph.answering import Direction, GraphQuestion
from gitrag.callgraph.graph import MODULE, Graph, Node
from gitrag.chunking.occurrences import Use
from gitrag.errors import GitragError
from gitrag.git.meant import listed_paths
from gitrag.report.beside_calls import TITLES
from gitrag.report.parts import shown
from gitrag.search.exact import Pattern
from gitrag.web.desk import Desk
from gitrag.web.marking import marked, source_of
from gitrag.words.numbers import count
from gitrag.words.typed_paths import found_by
from gitrag.workspace import Workspace

MOST_FOUND = 100
"""Files that are offered of those that may be meant."""

MOST_LISTED = 2_000
"""Files and folders of a folder that are listed; places of a kind where a name stands."""

LONGEST = 300
"""Characters of a path that somebody types."""

Listed = tuple[list[tuple[str, str]], int]
"""Names and addresses of what is shown, and how many are left out."""


def files_in(desk: Desk, folder: str) -> Listed:
    """Return the folders and files in a folder, tracked or not ignored, folders first."""
    with desk.slow_turn() as workspace:
        paths = listed_paths(workspace.repo)
    before = f"{folder}/" if folder else ""
    own = [path[len(before) :] for path in paths if path.startswith(before)]
    folders = sorted({rest.partition("/")[0] for rest in own if "/" in rest})
    found = [(f"{shown(name)}/", desk.address.files(before + name)) for name in folders]
    found += [(shown(name), desk.address.file(before + name)) for name in sorted(own) if "/" not in name]
    return found[:MOST_LISTED], len(found) - MOST_LISTED


def files_meant(desk: Desk, folder: str, typed: str) -> Listed:
    """Return the files in a folder that are meant by what is typed; a line may follow: ``cart.py:40``."""
    name, _, line = typed.rpartition(":")
    typed, line = (name, line) if name and line.isdecimal() else (typed, "")
    with desk.slow_turn() as workspace:
        paths = listed_paths(workspace.repo)
    own = (path for path in paths if not folder or path.startswith(f"{folder}/"))
    found = found_by(typed, own, MOST_FOUND)
    return [(shown(path), desk.address.file(path, int(line[:9] or 0))) for path in found], 0


Places = tuple[str, list[tuple[Reference, Markup]], int]
"""What a name does in some places, these with their line, and how many are left out."""


def references_to(desk: Desk, target: str) -> tuple[list[Places], list[str]]:
    """Return where a name is defined, called, and named besides; and what was not looked at."""
    question = GraphQuestion(target=target, direction=Direction.CALLERS)
    with desk.slow_turn() as workspace:
        answer = graph_or_references(workspace, question, with_references=True)
        groups = dict(_of_graph(workspace, answer.graph)) if answer.graph is not None else {}
    for use, title in TITLES.items():
        groups[title] = [each for each in answer.references if each.use is use]
    for own in groups.values():
        own.sort(key=lambda each: each.is_test)
    named = answer.named
    pattern = Pattern(named.name if named else basename(target).rpartition(".")[2] or target, is_regex=False)

    def line(each: Reference) -> Markup:
        (text,) = source_of(each.path, [each.text]).lines
        return marked(text, pattern.spans(text))

    found = [
        (title, [(each, line(each)) for each in own[:MOST_LISTED]], max(len(own) - MOST_LISTED, 0))
        for title, own in groups.items()
        if own
    ]
    unread = named.unread if named else 0
    late = [f"{count(unread, 'more file')} with that name not looked at: time was over."] if unread else []
    late += answer.not_indexed
    return found, [*answer.remarks, *answer.negatives, *late]


def _of_graph(workspace: Workspace, graph: Graph) -> Iterator[tuple[str, list[Reference]]]:
    """Yield where what a graph is about is defined, and where it is called."""
    read: dict[str, list[str]] = {}

    def at(node: Node, line: int, use: Use, *, is_sure: bool = True) -> Reference:
        if node.path not in read:
            try:
                read[node.path] = file_lines(workspace, node.path)
            except GitragError:  # gone meanwhile
                read[node.path] = []
        text = "".join(read[node.path][line - 1 : line]).strip()[:LONGEST]
        within = "" if node.name == MODULE or use is Use.DEFINED else node.name
        return Reference(node.path, line, use, within, text, is_sure)

    matches = set(graph.matches)
    yield "defined", [at(each, each.line_start, Use.DEFINED) for each in graph.matches]
    called = [
        at(each.caller, line, Use.CODE, is_sure=each.is_sure)
        for each in graph.edges
        if each.callee in matches
        for line in each.lines
    ]
    yield "called", called
