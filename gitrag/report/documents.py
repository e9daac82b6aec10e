"""The answers that are put together for programs: what commands print where nothing that was found is it.

Keys may be added; one that changes its meaning or goes raises `gitrag.report.schema.VERSION`. A key whose
type is `UnsetType` too is left out where it has no value. Paths start at the repository's top, lines are
1-based and inclusive. `gitrag.report.told` says what is told of everything else.
"""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from gitrag.actions.impact import NoCaller
from gitrag.actions.push_check import Behind
from gitrag.actions.references import References
from gitrag.actions.search import Answer, Asked
from gitrag.actions.uninstall import Left, Piece
from gitrag.agents.setup import FileStep
from gitrag.callgraph.graph import Provenance
from gitrag.callgraph.published import Package
from gitrag.corpus.layout import CollectionKind
from gitrag.memory.observations import Observation
from gitrag.model import CallGraph
from gitrag.report.parts import asked_for, hits_of
from gitrag.report.told import json_text
from gitrag.search.engine import Hit
from gitrag.search.similar_chunks import SimilarChunk
from gitrag.store.garbage import Garbage


class SearchDocument(Struct, frozen=True):
    """What `gitrag search` prints for a question.

    Attributes:
        query: The question.
        adr_matches: Decisions, best first.
        spec_matches: Specifications, best first.
        code_snippets: Code and other files, best first.
        call_graphs: One, if it was asked for.
        issue_matches: Issues, best first, if they were asked for.
        repositories: Those that were asked, where several were.
        not_indexed: What exists and is not in the index, or not all of it, a sentence each, if anything.
    """

    query: str
    adr_matches: tuple[Hit, ...]
    spec_matches: tuple[Hit, ...]
    code_snippets: tuple[Hit, ...]
    call_graphs: tuple[CallGraph, ...]
    issue_matches: tuple[Hit, ...] | UnsetType = UNSET
    repositories: tuple[Asked, ...] | UnsetType = UNSET
    not_indexed: tuple[str, ...] | UnsetType = UNSET


class GraphNode(Struct, frozen=True):
    """A definition in a graph of calls.

    Attributes:
        path: The file.
        name: Its qualified name; ``<module>`` for code outside of definitions.
        kind: module, function or class.
        line_start: First line.
        line_end: Last line.
        matched: Whether it is what was asked for.
    """

    path: str
    name: str
    kind: str
    line_start: int
    line_end: int
    matched: bool


class GraphEdge(Struct, frozen=True):
    """A call.

    Attributes:
        caller: Index of the caller in ``nodes``.
        callee: Index of the callee.
        line: The line of the first such call.
        confidence: 1 where it is certain, less where it is likely.
        lines: The lines of all such calls.
        provenance: ``resolved`` by names, imports and types; ``rule``: the caller names the callee, and
            another is expected to call it; ``compiler``: an index that a compiler made has it.
        rule: That other, as it is written: ``app.get``, ``before_action``; empty where it is no rule.
    """

    caller: int
    callee: int
    line: int
    confidence: float
    lines: tuple[int, ...]
    provenance: Provenance
    rule: str


class CallElsewhere(Struct, frozen=True):
    """A call between two repositories.

    Attributes:
        caller: The calling definition.
        callee: The called one.
        line: The line of the first such call, in the caller's file.
        confidence: From 0 to 1; 1 where it is certain.
        lines: The lines of all such calls.
        provenance: As of a call within a repository.
        rule: As of a call within a repository.
    """

    caller: GraphNode
    callee: GraphNode
    line: int
    confidence: float
    lines: tuple[int, ...]
    provenance: Provenance
    rule: str


class RepositoryCalls(Struct, frozen=True):
    """Calls between the repository around and another one.

    Attributes:
        repository: The other one.
        direction: ``callers`` where it calls, ``callees`` where it is called.
        packages: The packages that the calling files import.
        files: How many files import them.
        found_by: How the calls were found, for a reader.
        calls: The calls; the other repository's end has a path relative to its top.
    """

    repository: str
    direction: str
    packages: tuple[Package, ...]
    files: int
    found_by: str
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


class DuplicatesDocument(Struct, frozen=True):
    """What `gitrag related --duplicates` prints.

    Attributes:
        text: The text.
        threshold: The least cosine.
        duplicates: What covers it already.
        nearest: Where nothing does, what is nearest.
    """

    text: str
    threshold: float
    duplicates: tuple[SimilarChunk, ...]
    nearest: tuple[SimilarChunk, ...]


class CollectionRow(Struct, frozen=True):
    """A collection, as `gitrag index status` lists it.

    Attributes:
        collection: Its name.
        documents: How many files it has.
        chunks: How many chunks these have.
        unembedded: How many texts have only draft vectors.
        updated: When it last changed, Unix seconds; null where it has only uncommitted files.
    """

    collection: str
    documents: int
    chunks: int
    unembedded: int
    updated: float | None


class IndexedDocument(Struct, frozen=True):
    """What `gitrag index update` and `gitrag init` did to the text of the index.

    Attributes:
        files: How many files are indexed.
        chunks: How many chunks they have.
        new: How many contents were read now.
        dirty: How many paths with uncommitted changes are on top.
        left_out: How many files are left out, by reason.
        seconds: How long it took.
    """

    files: int
    chunks: int
    new: int
    dirty: int
    left_out: dict[str, int]
    seconds: float


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

    indexed: IndexedDocument
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
    indexed: IndexedDocument | None
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
    removed: tuple[Piece, ...]
    left: tuple[Left, ...]


class RemovedDocument(Struct, frozen=True):
    """What `gitrag index remove` prints: how many bytes it freed; 0 where there was no index."""

    freed_bytes: int


class GarbageDocument(Struct, frozen=True):
    """What `gitrag gc` prints.

    Attributes:
        garbage: What nothing needs.
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


class TopicDocument(Struct, frozen=True):
    """A topic that is remembered.

    Attributes:
        observation: What is.
        score: How well it answers, in [0, 1]; `gitrag explore search` has it.
        section: The section that does.
        is_new: Whether `gitrag explore save` made it.
    """

    observation: Observation
    score: float | UnsetType = UNSET
    section: str | UnsetType = UNSET
    is_new: bool | UnsetType = UNSET


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


class SettingRow(Struct, frozen=True):
    """A setting.

    Attributes:
        key: Its name.
        value: Its value.
        origin: Where the value comes from.
        help: What it is for.
        git_config: Its name in git's configuration.
        variable: Its environment variable.
        team: Whether .gitrag.yaml may set it.
        allowed: What values it may have.
    """

    key: str
    value: str | int | float | list[str] | None
    origin: str
    help: str
    git_config: str
    variable: str
    team: bool
    allowed: str


class CommandRow(Struct, frozen=True):
    """A command whose JSON has a schema: `gitrag schema` lists them."""

    command: str
    id: str


def as_json(answer: Answer, graph: CallGraph | None = None) -> str:
    """Return an answer as one JSON object."""
    return json_text(search_document(answer, graph))


def search_document(answer: Answer, graph: CallGraph | None = None) -> SearchDocument:
    """Return an answer for programs.

    It always has the same five keys, ``issue_matches`` too if issues were searched, ``repositories`` if
    several were asked, and ``not_indexed`` if anything asked for is left out of the index.
    """
    hits = {kind: hits_of(answer, kind) for kind in CollectionKind}
    return SearchDocument(
        query=answer.query,
        adr_matches=hits[CollectionKind.ADRS],
        spec_matches=hits[CollectionKind.SPECS],
        code_snippets=hits[CollectionKind.CODE],
        call_graphs=() if graph is None else (graph,),
        issue_matches=hits[CollectionKind.ISSUES] if asked_for(answer, CollectionKind.ISSUES) else UNSET,
        repositories=answer.asked or UNSET,
        not_indexed=answer.not_indexed or UNSET,
    )
