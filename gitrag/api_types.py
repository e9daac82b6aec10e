"""The types of the public API: what its methods take, and what they return."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from gitrag.actions.impact import Called as CalledDefinition
from gitrag.actions.references import Reference as NameReference
from gitrag.actions.requests import SearchRequest as SearchOptions
from gitrag.callgraph.graph import Edge as CallEdge
from gitrag.callgraph.graph import Node as CallNode
from gitrag.search.snippet import Line

__all__ = ["CallEdge", "CallNode", "CalledDefinition", "Line", "NameReference", "SearchOptions"]
"""What is asked and what was found are as they are inside, under the names that the API has for them."""


class Hit(Struct, frozen=True):
    """A file that answers a question, by its best chunk.

    Attributes:
        path: The file, relative to the worktree's top; bytes that are not UTF-8 as `os.fsdecode` reads them.
        lines: First and last line of the chunk, 1-based, inclusive.
        score: Relevance in [0, 1], rounded to four places.
        name: The definition's qualified name, or the headings joined by `` > ``; may be empty.
        kind: ``function``, ``method``, ``class``, ``module`` or ``section``.
        language: The file's language; empty where it is not known.
        text: The chunk's lines.
        collection: ``adrs``, ``specs``, ``code`` or ``issues``.
        id: What `Workspace.get` finds the lines again by, moved or not.
        document_id: The id of a decision, specification or issue, ``ADR-0007``; empty for code.
        title: Its title; empty for code.
        snippet: The lines of the chunk that say most about the question, as the command shows them.
        note: A sentence or two of a document that bear on the question; empty for code.
        cosine: Of the question and the chunk, in [-1, 1]; None where that is not one of the nearest.
        bm25: How well the chunk's words match, 0 or more.
        reasons: Features and what each added to the file's rank; which features there are may change.
        repository: Its repository's name, where several were asked; empty where one was.
    """

    path: str
    lines: tuple[int, int]
    score: float
    name: str
    kind: str
    language: str
    text: str
    collection: str
    id: str
    document_id: str = ""
    title: str = ""
    snippet: tuple[Line, ...] = ()
    note: str = ""
    cosine: float | None = None
    bm25: float = 0.0
    reasons: tuple[tuple[str, float], ...] = ()
    repository: str = ""


class Answer(Struct, frozen=True):
    """What a search found.

    Attributes:
        query: The question, white space collapsed.
        hits: Best first.
        commit: The commit that was searched; None before the first one.
        dirty: Paths with uncommitted changes that were searched too.
        drafts: Texts that are compared by draft vectors as yet.
        waiting: Files that are not searched yet: they are being indexed in the background.
        notes: What the command says on stderr, a line each.
        missing: Where no hit has 0.5: words of the question that no file contains that was searched.
        only_beside: Where no hit has 0.5: words that only tests, examples or documents contain.
        searched_for: The question with misspelt words corrected, or of one that is not in English the words
            that occur; empty where it was searched for as asked.
        not_indexed: What exists and is not in the index, or not all of it, a sentence each.
    """

    query: str
    hits: tuple[Hit, ...]
    commit: str | None
    dirty: int
    drafts: int
    waiting: int
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    only_beside: tuple[str, ...] = ()
    searched_for: str = ""
    not_indexed: tuple[str, ...] = ()


class CallAnswer(Struct, frozen=True):
    """Part of the call graph.

    Attributes:
        nodes: Every end of an edge, and what was asked for, sorted.
        edges: The calls, sorted.
        matches: The nodes that were asked for, sorted.
        mermaid: The best connected nodes as a Mermaid diagram; empty where there is no graph.
        notes: What the command says on stderr, a line each: among them why there is no graph.
        paths: Of chains from one target to another, each with its calls in order.
        references: Where the target is named besides calls, by path; of what the graph does not have, such as
            a constant or a type, always; else if they were asked for.
        not_indexed: What exists and is not in the index, or not all of it, a sentence each.
    """

    nodes: tuple[CallNode, ...]
    edges: tuple[CallEdge, ...]
    matches: tuple[CallNode, ...]
    mermaid: str
    notes: tuple[str, ...] = ()
    paths: tuple[tuple[CallEdge, ...], ...] = ()
    references: tuple[NameReference, ...] = ()
    not_indexed: tuple[str, ...] = ()


class Primed(Struct, frozen=True):
    """What a session should know at its start.

    Attributes:
        topic: What it is about; empty for an overview.
        markdown: What ``gitrag prime --output markdown`` prints.
        notes: Lines on the state of the index.
    """

    topic: str
    markdown: str
    notes: tuple[str, ...]


class BearingDocument(Struct, frozen=True):
    """A decision, specification or issue that was found, or code.

    Attributes:
        collection: ``adrs``, ``specs`` or ``issues``; for a plan or work also ``code``.
        id: Its id; of code its path.
        title: Its title.
        path: Its file.
        status: ``accepted``, for example; empty where it says none.
        score: Relevance in [0, 1]; 1 where a file that is checked names it.
        section: The part that came up: headings joined by `` > ``.
        note: A sentence or two of it.
    """

    collection: str
    id: str
    title: str
    path: str
    status: str
    score: float
    section: str
    note: str


class RelatedDocument(BearingDocument, frozen=True):
    """A document that one about to be written may refer to.

    Attributes:
        relation: ``supersedes``, ``extends``, ``requires`` or ``related``; the author decides.
    """

    relation: str


class RelatedAnswer(Struct, frozen=True):
    """What is related to a text.

    Attributes:
        text: The text.
        documents: Best first.
        notes: What the command says on stderr, a line each.
        nearest: Where there are fewer than three, the next nearest decisions and specifications.
    """

    text: str
    documents: tuple[RelatedDocument, ...]
    notes: tuple[str, ...] = ()
    nearest: tuple[RelatedDocument, ...] = ()


class SimilarChunk(Struct, frozen=True):
    """A chunk that is similar to a text.

    Attributes:
        path: The file.
        lines: First and last line of the chunk, 1-based, inclusive.
        name: The definition's qualified name, or the headings joined by `` > ``; may be empty.
        kind: ``function``, ``method``, ``class``, ``module`` or ``section``.
        cosine: Of the two texts, in [-1, 1], rounded to four places.
        text: The chunk's lines.
        id: What `Workspace.get` finds the lines again by, moved or not.
    """

    path: str
    lines: tuple[int, int]
    name: str
    kind: str
    cosine: float
    text: str
    id: str


class DuplicatesAnswer(Struct, frozen=True):
    """What covers a text already.

    Attributes:
        text: The text.
        threshold: The least cosine.
        chunks: Code, documents and issues that cover it, best first, 20 at most.
        nearest: The few that are most similar where none covers it.
        notes: What the command says on stderr, a line each.
    """

    text: str
    threshold: float
    chunks: tuple[SimilarChunk, ...]
    nearest: tuple[SimilarChunk, ...]
    notes: tuple[str, ...] = ()


class TouchedDocument(BearingDocument, frozen=True):
    """A decision or an issue that a change touches but does not name.

    Attributes:
        touched_by: The changed file that it came up for; empty where the commits' messages did.
    """

    touched_by: str


class AddedDefinition(Struct, frozen=True):
    """A definition that a change adds although something like it exists.

    Attributes:
        path: Its file.
        lines: First and last line, 1-based, inclusive.
        name: Its qualified name.
        kind: ``function``, ``method`` or ``class``.
        existing: The definitions like it, best first, 5 at most.
    """

    path: str
    lines: tuple[int, int]
    name: str
    kind: str
    existing: tuple[SimilarChunk, ...]


class ReviewAnswer(Struct, frozen=True):
    """The findings on a change.

    Attributes:
        span: The range of revisions.
        documents: What it touches but does not name, best first, 8 at most.
        added: What it adds although there is something like it, by path and line.
        notes: What the command says on stderr, a line each, and whose callers were not looked for.
        called: The functions and classes that it changes and that are called, those with the most callers
            first.
    """

    span: str
    documents: tuple[TouchedDocument, ...]
    added: tuple[AddedDefinition, ...]
    notes: tuple[str, ...] = ()
    called: tuple[CalledDefinition, ...] = ()


class GoverningDocument(BearingDocument, frozen=True):
    """A decision, specification or issue that bears on a file.

    Attributes:
        why: Why it came up, in a line.
        line: The line of the file that names it first; None where none does.
    """

    why: str
    line: int | None


class CheckAnswer(Struct, frozen=True):
    """What bears on a file or directory.

    Attributes:
        target: Its path.
        documents: Decisions and specifications, those that the target names before all others; at most
            eight, whatever their score: below 0.3 they are only the nearest.
        issues: About the same, best first.
        missing: Ids that the target names though there is no such document.
        notes: What the command says on stderr, a line each, and whose callers were not looked for.
        called: The functions and classes in it that are called from outside of it, those with the most
            callers first.
    """

    target: str
    documents: tuple[GoverningDocument, ...]
    issues: tuple[GoverningDocument, ...]
    missing: tuple[str, ...]
    notes: tuple[str, ...] = ()
    called: tuple[CalledDefinition, ...] = ()


class FileLines(Struct, frozen=True):
    """Lines of a file as it is now.

    Attributes:
        path: The file.
        lines: First and last line, 1-based, inclusive.
        text: The lines, without the last line end.
        lines_in_file: How many the file has.
        moved: What has become of a hit's lines since: ``moved from 7-9``; empty where nothing has.
        not_indexed: Why searches do not find the file, or only its outline: a sentence.
    """

    path: str
    lines: tuple[int, int]
    text: str
    lines_in_file: int
    moved: str
    not_indexed: tuple[str, ...] = ()


class Updated(Struct, frozen=True):
    """What an update did.

    Attributes:
        files: Files indexed.
        chunks: Their chunks.
        new_files: How many were read now; the others were known by their content.
        dirty: Paths with uncommitted changes, indexed too.
        unembedded: Texts that have no vector of the model's yet.
        seconds: How long it took.
        notes: What the command says on stderr, a line each.
    """

    files: int
    chunks: int
    new_files: int
    dirty: int
    unembedded: int
    seconds: float
    notes: tuple[str, ...] = ()


class Embedded(Struct, frozen=True):
    """What was embedded.

    Attributes:
        texts: Texts that got their vector.
        left: Texts that wait for theirs.
        seconds: How long it took.
        notes: What the command says on stderr, a line each.
    """

    texts: int
    left: int
    seconds: float
    notes: tuple[str, ...] = ()


class IndexStatus(Struct, frozen=True):
    """Where the index stands.

    Attributes:
        name: The repository's name in the names of its collections.
        commit: HEAD's commit; None before the first one.
        branch: HEAD's branch; None when detached.
        indexed: Whether there is an index of this worktree.
        fresh: Whether it has HEAD's tree, whole.
        dirty: Paths with uncommitted changes.
        updated: When the index was last brought up to date; None without one.
        files: Files indexed.
        chunks: Their chunks.
        texts: Distinct texts of chunks and paths.
        embedded: How many of them have a vector of the model's.
        collections: The collections, by name without the repository's.
        size_bytes: The index on disk.
        model_ready: Whether the model is there and whole.
        working: Whether a background worker is at it.
        notes: What the command says of settings, manifests and the last background worker, a line each.
    """

    name: str
    commit: str | None
    branch: str | None
    indexed: bool
    fresh: bool
    dirty: int
    updated: datetime | None
    files: int
    chunks: int
    texts: int
    embedded: int
    collections: tuple[str, ...]
    size_bytes: int
    model_ready: bool
    working: bool
    notes: tuple[str, ...] = ()
