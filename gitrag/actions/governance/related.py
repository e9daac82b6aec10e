"""What exists already on the subject of a decision or specification about to be written."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from gitrag.actions.governance.bearings import (
    KINDS,
    PRESETS,
    USES,
    Asked,
    Bearing,
    Preset,
    ask,
    best_first,
    likeliest,
    none_indexed,
    searched,
)
from gitrag.actions.governance.likeness import covering
from gitrag.actions.instead import NOTHING, Instead, find_instead
from gitrag.corpus.documents import Document
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import UsageError
from gitrag.search.bearing import Documents
from gitrag.search.question import STOP_WORDS
from gitrag.search.similar_chunks import SimilarChunk
from gitrag.words import terms
from gitrag.workspace import Workspace

THRESHOLD = 0.7
"""Minimum cosine for something to cover a text: `scripts/bench/duplicates.py` prints which pairs reach it."""

NONE_RELATED = "No related artifacts found — drafting from scratch"

_ANY = 0.005
"""A lower score is shown as 0.00."""

_MOST_DUPLICATES = 20
_NEAREST = 3
_FEW = 50
"""Fewer documents are a small collection: the nearest are shown whatever their score."""

_LINKED = 0.6
_COVERED = 0.85
"""Least calibrated score for a decision to be more than related, and for a specification to be extended."""

_REPLACES = re.compile(
    r"\b(?:replac|supersed|switch|migrat|deprecat|abandon|drop|instead of|no longer|rather than"
    r"|move (?:away )?from|stop using|get rid of)\w*",
    re.IGNORECASE,
)
_SUBJECT = r"(?P<old>[^,.;:!?]{1,80}?)"
_REPLACED = (
    re.compile(
        rf"\b(?:switch|migrat|mov|chang|port|convert|go|upgrad)\w* (?:\w+ ){{0,3}}?(?:away )?from {_SUBJECT}"
        r"(?= (?:to|into|over to|towards|on|for|in|as|because|so|when|since)\b|[,.;:!?]|$)",
        re.IGNORECASE,
    ),
    re.compile(rf"\breplac\w* {_SUBJECT} (?:by|with)\b", re.IGNORECASE),
    re.compile(
        rf"\b(?:instead of|rather than|in place of|no longer|stop(?:s|ped)? using|get(?:s|ting)? rid of"
        rf"|(?:supersed|deprecat|abandon|drop)\w*) {_SUBJECT}"
        r"(?= (?:to|for|in|as|because|so|when|since|by|with|and|from)\b|[,.;:!?]|$)",
        re.IGNORECASE,
    ),
)
"""What a text says is to be given up: "switch from A to B", "replace A by B", "B instead of A", "drop A"."""

_READ_CHARACTERS = 2_000
"""How much of a text is searched for what it gives up: a plan says so at its beginning."""

_TAKEN_BACK = 0.7
"""Least score of a decision whose title has every word of what is to be given up: it decided just that."""

_GONE = frozenset({"superseded", "deprecated", "rejected", "withdrawn"})


class Related(Struct, frozen=True):
    """What is related to a text.

    Attributes:
        text: The text.
        documents: Best first; each with the least score of its purpose or more.
        nearest: Where there are fewer than three, the next nearest decisions and specifications.
        lacking: What is said where there is no decision or specification to compare with; empty where there
            is one, or none was asked for.
        are_few: Whether there are so few that the nearest are worth a look, whatever their score.
        instead: What code and commits say where there is no document at all.
        notes: What the command says on stderr, a line each.
    """

    text: str
    documents: tuple[Bearing, ...]
    nearest: tuple[Bearing, ...] = ()
    lacking: str = ""
    are_few: bool = False
    instead: Instead = NOTHING
    notes: tuple[str, ...] = ()

    @property
    def near(self) -> tuple[Bearing, ...]:
        """The nearest that are shown beside the proposals: of few documents, those with any score."""
        return tuple(each for each in self.nearest if self.are_few and each.score >= _ANY)

    @property
    def hinted(self) -> tuple[Bearing, ...]:
        """The nearest that are told below: beside a proposal none whose score is shown as 0.00."""
        if self.near:
            return ()
        return tuple(each for each in self.nearest if each.score >= _ANY or not self.documents)


class Duplicates(Struct, frozen=True):
    """What covers a text already.

    Attributes:
        text: The text.
        threshold: The least cosine.
        chunks: Code, documents and issues that cover it, best first.
        nearest: Where nothing does, the few most similar chunks: a sentence and the code that does what it
            says seldom have a cosine above 0.6, less than the threshold.
        notes: What the command says on stderr, a line each.
    """

    text: str
    threshold: float
    chunks: tuple[SimilarChunk, ...]
    nearest: tuple[SimilarChunk, ...]
    notes: tuple[str, ...] = ()


def related(workspace: Workspace, text: str, uses: Sequence[str] = ("adr", "spec")) -> Related:
    """Propose references for a document that is about to be written.

    Args:
        uses: What it is for, as in ``USES``; ``adr`` and ``spec`` where it is not known.
    """
    if not terms.query_terms(text):
        raise UsageError(
            f"There is no word to search for in {text[:60]!r}.",
            'Say what is to be written, for example: gitrag related "switch from REST to gRPC"',
        )
    workspace.require_index()
    presets = [PRESETS[name] for use in uses for name in USES[use]]
    asked = [kind for kind in KINDS if any(kind in preset.kinds for preset in presets)]
    documents, targets = _ask(workspace, text) if asked else (None, [])
    every = _bearing(documents, targets, text) if documents else []
    there = sum(each.kind in asked for each in every)
    chosen: dict[str, Bearing] = {}
    near: dict[str, Bearing] = {}
    for preset in presets:
        governing = [each for each in every if each.kind in preset.kinds]
        found = [each for each in governing if each.score >= preset.min_score][: preset.limit]
        if documents and there < _FEW and not any(each.score >= _ANY for each in governing):
            # A decision that fits takes the score of all else away, a specification's too.
            governing = _bearing(documents.of(preset.kinds), targets, text)
        near |= {each.document.path: each for each in governing[:_NEAREST]}
        for each in (*found, *_others(workspace, text, preset)):
            chosen.setdefault(each.document.path, each)
    others = best_first(each for path, each in near.items() if path not in chosen)
    return Related(
        text,
        tuple(best_first(chosen.values())),
        tuple(others[: max(0, _NEAREST - len(chosen))]),
        none_indexed(asked) if asked and not there else "",
        there < _FEW,
        find_instead(workspace, text) if asked and not every else NOTHING,
    )


def _ask(workspace: Workspace, text: str) -> tuple[Documents, list[Asked]]:
    """Read every decision and specification, to be asked by a text, and by what it gives up."""
    old = given_up(text)
    return ask(workspace, [text, *([old] if old else [])])


def _bearing(documents: Documents, targets: Sequence[Asked], text: str) -> list[Bearing]:
    """Return every document, best first, as it bears on the best of the targets."""
    old = given_up(text)
    proposals = []
    for each in likeliest(each for target in targets for each in target.answer(documents)).values():
        score = max(each.score, _TAKEN_BACK) if old and _decides(each.document, old) else each.score
        relation = relation_to(each.kind, each.document, score, text, f"{each.section} {each.note}")
        proposals.append(replace(each, score=score, relation=relation))
    return best_first(proposals)


def _others(workspace: Workspace, text: str, preset: Preset) -> list[Bearing]:
    """Return the code and issues that a search finds for a purpose."""
    kinds = tuple(kind for kind in preset.kinds if kind not in KINDS)
    if not kinds:
        return []
    return [
        replace(each, relation="extends" if each.kind is CollectionKind.CODE else "related")
        for each, _ in searched(workspace, text, replace(preset, kinds=kinds).options())
    ]


def given_up(text: str) -> str:
    """Return what a text says is to be given up; empty if it says nothing of the kind. Pure.

    "Switch from REST to gRPC" → ``REST``.
    """
    head = text[:_READ_CHARACTERS]
    found = next(filter(None, (pattern.search(head) for pattern in _REPLACED)), None)
    return found["old"].strip() if found and _words(found["old"]) else ""


def relation_to(kind: CollectionKind, document: Document, score: float, text: str, passage: str = "") -> str:
    """Return how a new document may relate to one that was found. Pure."""
    if kind is CollectionKind.SPECS:
        return "extends" if score >= _COVERED or _titled(document, text) else "requires"
    gone = document.status in _GONE or any(edge.relation == "superseded-by" for edge in document.edges)
    if gone or score < _LINKED:
        return "related"
    old = given_up(text)
    if old:
        return "supersedes" if _words(old) & _words(f"{document.title} {passage}") else "related"
    return "supersedes" if _REPLACES.search(text) else "extends"


def _decides(document: Document, old: str) -> bool:
    """Tell whether a decision that still stands has every word of what is to be given up in its title."""
    return document.status not in _GONE and _words(old) <= _words(document.title)


def _titled(document: Document, text: str) -> bool:
    """Tell whether a text has every word of a specification's title."""
    title = _words(document.title)
    return bool(title) and title <= _words(text)


def _words(text: str) -> set[str]:
    return set(terms.query_terms(text)) - STOP_WORDS


def duplicates(workspace: Workspace, text: str, threshold: float = THRESHOLD) -> Duplicates:
    """List what covers a text already, by cosine alone: code, documents by title, section or as a whole."""
    if not text.strip():
        raise UsageError(
            "There is no text to compare.", 'For example: gitrag related --duplicates "parse an id"'
        )
    found = covering(workspace, text, limit=_MOST_DUPLICATES, at_least=threshold)
    near = [] if found else covering(workspace, text, limit=_MOST_DUPLICATES, at_least=-1.0)[:_NEAREST]
    return Duplicates(text, threshold, tuple(found), tuple(near))
