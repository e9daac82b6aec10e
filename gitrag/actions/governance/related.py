"""What exists already on the subject of a decision or specification about to be written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gitrag.actions.governance.likeness import like
from gitrag.actions.governance.presets import PRESETS
from gitrag.actions.governance.unreached import Unreached, find_unreached
from gitrag.actions.search import NoCollectionError, search
from gitrag.corpus.documents import Document
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import UsageError
from gitrag.search.similar_chunks import SimilarChunk
from gitrag.store.candidates import NO_FILTERS
from gitrag.workspace import Workspace

THRESHOLD = 0.7
"""Minimum cosine for something to cover a text: `scripts/bench/duplicates.py` prints which pairs reach it."""

NONE_RELATED = "No related artifacts found — drafting from scratch"

_MOST_DUPLICATES = 20
_NEAREST = 3
_LINKED = 0.6
_COVERED = 0.85
"""Least calibrated score for a decision to be more than related, and for a specification to be extended."""

_REPLACES = re.compile(
    r"\b(?:replac|supersed|switch|migrat|deprecat|abandon|drop|instead of|no longer|rather than"
    r"|move (?:away )?from|stop using|get rid of)\w*",
    re.IGNORECASE,
)
_GONE = frozenset({"superseded", "deprecated", "rejected", "withdrawn"})


@dataclass(frozen=True, slots=True)
class Proposal:
    """A reference that a new document may make, for its author to accept, change or refuse.

    Attributes:
        relation: ``supersedes``, ``extends`` or ``related`` to a decision, ``requires`` or ``extends`` to a
            specification.
        kind: The kind of the other document's collection.
        document: The other document.
        score: Relevance in [0, 1].
        section: The section found.
        note: A sentence or two quoted from it.
    """

    relation: str
    kind: CollectionKind
    document: Document
    score: float
    section: str
    note: str


def related(workspace: Workspace, text: str, uses: Sequence[str] = ("adr", "spec")) -> list[Proposal]:
    """Propose references for a document that is about to be written.

    Args:
        workspace: gitrag on the repository.
        text: Its subject.
        uses: What is to be written: ``adr``, ``spec``; both where it is not known.

    Raises:
        NotSetUpError: There is no index.
        UsageError: The text has no words.
    """
    found: dict[tuple[CollectionKind, str], Proposal] = {}
    workspace.require_index()
    for use in uses:
        try:
            answer = search(workspace, text, PRESETS[use].options())
        except NoCollectionError:  # no decisions, or no specifications
            continue
        for section in answer.sections:
            for hit in section.hits:
                if hit.document is None:
                    continue
                relation = relation_to(section.kind, hit.document, hit.score, text)
                proposal = Proposal(
                    relation, section.kind, hit.document, hit.score, hit.chunk.qualified_name, hit.note
                )
                found.setdefault((section.kind, hit.document.id), proposal)
    return sorted(found.values(), key=lambda each: (-each.score, each.document.path))


def unrelated(workspace: Workspace, text: str, uses: Sequence[str] = ("adr", "spec")) -> Unreached:
    """Return what comes nearest to a text that nothing is related to; arguments as in `related`."""
    return find_unreached(workspace, [text], [PRESETS[use] for use in uses])


def relation_to(kind: CollectionKind, document: Document, score: float, text: str) -> str:
    """Return how a new document may relate to one that was found. Pure.

    Args:
        kind: The kind of its collection.
        document: The one that was found.
        score: Its relevance.
        text: The subject of the new one.
    """
    if kind is CollectionKind.SPECS:
        return "extends" if score >= _COVERED else "requires"
    gone = document.status in _GONE or any(edge.relation == "superseded-by" for edge in document.edges)
    if gone or score < _LINKED:
        return "related"
    return "supersedes" if _REPLACES.search(text) else "extends"


def duplicates(workspace: Workspace, text: str, threshold: float = THRESHOLD) -> list[SimilarChunk]:
    """List what covers a text already: documents, code and issues, by cosine alone.

    Args:
        workspace: gitrag on the repository.
        text: A description, or a piece of code.
        threshold: Minimum cosine.

    Raises:
        NotSetUpError: There is no index.
        UsageError: The text is empty.
    """
    if not text.strip():
        raise UsageError(
            "There is no text to compare.", 'For example: gitrag related --duplicates "parse an id"'
        )
    (found,) = like(workspace, [text], filters=NO_FILTERS, limit=_MOST_DUPLICATES, at_least=threshold)
    return found


def nearest(workspace: Workspace, text: str) -> list[SimilarChunk]:
    """Return the few chunks most similar to a text, to show when nothing covers it.

    A sentence and the code that does what it says seldom have a cosine above 0.6, less than the threshold.

    Raises:
        NotSetUpError: There is no index.
        UsageError: The text is empty.
    """
    return duplicates(workspace, text, -1.0)[:_NEAREST]
