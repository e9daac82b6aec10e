"""What is answered to a question about calls: the graph, what it lacks, who names a thing besides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from gitrag.callgraph.drawing import as_mermaid
from gitrag.callgraph.graph import Edge, Graph, Node
from gitrag.callgraph.paths import Path, Paths
from gitrag.callgraph.published import PublishedPackage
from gitrag.callgraph.reach import Uncalled, unresolved_in
from gitrag.callgraph.subjects import Subject
from gitrag.chunking.languages import language_of
from gitrag.chunking.occurrences import Use
from gitrag.words.numbers import count
from gitrag.words.path_traits import Trait, traits

SKIPPED = "Call graph generation skipped for {path} (language not supported). Showing other results."
UNREAD = "Files that could not be read in full for the call graph: {count} ({paths})."

_MOST_NAMED = 3
"""Unreadable files that are named; `gitrag doctor` lists more."""

_MOST_LISTED = 5
"""Definitions that one sentence names."""


class Reference(Struct, frozen=True):
    """A line that has a name.

    Attributes:
        path: The file.
        line: The line, 1-based.
        use: What the name does there.
        within: The definition that it stands in; empty outside of all.
        text: The line, without the spaces around it.
        is_sure: Whether the file defines the name, or imports it from where it is defined.
    """

    path: str
    line: int
    use: Use
    within: str
    text: str
    is_sure: bool

    @property
    def certain(self) -> bool:
        """The same as ``is_sure``, as the Python API calls it."""
        return self.is_sure

    @property
    def is_test(self) -> bool:
        """Whether it is in a test's file."""
        return bool(traits(self.path) & Trait.TEST)


class References(Struct, frozen=True):
    """The lines that have a name, and are not calls that the graph has.

    Attributes:
        name: The name, a single word.
        found: The lines, by path.
        unread: How many files that have the name were not looked at in the time.
        beside_graph: Whether they are what a call graph has not; else there is none.
    """

    name: str
    found: tuple[Reference, ...]
    unread: int = 0
    beside_graph: bool = False

    @property
    def defined_in(self) -> frozenset[str]:
        """The files that define it."""
        return frozenset(each.path for each in self.found if each.use is Use.DEFINED)


class GraphNode(Struct, frozen=True):
    """A definition in a graph of calls, and whether it is what was asked for.

    Attributes:
        node: The definition; ``<module>`` for code outside of definitions.
        matched: Whether it is what was asked for.
    """

    node: Node
    matched: bool


class GraphEdge(Struct, frozen=True):
    """A call, with the indexes of its ends in ``nodes``.

    Attributes:
        caller: Index of the caller in ``nodes``.
        callee: Index of the callee.
    """

    caller: int
    callee: int
    edge: Edge


class CallElsewhere(Struct, frozen=True):
    """A call between two repositories.

    Attributes:
        caller: The calling definition.
        callee: The called one.
        edge: The call; its line is one of the caller's file.
    """

    caller: GraphNode
    callee: GraphNode
    edge: Edge


class CallsBetween(Struct, frozen=True):
    """Calls between the repository around and another one.

    Attributes:
        repository: The other one's name.
        packages: The packages through which: their names, with the manifest that says so.
        by_other: Whether the other one imports and calls; else it is imported and called.
        files: How many files import them.
        edges: The calls; the paths of the calling or the called end are the other one's.
        place: The definition asked for, where it is the other one's, which lies in a directory of this one.
    """

    repository: str
    packages: tuple[PublishedPackage, ...]
    by_other: bool
    files: int
    edges: tuple[Edge, ...]
    place: str = ""

    @property
    def calls(self) -> tuple[CallElsewhere, ...]:
        """The calls; the other repository's end has a path relative to its top."""
        own, other = not self.by_other, self.by_other
        return tuple(
            CallElsewhere(GraphNode(each.caller, own), GraphNode(each.callee, other), each)
            for each in self.edges
        )

    @property
    def direction(self) -> str:
        """``callers`` where the other one calls, ``callees`` where it is called."""
        return "callers" if self.by_other else "callees"

    @property
    def found_by(self) -> str:
        """How they were found."""
        if self.place:
            return f"it is defined in {self.repository}: {self.place}"
        names = ", ".join(f"{each.name} ({each.manifest})" for each in self.packages)
        owner = "this repository" if self.by_other else f"repository {self.repository}"
        what = f"a package of {owner}" if len(self.packages) == 1 else f"packages of {owner}"
        return (
            f"{count(self.files, 'file')} {'of it' if self.by_other else 'here'}"
            f" {'imports' if self.files == 1 else 'import'} {names}, {what}; only their calls count"
        )


class NoCall(Struct, frozen=True):
    """That what was asked for has no caller, or calls nothing, and what was looked at.

    Attributes:
        known: What else is known of who calls it; None where it is calls of its own that are missing.
        is_called: Whether it has callers, and only some places are unresolved.
    """

    subject: Subject
    is_caller: bool
    sentence: str
    looked_at: str = ""
    gaps: tuple[str, ...] = ()
    known: Uncalled | None = None
    is_called: bool = False


class NoCaller(Struct, frozen=True):
    """A definition that no call was resolved to; nothing calls it only where ``known`` says so.

    Attributes:
        path: The file.
        name: Its qualified name.
        line_start: First line.
        looked_at: What was read for it, counted.
        also: Others that all of this holds for, the places named included.
    """

    path: str
    name: str
    line_start: int
    known: Uncalled
    looked_at: str
    also: tuple[NoCaller, ...] = ()


def no_callers(found: Iterable[tuple[Node, str, Uncalled, str]]) -> tuple[NoCaller, ...]:
    """Return definitions that no call was resolved to, those together that the same places may call.

    Args:
        found: Each with its name, what is known of who calls it, and what was looked at.
    """
    alike: dict[tuple[Uncalled, str, Node | None], list[NoCaller]] = {}
    for node, name, known, looked_at in found:
        alone = None if known.unresolved or known.mentioned else node
        own = NoCaller(node.path, name, node.line_start, known, looked_at)
        alike.setdefault((known, looked_at, alone), []).append(own)
    return tuple(replace(first, also=tuple(others)) for first, *others in alike.values())


def uncalled(none: Sequence[NoCall], *, called: bool = False) -> tuple[NoCaller, ...]:
    """Return what is known of definitions without a call that was resolved; or of those with one."""
    return no_callers(
        (each.subject.own, each.subject.name, each.known, each.looked_at)
        for each in none
        if each.known is not None and each.is_called == called
    )


Source = tuple[tuple[str, ...], int]
"""The first lines of a definition's code, and how many are left out."""


class GraphAnswer(Struct, frozen=True):
    """Calls around what was asked for, what names it besides, and what was not found; or why there are none.

    Attributes:
        filter: The filter applied; None if there was none.
        graph: The graph; None if there was an error.
        error: Why there is none, for the user.
        skipped: Paths asked about whose language has no call graph.
        made: How many files' contents had to be parsed for it.
        unread: Paths of files that could not be read in full.
        none: What the definitions asked for by name do not have: callers, callees.
        chains: The chains of calls that the graph consists of; None where none was asked for.
        no_path: That there is no such chain, and what was looked at; empty if there is one.
        not_indexed: What exists and is not in the index, or not all of it, a sentence each, if anything.
        named: Where it is named besides, if that was asked for, or nothing calls it.
        elsewhere: The calls between it and other repositories; None if none were asked.
        elsewhere_notes: What is to be said of asking them, a line each.
        notes: What the command says on stderr, a line each: among them why there is no graph.
    """

    filter: str | None
    graph: Graph | None
    error: str | None = None
    skipped: tuple[str, ...] = ()
    made: int = 0
    unread: tuple[str, ...] = ()
    none: tuple[NoCall, ...] = ()
    chains: Paths | None = None
    no_path: str = ""
    not_indexed: tuple[str, ...] = ()
    named: References | None = None
    elsewhere: tuple[CallsBetween, ...] | None = None
    elsewhere_notes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Every end of an edge, and what was asked for, sorted."""
        return self.graph.nodes if self.graph is not None else ()

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The calls, sorted."""
        return self.graph.edges if self.graph is not None else ()

    @property
    def matches(self) -> tuple[Node, ...]:
        """The nodes that were asked for, sorted."""
        return tuple(sorted(self.graph.matches)) if self.graph is not None else ()

    @property
    def mermaid(self) -> str:
        """The best connected nodes as a Mermaid diagram; empty where there is no graph."""
        return as_mermaid(self.graph) if self.graph is not None and self.graph.nodes else ""

    @property
    def paths(self) -> tuple[Path, ...]:
        """Of chains from one target to another, each with its calls in order."""
        return self.chains.shown if self.chains is not None else ()

    @property
    def references(self) -> tuple[Reference, ...]:
        """Where the target is named besides calls, by path."""
        return self.named.found if self.named is not None else ()

    @property
    def marked_nodes(self) -> tuple[GraphNode, ...]:
        """The definitions."""
        return tuple(GraphNode(node, node in self.graph.matches) for node in self.nodes) if self.graph else ()

    @property
    def numbered_edges(self) -> tuple[GraphEdge, ...]:
        """The calls between them."""
        places = {node: place for place, node in enumerate(self.nodes)}
        return tuple(GraphEdge(places[edge.caller], places[edge.callee], edge) for edge in self.edges)

    @property
    def files(self) -> tuple[str, ...]:
        """The files that were read, also those without a call, where everything was asked for."""
        return tuple(self.graph.files) if self.graph is not None else ()

    @property
    def left_out(self) -> tuple[str, ...]:
        """What was not followed, a sentence each, if anything."""
        if self.graph is None:
            return tuple(filter(None, (*self.remarks, self.error, *self.elsewhere_notes)))
        return (*self.graph.followed.notes, *not_looked_at(self.none), *self.elsewhere_notes)

    @property
    def beside(self) -> References | UnsetType:
        """Where it is named besides, if that was asked for, or nothing calls it."""
        return UNSET if self.named is None else self.named

    @property
    def between(self) -> tuple[CallsBetween, ...] | UnsetType:
        """The calls between it and other repositories, if those were asked."""
        return UNSET if self.elsewhere is None or self.graph is None else self.elsewhere

    @property
    def without_callers(self) -> tuple[NoCaller, ...]:
        """What was asked for by name and has no call that was resolved, if anything."""
        return uncalled(self.none)

    @property
    def unresolved(self) -> tuple[NoCaller, ...]:
        """What was asked for by name and is called, with the other places that may call it, if any."""
        return uncalled(self.none, called=True)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Lines on what the graph has no calls of."""
        notes = []
        for name, paths in groupby(sorted(self.skipped, key=_language), key=_language):
            first, *others = paths
            notes.append(SKIPPED.format(path=first))
            if others:
                notes.append(
                    f"The same holds for {count(len(others), 'more file')} in {name or 'its language'}."
                )
        if self.unread:
            named = ", ".join([*self.unread[:_MOST_NAMED], *["…"] * (len(self.unread) > _MOST_NAMED)])
            notes.append(UNREAD.format(count=len(self.unread), paths=named))
        return tuple(notes)

    @property
    def negatives(self) -> tuple[str, ...]:
        """Lines on what was not followed, and on what was not found and where it was looked for."""
        followed = self.graph.followed.notes if self.graph is not None else ()
        none: dict[str, list[str]] = {}
        places, common = common_places(self.none)
        for each in self.none:
            none.setdefault(_sentence(each, frozenset(places)), []).append(each.subject.name)
        said = [f"{_listed(names)}: {sentence}" for sentence, names in none.items()]
        said += [common] * bool(common)
        return (*followed, *said, *not_looked_at(self.none), *([self.no_path] if self.no_path else ()))


def common_places(none: Sequence[NoCall]) -> tuple[tuple[str, ...], str]:
    """Return the places that may call several of what was asked for, and a sentence; none if they are few."""
    known = [each.known.unresolved for each in none if each.known is not None]
    number = Counter(place for places in known for place in places)
    common = tuple(sorted(place for place, times in number.items() if times > 1))
    if len(common) <= _MOST_LISTED:
        return (), ""
    sharing = sum(not set(common).isdisjoint(places) for places in known)
    own = [place for place in common if not traits(place.rpartition(":")[0]) & Trait.TEST]
    tests = f", {len(common) - len(own):,} of them in tests" if len(own) < len(common) else ""
    said = unresolved_in(own or common).partition(": ")[2]
    return common, f"{count(len(common), 'place')}{tests} may call one of {sharing:,} definitions: {said}"


def _sentence(each: NoCall, common: frozenset[str]) -> str:
    """Return what is said of a definition, without listing places that are said once for several."""
    places = each.known.unresolved if each.known is not None else ()
    if common.isdisjoint(places):
        return each.sentence
    own = [place for place in places if place not in common]
    said = f"{unresolved_in(own)} and in common places" if own else "unresolved in common places"
    return each.sentence.replace(unresolved_in(places), said)


def not_looked_at(none: Sequence[NoCall]) -> Iterator[str]:
    """Yield where nothing was looked for, once for all the names that were not found."""
    for gaps in dict.fromkeys(each.gaps for each in none if each.gaps):
        yield f"Not looked at: {'; '.join(gaps)}."


def _listed(names: Sequence[str]) -> str:
    names = list(dict.fromkeys(names))
    more = f" and {len(names) - _MOST_LISTED:,} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(names[:_MOST_LISTED]) + more


def _language(path: str) -> str:
    return language_of(path) or ""
