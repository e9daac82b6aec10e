"""The types of the public API: what its methods take, and what they return.

What is asked and what was found are as they are inside, under the names that the API has for them.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from gitrag.actions.answer import Answer
from gitrag.actions.embed import EmbeddedHere as Embedded
from gitrag.actions.governance.bearings import Bearing as GoverningDocument
from gitrag.actions.governance.bearings import Bearing as RelatedDocument
from gitrag.actions.governance.bearings import Bearing as TouchedDocument
from gitrag.actions.governance.change_impact import ChangeImpact as ReviewAnswer
from gitrag.actions.governance.check import Checked as CheckAnswer
from gitrag.actions.governance.related import Duplicates as DuplicatesAnswer
from gitrag.actions.governance.related import Related as RelatedAnswer
from gitrag.actions.graph_answer import GraphAnswer as CallAnswer
from gitrag.actions.graph_answer import Reference as NameReference
from gitrag.actions.impact import Called as CalledDefinition
from gitrag.actions.lines import Range as FileLines
from gitrag.actions.requests import SearchRequest as SearchOptions
from gitrag.actions.touched import Touched as AddedDefinition
from gitrag.callgraph.graph import Edge as CallEdge
from gitrag.callgraph.graph import Node as CallNode
from gitrag.search.engine import Hit
from gitrag.search.similar_chunks import SimilarChunk
from gitrag.search.snippet import Line
from gitrag.workspace import Indexed as Updated

__all__ = [
    "AddedDefinition",
    "Answer",
    "CallAnswer",
    "CallEdge",
    "CallNode",
    "CalledDefinition",
    "CheckAnswer",
    "DuplicatesAnswer",
    "Embedded",
    "FileLines",
    "GoverningDocument",
    "Hit",
    "IndexStatus",
    "Line",
    "NameReference",
    "Primed",
    "RelatedAnswer",
    "RelatedDocument",
    "ReviewAnswer",
    "SearchOptions",
    "SimilarChunk",
    "TouchedDocument",
    "Updated",
]


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
