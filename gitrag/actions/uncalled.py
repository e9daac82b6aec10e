"""What is said of definitions that no call was resolved to: the one place where "no caller" is decided."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import groupby, islice, product

from msgspec.structs import replace

from gitrag.actions.lines import file_lines
from gitrag.actions.reaching import (
    MOST_NAMES,
    PRIVATE,
    BasesOf,
    Beyond,
    all_above,
    all_below,
    bases_in,
    head_of,
    is_object,
    is_prose,
    last_of,
    lines_of,
    names_of,
    numbers_in,
    overridden,
    owner_of,
    said,
    spoken_in,
    with_word,
    word,
)
from gitrag.callgraph.filtering import CONSTRUCTORS
from gitrag.callgraph.general.crates import shared
from gitrag.callgraph.general.tables import reached_from
from gitrag.callgraph.general.traits import SCRIPTS, family_of
from gitrag.callgraph.graph import MODULE, Edge, Node
from gitrag.callgraph.indirect import (
    BY_A_COMPUTED_NAME,
    BY_ITS_NAME,
    BY_ITS_OBJECT,
    BY_ITS_PROPERTY,
    calls_by_computed_names,
    is_called_by_its_name,
    is_of_an_object,
    is_unarchived,
)
from gitrag.callgraph.loading import Loaded, TimeoutReachedError
from gitrag.callgraph.reach import Uncalled
from gitrag.callgraph.resolution import ResolvedCalls
from gitrag.callgraph.uses import (
    implemented,
    interface_outside,
    is_accessor_of_a_bean,
    may_be_called_by,
    may_reach,
    may_read,
    may_set,
    may_use,
    only_declares,
    property_of,
    registrations,
)
from gitrag.errors import GitragError
from gitrag.git.grep import GrepLine, grep
from gitrag.workspace import Workspace

_SHORTEST_NAME = 3
"""A shorter name stands in too many lines to say anything."""

_MOST_WAYS = 5

_LINES_ABOVE = 4
"""Lines at the start of a class in which its kind stands."""

_OF_TESTS = re.compile(r"^Test|Tests?$|TestCase$|Spec$")
_STATIC = re.compile(r"\bstatic\b")
_CLASS = re.compile(r"\b(?:class|interface)\b")
_OVERRIDING_STATICS = frozenset({"php", "swift", *SCRIPTS})
"""Languages in which a base, or a protocol, may call a function of the class itself."""

_DECLARING = (".kt", ".java", ".cs", ".swift", ".php", ".scala", ".dart", ".ts")
"""Ends of files whose methods have a body in braces, or none."""

_ABOVE = re.compile(r"\bsuper\b(?:\([^()]*\)|<[^<>]*>)?(?:@\w+)?\.$")
_ABOVE_BY = {"php": re.compile(r"\bparent::$"), "cs": re.compile(r"\bbase\.$")}
"""What stands before the name of a base's method that is called whatever overrides it; by a file's ending."""


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
    by_name, is_whole = _with_names(workspace, [node for members in asked for node in members])
    spoken = spoken_in(workspace, loaded)
    read = _properties(workspace, loaded, asked)
    bases_of = cache(partial(bases_in, loaded))
    above = overridden(loaded, [node for members in asked for node in members], bases_of)
    uses = _Uses(workspace, calls, loaded, by_name, spoken, above, bases_of)
    alone = Counter(names_of(members[0]) for members in asked if len(members) == 1)

    @cache  # a name is often that of many
    def lines_with(name: str, language: str) -> list[tuple[GrepLine, bool]]:
        reading = _reading(read, property_of(name, language), language)
        return [*uses.lines_with(name, language), *((line, True) for line in reading)]

    found = []
    for members in asked:
        # Of several with one name, what is in one may call another: what is said holds for all of them.
        inside = members if alone[names_of(members[0])] < 2 else ()
        unresolved: dict[str, None] = dict.fromkeys(uses.may_make(members, outside))
        mentioned: dict[str, None] = {}
        elsewhere: dict[str, None] = {}
        others: list[tuple[Node, str, GrepLine]] = []
        for node, name in ((each, name) for each in members for name in names_of(each)):
            for line, is_use in lines_with(name, loaded.files[node.path][0]):
                if not outside(node, line.path) or any(_lies_in(line, member) for member in inside):
                    continue
                kind = unresolved if is_use else mentioned
                kind = elsewhere if is_use and uses.is_elsewhere(line, name, node) else kind
                kind[f"{line.path}:{line.number}"] = None
                others += [] if is_use else [(node, name, line)]
        mentions = _nearest_first((place for place in mentioned if place not in unresolved), inside)
        mentions.sort(key=is_prose)
        is_searched = (
            is_whole
            and workspace.repo.root is not None  # a bare repository has no lines
            and any(map(names_of, members))  # the code of a file runs with an import of it
            and all(name in by_name for node in members for name in names_of(node))
            and all(each in read for each in _properties_of(loaded, members))
        )
        registered, base = _registered(workspace, members, loaded, bases_of)
        nearest = tuple(_nearest_first(unresolved, inside))
        known = Uncalled(nearest, tuple(mentions), registered, base, is_searched)
        if known.is_without_caller:  # which is said only where nothing at all may call it
            known = replace(known, unresolved=tuple(_nearest_first(elsewhere, inside)))
        if known.is_without_caller and others:
            known = replace(known, unresolved=tuple(_doubtful(others, workspace, loaded, spoken)))
        found.append(known)
    return _looked_further(asked, found, Beyond(workspace, loaded, spoken))


def left_unresolved(
    workspace: Workspace, calls: ResolvedCalls, loaded: Loaded, called: Mapping[Node, Collection[str]]
) -> dict[Node, tuple[str, ...]]:
    """Return the other places that may call definitions which are called, by the rule of those that are not.

    Args:
        called: The places, ``path:line``, from which each is known to be called.
    """
    by_name, _ = _with_names(workspace, list(called))
    bases_of = cache(partial(bases_in, loaded))
    above = overridden(loaded, called, bases_of)
    uses = _Uses(workspace, calls, loaded, by_name, spoken_in(workspace, loaded), above, bases_of)
    lines_with = cache(uses.lines_with)
    found = {}
    for node, known in called.items():
        lines = (
            line
            for name in names_of(node)
            for line, is_use in lines_with(name, loaded.files[node.path][0])
            if is_use and not _lies_in(line, node) and not uses.is_elsewhere(line, name, node)
        )
        places = dict.fromkeys((*(f"{line.path}:{line.number}" for line in lines), *uses.may_make([node])))
        found[node] = tuple(_nearest_first((each for each in places if each not in known), [node]))
    return found


def _with_names(workspace: Workspace, nodes: Sequence[Node]) -> tuple[dict[str, list[GrepLine]], bool]:
    """Return the lines with the names of definitions, by name, and whether all were looked for."""
    names = dict.fromkeys(name for node in nodes for name in names_of(node))
    wanted = [name for name in names if len(name) >= _SHORTEST_NAME][:MOST_NAMES]
    there, is_whole = grep(workspace.repo, list(map(said, wanted)), names=True)
    return {name: with_word(name, there) for name in wanted}, is_whole


def _looked_further(
    asked: Sequence[Sequence[Node]], found: Sequence[Uncalled], beyond: Beyond
) -> list[Uncalled]:
    """Add what may reach definitions of which "no caller" would be said."""
    bare = [members for members, known in zip(asked, found, strict=True) if known.is_without_caller]
    beyond.read([node for members in bare for node in members])
    return [
        replace(known, registered=tuple(dict.fromkeys(islice(beyond.ways(members), _MOST_WAYS))))
        if known.is_without_caller
        else known
        for members, known in zip(asked, found, strict=True)
    ]


def _doubtful(
    mentions: Sequence[tuple[Node, str, GrepLine]],
    workspace: Workspace,
    loaded: Loaded,
    spoken: Callable[[str], str],
) -> Iterator[str]:
    """Yield the places that name a definition as a value, in a string, or where it is given one."""
    for node, name, line in mentions:
        language = loaded.files[node.path][0]
        around = node.name.rpartition(".")[0]  # in a function it is called by its name alone
        kinds = {each.kind for each in loaded.files[node.path][1].definitions if each.name == around}
        is_alone = "class" not in kinds
        head = head_of(lines_of(workspace, node.path), node.line_start)
        is_set = any(
            re.search(rf"\bset\s+{re.escape(name)}\s*\(|\b{re.escape(name)}\.setter\b", each) for each in head
        )
        if may_reach(line.path, line.text, name, language, spoken(line.path), alone=is_alone) or (
            is_set and may_set(line.text, name)
        ):
            yield f"{line.path}:{line.number}"


def _reading(read: Mapping[str, Sequence[GrepLine]], name: str, language: str) -> list[GrepLine]:
    return [line for line in read.get(name, ()) if may_read(line.path, line.text, name, language)]


def _properties_of(loaded: Loaded, members: Sequence[Node]) -> set[str]:
    return {property_of(last_of(node), loaded.files[node.path][0]) for node in members} - {""}


def _properties(
    workspace: Workspace, loaded: Loaded, asked: Sequence[Sequence[Node]]
) -> Mapping[str, Sequence[GrepLine]]:
    """Return the lines with the properties that accessors are of, by name; only if there are not too many."""
    every = sorted(set[str]().union(*(_properties_of(loaded, members) for members in asked)))
    wanted = [name for name in every if len(name) >= _SHORTEST_NAME][:MOST_NAMES]
    there, is_whole = grep(workspace.repo, wanted, names=True)
    return {name: with_word(name, there) for name in wanted} if is_whole else {}


class _Uses:
    """Tells which lines with a name are known to mean another definition, or to define one."""

    def __init__(
        self,
        workspace: Workspace,
        calls: ResolvedCalls,
        loaded: Loaded,
        by_name: Mapping[str, Sequence[GrepLine]],
        spoken: Callable[[str], str],
        above: Collection[tuple[str, str]],
        bases_of: BasesOf,
    ) -> None:
        self._by_name, self._spoken, self._calls = by_name, spoken, calls
        self._loaded, self._workspace = loaded, workspace
        self._below = cache(partial(all_below, bases_of))
        self._owned = cache(partial(numbers_in, loaded))
        self._above = cache(partial(all_above, bases_of, self._below))
        self._only = cache(self._classes_of)
        paths = {line.path for lines in by_name.values() for line in lines} & loaded.files.keys()
        self._nodes: dict[str, list[tuple[tuple[str, int], Node]]] = {path: [] for path in paths}
        namesakes = []
        for own, node in calls.nodes():
            if node.path in paths:
                self._nodes[node.path].append((own, node))
            if not by_name.keys().isdisjoint(names_of(node)):
                namesakes.append(own)
        self._resolved: dict[tuple[str, int, str], bool] = {}
        """Places that call a definition, and whether only as what a base of the one asked about has."""
        self._owners: dict[tuple[str, int, str], set[str]] = {}
        """The classes whose methods they call, or are likely to."""
        with suppress(TimeoutReachedError):
            self._note(workspace, calls.callers(namesakes), above)
        self._heads: set[tuple[str, int, str]] = set()
        for name, lines in by_name.items():
            for path in {line.path for line in lines}:
                numbers = [line.number for line in lines if line.path == path]
                for _, node in self._nodes.get(path, ()):
                    if name in names_of(node):
                        head = next((each for each in numbers if node.line_start <= each <= node.line_end), 0)
                        self._heads.add((path, head, name))

    def _note(self, workspace: Workspace, edges: Iterable[Edge], above: Collection[tuple[str, str]]) -> None:
        for edge in edges:
            is_sure = edge.confidence == 1 and not _is_bodiless(workspace, edge.callee)
            is_of_base = (owner_of(edge.callee), last_of(edge.callee)) in above
            names = edge.callee.name.split(".")[-2:]
            for place in product([edge.caller.path], edge.lines, names):
                self._owners.setdefault(place, set()).add(owner_of(edge.callee))
                if is_sure:
                    self._resolved[place] = self._resolved.get(place, True) and is_of_base

    def may_make(
        self, members: Sequence[Node], outside: Callable[[Node, str], bool] = lambda _node, _path: True
    ) -> Iterator[str]:
        """Yield the places that make one of a class which is not known: it may be one of these."""
        for node in members:
            own = self._owned(node.path).get((node.name, node.line_start))
            if own is not None and not is_object(self._workspace, node):
                places = self._calls.may_make((node.path, own))
                yield from (each for each in places if outside(node, each.rpartition(":")[0]))

    def lines_with(self, name: str, language: str) -> list[tuple[GrepLine, bool]]:
        """Return the lines with a name that may mean a definition, and whether each may use it."""
        lines = [line for line in self._by_name.get(name, ()) if not self.mean_another(line, name)]
        known = [
            (line, may_use(line.path, line.text, name, language, self._spoken(line.path))) for line in lines
        ]
        return [each for each in known if each[1] or not only_declares(each[0].path, each[0].text, name)]

    def is_elsewhere(self, line: GrepLine, name: str, node: Node) -> bool:
        """Tell whether a line that may use a name more likely calls another definition than one of it."""
        only = self._only(line, name)
        return only is not None and owner_of(node) not in only

    def _classes_of(self, line: GrepLine, name: str) -> Collection[str] | None:
        """Return the classes of which a line may call the method of a name; None if that is not known.

        Those that inherit from one whose method is called, or likely; where ``super`` is, those above it.
        """
        if len(word(name).findall(line.text)) > 1 or line.path not in self._nodes:
            return None
        if owners := self._owners.get((line.path, line.number, name)):
            below = self._below(family_of(self._loaded.files[line.path][0]))
            return reached_from(owners - {""}, lambda each: below.get(each, ()))
        return (self._above(*self._class_around(line)) or None) if _is_above(line, name) else None

    def mean_another(self, line: GrepLine, name: str) -> bool:
        """Tell whether a line is known to call or to define another definition of the name."""
        key = (line.path, line.number, name)
        if key in self._heads:
            return True
        is_of_base = self._resolved.get(key)  # which its override may run instead of, but not by `super`
        if is_of_base is False or (is_of_base and _is_above(line, name)):
            return len(word(name).findall(line.text)) == 1  # not `a.run(b.run())`
        # A method that an interface of Go lists without a body.
        if not line.path.endswith(".go") or not line.text.lstrip().startswith(f"{name}("):
            return False
        nodes = self._nodes.get(line.path)
        return nodes is not None and nodes[self._innermost(line)][1].kind == "class"

    def _class_around(self, line: GrepLine) -> tuple[str, str]:
        """Return the family of a line's language, and the name of the class that it stands in."""
        nodes = [
            node for _, node in self._nodes[line.path] if node.line_start <= line.number <= node.line_end
        ]
        name = next((last_of(node) for node in reversed(nodes) if node.kind == "class"), "")
        return family_of(self._loaded.files[line.path][0]), name

    def _innermost(self, line: GrepLine) -> int:
        found = 0
        for place, (_, node) in enumerate(self._nodes[line.path]):
            if node.line_start <= line.number <= node.line_end:
                found = place  # in the order of the source: what lies in another comes after it
        return found


def _is_above(line: GrepLine, name: str) -> bool:
    """Tell whether a line calls the method of a base by ``super``."""
    before = _ABOVE_BY.get(line.path.rpartition(".")[2], _ABOVE)
    return any(before.search(line.text[: each.start()].rstrip()) for each in word(name).finditer(line.text))


def _is_bodiless(workspace: Workspace, node: Node) -> bool:
    """Tell whether a method is only declared, by an interface: what is called is another."""
    if node.kind == "class" or not node.path.endswith(_DECLARING):
        return False
    last = "".join(lines_of(workspace, node.path)[node.line_end - 1 : node.line_end])
    return bool(last) and "}" not in last and "=" not in last.rpartition(")")[2]


def _nearest_first(places: Iterable[str], members: Sequence[Node]) -> list[str]:
    """Order places with a name: in a definition's own file, in its folder, then those farther away."""
    own = {node.path: None for node in members}
    first = next(iter(own), "")
    paths = ((place.rpartition(":")[0], place) for place in places)
    ordered = sorted(paths, key=lambda each: (each[0] not in own, -shared(each[0], first)))
    return [place for _, place in ordered]


def _lies_in(line: GrepLine, node: Node) -> bool:
    is_there = line.path == node.path and node.name != MODULE
    return is_there and node.line_start <= line.number <= node.line_end


def _registered(
    workspace: Workspace, members: Sequence[Node], loaded: Loaded, bases_of: BasesOf
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
            marks = registrations(head_of(lines, node.line_start), last_of(node))
            if node != members[0]:  # a class is not called by what its methods override
                marks = tuple(mark for mark in marks if not mark.lower().endswith("override"))
            elif language == "rust":
                marks += implemented(lines[: node.line_start])
            elif not marks and not _is_own(lines[node.line_start - 1], language):
                base = _base_outside(node, bases_of(family_of(language)))
                base = base or _interface_outside(workspace, lines, node)
                marks = _marks_of_class(lines, node, loaded)
            found.update(dict.fromkeys(marks))
            found.update(dict.fromkeys(_unnamed(lines, node, loaded, is_alone=node == members[0])))
    for place, node in enumerate(members):
        is_own = place == 0 or "." not in node.name  # a class is not called by its methods' names
        is_made = "." in node.name and last_of(node) in CONSTRUCTORS  # called by its class's name
        if is_own and not is_made and is_called_by_its_name(last_of(node), language):
            found[BY_ITS_NAME] = None
    return tuple(found), base


def _interface_outside(workspace: Workspace, lines: Sequence[str], node: Node) -> str:
    """Return the package of others whose interface may list a method of Go."""
    if not node.path.endswith(".go"):
        return ""
    module, folder = "", node.path
    while folder and not module:
        folder = folder.rpartition("/")[0]
        with suppress(GitragError):
            manifest = file_lines(workspace, f"{folder}/go.mod".lstrip("/"))
            module = next((line[7:].strip() for line in manifest if line.startswith("module ")), "")
    return interface_outside(lines, lines[node.line_start - 1], module)


def _marks_of_class(lines: Sequence[str], node: Node, loaded: Loaded) -> tuple[str, ...]:
    """Return the marks of the class that a constructor is of, by which a container comes to make one."""
    owner = node.name.rpartition(".")[0]
    is_constructor = owner and last_of(node) in {owner.rpartition(".")[2], *CONSTRUCTORS}
    for each in loaded.files[node.path][1].definitions if is_constructor else ():
        if each.kind == "class" and each.name == owner:
            return registrations(head_of(lines, each.line_start), owner.rpartition(".")[2])
    return ()


def _unnamed(lines: Sequence[str], node: Node, loaded: Loaded, *, is_alone: bool) -> Iterator[str]:
    """Yield by what a definition is called that does not say its name."""
    language = loaded.files[node.path][0]
    is_member = language in SCRIPTS and is_of_an_object(lines[node.line_start - 1], last_of(node))
    if is_member and not _is_of_class(lines, node, loaded):
        yield BY_ITS_OBJECT
    line = lines[node.line_start - 1]
    if is_accessor_of_a_bean(lines, last_of(node), language):
        yield BY_ITS_PROPERTY
    if is_unarchived(line, language):
        yield BY_ITS_NAME
    is_named = "." in node.name or language == "bash"
    if is_alone and is_named and calls_by_computed_names(lines, language):
        yield BY_A_COMPUTED_NAME


def _is_own(line: str, language: str) -> bool:
    is_static = language not in _OVERRIDING_STATICS and _STATIC.search(line.partition("(")[0])
    return bool(is_static or PRIVATE.search(line))


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
    owner = owner_of(node)
    if not owner or last_of(node) in CONSTRUCTORS:
        return ""
    return may_be_called_by(above.get(owner, ()), above) or may_be_called_by(_beside(owner, above), above)


def _beside(owner: str, above: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the other bases of the classes that inherit from one: of what a mixin is mixed into."""
    own, grown = {owner}, True
    while grown and len(own) < MOST_NAMES:
        more = {
            name
            for name, bases in above.items()
            if name not in own and not own.isdisjoint(bases) and not _OF_TESTS.search(name)
        }
        own, grown = own | more, bool(more)
    return sorted({base for name in own - {owner} for base in above[name]} - own)
