"""Tables of what languages' own tools say about calls, and the call graph held against them.

A table has a row a line, its cells separated by tabs. A *place* is three cells: a path, the line of a
definition's name, and the name; of a file's own code the line is 0 and the name empty.

    P  path                         a file that the tool has read
    F  place  last line  kind       a function with a body, or a class; kind is function or class
    E  kind  place  line  place     the first calls the second, in that line
    U  place  name                  it names something so, which the tool cannot resolve, or does not call;
                                    in Python a generator function, of which the tracer sees who iterates
    L  path  line                   a line that ran; where there are such rows, the rest is not judged

Kinds of E: `call`, to a function that surely is the one declared; `dispatch`, to one of those that a
declaration without a body stands for; `override`, `implicit` (an operator, a conversion, a declaration that
constructs) and `reference` (named, not called): right if the graph has it, not missed if not.

Functions without a name (lambdas, closures) are part of the one around them, and so is what a function calls
that stands in another and is no definition to the graph; what calls such a function counts as missed. Code of
a class outside its functions counts as its file's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from gitrag.callgraph.facts import DefinitionFacts, Facts
from gitrag.callgraph.resolution import LIKELY, ResolvedCalls, without_collecting

CERTAIN = 1.0
"""Confidence of an edge that the graph is sure of."""


class Place(NamedTuple):
    """A function, a class, or a file's own code."""

    path: str
    line: int
    name: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.name or '<file>'}"


Pair = tuple[Place, Place]


@dataclass(slots=True)
class Table:
    """What a tool says about a project.

    Attributes:
        paths: The files that it has read.
        functions: Last line and kind of each definition.
        pairs: Caller and callee, by kind.
        unresolved: Names that a caller calls, or names, without the tool knowing what they are.
        ran: Lines that ran, by path; empty where the tool ran nothing.
    """

    paths: set[str] = field(default_factory=set)
    functions: dict[Place, tuple[int, str]] = field(default_factory=dict)
    pairs: dict[str, set[Pair]] = field(default_factory=lambda: defaultdict(set))
    unresolved: set[tuple[Place, str]] = field(default_factory=set)
    ran: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))


def read_table(lines: Iterable[str]) -> Table:
    """Read a table's rows."""
    table = Table()
    for row in lines:
        kind, *cells = row.rstrip("\n").split("\t")
        if kind == "P":
            table.paths.add(cells[0])
        elif kind == "F":
            table.functions[_place(cells[:3])] = (int(cells[3]), cells[4])
        elif kind == "E":
            table.pairs[cells[0]].add((_place(cells[1:4]), _place(cells[5:8])))
        elif kind == "U":
            table.unresolved.add((_place(cells[:3]), cells[3]))
        elif kind == "L":
            table.ran[cells[0]].add(int(cells[1]))
        elif kind:
            raise ValueError(f"not a row of a table: {row!r}")
    return table


def _place(cells: list[str]) -> Place:
    return Place(cells[0], int(cells[1]), cells[2])


class Edge(NamedTuple):
    """How sure the graph is of a call, and the call's line."""

    confidence: float
    line: int


@dataclass(frozen=True, slots=True)
class Compared:
    """The graph against a table.

    Attributes:
        edges: The graph's, between definitions of the table.
        calls: What surely is called.
        dispatched: What may be called behind a declaration without a body.
        judged: The edges that the tool can say something about.
        right: Those of them that it says, too.
    """

    edges: Mapping[Pair, Edge]
    calls: frozenset[Pair]
    dispatched: frozenset[Pair]
    judged: frozenset[Pair]
    right: frozenset[Pair]

    def sure(self, pairs: Iterable[Pair]) -> set[Pair]:
        """Return those of which the graph is certain."""
        return {pair for pair in pairs if pair in self.edges and self.edges[pair].confidence >= CERTAIN}


def compare(
    files: Mapping[str, tuple[str, Facts]], table: Table, manifests: Mapping[str, bytes] | None = None
) -> Compared:
    """Hold the graph of some files against what a tool says about them.

    Args:
        files: Language and facts, by path; of others nothing is asked.
        table: What the tool says.
        manifests: The project's manifests, by path.
    """
    every, folded = _edges(files, table, manifests or {})
    edges = {
        pair: edge
        for pair, edge in every.items()
        if pair[0].path in table.paths  # a file that it has not read may call anything
    }
    known = {
        kind: {(folded.get(a, a), b) for a, b in pairs if a.path in files and b.path in files}
        for kind, pairs in table.pairs.items()
    }
    said = {pair for pairs in known.values() for pair in pairs}
    unresolved = {(folded.get(place, place), name) for place, name in table.unresolved}
    judged = {
        pair
        for pair, edge in edges.items()
        if pair in said
        or (
            (pair[0], pair[1].name) not in unresolved
            and (not table.ran or edge.line in table.ran[pair[0].path])
        )
    }
    calls = frozenset(known.get("call", ()))
    dispatched = frozenset(known.get("dispatch", set()) - calls)
    return Compared(edges, calls, dispatched, frozenset(judged), frozenset(judged & said))


def _edges(
    files: Mapping[str, tuple[str, Facts]], table: Table, manifests: Mapping[str, bytes]
) -> tuple[dict[Pair, Edge], dict[Place, Place]]:
    """Return the graph's edges as the table names their ends, and what each inner function is a part of."""
    by_path: dict[str, list[Place]] = defaultdict(list)
    for place in sorted(table.functions):
        by_path[place.path].append(place)
    callers: dict[tuple[str, int], Place] = {}
    callees: dict[tuple[str, int], Place] = {}
    for path, (_, facts) in files.items():
        places = _places(facts.definitions, by_path[path], table)
        for index, each in enumerate(facts.definitions):
            if index in places:
                callees[path, index] = places[index]
            around = list(_around(each, index, facts.definitions))
            functions = [i for i in around if facts.definitions[i].kind == "function"]
            own = [places[i] for i in functions if i in places]
            if (
                own or not functions
            ):  # else in code that the tool has not read, as it is left out of the build
                callers[path, index] = own[0] if own else Place(path, 0, "")
    folded = _folded(table, set(callees.values()), by_path)
    found: dict[Pair, Edge] = {}
    with without_collecting():
        calls = ResolvedCalls(files, manifests=manifests)
        ids = {node: own for own, node in calls.nodes()}
        for edge in calls.callees(list(ids.values()), LIKELY):
            caller, callee = ids[edge.caller], ids[edge.callee]
            if caller in callers and callee in callees:
                pair = callers[caller], callees[callee]
                known = found.get(pair)
                if known is None or known.confidence < edge.confidence:
                    found[pair] = Edge(edge.confidence, edge.line)
    return found, folded


def _folded(table: Table, known: set[Place], by_path: Mapping[str, list[Place]]) -> dict[Place, Place]:
    """Return the known function around each function that the graph does not know, where there is one."""
    found: dict[Place, Place] = {}
    for place in table.functions.keys() - known:
        last = table.functions[place][0]
        around = [
            each
            for each in by_path[place.path]
            if each in known
            and table.functions[each][1] == "function"
            and each.line <= place.line
            and last <= table.functions[each][0]
        ]
        if around:
            found[place] = around[-1]
    return found


def _places(
    definitions: tuple[DefinitionFacts, ...], candidates: list[Place], table: Table
) -> dict[int, Place]:
    """Find the place of each definition: same name, same kind, the first line within."""
    found: dict[int, Place] = {}
    taken: set[Place] = set()
    for index, each in enumerate(definitions):
        name = each.name.rpartition(".")[2]
        fitting = [
            place
            for place in candidates
            if _alike(place.name, name)
            and each.line_start <= place.line <= each.line_end
            and (table.functions[place][1] == "class") == (each.kind == "class")
            and place not in taken
        ]
        if each.kind != "module" and fitting:
            found[index] = fitting[0]
            taken.add(fitting[0])
    return found


def _alike(place: str, name: str) -> bool:
    return place.lstrip("#~") == name.lstrip("#~") or {place, name} == {"constructor", "__init__"}


def _around(own: DefinitionFacts, index: int, definitions: tuple[DefinitionFacts, ...]) -> Iterator[int]:
    """Yield a definition, then those that it stands in, the innermost first."""
    yield index
    for before in range(index - 1, -1, -1):
        each = definitions[before]
        if each.line_start <= own.line_start and own.line_end <= each.line_end:
            yield before
