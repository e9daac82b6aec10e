"""What each request is answered: what the commands find, at places of the editor's buffers."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol.types import (
    CallHierarchyIncomingCall,
    CallHierarchyIncomingCallsParams,
    CallHierarchyItem,
    CallHierarchyOutgoingCall,
    CallHierarchyOutgoingCallsParams,
    CallHierarchyPrepareParams,
    CodeLens,
    CodeLensParams,
    Command,
    Hover,
    HoverParams,
    Location,
    MarkupContent,
    MarkupKind,
    Position,
    Range,
    ReferenceParams,
    SymbolKind,
    WorkspaceSymbol,
    WorkspaceSymbolParams,
)
from msgspec.structs import replace

from gitrag.actions.answer import Answer
from gitrag.actions.cursor import Cursor, calls_at, is_constructor, last_name, name_place, named_at
from gitrag.actions.governance.check import Checked, check
from gitrag.actions.impact import Impact, callers_from_outside
from gitrag.actions.lines import definitions_of
from gitrag.actions.repositories.chosen import choose
from gitrag.actions.repositories.kept import KeptRepositories
from gitrag.actions.requests import Scope
from gitrag.actions.search import SearchOptions, search
from gitrag.actions.why import why
from gitrag.callgraph.graph import MODULE, Edge, Graph, Node
from gitrag.callgraph.subjects import is_test
from gitrag.chunking.languages import language_of
from gitrag.chunking.occurrences import Use
from gitrag.errors import ConfigError, GitragError, NoRepositoryError
from gitrag.lsp.lines import Lines, Units, location, path_of, read_lines, word_at
from gitrag.machine.files import existing, within
from gitrag.memory.registry import Registry
from gitrag.model import Kind
from gitrag.report import presented
from gitrag.report.parts import plain, standing
from gitrag.search.engine import Hit
from gitrag.words.control_characters import printable, sanitise_line
from gitrag.words.numbers import count
from gitrag.workspace import Workspace

_MOST = 16
"""Repositories that are kept open."""

_MOST_KEPT = 100
_WAIT_S = 0.05

T = TypeVar("T")
Check = Callable[[], None]
"""Raises where the editor has cancelled the request."""


class Project:
    """A repository: its index in memory for searches and files, and beside that calls and history.

    Args:
        start: A directory of it, as the editor names it.
    """

    def __init__(self, start: Path, environ: Mapping[str, str], say: Callable[[str], None]) -> None:
        self._searched = Workspace.open(start, environ=environ, say=say, resident=True)
        self._read = Workspace.open(start, environ=environ, say=say)
        self._locks = {True: threading.Lock(), False: threading.Lock()}
        self._kept: dict[tuple[str, str], tuple[object, Any]] = {}
        place = self._read.place
        same = (each for each in (start, *start.parents) if each.exists() and each.samefile(place))
        self.base = next(same, place)

    @contextmanager
    def turn(self, check: Check, *, searches: bool = False) -> Iterator[Workspace]:
        """Wait for one's turn, and have the repository."""
        lock = self._locks[searches]
        while not lock.acquire(timeout=_WAIT_S):
            check()
        try:
            check()
            workspace = self._searched if searches else self._read
            workspace.require_repository()
            yield workspace
        finally:
            lock.release()

    def kept(self, kind: str, path: str, make: Callable[[Workspace], T], check: Check) -> T:
        """Return what is known of a file, made anew only where git says that anything has changed."""
        with self.turn(check) as workspace:
            state = workspace.snapshot().key
            known, found = self._kept.get((kind, path), (None, None))
            if known != state:
                found = make(workspace)
                if len(self._kept) >= _MOST_KEPT:
                    self._kept.clear()
                self._kept[kind, path] = state, found
            value: T = found
            return value


class Projects:
    """The repositories around files and folders.

    Args:
        say: Called with what the user should know of an answer.
    """

    def __init__(self, environ: Mapping[str, str], say: Callable[[str], None]) -> None:
        # What names one repository is not for all.
        self._environ = {name: environ[name] for name in environ if name not in {"GIT_DIR", "GIT_WORK_TREE"}}
        self._say = say
        self._around: dict[Path, Project] = {}
        self._several = KeptRepositories(self._environ, say)
        self._lock = threading.Lock()
        self._asking = threading.Lock()

    def around(self, directory: Path) -> Project | None:
        """Return the repository that a directory lies in; None if it is in none.

        Raises:
            ConfigError: A setting of it is wrong.
        """
        with self._lock:
            if (found := self._around.get(directory)) is not None:
                return found
            try:
                opened = Project(directory, self._environ, self._say)
            except NoRepositoryError:
                return None
            same = (each for each in self._around.values() if each.base == opened.base)
            found = next(same, opened)
            if len(set(self._around.values())) >= _MOST and found is opened:
                self._around.clear()
            self._around[directory] = found
            return found

    def of_file(self, file: Path) -> tuple[Project, str] | None:
        """Return the repository of a file, and its path in there; None if it is in none."""
        project = self.around(file.parent) if existing(file.parent) is not None else None
        inside = within(project.base, file) if project is not None else None
        return (project, inside) if project is not None and inside else None

    def search(
        self, folders: Sequence[Path], query: str, options: SearchOptions, check: Check
    ) -> tuple[Answer, Mapping[str, Project]]:
        """Ask the repositories of some folders; return also which is meant by a hit's repository.

        Raises:
            ConfigError: A setting of each is wrong.
        """
        found: dict[Project, None] = {}
        problems: list[ConfigError] = []
        for each in folders:
            try:
                if (project := self.around(each)) is not None:
                    found[project] = None
            except ConfigError as error:
                problems.append(error)
        if problems and not found:
            raise problems[0]
        for problem in problems:
            self._say(f"{problem} {problem.hint}".strip())
        if not found:
            raise NoRepositoryError("No folder of the editor is in a git repository.", "git init")
        if len(found) == 1:
            (only,) = found
            with only.turn(check, searches=True) as workspace:
                return search(workspace, query, options), {"": only}
        scope = Scope(names=tuple(str(each.base) for each in found))
        chosen = choose(scope, Registry(), folders[0], None)
        with self._asking:
            check()
            answer = self._several.ask(chosen, query, options)
        for line in answer.lacking:
            self._say(line)
        return answer, {each.name: project for each in answer.asked if (project := self.around(each.path))}


CALLERS = "gitrag.callers"
"""The command of a lens, with a document's address and a position: the editor shows the calls of that."""

_SYMBOLS = 50
_BEARING = 3
"""Documents and issues in a hover."""

_KINDS: Mapping[str, SymbolKind] = {
    kind: SymbolKind[name]
    for kind, name in zip(Kind, ("Function", "Method", "Class", "File", "String"), strict=True)
}


class AnswerStoppedError(Exception):
    """The editor has cancelled the request."""


class Request:
    """One request.

    Args:
        folders: The folders that the editor has open.
        texts: What it shows of the documents that are open, by address.
        units: How it counts characters.
    """

    def __init__(
        self, projects: Projects, folders: Sequence[Path], texts: Mapping[str, str], units: Units
    ) -> None:
        self._projects, self._folders, self._units = projects, folders, units
        self._texts = {os.path.realpath(path): text for uri, text in texts.items() if (path := path_of(uri))}
        self._lines: dict[tuple[Project, str], Lines | None] = {}
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Cancel it."""
        self._stopped.set()

    def check(self) -> None:
        """Raise if it was cancelled."""
        if self._stopped.is_set():
            raise AnswerStoppedError

    def symbols(self, params: WorkspaceSymbolParams) -> list[WorkspaceSymbol]:
        """Return what a search finds, best first."""
        if not params.query.strip():
            return []
        options = SearchOptions(limit=_SYMBOLS, grouped=True)
        answer, projects = self._projects.search(self._folders, params.query, options, self.check)
        found = (self._symbol(hit, projects.get(hit.repository)) for hit in answer.hits)
        return [each for each in found if each is not None]

    def references(self, params: ReferenceParams) -> list[Location] | None:
        """Return who calls, imports or names what is at the cursor."""
        project, cursor = self._cursor(params.text_document.uri, params.position)
        if project is None or not cursor.word:
            return None
        with project.turn(self.check) as workspace:
            calls = calls_at(workspace, cursor, self.check)
            named = named_at(workspace, cursor, calls, self.check)
        found: list[Location | None] = []
        with_own = params.context.include_declaration
        if with_own:
            found += [self._of_node(project, node) for node in sorted(calls.matches)]
        for edge in calls.edges:
            if edge.callee in calls.matches:
                found += self._lines_of(project, edge, cursor.word)
        for each in named:
            if with_own or each.use is not Use.DEFINED:
                found.append(self._at(project, each.path, each.line, cursor.word))
        return list({repr(each): each for each in found if each is not None}.values())

    def prepare(self, params: CallHierarchyPrepareParams) -> list[CallHierarchyItem] | None:
        """Return the definitions that the cursor is at, or that are called there."""
        project, cursor = self._cursor(params.text_document.uri, params.position)
        if project is None or not cursor.word:
            return None
        found = self._calls(project, cursor)
        return [item for node in sorted(found.matches) if (item := self._item(project, node))] or None

    def incoming(self, params: CallHierarchyIncomingCallsParams) -> list[CallHierarchyIncomingCall]:
        """Return who calls a definition, and where."""
        return [
            CallHierarchyIncomingCall(item, ranges)
            for item, ranges in self._hierarchy(params.item, lambda edge: (edge.caller, edge.callee))
        ]

    def outgoing(self, params: CallHierarchyOutgoingCallsParams) -> list[CallHierarchyOutgoingCall]:
        """Return what a definition calls, and where."""
        return [
            CallHierarchyOutgoingCall(item, ranges)
            for item, ranges in self._hierarchy(params.item, lambda edge: (edge.callee, edge.caller))
        ]

    def hover(self, params: HoverParams) -> Hover | None:
        """Return why a line is as it is, and what bears on its file.

        As plain text: what a commit says is not to load a picture.
        """
        project, cursor = self._cursor(params.text_document.uri, params.position)
        if project is None:
            return None
        bearing = self._bearing(project, cursor.path)
        with project.turn(self.check) as workspace:
            target = f"{cursor.path}:{cursor.line}"
            found = why(workspace, workspace.place, target, with_documents=False)
        documents = bearing.likely[:_BEARING] if bearing else ()
        text = presented(replace(found, documents=documents), plain)
        issues = bearing.issues[:_BEARING] if bearing else ()
        if issues:
            lines = [f"  {each.name}  {each.document.title} ({standing(each.document)})" for each in issues]
            text = text.followed_by("", "Issues about the same subject", *lines)
        line = params.position.line
        own = Range(Position(line, 0), Position(line + 1, 0))
        return Hover(MarkupContent(MarkupKind.PlainText, printable(text)), own)

    def lenses(self, params: CodeLensParams) -> list[CodeLens] | None:
        """Return a lens above each definition of a buffer that is no test, yet without a text."""
        uri = params.text_document.uri
        found = self._file(uri)
        text = self._texts.get(os.path.realpath(path_of(uri) or ""))
        if found is None or text is None:
            return None
        project, path = found
        with project.turn(self.check) as workspace:
            workspace.require_index()
        lines = [line.rstrip("\r") for line in text.split("\n")]
        lenses = []
        for each in definitions_of(lines, language_of(path, text)):
            place = name_place(lines, each, each.name)
            is_code = each.kind in {"function", "method", "class"}
            if is_code and place and not is_test(Node(path, each.qualified_name, 0, 0)):
                line, column = place
                begin = Position(line - 1, self._units(lines[line - 1][:column]))
                end = Position(line - 1, begin.character + self._units(each.name))
                lenses.append(CodeLens(Range(begin, end), data=[uri, each.name]))
        return lenses

    def lens(self, lens: CodeLens) -> CodeLens:
        """Return a lens with how many call its definition."""
        uri, name = lens.data  # type: ignore[misc]  # as it was sent
        position = lens.range.start
        title = ""
        project, cursor = self._cursor(uri, position)
        if project is not None and cursor.word == name:
            title = _counted(self._callers(project, cursor.path), cursor)
        command = Command(title or "callers not known", CALLERS, arguments=[uri, position])
        return CodeLens(lens.range, command, lens.data)

    def _hierarchy(
        self, item: CallHierarchyItem, ends: Callable[[Edge], tuple[Node, Node]]
    ) -> Iterator[tuple[CallHierarchyItem, list[Range]]]:
        """Yield the other ends of an item's calls, and where in the caller they are.

        Args:
            ends: Returns the other end, and the item's own.
        """
        path, line, word = item.data  # type: ignore[misc]  # as it was sent
        found = self._file(item.uri)
        if found is None or found[1] != path:
            return
        project = found[0]
        calls = self._calls(project, Cursor(path, line, word))
        by_other: dict[Node, list[Edge]] = {}
        for edge in calls.edges:
            other, own = ends(edge)
            if own in calls.matches:
                by_other.setdefault(other, []).append(edge)
        for node, edges in sorted(by_other.items()):
            own_item = self._item(project, node)
            places = [at for edge in edges for at in self._lines_of(project, edge, last_name(edge.callee))]
            if own_item is not None and places:
                yield own_item, [each.range for each in places]

    def _calls(self, project: Project, cursor: Cursor) -> Graph:
        with project.turn(self.check) as workspace:
            return calls_at(workspace, cursor, self.check)

    def _callers(self, project: Project, path: str) -> Impact | None:
        def make(workspace: Workspace) -> Impact | None:
            return callers_from_outside(workspace, None, [path])

        return project.kept("callers", path, make, self.check)

    def _bearing(self, project: Project, path: str) -> Checked | None:
        """Return what bears on a file; None where there is no index, and git alone is asked."""

        def make(workspace: Workspace) -> Checked | None:
            if not workspace.store.exists():
                return None
            return check(workspace, workspace.place / path, with_impact=False)

        return project.kept("bearing", path, make, self.check)

    def _file(self, uri: str) -> tuple[Project, str] | None:
        path = path_of(uri)
        return self._projects.of_file(path) if path is not None else None

    def _cursor(self, uri: str, position: Position) -> tuple[Project | None, Cursor]:
        """Return what is at a position, on the disk; no project where its line is not there as shown."""
        project, path = self._file(uri) or (None, "")
        lines = self._lines_in(project, path) if project is not None else None
        line = lines.on_disk(position.line + 1) if lines is not None else None
        if lines is None or line is None or line > len(lines.there):
            return None, Cursor("", 0, "")
        word = word_at(lines.there[line - 1].rstrip("\r"), position.character, self._units)
        return project, Cursor(path, line, word)

    def _lines_in(self, project: Project, path: str) -> Lines | None:
        """Return a file's lines; None where it is no text on the disk."""
        if (project, path) not in self._lines:
            lines = None
            with suppress(GitragError), project.turn(self.check, searches=True) as workspace:
                lines = read_lines(workspace, path, self._texts.get(os.path.realpath(project.base / path)))
            self._lines[project, path] = lines
        return self._lines[project, path]

    def _at(self, project: Project, path: str, line: int, name: str, last: int = 0) -> Location | None:
        lines = self._lines_in(project, path)
        uri = (project.base / path).as_uri()
        return location(uri, lines, line, name, self._units, last) if lines is not None else None

    def _of_node(self, project: Project, node: Node, *, whole: bool = False) -> Location | None:
        """Return where a definition's name is; of the whole, from there on."""
        lines = self._lines_in(project, node.path)
        if lines is None:
            return None
        name = last_name(node)
        line = (name_place(lines.there, node, name) or (node.line_start, 0))[0]
        return self._at(project, node.path, line, name, node.line_end if whole else 0)

    def _lines_of(self, project: Project, edge: Edge, word: str) -> list[Location]:
        found = (self._at(project, edge.caller.path, line, word) for line in edge.lines)
        return [each for each in found if each is not None]

    def _item(self, project: Project, node: Node) -> CallHierarchyItem | None:
        name, whole = self._of_node(project, node), self._of_node(project, node, whole=True)
        lines = self._lines_in(project, node.path)
        if name is None or whole is None or lines is None:
            return None
        kind = _KINDS[node.kind]
        place = name_place(lines.there, node, last_name(node))
        data = [node.path, place[0] if place else node.line_start, last_name(node)]
        label = node.path if node.name == MODULE else node.name
        shown = sanitise_line(label), kind, name.uri, whole.range, name.range
        return CallHierarchyItem(*shown, detail=sanitise_line(node.path), data=data)

    def _symbol(self, hit: Hit, project: Project | None) -> WorkspaceSymbol | None:
        if project is None:
            return None
        chunk = hit.chunk
        lines = self._lines_in(project, hit.path)
        place = lines and name_place(lines.there, chunk, chunk.name)
        line = place[0] if place else chunk.line_start
        found = self._at(project, hit.path, line, chunk.name if place else "")
        path = sanitise_line(f"{hit.repository}/{hit.path}" if hit.repository else hit.path)
        data = {"score": round(hit.score, 2), "text": [sanitise_line(each.text) for each in hit.snippet]}
        name = sanitise_line(chunk.qualified_name) or path
        if found is None:
            return None
        return WorkspaceSymbol(found, name, _KINDS[chunk.kind], data, container_name=path)


def _counted(found: Impact | None, cursor: Cursor) -> str:
    """Return how many call a definition, for a lens; empty where that is not known."""
    if found is None:
        return ""
    called = {each.node: each for each in found.called}
    uncalled = dict(zip(found.uncalled, found.known, strict=True))
    fitting = [
        node
        for node in (*called, *uncalled)
        if last_name(node) == cursor.word and node.line_start <= cursor.line <= node.line_end
    ]
    own = min(fitting, key=lambda node: node.line_end - node.line_start, default=None)
    if own is None:
        return ""
    every = [each for node, each in called.items() if node == own or is_constructor(node, own)]
    if not every:
        return uncalled[own].verdict
    callers = {edge.caller for each in every for edge in each.callers}
    tests = {edge.caller for each in every for edge in each.tests}
    return f"{count(len(callers), 'caller')}, {count(len(tests), 'test')}"
