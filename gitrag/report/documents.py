"""The JSON documents that commands print, and that `gitrag schema` describes: one dataclass for each.

Keys may be added; one that changes its meaning or goes raises `gitrag.report.schema.VERSION`. A key whose
type is `UnsetType` too is left out where it has no value. Paths start at the repository's top, lines are
1-based and inclusive, scores are rounded to four places.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import UNSET, Struct, UnsetType

from gitrag.actions.overview import Overview
from gitrag.actions.since import Passed


def plain_data(document: object) -> object:
    """Return a document, or a list of them, as dicts, lists, texts and numbers."""
    return msgspec.to_builtins(document, str_keys=True, enc_hook=_as_text)


def json_text(document: object) -> str:
    """Return a document as JSON."""
    return json.dumps(plain_data(document), ensure_ascii=False, indent=2)


def _as_text(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} in a document")


class DocumentMatch(Struct, frozen=True):
    """A decision, a specification or an issue that answers.

    Attributes:
        id: Its id, ``ADR-0007``; empty for none.
        title: Its title.
        path: The file.
        score: How likely it answers, in [0, 1].
        snippet: Its best part.
        repository: The repository that it is in, and whose top its path starts at, where several were asked.
        nearest: Whether it is only near, and likely no answer.
    """

    id: str
    title: str
    path: str
    score: float
    snippet: str
    repository: str | UnsetType = UNSET
    nearest: bool | UnsetType = UNSET


class CodeMatch(Struct, frozen=True):
    """A file that answers, by its best chunk.

    Attributes:
        path: The file.
        score: How likely it answers, in [0, 1].
        snippet: The chunk's lines.
        name: The definition or heading; empty for none.
        kind: function, method, class, module or section.
        line_start: First line.
        line_end: Last line.
        repository: The repository that it is in, and whose top its path starts at, where several were asked.
        nearest: Whether it is only near, and likely no answer.
    """

    path: str
    score: float
    snippet: str
    name: str
    kind: str
    line_start: int
    line_end: int
    repository: str | UnsetType = UNSET
    nearest: bool | UnsetType = UNSET


class DrawnGraph(Struct, frozen=True):
    """The calls around what was found.

    Attributes:
        filter: The regular expression that its nodes match; null where all are drawn.
        mermaid: The drawing; null where there is an error.
        error: Why there is none; null where there is one.
    """

    filter: str | None
    mermaid: str | None
    error: str | None


class AskedRepository(Struct, frozen=True):
    """A repository that a search of several has asked.

    Attributes:
        name: Its name.
        path: Its working tree.
        outcome: answered, not up to date, not indexed, not reachable or late.
        why: Why it has not answered, or not of all its files; empty where it has.
        commit: The commit that it answered from; null if it has not.
    """

    name: str
    path: str
    outcome: str
    why: str
    commit: str | None


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
    adr_matches: tuple[DocumentMatch, ...]
    spec_matches: tuple[DocumentMatch, ...]
    code_snippets: tuple[CodeMatch, ...]
    call_graphs: tuple[DrawnGraph, ...]
    issue_matches: tuple[DocumentMatch, ...] | UnsetType = UNSET
    repositories: tuple[AskedRepository, ...] | UnsetType = UNSET
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
    """

    caller: int
    callee: int
    line: int
    confidence: float
    lines: tuple[int, ...]


class NamedPlace(Struct, frozen=True):
    """A line that names what was asked for.

    Attributes:
        path: The file.
        line: The line.
        use: What the name does there: defined, used, imported or text.
        within: The definition it is in; empty for none.
        text: The line.
        is_sure: Whether the file defines the name, or imports it from where it is defined.
    """

    path: str
    line: int
    use: str
    within: str
    text: str
    is_sure: bool


class NamedPlaces(Struct, frozen=True):
    """Where something is named besides calls.

    Attributes:
        name: The name.
        places: The lines.
        files_not_read: Further files with the name that there was no time to read.
    """

    name: str
    places: tuple[NamedPlace, ...]
    files_not_read: int


class PackageName(Struct, frozen=True):
    """A package through which one repository calls another.

    Attributes:
        name: As its manifest says.
        manifest: The manifest, in the repository that is called.
    """

    name: str
    manifest: str


class CallElsewhere(Struct, frozen=True):
    """A call between two repositories.

    Attributes:
        caller: The calling definition.
        callee: The called one.
        line: The line of the first such call, in the caller's file.
        confidence: From 0 to 1; 1 where it is certain.
        lines: The lines of all such calls.
    """

    caller: GraphNode
    callee: GraphNode
    line: int
    confidence: float
    lines: tuple[int, ...]


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
    packages: tuple[PackageName, ...]
    files: int
    found_by: str
    calls: tuple[CallElsewhere, ...]


@dataclass(frozen=True, slots=True)
class PlacedName:
    """A definition, by its qualified name, and where it begins."""

    path: str
    name: str
    line_start: int


@dataclass(frozen=True, slots=True)
class UncalledDefinition:
    """A definition that no call was resolved to; nothing calls it only where ``is_without_caller``.

    Attributes:
        path: The file.
        name: Its qualified name.
        line_start: First line.
        is_without_caller: Whether everything was searched, and nothing found that may call it.
        unresolved: Places, ``path:line``, that may call it or hand it on.
        registered: Decorators, annotations, modifiers and traits by which a framework calls it; ``its name``
            where the language, or what runs tests, calls it by that.
        base_outside: The last name of a base of its class that is outside of the repository and may call it;
            empty if there is none.
        mentioned: Places that only have its name.
        looked_at: The files whose calls were read, counted.
        also: Others that all of this holds for, the places named included.
    """

    path: str
    name: str
    line_start: int
    is_without_caller: bool
    unresolved: tuple[str, ...]
    registered: tuple[str, ...]
    base_outside: str
    mentioned: tuple[str, ...]
    looked_at: str
    also: tuple[PlacedName, ...]


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
    references: NamedPlaces | UnsetType = UNSET
    elsewhere: tuple[RepositoryCalls, ...] | UnsetType = UNSET
    without_callers: tuple[UncalledDefinition, ...] | UnsetType = UNSET
    not_indexed: tuple[str, ...] | UnsetType = UNSET


class Caller(Struct, frozen=True):
    """A place that calls.

    Attributes:
        path: The file.
        name: The calling definition.
        line: The line of the first such call.
        confidence: 1 where it is certain, less where it is likely.
        lines: The lines of all such calls.
    """

    path: str
    name: str
    line: int
    confidence: float
    lines: tuple[int, ...]


class CalledDefinition(Struct, frozen=True):
    """A definition and who calls it.

    Attributes:
        path: The file.
        name: Its qualified name.
        line_start: First line.
        places: How many places call it, tests apart.
        files: In how many files.
        test_places: How many places in tests call it.
        callers: The places.
        tests: Those in tests.
    """

    path: str
    name: str
    line_start: int
    places: int
    files: int
    test_places: int
    callers: tuple[Caller, ...]
    tests: tuple[Caller, ...]


class ImpactPart(Struct, frozen=True):
    """Who calls what a file defines or a change touches.

    Attributes:
        called: Definitions that are called.
        with_callers: How many there are.
        without_callers: Definitions that no call was resolved to.
        definitions: How many definitions there are.
        looked_at: What was looked at, in a sentence.
        left_out: What was not followed, a sentence each.
    """

    called: tuple[CalledDefinition, ...]
    with_callers: int
    without_callers: tuple[UncalledDefinition, ...]
    definitions: int
    looked_at: str
    left_out: tuple[str, ...]


class BearingDocument(Struct, frozen=True):
    """A document that bears on a file.

    Attributes:
        id: Its id.
        title: Its title.
        status: Its status; empty if it has none.
        path: The file.
        kind: adrs, specs or issues.
        score: How likely it bears on it, in [0, 1].
        section: The section found.
        why: Why it was found.
        named: Whether the file names it.
        named_line: The line that does; null where none does.
        governing: Whether a governing comment names it.
        note: A sentence or two of it.
    """

    id: str
    title: str
    status: str
    path: str
    kind: str
    score: float
    section: str
    why: str
    named: bool
    named_line: int | None
    governing: bool
    note: str


class CheckDocument(Struct, frozen=True):
    """What `gitrag check TARGET` prints.

    Attributes:
        target: The file or directory.
        query: What documents were asked for.
        candidates: The eight best decisions and specifications.
        issues: Issues about the same subject.
        missing: Ids that the target names and no document has.
        impact: Who calls what it defines; null where that is nothing.
    """

    target: str
    query: str
    candidates: tuple[BearingDocument, ...]
    issues: tuple[BearingDocument, ...]
    missing: tuple[str, ...]
    impact: ImpactPart | None


class BehindRef(Struct, frozen=True):
    """A ref that is pushed and not indexed.

    Attributes:
        name: The ref.
        files: How many files are not indexed.
    """

    name: str
    files: int


class PushDocument(Struct, frozen=True):
    """What `gitrag check --push` prints.

    Attributes:
        policy: The setting ``pre_push``.
        behind: The refs that are not indexed.
        stopped: Whether the push is to be stopped.
    """

    policy: str
    behind: tuple[BehindRef, ...]
    stopped: bool


class RelatedEdge(Struct, frozen=True):
    """A reference that a new document may make.

    Attributes:
        relation: supersedes, extends, related or requires.
        id: The id of the other document.
        title: Its title.
        status: Its status; empty if it has none.
        path: The file.
        kind: adrs, specs, issues or code.
        score: Relevance, in [0, 1].
        section: The section or definition found.
        note: A sentence or two of it.
    """

    relation: str
    id: str
    title: str
    status: str
    path: str
    kind: str
    score: float
    section: str
    note: str


class RelatedDocument(Struct, frozen=True):
    """What `gitrag related TEXT` prints.

    Attributes:
        text: The text.
        edges: What it may refer to, best first.
        nearest: Where these are few, what is nearest.
        instead: What code and commits say where there is no decision and no specification.
    """

    text: str
    edges: tuple[RelatedEdge, ...]
    nearest: tuple[RelatedEdge, ...]
    instead: InsteadPart


class LikeChunk(Struct, frozen=True):
    """A chunk that is like a text.

    Attributes:
        path: The file.
        name: The definition or heading; empty for none.
        kind: function, method, class, module or section.
        line_start: First line.
        line_end: Last line.
        cosine: Of the two vectors.
    """

    path: str
    name: str
    kind: str
    line_start: int
    line_end: int
    cosine: float


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
    duplicates: tuple[LikeChunk, ...]
    nearest: tuple[LikeChunk, ...]


class AskedQuestion(Struct, frozen=True):
    """A document that a change touches and does not name.

    Attributes:
        question: The question to its author.
        id: The document's id.
        title: Its title.
        status: Its status; empty if it has none.
        path: Its file.
        kind: adrs, specs or issues.
        score: Relevance, in [0, 1].
        section: The section found.
        touched_by: The changed file that led to it.
        note: A sentence or two of it.
    """

    question: str
    id: str
    title: str
    status: str
    path: str
    kind: str
    score: float
    section: str
    touched_by: str
    note: str


class AddedDefinition(Struct, frozen=True):
    """A definition that a change adds, and what exists like it.

    Attributes:
        path: The file.
        name: Its qualified name.
        line_start: First line.
        line_end: Last line.
        existing: What is like it, the most similar first.
    """

    path: str
    name: str
    line_start: int
    line_end: int
    existing: tuple[LikeChunk, ...]


class NearDocument(Struct, frozen=True):
    """A document that scores less than what is shown.

    Attributes:
        id: Its id.
        title: Its title.
        status: Its status; empty if it has none.
        path: The file.
        kind: adrs, specs or issues.
        score: Relevance, in [0, 1].
    """

    id: str
    title: str
    status: str
    path: str
    kind: str
    score: float


class ReviewDocument(Struct, frozen=True):
    """What `gitrag related --diff` prints.

    Attributes:
        range: The change.
        questions: Documents that it touches and does not name.
        helpers: Definitions that it adds and that exist already in some form.
        named: Ids that it names.
        nearest: Documents that score too little.
        impact: Who calls what it changes; null where that is nothing.
    """

    range: str
    questions: tuple[AskedQuestion, ...]
    helpers: tuple[AddedDefinition, ...]
    named: tuple[str, ...]
    nearest: tuple[NearDocument, ...]
    impact: ImpactPart | None


class PrimedEntry(Struct, frozen=True):
    """A document that a session should know.

    Attributes:
        kind: adrs or specs.
        id: Its id.
        title: Its title.
        status: Its status; empty if it has none.
        path: The file.
        text: The whole of it, where a topic was given.
    """

    kind: str
    id: str
    title: str
    status: str
    path: str
    text: str | UnsetType = UNSET


class PrimeDocument(Struct, frozen=True):
    """What `gitrag prime` prints.

    Attributes:
        topic: The topic; empty for none.
        notes: What was done first, and what is missing, a line each.
        documents: All documents, or those on the topic.
        nearest: Documents that score too little.
        instead: What code and commits say on a topic where no document is indexed.
        overview: What the repository consists of; null with a topic, and where it is not indexed.
        core: The section on core files, in Markdown; empty for none.
        since: What happened since one was here; null if not asked for.
    """

    topic: str
    notes: tuple[str, ...]
    documents: tuple[PrimedEntry, ...]
    nearest: tuple[NearDocument, ...]
    instead: InsteadPart
    overview: Overview | None
    core: str
    since: Passed | None


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


class UninstallPiece(Struct, frozen=True):
    """Something of gitrag's: what it is, and where."""

    what: str
    place: str


class UninstallDocument(Struct, frozen=True):
    """What `gitrag uninstall` prints.

    Attributes:
        applied: Whether it was removed, or only looked at.
        removed: What goes.
        left: What stays.
    """

    applied: bool
    removed: tuple[UninstallPiece, ...]
    left: tuple[UninstallPiece, ...]


class RemovedDocument(Struct, frozen=True):
    """What `gitrag index remove` prints: how many bytes it freed; 0 where there was no index."""

    freed_bytes: int


class GarbageDocument(Struct, frozen=True):
    """What `gitrag gc` prints.

    Attributes:
        views: Views that nothing needs.
        contents: File contents.
        chunks: Their chunks.
        texts: Texts with a vector or a draft.
        paths: Paths.
        commits: Commits.
        applied: Whether they were dropped.
        freed_bytes: How much that freed.
        size_bytes: The index's size now.
    """

    views: int
    contents: int
    chunks: int
    texts: int
    paths: int
    commits: int
    applied: bool
    freed_bytes: int
    size_bytes: int


class IssueReferences(Struct, frozen=True):
    """What an issue refers to, by id."""

    specs: tuple[str, ...]
    adrs: tuple[str, ...]
    blocks: tuple[str, ...]
    blocked_by: tuple[str, ...]


class IssueDocument(Struct, frozen=True):
    """An issue of the tracker.

    Attributes:
        id: Its id in the tracker.
        title: Its title.
        status: open, closed, merged or draft.
        labels: In the tracker's order.
        assignees: User names.
        author: User name; empty if unknown.
        created: ISO 8601, UTC; empty if unknown.
        updated: In the same form.
        closed: In the same form; empty while it is open.
        url: Its page, or its file.
        tracker: The tracker's name.
        references: What it refers to.
        body: Its text; `gitrag issues show` has it, the list has not.
    """

    id: str
    title: str
    status: str
    labels: tuple[str, ...]
    assignees: tuple[str, ...]
    author: str
    created: str
    updated: str
    closed: str
    url: str
    tracker: str
    references: IssueReferences
    body: str | UnsetType = UNSET


class FileChange(Struct, frozen=True):
    """What happened, or would happen, to a file for an agent.

    Attributes:
        path: From the repository's top, or with --user from your home.
        action: written, changed or removed; left for a file that is left alone; none where nothing is to do.
        note: Why it is left alone; empty else.
    """

    path: str
    action: str
    note: str


class AgentsDocument(Struct, frozen=True):
    """What `gitrag agents` and `gitrag init --agents --remove` print, and part of `gitrag init --agents`.

    Attributes:
        clients: The agents.
        applied: Whether the files were written, or only looked at.
        files: The files.
    """

    clients: tuple[str, ...]
    applied: bool
    files: tuple[FileChange, ...]


class TopicIdentity(Struct, frozen=True):
    """What tells topics apart."""

    topic_key: str
    project: str
    scope: str


class TopicDocument(Struct, frozen=True):
    """A topic that is remembered.

    Attributes:
        observation_id: Its number.
        kind: explore.
        identity: Its key, project and scope.
        repository: The project's remote, or place and first commit; empty where only a name was given.
        title: Its title.
        session_id: The session that wrote it last.
        revision: 1 when it was new.
        created: ISO 8601, UTC.
        updated: In the same form.
        sections: Its texts, by section.
        score: How well it answers, in [0, 1]; `gitrag explore search` has it.
        section: The section that does.
        is_new: Whether `gitrag explore save` made it.
    """

    observation_id: int
    kind: str
    identity: TopicIdentity
    repository: str
    title: str
    session_id: str
    revision: int
    created: str
    updated: str
    sections: dict[str, str]
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


class HookRow(Struct, frozen=True):
    """A git hook.

    Attributes:
        name: git's name of it.
        state: Whether it is installed.
        path: The file that git runs, or would run.
        detail: Why; may be empty.
        advice: The command to run; empty if none.
        lines: Lines to add by hand; empty if none.
        configured: The section of git's configuration that runs it; empty if a file does.
        changed: Whether the command changed anything; `gitrag hooks status` has it not.
    """

    name: str
    state: str
    path: str
    detail: str
    advice: str
    lines: str
    configured: str
    changed: bool | UnsetType = UNSET


class CheckRow(Struct, frozen=True):
    """A check of `gitrag doctor`.

    Attributes:
        name: What was checked.
        state: ok, warn or fail.
        message: What was found.
        mend: What to do; empty if nothing.
    """

    name: str
    state: str
    message: str
    mend: str


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


class CommitEntry(Struct, frozen=True):
    """A commit that answers.

    Attributes:
        commit: Its id.
        date: The day it was written, in UTC.
        author: Its author's name.
        subject: Its subject; of a merged pull request the title.
        rank: 1 for the best. There is no score: how likely a commit answers has not been measured.
        paths: What it changes; of very many paths not all.
        definitions: Qualified names of the definitions that it adds, changes or removes, those of tests last;
            null where that was not looked at.
        snippet: The sentence of its message that gives a reason; empty for none.
        found_by: ``words``, or ``meaning`` where its message has no word of the question.
    """

    commit: str
    date: str
    author: str
    subject: str
    rank: int
    paths: tuple[str, ...]
    definitions: tuple[str, ...] | None
    snippet: str
    found_by: str


class InsteadPart(Struct, frozen=True):
    """What answers in place of decisions and specifications.

    Attributes:
        files: Code, tests and other texts, best first.
        commits: Commits whose messages bear on it, best first.
    """

    files: tuple[CodeMatch, ...]
    commits: tuple[CommitEntry, ...]


class HistoryDocument(Struct, frozen=True):
    """What `gitrag history` prints.

    Attributes:
        query: The question.
        commit_matches: The commits, best first.
        searched: How many commits were looked at.
        notes: What was not looked at.
    """

    query: str
    commit_matches: tuple[CommitEntry, ...]
    searched: int
    notes: tuple[str, ...]


class IssueName(Struct, frozen=True):
    """An issue or pull request that a commit names.

    Attributes:
        id: Its number or key.
        title: Its title; empty where there is no copy of it here.
        state: open, closed, merged or draft; empty likewise.
    """

    id: str
    title: str
    state: str


class ReasonEntry(Struct, frozen=True):
    """A commit that made lines what they are.

    Attributes:
        commit: Its id.
        date: The day it was written, in UTC.
        author: Its author's name.
        subject: Its subject.
        reason: The sentence of its message that gives a reason; empty for none.
        lines: How many of the lines are from it.
        paths: Where they were then, if not in this file.
        merge: The merge that brought it, where that names the issue; else empty.
        issues: Issues and pull requests that it, or the merge, names.
        decisions: Ids of decisions and specifications that it names.
    """

    commit: str
    date: str
    author: str
    subject: str
    reason: str
    lines: int
    paths: tuple[str, ...]
    merge: str
    issues: tuple[IssueName, ...]
    decisions: tuple[str, ...]


class OtherCommits(Struct, frozen=True):
    """Commits that are not listed.

    Attributes:
        commits: How many.
        lines: How many of the lines are from them.
    """

    commits: int
    lines: int


class RuledBy(Struct, frozen=True):
    """A decision or specification that likely bears on a file.

    Attributes:
        id: Its id.
        title: Its title.
        status: Its status; empty if unknown.
        path: The file.
        score: How likely it bears on the file, in [0, 1].
    """

    id: str
    title: str
    status: str
    path: str
    score: float


class WhyDocument(Struct, frozen=True):
    """What `gitrag why` prints.

    Attributes:
        path: The file.
        line_start: First line.
        line_end: Last line.
        within: The definition that they are in; empty for none, and for a whole file.
        reasons: The commits that made them so, newest first; at most five, those of the most lines.
        further: The other commits.
        uncommitted: How many lines are in no commit yet.
        before: The newest commit that changed the lines or their definition and that no line is from now.
        documents: The decisions and specifications that likely bear on the file.
        notes: What was not looked at.
    """

    path: str
    line_start: int
    line_end: int
    within: str
    reasons: tuple[ReasonEntry, ...]
    further: OtherCommits
    uncommitted: int
    before: ReasonEntry | None
    documents: tuple[RuledBy, ...]
    notes: tuple[str, ...]
