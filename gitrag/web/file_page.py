"""The pages of a file and of all files, and what is said beside one later: history, documents, calls."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from posixpath import basename
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from gitrag.actions.file_view import blame_view, view_file
from gitrag.actions.governance.bearings import Bearing
from gitrag.actions.governance.check import check
from gitrag.actions.graph import call_graph
from gitrag.actions.graph_answer import Reference
from gitrag.actions.issues import forge_address
from gitrag.actions.lines import file_lines
from gitrag.actions.references import graph_or_references
from gitrag.actions.why import Why, why
from gitrag.callgraph.answering import Direction, GraphQuestion, NoMatchError
from gitrag.callgraph.filtering import CONSTRUCTORS
from gitrag.callgraph.graph import MODULE, Graph, Node
from gitrag.chunking.occurrences import Use
from gitrag.errors import GitragError
from gitrag.git.meant import listed_paths
from gitrag.model import Chunk
from gitrag.report.beside_calls import TITLES
from gitrag.report.parts import shown
from gitrag.search.exact import Pattern
from gitrag.web.desk import Desk
from gitrag.web.marking import lines_of, marked, source_of
from gitrag.words.numbers import count
from gitrag.words.typed_paths import found_by
from gitrag.workspace import Workspace

MOST_LINES = 20_000
"""Lines of a file on a page; a browser takes seconds for more."""


_EDITORS = {
    "code": ("VS Code", "vscode://file{path}:{first}"),
    "code-insiders": ("VS Code Insiders", "vscode-insiders://file{path}:{first}"),
    "codium": ("VSCodium", "vscodium://file{path}:{first}"),
    "cursor": ("Cursor", "cursor://file{path}:{first}"),
    "windsurf": ("Windsurf", "windsurf://file{path}:{first}"),
    "zed": ("Zed", "zed://file{path}:{first}"),
}
"""Editors that a browser can open, by their program, and how."""


def file_page(desk: Desk, path: str, revision: str, *, with_blame: bool = False) -> dict[str, Any]:
    """Return what the template is filled with: a file, its blame only where that was asked for."""
    with desk.slow_turn() as workspace:
        view = view_file(workspace, path, revision)
        commit = view.commit or (workspace.repo.head().commit if view.then else None) or ""
        forge = forge_address(workspace, commit, path) if commit else ""
        blame = blame_view(workspace, view) if with_blame else None
    source = source_of(path, view.lines[:MOST_LINES])
    (parts,) = desk.colouring.read([source])
    more = len(view.lines) - len(source.lines)
    return {
        "view": view,
        "name": shown(path).rpartition("/")[2],
        "lines": list(lines_of(source, parts, names=True)),
        "state": _said(*view.indexed) if view.indexed is not None else "",
        "more": more,
        "commit": commit,
        "forge": forge,
        "editor": ("", "") if view.commit else _editor(desk, path),
        "blame": blame,
    }


def _editor(desk: Desk, path: str) -> tuple[str, str]:
    """Return the editor that the user's environment names, and the address that opens a file in it."""
    command = desk.environ.get("VISUAL") or desk.environ.get("EDITOR") or ""
    name, pattern = _EDITORS.get(Path((command.split() or [""])[0]).name, ("", ""))
    return name, pattern.replace("{path}", quote(os.fsencode(desk.workspace.place / path)))


def _said(chunks: int | None = None, drafts: int = 0) -> str:
    if chunks is None:
        return "not indexed"
    left = count(drafts, "draft vector") if drafts else "vectors refined"
    return f"{count(chunks, 'chunk')}, {left}"


def depth(definition: Chunk) -> int:
    """Return how deep a definition is in others, up to three."""
    return min(definition.qualified_name.count(" > " if " > " in definition.qualified_name else "."), 3)


def history_beside(desk: Desk, path: str) -> Why:
    """Return which commits most of a file is from, and why they were made; documents are not looked up."""
    with desk.slow_turn() as workspace:
        return why(workspace, workspace.place, path, with_documents=False)


def documents_beside(desk: Desk, path: str) -> tuple[Bearing, ...]:
    """Return the decisions, specifications and issues that likely bear on a file."""
    with desk.turn() as workspace:
        found = check(workspace, workspace.place / path, with_impact=False)
    return (*found.likely, *found.issues)


def calls_beside(desk: Desk, path: str) -> tuple[Sequence[tuple[int, str, str, str]], Sequence[str]]:
    """Return whom the definitions of a file call: the line, the name, and the address and title of the link.

    And what was not looked at, or why there are none, a line each.
    """
    try:
        with desk.slow_turn() as workspace:
            answer = call_graph(workspace, GraphQuestion(target=path, direction=Direction.CALLEES))
    except NoMatchError as error:
        return (), (str(error),)
    if answer.graph is None:
        return (), tuple(filter(None, (*answer.remarks, answer.error)))
    links = []
    for edge in answer.graph.edges:
        callee = edge.callee
        if edge.caller.path != path or callee.name == MODULE:
            continue
        *owners, name = callee.name.split(".")
        links += [
            (
                line,
                owners[-1] if owners and name in CONSTRUCTORS else name,
                desk.address.file(callee.path, callee.line_start),
                f"{callee.name} in {shown(callee.path)}:{callee.line_start}",
            )
            for line in edge.lines
        ]
    return links, answer.graph.followed.notes


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
