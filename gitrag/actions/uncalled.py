"""What is said of definitions that no call was resolved to: the one place where "no caller" is decided."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import groupby

from gitrag.actions.lines import file_lines
from gitrag.callgraph.filtering import CONSTRUCTORS
from gitrag.callgraph.general.crates import shared
from gitrag.callgraph.general.traits import SCRIPTS, family_of
from gitrag.callgraph.graph import MODULE, Node
from gitrag.callgraph.loading import Loaded, TimeoutReachedError
from gitrag.callgraph.reach import Uncalled
from gitrag.callgraph.resolution import ResolvedCalls
from gitrag.callgraph.uses import (
    BY_A_COMPUTED_NAME,
    BY_ITS_NAME,
    BY_ITS_OBJECT,
    OUTSIDE,
    calls_by_computed_names,
    implemented,
    is_called_by_its_name,
    is_of_an_object,
    may_be_called_by,
    may_use,
    only_declares,
    registrations,
)
from gitrag.chunking.languages import is_code, language_of
from gitrag.errors import GitragError
from gitrag.git.grep import GrepLine, grep
from gitrag.workspace import Workspace

_SHORTEST_NAME = 3
"""A shorter name stands in too many lines to say anything."""

_MOST_NAMES = 100
"""Names that are looked for as text at once."""

_LINES_ABOVE = 4
_LINES_OF_HEAD = 8
"""Lines above and at the start of a definition in which its decorators and annotations stand."""

_PRIVATE = re.compile(r"\b(?:private|fileprivate)\b|#\w+\(|(?:async )?def __\w+(?<!__)\(")
"""What says of a method that no base of its class calls it."""
_STATIC = re.compile(r"\bstatic\b")
_CLASS = re.compile(r"\b(?:class|interface)\b")
_OVERRIDING_STATICS = frozenset({"php", "swift", *SCRIPTS})
"""Languages in which a base, or a protocol, may call a function of the class itself."""

_BasesOf = Callable[[str], Mapping[str, Sequence[str]]]

_MOST_MENTIONING = 200
"""Definitions with such a line whose own calls are resolved, to know which lines mean another of the name."""


def without_callers(
    workspace: Workspace,
    calls: ResolvedCalls,
    loaded: Loaded,
    asked: Sequence[Sequence[Node]],
    outside: Callable[[Node, str], bool] = lambda _node, _path: True,
) -> list[Uncalled]:
    """Return what is known of definitions to which no call was resolved.

    Args:
        asked: The definitions; each alone, or a class or a file with all that is in it.
        outside: Tells whether a place in a file can call a definition.
    """
    names = {name: None for members in asked for node in members for name in _names(node)}
    wanted = [name for name in names if len(name) >= _SHORTEST_NAME][:_MOST_NAMES]
    there, is_whole = grep(workspace.repo, wanted, names=True)
    by_name = {name: _with_word(name, there) for name in wanted}
    uses = _Uses(calls, loaded, by_name)
    alone = Counter(_names(members[0]) for members in asked if len(members) == 1)

    @cache  # a name is often that of many
    def lines_of(name: str, language: str) -> list[tuple[GrepLine, bool]]:
        lines = [line for line in by_name.get(name, ()) if not uses.mean_another(line, name)]
        said = [(line, may_use(line.path, line.text, name, language)) for line in lines]
        return [each for each in said if each[1] or not only_declares(each[0].path, each[0].text, name)]

    @cache
    def bases_of(family: str) -> dict[str, list[str]]:
        return _bases(loaded, family)

    found = []
    for members in asked:
        # Of several with one name, what is in one may call another: what is said holds for all of them.
        inside = members if alone[_names(members[0])] < 2 else ()
        unresolved: dict[str, None] = {}
        mentioned: dict[str, None] = {}
        for node in members:
            language = loaded.files[node.path][0]
            for name in _names(node):
                for line, is_use in lines_of(name, language):
                    if not outside(node, line.path) or any(_lies_in(line, member) for member in inside):
                        continue
                    kind = unresolved if is_use else mentioned
                    kind[f"{line.path}:{line.number}"] = None
        by_distance = partial(_distance, list(dict.fromkeys(node.path for node in inside)))
        unresolved = dict.fromkeys(sorted(unresolved, key=by_distance))
        mentions = sorted((place for place in mentioned if place not in unresolved), key=by_distance)
        mentions.sort(key=_is_prose)
        is_searched = (
            is_whole
            and workspace.repo.root is not None  # a bare repository has no lines
            and any(map(_names, members))  # the code of a file runs with an import of it
            and all(name in by_name for node in members for name in _names(node))
        )
        registered, base = _registered(workspace, members, loaded, bases_of)
        found.append(Uncalled(tuple(unresolved), tuple(mentions), registered, base, is_searched))
    return found


class _Uses:
    """Tells which lines with a name are known to mean another definition, or to define one."""

    def __init__(
        self, calls: ResolvedCalls, loaded: Loaded, by_name: Mapping[str, Sequence[GrepLine]]
    ) -> None:
        paths = {line.path for lines in by_name.values() for line in lines} & loaded.files.keys()
        self._nodes: dict[str, list[tuple[tuple[str, int], Node]]] = {path: [] for path in paths}
        for own, node in calls.nodes():
            if node.path in paths:
                self._nodes[node.path].append((own, node))
        around = {
            self._nodes[line.path][self._innermost(line)][0]: None
            for lines in by_name.values()
            for line in lines
            if self._nodes.get(line.path)
        }
        edges = []
        if len(around) <= _MOST_MENTIONING:
            with suppress(TimeoutReachedError):
                edges = calls.callees(list(around))
        self._resolved = {
            (edge.caller.path, line, part)
            for edge in edges
            for line in edge.lines
            for part in edge.callee.name.split(".")[-2:]
            if edge.confidence == 1
        }
        self._heads: set[tuple[str, int, str]] = set()
        for name, lines in by_name.items():
            for path in {line.path for line in lines}:
                numbers = [line.number for line in lines if line.path == path]
                for _, node in self._nodes.get(path, ()):
                    if name in _names(node):
                        head = next((each for each in numbers if node.line_start <= each <= node.line_end), 0)
                        self._heads.add((path, head, name))

    def mean_another(self, line: GrepLine, name: str) -> bool:
        """Tell whether a line is known to call or to define another definition of the name."""
        key = (line.path, line.number, name)
        if key in self._heads:
            return True
        if key in self._resolved and len(_word(name).findall(line.text)) == 1:  # not `a.run(b.run())`
            return True
        # A method that an interface of Go lists without a body.
        if not line.path.endswith(".go") or not line.text.lstrip().startswith(f"{name}("):
            return False
        nodes = self._nodes.get(line.path)
        return nodes is not None and nodes[self._innermost(line)][1].kind == "class"

    def _innermost(self, line: GrepLine) -> int:
        found = 0
        for place, (_, node) in enumerate(self._nodes[line.path]):
            if node.line_start <= line.number <= node.line_end:
                found = place  # in the order of the source: what lies in another comes after it
        return found


def _names(node: Node) -> tuple[str, ...]:
    """Return the names by which a definition is called: a constructor by its class's."""
    owner, _, name = node.name.rpartition(".")
    if node.name == MODULE:
        return ()
    if name not in CONSTRUCTORS or not owner:
        return (name,)
    cls = owner.rpartition(".")[2]
    is_plain = name in {"init", "initialize"} and not node.path.endswith((".swift", ".rb"))
    return (name, cls) if is_plain else (cls,)


@cache
def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def _with_word(name: str, lines: Sequence[GrepLine]) -> list[GrepLine]:
    return [line for line in lines if name in line.text and _word(name).search(line.text)]


def _is_prose(place: str) -> bool:
    return not is_code(language_of(place.rpartition(":")[0]) or "")


def _distance(own: Sequence[str], place: str) -> tuple[bool, int]:
    """Order the places with a name: in a definition's own file, in its folder, then those farther away."""
    path = place.rpartition(":")[0]
    return path not in own, -shared(path, own[0] if own else "")


def _lies_in(line: GrepLine, node: Node) -> bool:
    is_there = line.path == node.path and node.name != MODULE
    return is_there and node.line_start <= line.number <= node.line_end


def _registered(
    workspace: Workspace, members: Sequence[Node], loaded: Loaded, bases_of: _BasesOf
) -> tuple[tuple[str, ...], str]:
    """Return what a framework, or the language, calls definitions by, from their names and first lines.

    Besides, the base outside of the repository that may call the first of them, where nothing else does.
    """
    language = loaded.files[members[0].path][0]
    found: dict[str, None] = {}
    base = ""
    for path, nodes in groupby(sorted(members, key=lambda node: node.path), key=lambda node: node.path):
        try:
            lines = file_lines(workspace, path)
        except GitragError:
            continue
        for node in nodes:
            if node.name == MODULE:
                continue
            marks = registrations(_head(lines, node), _last(node))
            if node != members[0]:  # a class is not called by what its methods override
                marks = tuple(mark for mark in marks if not mark.lower().endswith("override"))
            elif language == "rust":
                marks += implemented(lines[: node.line_start])
            elif not marks and not _is_own(lines[node.line_start - 1], language):
                base = _base_outside(node, bases_of(family_of(language)))
            found.update(dict.fromkeys(marks))
            found.update(dict.fromkeys(_unnamed(lines, node, loaded, is_alone=node == members[0])))
    for place, node in enumerate(members):
        is_own = place == 0 or "." not in node.name  # a class is not called by its methods' names
        is_made = "." in node.name and _last(node) in CONSTRUCTORS  # called by its class's name
        if is_own and not is_made and is_called_by_its_name(_last(node), language):
            found[BY_ITS_NAME] = None
    return tuple(found), base


def _unnamed(lines: Sequence[str], node: Node, loaded: Loaded, *, is_alone: bool) -> Iterator[str]:
    """Yield by what a definition is called that does not say its name."""
    language = loaded.files[node.path][0]
    is_member = language in SCRIPTS and is_of_an_object(lines[node.line_start - 1])
    if is_member and not _is_of_class(lines, node, loaded):
        yield BY_ITS_OBJECT
    is_named = "." in node.name or language == "bash"
    if is_alone and is_named and calls_by_computed_names(lines, language):
        yield BY_A_COMPUTED_NAME


def _is_own(line: str, language: str) -> bool:
    is_static = language not in _OVERRIDING_STATICS and _STATIC.search(line.partition("(")[0])
    return bool(is_static or _PRIVATE.search(line))


def _is_of_class(lines: Sequence[str], node: Node, loaded: Loaded) -> bool:
    """Tell whether the definition that one stands in is a class, or an interface."""
    start = -1
    for each in loaded.files[node.path][1].definitions:
        is_around = each.line_start <= node.line_start and node.line_end <= each.line_end
        if is_around and each.kind != "module" and each.name != node.name:
            start = each.line_start - 1
    head = lines[start : min(start + _LINES_ABOVE, node.line_start - 1)] if start >= 0 else ()
    return any(map(_CLASS.search, head))


def _base_outside(node: Node, above: Mapping[str, Sequence[str]]) -> str:
    """Return the class outside of the repository that may call a method of one that inherits from it."""
    owner = node.name.rpartition(".")[0].rpartition(".")[2]
    if not owner or node.kind == "class" or _last(node) in CONSTRUCTORS:
        return ""
    return may_be_called_by(above.get(owner, ()), above)


def _bases(loaded: Loaded, family: str) -> dict[str, list[str]]:
    """Return the last parts of the names of the bases of all classes of a family of languages."""
    every = [
        (path, each)
        for path, (language, facts) in loaded.files.items()
        if family_of(language) == family
        for each in facts.definitions
        if each.kind == "class"
    ]
    around: dict[str, set[str]] = {}  # by name what may stand before it: its module, or what it is in
    alone = set[tuple[str, str]]()  # names that need nothing before them, and in which file; empty: in all
    for path, each in every:
        outer, _, own = each.name.rpartition(".")
        around.setdefault(own, set()).update(outer.split("."), re.split(r"[/.]", path))
        alone |= {(path, own)} if outer and path.endswith(".swift") else {("", own)}
    above: dict[str, list[str]] = {}
    for path, each in every:
        own = each.name.rpartition(".")[2]
        bases = above.setdefault(own, [])
        for base in each.bases:
            qualifier, _, name = base.rpartition(".")
            outer = qualifier.rpartition(".")[2]
            is_ours = (
                outer in around.get(name, ()) if outer else not alone.isdisjoint({("", name), (path, name)})
            )
            is_outside = name in around and (not is_ours or name == own)
            bases.append(f"{OUTSIDE if is_outside else ''}{name}")
    return above


def _head(lines: Sequence[str], node: Node) -> Sequence[str]:
    start = node.line_start - 1
    while (
        start > 0
        and node.line_start - start <= _LINES_ABOVE
        and lines[start - 1].lstrip().startswith(("@", "[", "#["))
    ):
        start -= 1
    return lines[start : node.line_start - 1 + _LINES_OF_HEAD]


def _last(node: Node) -> str:
    return node.name.rpartition(".")[2]
