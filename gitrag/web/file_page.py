"""The page of a file, and what is said beside it once it is there: history, documents, calls."""

from __future__ import annotations

from markupsafe import Markup
from msgspec import Struct

from gitrag.actions.file_view import FileView, IndexState, view_file
from gitrag.actions.governance.bearings import Bearing
from gitrag.actions.governance.check import check
from gitrag.actions.graph import call_graph
from gitrag.actions.why import Why, why
from gitrag.callgraph.answering import Direction, GraphQuestion, NoMatchError
from gitrag.callgraph.filtering import CONSTRUCTORS
from gitrag.callgraph.graph import MODULE
from gitrag.model import Chunk
from gitrag.report.parts import shown
from gitrag.web.desk import Desk
from gitrag.web.marking import lines_of, source_of
from gitrag.words.numbers import count

MOST_LINES = 20_000
"""Lines of a file on a page; a browser takes seconds for more."""


class FilePage(Struct, frozen=True):
    """A file as a page shows it.

    Attributes:
        folders: The path's folders and its name.
        lines: Its lines, coloured; the first of very many.
        more: How many lines are left out.
    """

    view: FileView
    folders: tuple[str, ...]
    lines: tuple[Markup, ...]
    state: str
    more: int


class CallLink(Struct, frozen=True):
    """A call in a file, and where the called definition is."""

    line: int
    name: str
    address: str
    title: str


class CallsBeside(Struct, frozen=True):
    """Whom a file calls.

    Attributes:
        notes: What was not looked at, or why there are none; a line each.
    """

    links: tuple[CallLink, ...]
    notes: tuple[str, ...]


def file_page(desk: Desk, path: str, revision: str) -> FilePage:
    """Return a file.

    Raises:
        UsageError: There is no such text file, or no such revision.
    """
    with desk.slow_turn() as workspace:
        view = view_file(workspace, path, revision)
    source = source_of(path, view.lines[:MOST_LINES])
    (parts,) = desk.colouring.read([source])
    return FilePage(
        view,
        tuple(shown(path).split("/")),
        tuple(lines_of(source, parts, names=True)),
        _said(view.index) if view.index is not None else "",
        len(view.lines) - len(source.lines),
    )


def _said(state: IndexState) -> str:
    if not state.is_indexed:
        return "not indexed"
    if not state.drafts:
        return f"{count(state.chunks, 'chunk')}, vectors refined"
    return f"{count(state.chunks, 'chunk')}, {count(state.drafts, 'draft vector')}"


def depth(definition: Chunk) -> int:
    """Return how deep a definition is in others, up to three."""
    return min(definition.qualified_name.count(" > " if " > " in definition.qualified_name else "."), 3)


def history_beside(desk: Desk, path: str) -> Why:
    """Return which commits most of a file is from, and why they were made; documents are not looked up."""
    with desk.slow_turn() as workspace:
        return why(workspace, workspace.place, path, with_documents=False)


def documents_beside(desk: Desk, path: str) -> tuple[Bearing, ...]:
    """Return the decisions, specifications and issues that likely bear on a file."""
    with desk.turn() as turn:
        found = check(turn.workspace, turn.workspace.place / path, with_impact=False)
    return (*found.likely, *found.issues)


def calls_beside(desk: Desk, path: str) -> CallsBeside:
    """Return whom the definitions of a file call."""
    try:
        with desk.slow_turn() as workspace:
            answer = call_graph(workspace, GraphQuestion(target=path, direction=Direction.CALLEES))
    except NoMatchError as error:
        return CallsBeside((), (str(error),))
    if answer.graph is None:
        return CallsBeside((), tuple(filter(None, (*answer.notes, answer.error))))
    links = []
    for edge in answer.graph.edges:
        callee = edge.callee
        if edge.caller.path != path or callee.name == MODULE:
            continue
        *owners, name = callee.name.split(".")
        links += [
            CallLink(
                line,
                owners[-1] if owners and name in CONSTRUCTORS else name,
                desk.address.file(callee.path, callee.line_start),
                f"{callee.name} in {shown(callee.path)}:{callee.line_start}",
            )
            for line in edge.lines
        ]
    return CallsBeside(tuple(links), answer.graph.followed.notes)
