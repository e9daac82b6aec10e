"""Ask each collection separately, so that decisions and specifications appear beside code, not against it.

All are asked with the same vector, the question's own. Prefixing "Architecture decisions about …" or
"Specifications and requirements for …" gives the wanted document a reciprocal rank of 0.941 against 0.938
without (26 questions on the golden project), 0.875 against 0.906 (16, alphagov/content-publisher) and 0.742
against 0.782 (15, cloudfoundry/korifi), and no more of them are shown; each prefix
would cost one more embedding.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from gitrag.corpus import specs
from gitrag.corpus.documents import Document, targets
from gitrag.corpus.layout import READERS, CollectionKind, kind_of, slug
from gitrag.search import engine, wording
from gitrag.search.engine import Hit, Scoped, VectorOf
from gitrag.search.passages import relevance
from gitrag.search.question import Question
from gitrag.search.ranking import LEAST_ALONE
from gitrag.search.wording import NOTHING_TO_SAY, Occurrences, Wording
from gitrag.store.memo import Memo
from gitrag.store.scopes import Filters, LeftOutRow
from gitrag.store.views import ViewOverlay

if TYPE_CHECKING:
    from gitrag.store.source import Source

USUAL_KINDS = (CollectionKind.ADRS, CollectionKind.SPECS, CollectionKind.CODE)
"""Collections that a search asks, and issues where ``Wanted.of`` is told so."""

_LEAST = 0.02
"""Score of the least likely code that is shown: on repositories left out, 0.99 of the answers among the first
three files score above, and half of the pages with one answer show three files or fewer
(`scripts/training/fit_hit_scores.py`)."""

_NOTHING = LEAST_ALONE
"""Where even the best file scores below, nothing is shown."""

_LEAST_DOCUMENT = 0.3

_FURTHER = 20
"""Hits beyond the limit in which to look for a document that the question names."""

_PARTLY_READ = 0.5
"""Share of its score that a hit keeps where only some words of the question could be read."""


class Wanted(Struct, frozen=True):
    """Which collections to ask.

    Attributes:
        kinds: The kinds, in the order of the answer.
        module: Of this module only; empty for all.
        names: Only the collections with these names: ``api-code``, ``shop-api-code`` in the repository shop,
            ``shop-code`` for its own outside its modules, ``code`` for all of this kind; empty means all.
    """

    kinds: tuple[CollectionKind, ...] = USUAL_KINDS
    module: str = ""
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, names: Sequence[str], module: str = "", *, with_issues: bool = False) -> Wanted:
        """Return which collections to ask, as a user names them; with issues, these are among the kinds."""
        kinds = (*USUAL_KINDS, CollectionKind.ISSUES) if with_issues else USUAL_KINDS
        return cls(kinds, slug(module), tuple(names))

    def within(self, repository: str) -> Wanted:
        """Return the same with names as one repository has them: without its slug, ``-code`` for its own."""
        own = f"{repository}-"
        names = (name.removeprefix(repository if name.startswith(own) else "") for name in self.names)
        return replace(self, names=tuple(names))

    @property
    def issues(self) -> bool:
        kind = CollectionKind.ISSUES
        if self.names:
            return any(name.rpartition("-")[2] == kind.value for name in self.names)
        return kind in self.kinds


class AnswerSection(Struct, frozen=True):
    """The answer of the collections of one kind, best first."""

    kind: CollectionKind
    hits: tuple[Hit, ...]


class Sections(Struct, frozen=True):
    """The answer of all collections.

    Attributes:
        sections: One per kind that was asked.
        chunk_ids: The chunks shown, section by section, best first.
        wording: What is to be said of the question's words.
        occurrences: Where they occur, in each collection that was asked.
        unread_history: Whether commit messages would count, but have not been read.
        outlined: The hits' contents of which only the outline is indexed, with their blobs.
        left_out: What is left out of what was asked; None where all that was asked for was found.
    """

    sections: tuple[AnswerSection, ...] = ()
    collections: tuple[str, ...] = ()
    chunk_ids: tuple[int, ...] = ()
    wording: Wording = NOTHING_TO_SAY
    occurrences: tuple[Occurrences, ...] = ()
    unread_history: bool = False
    outlined: Mapping[int, str] = field(default_factory=dict)
    left_out: Sequence[LeftOutRow] | None = None


UNSURE = 0.5
"""Where no hit has so high a score, it is said which words of the question are missing."""


def choose(wanted: Wanted, present: Iterable[str]) -> dict[CollectionKind, tuple[str, ...]]:
    """Return which existing collections to ask, by kind; names must match exactly, a kind alone all of it.

    Args:
        present: Names of collections that have a document; that of the repository's own code always
            exists.
    """
    there = sorted({*present, CollectionKind.CODE.value})
    if wanted.names:
        there = [name for name in there if {name, f"-{name}", kind_of(name).value} & {*wanted.names}]
    if wanted.module:
        own = {f"{wanted.module}-{kind.value}" for kind in CollectionKind}
        there = [name for name in there if name in own]
    kinds = tuple(CollectionKind) if wanted.names else wanted.kinds
    chosen = {kind: tuple(name for name in there if kind_of(name) is kind) for kind in kinds}
    return {kind: names for kind, names in chosen.items() if names}


def ask(
    source: Source,
    question: Question,
    scoped: Scoped,
    vector_of: VectorOf,
    wanted: Wanted,
    memo: Memo,
) -> Sections:
    """Answer a question from each kind of collection.

    Where no least score is given, no code at all is shown whose best file scores below `_NOTHING`. To a bug
    report the whole page of code is shown.

    Args:
        scoped: What it may find of each kind; its collections are replaced.
    """
    view_id = scoped.view_id
    of_view = memo.get(("touched", view_id), lambda: source.touched(view_id))
    present = {*of_view, *scoped.overlay.collections}
    chosen = choose(wanted, present)
    alone = set(chosen.get(CollectionKind.CODE, ())) == present | {CollectionKind.CODE.value}
    named = set(targets(question.text, "ADR"))
    found: dict[CollectionKind, engine.Found] = {}
    sections: dict[CollectionKind, AnswerSection] = {}
    for kind, names in chosen.items():
        own = replace(scoped, filters=replace(scoped.filters, collections=None if alone else names))
        found[kind], sections[kind] = _ask_kind(source, question, own, vector_of, memo, kind, named)
    names = tuple(name for each in chosen.values() for name in each)
    chunk_ids = tuple(chunk_id for kind in chosen for chunk_id in found[kind].chunk_ids)
    answered = any(hit.score >= UNSURE for section in sections.values() for hit in section.hits)
    said = NOTHING_TO_SAY
    if not answered and scoped.directory is not None:
        narrowed = bool(scoped.filters.globs or scoped.filters.languages) or not present <= set(names)
        said = _say(
            source,
            question,
            scoped,
            found.values(),
            None if alone else names,
            narrowed=narrowed,
        )
    if added := tuple(word for each in found.values() for word in each.added):
        said = replace(said, added=added)
    occurrences = tuple(each.occurrences for each in found.values() if each.occurrences is not None)
    return Sections(
        tuple(sections[kind] for kind in chosen),
        names,
        chunk_ids,
        said,
        occurrences,
        any(each.unread_history for each in found.values()),
    )


def _ask_kind(
    source: Source,
    question: Question,
    scoped: Scoped,
    vector_of: VectorOf,
    memo: Memo,
    kind: CollectionKind,
    named: Collection[str],
) -> tuple[engine.Found, AnswerSection]:
    """Answer a question from a kind of collection; ``named`` are documents whose ids it has."""
    look_further = bool(named) and kind is not CollectionKind.CODE
    least = least_score(kind, scoped.min_score, of_report=question.report is not None)
    found = engine.ask(
        source,
        question,
        replace(
            scoped,
            limit=scoped.limit + _FURTHER if look_further else scoped.limit,
            min_score=0.0 if look_further else least,
        ),
        vector_of,
        memo,
        are_documents=kind is not CollectionKind.CODE,
        alone_too=scoped.min_score is None,
    )
    if least and scoped.min_score is None and kind is CollectionKind.CODE and _is_nothing(found):
        found = replace(found, hits=(), chunk_ids=())
    hits = _read(source, kind, question, scoped, found.hits)
    if look_further:
        hits = _named_first(hits, named, scoped.limit, least)
    return found, AnswerSection(kind, hits)


def _say(
    source: Source,
    question: Question,
    scoped: Scoped,
    found: Collection[engine.Found],
    collections: Sequence[str] | None,
    *,
    narrowed: bool,
) -> Wording:
    """Say which of a question's words occur nowhere in what was searched, and what was not."""
    occurrences = [each.occurrences for each in found if each.occurrences is not None]
    searched = sum(len(each.files) for each in occurrences)
    is_path = bool(occurrences) and all(each.no_such_path for each in found if each.occurrences is not None)
    # Of a kind of chunk only parts of the files are searched.
    missing, beside = (
        ((), ()) if is_path or scoped.filters.kinds else wording.say(source, question, occurrences)
    )
    if not (missing or beside or is_path):
        return NOTHING_TO_SAY
    unread, left_out = source.unsearched(scoped.view_id, scoped.overlay, collections)
    return Wording(
        missing,
        beside,
        searched=searched,
        unread=unread,
        left_out=left_out,
        narrowed=narrowed,
        no_such_path=question.text if is_path else "",
    )


def lowered(found: Sections, min_score: float | None) -> Sections:
    """Lower the scores of what answers only the words of a question that could be read."""

    def each(section: AnswerSection) -> Iterator[Hit]:
        for hit in section.hits:
            if (score := hit.score * _PARTLY_READ) >= least_score(section.kind, min_score, of_report=False):
                yield replace(hit, score=score)

    return replace(
        found, sections=tuple(replace(section, hits=tuple(each(section))) for section in found.sections)
    )


def least_score(kind: CollectionKind, min_score: float | None, *, of_report: bool) -> float:
    """Return the score below which a hit is left out: as given, else that of its kind."""
    if min_score is not None:
        return min_score
    if kind is CollectionKind.CODE and of_report:
        return 0.0  # whoever pastes a report looks for the place through the whole page
    return _LEAST if kind is CollectionKind.CODE else _LEAST_DOCUMENT


def _is_nothing(found: engine.Found) -> bool:
    return not any(hit.score >= _NOTHING for hit in found.hits)


def read_documents(
    source: Source, view_id: int, overlay: ViewOverlay, kinds: Sequence[CollectionKind]
) -> list[tuple[CollectionKind, Document, str]]:
    """Read the documents in some kinds of collection: kind, document and text, by kind and path."""
    present = {*source.touched(view_id), *overlay.collections}
    found: list[tuple[CollectionKind, Document, str]] = []
    for kind, names in choose(Wanted(tuple(kinds)), present).items():
        scope = source.open_scope(view_id, overlay, Filters(collections=names))
        path_ids, content_ids = (column.tolist() for column in (scope.files.path_id, scope.files.content_id))
        paths = source.read_paths(path_ids)
        texts = source.read_texts(content_ids)
        held = sorted(
            (paths[path_id], texts.get(content_id, ""))
            for path_id, content_id in zip(path_ids, content_ids, strict=True)
        )
        documents = [READERS[kind](path, text) for path, text in held]
        if kind is CollectionKind.SPECS:
            documents = with_ids_of_folders(source, Scoped(view_id, overlay, Filters()), documents)
        found += [(kind, document, text) for document, (_, text) in zip(documents, held, strict=True)]
    return found


def _named_first(hits: Sequence[Hit], named: Container[str], limit: int, min_score: float) -> tuple[Hit, ...]:
    """Move documents that a question names by id to the front, with score 1."""
    sure = [
        replace(hit, score=1.0) if hit.document is not None and hit.document.id in named else hit
        for hit in hits
    ]
    order = sorted(sure, key=lambda hit: (hit.document is None or hit.document.id not in named, -hit.score))
    return tuple(hit for hit in order if hit.score >= min_score)[:limit]


def _read(
    source: Source, kind: CollectionKind, question: Question, scoped: Scoped, hits: Sequence[Hit]
) -> tuple[Hit, ...]:
    """Read the documents that the hits belong to."""
    if kind is CollectionKind.CODE or not hits:
        return tuple(hits)
    texts = source.read_texts([hit.content_id for hit in hits])
    words = frozenset(question.words)
    documents = [READERS[kind](hit.path, texts.get(hit.content_id, "")) for hit in hits]
    if kind is CollectionKind.SPECS:
        documents = with_ids_of_folders(source, scoped, documents)
    return tuple(
        replace(
            hit,
            document=document,
            note=relevance(hit.chunk.text, words, texts.get(hit.content_id, "")),
            collection=kind,
        )
        for hit, document in zip(hits, documents, strict=True)
    )


def with_ids_of_folders(source: Source, scoped: Scoped, documents: Sequence[Document]) -> list[Document]:
    """Assign a design or tasks file without an id that of the specification in the same folder."""
    beside = {document.path: specs.beside(document) for document in documents}
    wanted = sorted({path for path in beside.values() if path})
    if not wanted or scoped.view_id is None:
        return list(documents)
    held = source.look_up(scoped.view_id, scoped.overlay, wanted)
    texts = source.read_texts(held.values())
    ids = {path: specs.read(path, texts.get(content_id, "")).id for path, content_id in held.items()}
    return [replace(document, id=ids.get(beside[document.path] or "", document.id)) for document in documents]
