"""Who uses what no call leads to: constants, types, fields, modules; and who names a definition besides.

By the name alone, read from the syntax tree of each file that has it. A use in a file that defines the name,
or imports it from such a file, is certain enough; any other may mean something else that is called so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gitrag.actions.current_view import CurrentView
from gitrag.actions.graph import call_graph
from gitrag.actions.graph_answer import GraphAnswer, Reference, References
from gitrag.actions.left_out import of_paths
from gitrag.callgraph.answering import GraphQuestion, NoMatchError
from gitrag.callgraph.extraction import LANGUAGES
from gitrag.callgraph.graph import Graph, Node
from gitrag.callgraph.loading import Deadline, TimeoutReachedError
from gitrag.callgraph.subjects import subjects
from gitrag.chunking.languages import language_of
from gitrag.chunking.occurrences import Occurrence, Use, occurrences
from gitrag.git import matcher, meant_path
from gitrag.git.meant import followed
from gitrag.indexing.call_facts import facts_of, rows_of
from gitrag.late import np
from gitrag.machine.files import existing, within
from gitrag.store import candidates, content, scopes
from gitrag.store.call_facts import FileFacts
from gitrag.store.scopes import SearchScope
from gitrag.words.typed_paths import typed
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from gitrag.store.connection import Connection
    from gitrag.store.views import ViewOverlay


NamingFile = tuple[str, str, str]
"""A file that contains a name: its path, language (empty if unknown) and text."""


def files_naming(db: Connection, scope: SearchScope, name: str) -> list[NamingFile]:
    """Find the scope's files that contain a name as a whole word, its case as given; by path.

    It reads every text of the index: 0.1 s for 50 MB.
    """
    found = candidates.contents_with_word(db, name)
    files = np.flatnonzero(np.isin(scope.files.content_id, found))
    texts = content.read_texts(db, scope.files.content_id[files].tolist())
    paths = scopes.read_paths(db, scope.files.path_id[files].tolist())
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    naming = []
    for file in files.tolist():
        text = texts.get(int(scope.files.content_id[file]), "")
        if word.search(text):
            path, language = paths[int(scope.files.path_id[file])], str(scope.files.language[file])
            naming.append((path, language, text))
    return sorted(naming)


TIMEOUT_S = 10.0
"""Time limit for parsing the files that have a name; the others are counted."""

_NAME = re.compile(
    r"[@$&*.#]?(?:(?P<before>[\w$-]+)(?:\.|::|#|->))*(?P<last>[\w$]+(?:-+[\w$]+)*)[!?]?(?:\(\))?"
)
_INDEX = frozenset({"__init__", "index", "mod", "lib", "main"})
"""Stems of files that stand for their directory."""
_PACKAGES = frozenset({"go", "java", "kotlin", "scala", "csharp"})
"""Languages in which a file sees what the files beside it define."""
_LONGEST_LINE = 200
_LONGEST_NAME = 300


def graph_or_references(
    workspace: Workspace,
    question: GraphQuestion,
    *,
    to: str | None = None,
    with_references: bool = False,
    globs: Sequence[str] = (),
    module: str = "",
    about: Sequence[tuple[str, str]] = (),
    check: Callable[[], None] = lambda: None,
) -> GraphAnswer:
    """Return the calls around a target; of what neither calls nor is called, who names it."""
    named: References | None = None
    try:
        answer = call_graph(workspace, question, to=to, globs=globs, module=module, about=about, check=check)
    except NoMatchError as error:
        if to is None:
            named = references(workspace, question.target or "", globs=globs, check=check)
        if named is None or not named.found:
            if not error.not_indexed:
                raise
            return GraphAnswer(question.filter, None, str(error), not_indexed=error.not_indexed)
        said = () if named.defined_in else error.not_indexed
        answer = GraphAnswer(question.filter, Graph((), ()), not_indexed=said)
    else:
        if question.target is None or answer.graph is None:
            return answer
        if to is None and _is_other_case(question.target, answer.graph):
            named = references(workspace, question.target, globs=globs, check=check)
            if named is not None and named.defined_in:
                answer = GraphAnswer(question.filter, Graph((), ()))
            else:
                named = None
        if to is None and named is None and with_references:
            named = references(workspace, question.target, answer.graph, globs=globs, check=check)
    defined = {*named.defined_in} if named is not None else set()
    defined |= {node.path for node in answer.graph.matches} if answer.graph is not None else set()
    not_indexed = of_paths(workspace, sorted(defined)) or answer.not_indexed
    return replace(answer, named=named, not_indexed=not_indexed)


def _places(
    naming: Iterable[NamingFile], name: str, check: Callable[[], None]
) -> list[tuple[NamingFile, list[Occurrence]]]:
    """Find where files have a name, in as many as there is time for."""
    deadline = Deadline(TIMEOUT_S)
    places: list[tuple[NamingFile, list[Occurrence]]] = []
    for file in naming:
        check()
        try:
            deadline.check()
        except TimeoutReachedError:
            break
        _, language, text = file
        places.append((file, occurrences(text, language, name)))
    return places


def references(
    workspace: Workspace,
    target: str,
    graph: Graph | None = None,
    *,
    globs: Sequence[str] = (),
    check: Callable[[], None] = lambda: None,
) -> References | None:
    """Find the lines that have a target's name, less what a graph says of it.

    Args:
        target: A name, a qualified name, or a path, which stands for its module.
        graph: The calls around the target: its own lines, and those of its callers, are left out.

    Returns:
        None where the target is no name.
    """
    name, is_module = _name_of(target, graph)
    if not name:
        return None
    allowed = matcher(globs) if globs else lambda _path: True
    view = CurrentView(workspace, says_staleness=False)

    def read(db: Connection, view_id: int, overlay: ViewOverlay) -> tuple[list[NamingFile], list[FileFacts]]:
        scope = scopes.open_scope(db, view_id, overlay)
        naming = [each for each in files_naming(db, scope, name) if allowed(each[0])]
        paths = {path for path, *_ in naming}
        rows = rows_of(db, view_id, overlay)
        return naming, [row for row in rows if row.path in paths]

    result = view.read(read)
    naming, rows = result.found
    loaded = facts_of(workspace.store, result.now, rows, check=check)
    places = _places(naming, name, check)
    definers = {path for (path, *_), own in places if any(each.use is Use.DEFINED for each in own)}
    if graph is not None and graph.matches:
        definers = {node.path for node in graph.matches}
    known = _Known(graph)
    qualifier = _qualifier(target, graph)
    found = []
    for file, own in places:
        path, _, text = file
        definitions = loaded.files[path][1].definitions if path in loaded.files else ()
        lines = text.split("\n")
        is_sure = _is_near(file, definers) or any(_comes_from(each.statement, definers) for each in own)
        for each in own:
            inner = [d for d in definitions[1:] if d.line_start <= each.line <= d.line_end]
            within = max(inner, key=lambda d: (d.line_start, -d.line_end)).name if inner else ""
            if (is_module and each.use is not Use.IMPORTED) or known.has(path, within, each):
                continue
            if qualifier and _is_of_another(file[1], each, lines[each.line - 1], name, qualifier):
                continue
            said = lines[each.line - 1].strip()[:_LONGEST_LINE]
            found.append(
                Reference(path, each.line, each.use, within, said, is_sure and each.use is not Use.TEXT)
            )
    return References(name, tuple(found), len(naming) - len(places), graph is not None)


class _Known:
    """What a graph says already: the lines of what was asked for, and its callers."""

    def __init__(self, graph: Graph | None) -> None:
        self._own: dict[str, list[Node]] = {}
        self._callers: set[tuple[str, str]] = set()
        self._lines: set[tuple[str, int]] = set()
        for node in graph.matches if graph is not None else ():
            if node.kind != "module":
                self._own.setdefault(node.path, []).append(node)
        for edge in graph.edges if graph is not None else ():
            if graph is not None and edge.callee in graph.matches:
                self._lines.update((edge.caller.path, line) for line in edge.lines)
                if edge.caller.kind != "module":
                    self._callers.add((edge.caller.path, edge.caller.name))

    def has(self, path: str, within: str, occurrence: Occurrence) -> bool:
        if any(node.line_start <= occurrence.line <= node.line_end for node in self._own.get(path, ())):
            return True
        is_code = occurrence.use in {Use.CODE, Use.DEFINED}
        return is_code and ((path, within) in self._callers or (path, occurrence.line) in self._lines)


def _name_of(target: str, graph: Graph | None) -> tuple[str, bool]:
    """Return the word to look for, and whether it is a module's."""
    about = subjects(graph.matches, target) if graph is not None else []
    if about and about[0].kind in {"file", "directory"}:
        parts = about[0].name.split("/")
        stem = parts[-1].split(".")[0]
        return (parts[-2] if stem in _INDEX and len(parts) > 1 else stem), True
    if about:
        return about[0].name.rpartition(".")[2], False
    found = _NAME.fullmatch(target.strip()[:_LONGEST_NAME])
    return (found["last"] if found else ""), False


def _qualifier(target: str, graph: Graph | None) -> str:
    """Return the name before the last, of what no call graph has: ``a`` of ``a.ledger``."""
    found = None if graph is not None else _NAME.fullmatch(target.strip()[:_LONGEST_NAME])
    return (found["before"] or "") if found else ""


def _is_of_another(language: str, place: Occurrence, line: str, name: str, qualifier: str) -> bool:
    """Tell whether a name stands after another qualifier, in a language without a call graph."""
    if language in LANGUAGES:
        return False
    *_, own, _ = ["", *place.qualified.split(".")]
    before = [own] if own else re.findall(rf"([\w-]+)\.{re.escape(name)}(?![\w-])", line)
    return bool(before) and qualifier not in before


def _is_other_case(target: str, graph: Graph) -> bool:
    """Tell whether a graph is of what is called so in another case only: ``limit`` for ``LIMIT``."""
    found = _NAME.fullmatch(target.strip()[:_LONGEST_NAME])
    return bool(
        found
        and graph.matches
        and all(found["last"] not in node.name and found["last"] not in node.path for node in graph.matches)
    )


def _is_near(file: NamingFile, definers: Collection[str]) -> bool:
    """Tell whether a file defines a name, or has its package in sight without naming it in an import."""
    own, language, text = file
    if own in definers:
        return True
    folders = {path.rpartition("/")[0] for path in definers}
    if language in _PACKAGES and own.rpartition("/")[0] in folders:
        return True
    last = "|".join(re.escape(folder.rpartition("/")[2]) for folder in sorted(folders) if folder)
    return bool(language == "go" and last and re.search(rf'[/"](?:{last})(?:/v\d+)?"', text))


def _comes_from(statement: str, definers: Collection[str]) -> bool:
    """Tell whether an import names the module, or the directory, of a file that defines the name."""
    if not statement:
        return False
    words = set(re.findall(r"[\w-]+", statement))
    for path in definers:
        parts = path.split("/")
        stem = parts[-1].split(".")[0]
        if stem in words or (len(parts) > 1 and parts[-2] in words):
            return True
    return False


def meant_target(workspace: Workspace, target: str | None, start: Path) -> str | None:
    """Return a target from the worktree's top if it is a path: from where one stands, or the end of one.

    Raises:
        UsageError: Several files are meant.
    """
    root = workspace.repo.root
    if not target or root is None or "\0" in target:
        return target
    path, colon, name = target.rpartition(":")
    if colon and (existing(start / path) or language_of(typed(path))):
        place = meant_path(workspace.repo, start, path)
        if existing(place):
            return f"{followed(root, within(root, place) or path)}:{name}"
    if not ("/" in target or language_of(typed(target)) or existing(start / target)):
        return target
    place = meant_path(workspace.repo, start, target, directories=True)
    inside = within(root, place) if existing(place) else None
    return followed(root, inside) if inside else target


def target_file(workspace: Workspace, target: str | None) -> list[tuple[str, str]]:
    """Return a target as a file shown to the reader, language unknown; none if it names no file.

    ``Session.sh`` may be a script or the method ``sh``: only of a file is it said that its language has no
    call graph.
    """
    root = workspace.repo.root
    if not target or root is None or "\0" in target:
        return []
    place = existing(root / target)
    return [(target, "")] if place is not None and place.is_file() else []
