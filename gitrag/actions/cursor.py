"""What a cursor stands on: the definition it is at, or that is called there, with its calls; or a name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from gitrag.actions.graph import TIMEOUT_S, calls_of
from gitrag.actions.graph_answer import Reference
from gitrag.actions.lines import definitions_of, file_lines
from gitrag.actions.references import references
from gitrag.callgraph.filtering import CONSTRUCTORS
from gitrag.callgraph.graph import MODULE, Graph, Node, graph
from gitrag.callgraph.loading import Deadline
from gitrag.chunking.languages import language_of
from gitrag.chunking.occurrences import Use
from gitrag.model import Chunk, Kind
from gitrag.workspace import Workspace


class Cursor(Struct, frozen=True):
    """A word of a file as it is now: its line is 1-based."""

    path: str
    line: int
    word: str


def calls_at(workspace: Workspace, cursor: Cursor, check: Callable[[], None] = lambda: None) -> Graph:
    """Return the calls of, and to, what the word at a cursor defines or calls; an empty graph where neither.

    Raises:
        TimeoutReachedError: It took too long.
    """
    workspace.require_index()
    lines = file_lines(workspace, cursor.path)
    line, word = cursor.line, cursor.word
    deadline = Deadline(TIMEOUT_S)

    def checked() -> None:
        deadline.check()
        check()

    with calls_of(workspace, None, checked) as (calls, _loaded, _others):
        ids = {node: own for own, node in calls.nodes()}
        around = [
            node for node in ids if node.path == cursor.path and node.line_start <= line <= node.line_end
        ]
        found = {node for node in around if last_name(node) == word and _begins(lines, node) == line}
        if not found:
            called = calls.callees([ids[node] for node in around])
            found = {edge.callee for edge in called if line in edge.lines and _is_called(edge.callee, word)}
        found |= {node for node in ids for each in found if is_constructor(node, each)}
        own = [ids[node] for node in found]
        return graph(found, [*calls.callers(own), *calls.callees(own)] if own else ())


def named_at(
    workspace: Workspace, cursor: Cursor, calls: Graph, check: Callable[[], None] = lambda: None
) -> list[Reference]:
    """Return who certainly means, besides by calls, what is at a cursor; none where that is in doubt."""
    found = references(workspace, cursor.word, calls if calls.matches else None, check=check)
    sure = [each for each in found.found if each.is_sure] if found is not None else []
    if calls.matches:
        return sure
    own = next((each for each in sure if (each.path, each.line) == (cursor.path, cursor.line)), None)
    if own is None or not any(each.use is Use.DEFINED for each in sure):
        return []
    scope = [each for each in sure if (each.path, each.within) == (own.path, own.within)]
    is_local = any(each.use is Use.DEFINED for each in scope) and own.within in _functions(
        workspace, own.path
    )
    return scope if is_local else sure


def name_place(lines: Sequence[str], own: Chunk | Node, name: str) -> tuple[int, int] | None:
    """Return the line, 1-based, and the character at which a definition has its name, if it has one."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    for row in range(own.line_start, min(own.line_end, len(lines)) + 1):
        if name and (found := word.search(lines[row - 1])):
            return row, found.start()
    return None


def _functions(workspace: Workspace, path: str) -> set[str]:
    lines = file_lines(workspace, path)
    found = definitions_of(lines, language_of(path, "\n".join(lines)))
    return {each.qualified_name for each in found if each.kind in {Kind.FUNCTION, Kind.METHOD}}


def last_name(node: Node) -> str:
    """Return a definition's own name; empty for a file's code outside definitions."""
    return "" if node.name == MODULE else node.name.rpartition(".")[2]


def is_constructor(node: Node, of: Node) -> bool:
    """Tell whether a definition is a class's constructor, which is called by the class's name."""
    owner, _, last = node.name.rpartition(".")
    return of.kind == "class" and last in CONSTRUCTORS and (node.path, owner) == (of.path, of.name)


def _begins(lines: Sequence[str], node: Node) -> int:
    place = name_place(lines, node, last_name(node))
    return place[0] if place else 0


def _is_called(callee: Node, word: str) -> bool:
    """Tell whether a call by a word may be of a definition: by its name, of a constructor by its class's."""
    *_, owner, last = ["", *callee.name.split(".")]
    return last == word or (owner == word and last in CONSTRUCTORS)
