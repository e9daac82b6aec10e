"""The answers that are put together for programs: what commands print where nothing that was found is it.

Keys may be added; one that changes its meaning or goes raises `gitrag.report.schema.VERSION`. A key whose
type is `UnsetType` too is left out where it has no value. Paths start at the repository's top, lines are
1-based and inclusive. `gitrag.report.told` says what is told of everything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import UNSET, Struct, UnsetType

from gitrag.actions.embed import EmbeddedHere, EmbeddingInBackground
from gitrag.actions.graph import NoCall, not_looked_at
from gitrag.actions.impact import NoCaller, no_callers
from gitrag.actions.push_check import Behind
from gitrag.actions.references import References
from gitrag.actions.repositories.calls import CallsBetween, CallsElsewhere
from gitrag.actions.uninstall import InstalledPiece, Left
from gitrag.agents.setup import FileStep
from gitrag.callgraph.graph import Edge, Graph, Node
from gitrag.report.told import json_text
from gitrag.store.garbage import Garbage
from gitrag.workspace import Indexed


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


class RepositoryCalls(Struct, frozen=True):
    """Calls between the repository around and another one.

    Attributes:
        calls: The calls; the other repository's end has a path relative to its top.
    """

    between: CallsBetween
    calls: tuple[CallElsewhere, ...]


class GraphDocument(Struct, frozen=True):
    """What `gitrag graph` prints.

    Attributes:
        nodes: The definitions.
        edges: The calls between them.
        files: The files that were read, also those without a call, where everything was asked for.
        left_out: What was not followed, a sentence each, if anything.
        references: Where it is named besides, if that was asked for, or nothing calls it.
        elsewhere: The calls between it and other repositories, if those were asked.
        without_callers: What was asked for by name and has no call that was resolved, if anything.
        not_indexed: What exists and is not in the index, or not all of it, a sentence each, if anything.
    """

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    files: tuple[str, ...] | UnsetType = UNSET
    left_out: tuple[str, ...] | UnsetType = UNSET
    references: References | UnsetType = UNSET
    elsewhere: tuple[RepositoryCalls, ...] | UnsetType = UNSET
    without_callers: tuple[NoCaller, ...] | UnsetType = UNSET
    not_indexed: tuple[str, ...] | UnsetType = UNSET


class PushDocument(Struct, frozen=True):
    """What `gitrag check --push` prints.

    Attributes:
        policy: The setting ``pre_push``.
        behind: The refs that are not indexed.
        stopped: Whether the push is to be stopped.
    """

    policy: str
    behind: tuple[Behind, ...]
    stopped: bool


class VectorsDocument(Struct, frozen=True):
    """What was done for the vectors.

    Attributes:
        embedded: How many texts got the model's vector now.
        waiting: How many have only draft vectors as yet.
        in_background: Whether the background worker was started for them.
        seconds: How long embedding took.
    """

    embedded: int
    waiting: int
    in_background: bool
    seconds: float


class UpdateDocument(Struct, frozen=True):
    """What `gitrag index` and `gitrag index update` print.

    Attributes:
        indexed: The text.
        vectors: The vectors; null where nothing was to be done, or was not asked for.
    """

    indexed: Indexed
    vectors: VectorsDocument | None


class InitDocument(Struct, frozen=True):
    """What `gitrag init` prints.

    Attributes:
        hooks: The git hooks that are installed.
        foreign_hooks: How many hooks are not gitrag's to change.
        gitignore_added: Whether `.sdd/` was added to .gitignore.
        indexed: The text of the index.
        vectors: The vectors; null where nothing was to be done, or was not asked for.
        agents: What was written for agents; null without --agents.
    """

    hooks: tuple[str, ...]
    foreign_hooks: int
    gitignore_added: bool
    indexed: Indexed | None
    vectors: VectorsDocument | None
    agents: AgentsDocument | None


class UninstallDocument(Struct, frozen=True):
    """What `gitrag uninstall` prints.

    Attributes:
        applied: Whether it was removed, or only looked at.
        removed: What goes.
        left: What stays.
    """

    applied: bool
    removed: tuple[InstalledPiece, ...]
    left: tuple[Left, ...]


class RemovedDocument(Struct, frozen=True):
    """What `gitrag index remove` prints: how many bytes it freed; 0 where there was no index."""

    freed_bytes: int


class GarbageDocument(Struct, frozen=True):
    """What `gitrag gc` prints.

    Attributes:
        applied: Whether it was dropped.
        freed_bytes: How much that freed.
        size_bytes: The index's size now.
    """

    garbage: Garbage
    applied: bool
    freed_bytes: int
    size_bytes: int


class AgentsDocument(Struct, frozen=True):
    """What `gitrag agents` and `gitrag init --agents --remove` print, and part of `gitrag init --agents`.

    Attributes:
        clients: The agents.
        applied: Whether the files were written, or only looked at.
        files: The files.
    """

    clients: tuple[str, ...]
    applied: bool
    files: tuple[FileStep, ...]


class ExportDocument(Struct, frozen=True):
    """What `gitrag explore export` prints: how many topics it wrote, and where."""

    exported: int
    directory: str


class DeletedDocument(Struct, frozen=True):
    """What `gitrag explore delete` prints: the numbers of the topics that are forgotten."""

    deleted: tuple[int, ...]


class UnmarkedDocument(Struct, frozen=True):
    """What `gitrag core unmark` prints: the path, and whether it was marked."""

    path: str
    unmarked: bool


class CommandRow(Struct, frozen=True):
    """A command whose JSON has a schema: `gitrag schema` lists them."""

    command: str
    id: str


def vectors_document(steps: Iterable[object], waiting: int = 0) -> VectorsDocument:
    """Return what was done for the vectors; ``waiting``: how many had only drafts where nothing was done."""
    document = VectorsDocument(0, waiting, in_background=False, seconds=0.0)
    for step in steps:
        match step:
            case EmbeddedHere(texts, seconds, left):
                document = VectorsDocument(texts, left, in_background=left > 0, seconds=round(seconds, 3))
            case EmbeddingInBackground(texts):
                document = VectorsDocument(0, texts, in_background=True, seconds=0.0)
            case _:
                pass
    return document


def graph_json(
    graph: Graph | None,
    named: References | None = None,
    elsewhere: CallsElsewhere | None = None,
    none: Sequence[NoCall] = (),
    not_indexed: Sequence[str] = (),
    *,
    notes: Sequence[str] = (),
) -> str:
    """Return a whole graph as JSON, with where its target is named besides, if that is known.

    Args:
        graph: The graph; None where there is none, which the notes say.
        elsewhere: The calls between it and other repositories; None if none were asked.
        not_indexed: What exists and is not in the index, or not all of it, a sentence each.
    """
    if graph is None:
        return json_text(
            GraphDocument((), (), left_out=tuple(notes), not_indexed=tuple(not_indexed) or UNSET)
        )
    places = {node: place for place, node in enumerate(graph.nodes)}
    left_out = (*graph.followed.notes, *not_looked_at(none), *(elsewhere.notes if elsewhere else ()))
    return json_text(
        GraphDocument(
            nodes=tuple(GraphNode(node, node in graph.matches) for node in graph.nodes),
            edges=tuple(GraphEdge(places[edge.caller], places[edge.callee], edge) for edge in graph.edges),
            files=tuple(graph.files) or UNSET,
            left_out=left_out or UNSET,
            references=UNSET if named is None else named,
            elsewhere=UNSET if elsewhere is None else tuple(map(_repository_calls, elsewhere.found)),
            without_callers=uncalled(none) or UNSET,
            not_indexed=tuple(not_indexed) or UNSET,
        )
    )


def uncalled(none: Sequence[NoCall]) -> tuple[NoCaller, ...]:
    return no_callers(
        (each.subject.own, each.subject.name, each.known, each.looked_at)
        for each in none
        if each.known is not None
    )


def _repository_calls(between: CallsBetween) -> RepositoryCalls:
    """Return the calls between the repository around and another one."""
    by_other = between.by_other
    calls = (
        CallElsewhere(GraphNode(each.caller, not by_other), GraphNode(each.callee, by_other), each)
        for each in between.edges
    )
    return RepositoryCalls(between, tuple(calls))
