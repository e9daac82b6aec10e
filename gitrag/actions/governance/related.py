"""What is there already, for who writes a decision or a specification (§3.10)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gitrag.actions.governance.likeness import like
from gitrag.actions.governance.presets import PRESETS
from gitrag.actions.search import search
from gitrag.corpus.documents import Document
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import NotSetUpError, UsageError
from gitrag.search.alike import Alike
from gitrag.store.candidates import NO_FILTERS
from gitrag.workspace import Workspace

THRESHOLD = 0.7
"""Cosine from which something covers a text (§3.10): `scripts/bench/duplicates.py` prints what lies above."""

NONE_RELATED = "No related artifacts found — drafting from scratch"

_MOST_DUPLICATES = 20
_NEAREST = 3
_LINKED = 0.6
_COVERED = 0.85
"""Scores, which are calibrated: from these on a decision is more than related, a specification extended."""

_REPLACES = re.compile(
    r"\b(?:replac|supersed|switch|migrat|deprecat|abandon|drop|instead of|no longer|rather than"
    r"|move (?:away )?from|stop using|get rid of)\w*",
    re.IGNORECASE,
)
_GONE = frozenset({"superseded", "deprecated", "rejected", "withdrawn"})


@dataclass(frozen=True, slots=True)
class Proposal:
    """An edge that a new document may have, for its author to accept, change or refuse.

    Attributes:
        relation: ``supersedes``, ``extends`` or ``related`` to a decision, ``requires`` or ``extends`` to a
            specification.
        kind: The other's collection.
        document: The other.
        score: Relevance in [0, 1].
        section: The part that came up.
        note: A sentence or two of it.
    """

    relation: str
    kind: CollectionKind
    document: Document
    score: float
    section: str
    note: str


def related(workspace: Workspace, text: str, uses: Sequence[str] = ("adr", "spec")) -> list[Proposal]:
    """Propose the edges of a document that is about to be written.

    Args:
        workspace: gitrag on the repository.
        text: What it is to be about.
        uses: What is written: ``adr``, ``spec``; both where it is not known.

    Raises:
        NotSetUpError: There is no index.
        UsageError: The text has no words.
    """
    found: dict[tuple[CollectionKind, str], Proposal] = {}
    workspace.require_index()
    for use in uses:
        try:
            answer = search(workspace, text, PRESETS[use].options())
        except NotSetUpError:  # no decisions, or no specifications
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


def relation_to(kind: CollectionKind, document: Document, score: float, text: str) -> str:
    """Say how a new document may relate to one that came up. Pure.

    Args:
        kind: Its collection's.
        document: The one that came up.
        score: Its relevance.
        text: What the new one is to be about.
    """
    if kind is CollectionKind.SPECS:
        return "extends" if score >= _COVERED else "requires"
    gone = document.status in _GONE or any(edge.relation == "superseded-by" for edge in document.edges)
    if gone or score < _LINKED:
        return "related"
    return "supersedes" if _REPLACES.search(text) else "extends"


def duplicates(workspace: Workspace, text: str, threshold: float = THRESHOLD) -> list[Alike]:
    """List what covers a text already: documents, code and issues, by the unmixed cosine.

    Args:
        workspace: gitrag on the repository.
        text: A description, or a piece of code.
        threshold: The least cosine.

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


def nearest(workspace: Workspace, text: str) -> list[Alike]:
    """Give the few that are most like a text, for who was told that nothing covers it.

    A sentence and the code that does what it says seldom have a cosine above 0.6.

    Raises:
        NotSetUpError: There is no index.
        UsageError: The text is empty.
    """
    return duplicates(workspace, text, -1.0)[:_NEAREST]
