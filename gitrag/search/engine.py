"""Gather candidates for a question from the store, rank the files, and read what is shown of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from gitrag.corpus.documents import Document
from gitrag.corpus.layout import CollectionKind
from gitrag.late import np
from gitrag.model import Chunk, ChunkOfFile
from gitrag.search import document_scores, lookup, passages, ranking, variants
from gitrag.search.collecting import allowed_paths, collect
from gitrag.search.everyday import in_code_words
from gitrag.search.evidence import Evidence
from gitrag.search.lookup import LookedUp, Named
from gitrag.search.other_words import Said, said
from gitrag.search.question import Question
from gitrag.search.ranking import Ranked
from gitrag.search.snippet import Line, lines_at, snippet
from gitrag.search.wording import Occurrences
from gitrag.store.content import ChunkPlace
from gitrag.store.memo import Memo
from gitrag.store.scopes import Files, Filters, SearchScope
from gitrag.store.views import ViewOverlay
from gitrag.words.path_traits import Trait

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.store.source import Source

_ALSO = 3
"""Further hits of the same file listed below its best one."""

_LOOKED_AT = 8
"""Best chunks of a file among which the one to show is chosen."""

_ALSO_FOR_A_REPORT = 5
_LOOKED_AT_FOR_A_REPORT = 16
"""The same where a bug report asks for the place to change: each definition is listed once."""

_BESIDE_A_FILE = 0.5
"""Share of its score that a hit keeps where the question is the path of another file."""


VectorOf: TypeAlias = "Callable[[str], NDArray[np.float32] | None]"
"""Gives a text its embedding, float32 (384,), L2-normalised; None for keyword search only."""

FurtherHit = tuple[Chunk, float]
"""Another chunk of a file, and how likely that is the one that answers, if the file does."""


_ALONE = 2 / 3
"""Share of the least score that is enough for the best, if hardly another has a word of the question."""

LEAST_ANSWER = 0.3
"""Score below which a hit is shown as nearest, never as an answer."""


class Hit(ChunkOfFile, Struct, frozen=True):
    """A file that answers a question, with its best chunk.

    Attributes:
        path: The file.
        chunk: Its best chunk, of long code the lines of it that say most (`passages.window`).
        score: Relevance in [0, 1].
        snippet: The lines of the chunk that say most about the question, as the command shows them.
        also: The file's other hits, best first.
        bm25: The chunk's BM25.
        cosine: Of the question and the chunk, in [-1, 1]; None where that is not one of the nearest.
        reasons: Features (``evidence.gather``) and what each contributed to the rank.
        content_id: The store's id of the file's content.
        language: The file's language; empty if unknown.
        document: The file as a document of its collection; None for code.
        note: A sentence or two of the document that bear on the question.
        variants: Paths of further files that are nearly the same, likeliest first, where they are grouped.
        repository: The name of the repository that it is in, where several were asked; the paths are relative
            to that one's top. Empty where one was.
        collection: The kind of its collection.
        model: The model of the user's that it was found by; empty for ours, whose scores are calibrated.
    """

    path: str
    chunk: Chunk
    score: float
    snippet: tuple[Line, ...]
    also: tuple[FurtherHit, ...]
    bm25: float
    cosine: float | None
    reasons: tuple[tuple[str, float], ...]
    content_id: int = 0
    language: str = ""
    document: Document | None = None
    note: str = ""
    share: float = 1.0
    variants: tuple[str, ...] = ()
    repository: str = ""
    collection: CollectionKind = CollectionKind.CODE
    model: str = ""

    @property
    def document_id(self) -> str:
        """The id of a decision, specification or issue, ``ADR-0007``; empty for code."""
        return self.document.id if self.document is not None else ""

    @property
    def title(self) -> str:
        """Its title; empty for code."""
        return self.document.title if self.document is not None else ""

    @property
    def is_nearest(self) -> bool:
        """Whether it is only near, and likely no answer."""
        return self.score < LEAST_ANSWER


class Found(Struct, frozen=True):
    """What answers a question.

    Attributes:
        hits: Best first.
        chunk_ids: The chunks of the hits, best first.
        occurrences: Where the question's words occur; None where there are no files.
        unread_history: Whether commit messages would count, but have not been read.
        added: Words that were asked for beside the question's.
    """

    hits: tuple[Hit, ...] = ()
    chunk_ids: tuple[int, ...] = ()
    occurrences: Occurrences | None = None
    no_such_path: bool = False
    unread_history: bool = False
    added: tuple[str, ...] = ()


class Scoped(Struct, frozen=True):
    """What a question may find, and how much of it.

    Attributes:
        view_id: The view, or None.
        directory: Where relative paths in a question start, relative to the worktree's top; empty for that.
            None where a question names nothing, since no user asked it.
        min_score: Hits below are left out; None for the least score of each kind of collection.
        grouped: Return files of code that are nearly the same as one hit.
    """

    view_id: int | None
    overlay: ViewOverlay
    filters: Filters
    directory: str | None = ""
    limit: int = 0
    min_score: float | None = None
    every_chunk: bool = False
    grouped: bool = False

    @property
    def state(self) -> Hashable:
        return self.view_id, self.overlay, self.filters


def ask(
    source: Source,
    question: Question,
    scoped: Scoped,
    vector_of: VectorOf,
    memo: Memo,
    *,
    are_documents: bool = False,
    alone_too: bool = False,
) -> Found:
    """Answer a question from the store.

    Args:
        are_documents: Score the files as documents (`document_scores`), not as a page of code.
        alone_too: Where nothing has the least score, keep the best if it is nearly alone with a word.
    """
    limit, min_score = scoped.limit, scoped.min_score or 0.0
    allowed = allowed_paths(source, scoped.filters, memo)
    scope = source.open_scope(scoped.view_id, scoped.overlay, scoped.filters, path_ids=allowed, memo=memo)
    files = scope.files
    if not len(files) or not question.words:
        return Found()
    looked_up = LookedUp()
    if scoped.directory is not None and question.report is None:
        looked_up = lookup.look_up(source, scope, question.text, scoped.directory)
    if not are_documents:  # which are in people's words
        question = in_code_words(source, question, scope, memo)
    vector, commit = vector_of(question.meaning), None if are_documents else scoped.overlay.commit
    if are_documents:
        question = replace(question, report=None)  # a report asks where to change code
    told = None if commit is None else source.messages(scope, commit, question.hashes, vector, memo)
    evidence = collect(source, question, scope, vector, memo, told)
    if are_documents:
        ranked = _rank_documents(source, evidence, scoped, files, memo)
    else:
        ranked = _rank_code(source, question, evidence, scoped, scope, memo)
    found = _enough(ranked.found, evidence, min_score, alone_too=alone_too)
    if scoped.every_chunk:
        found = ranking.singles(evidence, found, limit=limit, min_score=min_score)
    as_they_are = are_documents or scoped.every_chunk
    hits, chunk_ids = _hits(
        question, evidence, files, replace(ranked, found=found), whole=as_they_are, model=source.model
    )
    if looked_up.named:
        first, first_ids = _named(
            source, scope, question, looked_up, ranked.sums, limit=limit, min_score=min_score
        )
        first = _with_evidence(first, hits)
        hits = (*first, *_after(first, hits, looked_up, min_score=min_score))[:limit]
        chunk_ids = (*first_ids, *chunk_ids)
    elif looked_up.is_path:  # of no file: what has the same words is not what was asked for
        hits = tuple(_after((), hits, looked_up, min_score=min_score))
    return Found(
        hits,
        chunk_ids,
        evidence.occurrences,
        looked_up.is_path and not looked_up.named,
        unread_history=commit is not None and told is None,
        added=question.added,
    )


class _Ranking(Struct, frozen=True):
    """The files of a page.

    Attributes:
        sums: By which files came in question.
        names: The paths of these.
        most: Best chunks of a file that are looked at; None for all.
        read: Such chunks of the page, by their ids.
        copies: Further files that are nearly the same, by the file.
    """

    found: list[Ranked]
    sums: Mapping[int, float]
    names: Mapping[int, str]
    most: int | None
    read: Mapping[int, Chunk]
    copies: Mapping[int, tuple[str, ...]] = {}


def _names(source: Source, files: Files, sums: Mapping[int, float], memo: Memo) -> dict[int, str]:
    paths = source.read_paths(files.path_id[list(sums)].tolist(), memo)
    return {file: paths[int(files.path_id[file])] for file in sums}


def _rank_documents(source: Source, evidence: Evidence, scoped: Scoped, files: Files, memo: Memo) -> _Ranking:
    sums = document_scores.candidates(evidence, files, scoped.limit)
    names = _names(source, files, sums, memo)
    found = document_scores.rank(evidence, files, sums, names, scoped.limit)
    most = None if scoped.every_chunk else _LOOKED_AT
    return _Ranking(
        found, sums, names, most, _read_best(source, evidence, [item.file for item in found], most)
    )


def _rank_code(
    source: Source, question: Question, evidence: Evidence, scoped: Scoped, scope: SearchScope, memo: Memo
) -> _Ranking:
    files = scope.files
    sums = ranking.candidates(evidence, scoped.limit)
    names = _names(source, files, sums, memo)
    bulky = ranking.InNumbers.among(
        names,
        {file: str(files.language[file]) for file in sums},
        question.spoken,
        ranking.having(evidence, sums),
    )
    sums = ranking.copies_behind(sums, bulky)
    page = ranking.page(sums, files.content_id, names, len(sums))
    state = scoped.state, scoped.overlay.commit
    groups = variants.arrange(source, question, scope, page, sums, names, state, memo)
    copies = {}
    if scoped.grouped:
        copies = {group[0]: tuple(names[file] for file in group[1:]) for group in groups}
    page = [group[0] for group in groups] if scoped.grouped else variants.in_place(page, groups)
    page = ranking.alone_among_the_first(ranking.one_of_a_kind(page, bulky), evidence.alone)[: scoped.limit]
    most = None if scoped.every_chunk else _LOOKED_AT if question.report is None else _LOOKED_AT_FOR_A_REPORT
    read = _read_best(source, evidence, page, most)
    found = ranking.scored(evidence, page, sums, say(source, question, evidence, page, names, read))
    return _Ranking(found, sums, names, most, read, copies)


def _hits(
    question: Question, evidence: Evidence, files: Files, ranked: _Ranking, *, whole: bool, model: str
) -> tuple[tuple[Hit, ...], tuple[int, ...]]:
    """Make hits of a page's files, and list the chunks shown; ``whole`` shows chunks as they are."""
    shown = [
        (item, _whole(evidence, chunks) if whole else _shown_of(question, evidence, item, chunks))
        for item in ranked.found
        if (
            chunks := {
                place: ranked.read[int(evidence.chunk_id[place])] for place in item.chunks[: ranked.most]
            }
        )
    ]
    hits = tuple(
        Hit(
            path=ranked.names[item.file],
            chunk=best,
            score=item.score,
            snippet=snippet(best, question),
            also=tuple(further for _place, further in others),
            bm25=float(evidence.bm25[first]),
            cosine=known if (known := float(evidence.cosine[first])) > -1 else None,
            reasons=item.reasons,
            content_id=int(files.content_id[item.file]),
            language=str(files.language[item.file]),
            share=share,
            variants=ranked.copies.get(item.file, ()),
            model=model,
        )
        for item, ((first, (best, share)), *others) in shown
    )
    return hits, tuple(int(evidence.chunk_id[place]) for _item, own in shown for place, _chunk in own)


def _enough(found: list[Ranked], evidence: Evidence, min_score: float, *, alone_too: bool) -> list[Ranked]:
    """Return what has the least score; where nothing has, the best, if hardly another has a word of it."""
    kept = [item for item in found if item.score >= min_score]
    if kept or not alone_too:
        return kept
    return [item for item in found[:1] if evidence.alone[item.file] and item.score >= _ALONE * min_score]


def _named(
    source: Source,
    scope: SearchScope,
    question: Question,
    looked_up: LookedUp,
    sums: Mapping[int, float],
    *,
    limit: int,
    min_score: float,
) -> tuple[list[Hit], list[int]]:
    """Make hits of the files that a question names, and list their chunks."""
    named = [each for each in looked_up.named if each.score >= min_score]
    if looked_up.by_name:
        named = sorted(named, key=lambda each: (-each.score, -sums.get(each.file, -np.inf), each.path))
    named = named[:limit]
    rows = np.flatnonzero(np.isin(scope.file, [each.file for each in named]))
    own: dict[int, list[int]] = {}
    for row in rows.tolist():
        own.setdefault(int(scope.file[row]), []).append(int(scope.chunk_id[row]))
    places = source.read_places([chunk_id for ids in own.values() for chunk_id in ids])
    shown = [(each, ids) for each in named if (ids := _shown(each, own.get(each.file, []), places))]
    chunks = source.read_chunks([chunk_id for _each, ids in shown for chunk_id in ids])
    files = scope.files
    hits = [
        Hit(
            path=each.path,
            chunk=chunks[first],
            score=each.score,
            snippet=lines_at(chunks[first], *each.lines) if each.lines else snippet(chunks[first], question),
            also=tuple((chunks[chunk_id], 0.0) for chunk_id in others),
            bm25=0.0,
            cosine=None,
            reasons=(("named", each.score),),
            content_id=int(files.content_id[each.file]),
            language=str(files.language[each.file]),
        )
        for each, (first, *others) in shown
    ]
    return hits, [chunk_id for _each, ids in shown for chunk_id in ids]


def _with_evidence(named: Sequence[Hit], ranked: Sequence[Hit]) -> list[Hit]:
    """Add to hits that were looked up what the ranker knows of the same files."""
    known = {hit.path: hit for hit in reversed(ranked)}
    return [
        replace(hit, bm25=own.bm25, cosine=own.cosine, reasons=(*hit.reasons, *own.reasons))
        if (own := known.get(hit.path))
        else hit
        for hit in named
    ]


def _shown(named: Named, own: Sequence[int], places: Mapping[int, ChunkPlace]) -> list[int]:
    """Choose the chunks of a file to show: what is named, else where its lines are, else its beginning."""
    here = sorted(own, key=lambda chunk_id: (places[chunk_id][0], -places[chunk_id][1]))
    if named.chunk_ids:
        return [chunk_id for chunk_id in named.chunk_ids if chunk_id in places][: 1 + _ALSO]
    if not named.lines:
        definitions = [chunk_id for chunk_id in here[1:] if places[chunk_id][2]]
        return [*here[:1], *definitions[:_ALSO]]
    first, last = named.lines
    begins = {each: places[each][0] for each in here}
    ends = {each: places[each][1] for each in here}
    around = [each for each in here if begins[each] <= first <= ends[each]]
    around.sort(key=lambda each: ends[each] - begins[each])
    before = [each for each in here if begins[each] <= first]
    within = [each for each in here if first < begins[each] <= last]
    return [*(around or before[-1:] or here)[:1], *within[:_ALSO]]


def _after(
    first: Sequence[Hit], hits: Sequence[Hit], looked_up: LookedUp, *, min_score: float
) -> Iterator[Hit]:
    """Yield the other hits, none of them above what the question names, nor a copy of it."""
    shown = {hit.content_id for hit in first}
    named = {hit.path for hit in first}
    most = min((hit.score for hit in first), default=1.0)
    for hit in hits:
        score = min(most, hit.score if looked_up.by_name else hit.score * _BESIDE_A_FILE)
        if hit.content_id not in shown and score >= min_score:
            others = tuple(path for path in hit.variants if path not in named)
            yield replace(hit, score=score, variants=others)


def _read_best(source: Source, evidence: Evidence, page: Sequence[int], most: int | None) -> dict[int, Chunk]:
    """Read the best chunks of the files of a page: as they lie together, those that may be shown, at once."""
    places = [place for file in page for place in ranking.chunks_of(evidence, file)[:most]]
    return source.read_chunks(evidence.chunk_id[places].tolist())


def say(
    source: Source,
    question: Question,
    evidence: Evidence,
    page: Sequence[int],
    names: Mapping[int, str] | Sequence[str],
    chunks: Mapping[int, Chunk] | None = None,
) -> list[Said]:
    """Return how much of the question each file of a page says, by its path and its best chunk.

    ``chunks`` has these, and maybe others, by id; None to read them.
    """
    first = [int(evidence.chunk_id[ranking.chunks_of(evidence, file)[0]]) for file in page]
    chunks = _read_best(source, evidence, page, 1) if chunks is None else chunks
    texts = [f"{names[file]} {_text(chunks[own])}" for file, own in zip(page, first, strict=True)]
    return said(question, evidence.idf, evidence.in_source, texts)


def _text(chunk: Chunk) -> str:
    return " ".join(filter(None, [chunk.name, chunk.signature, chunk.docstring, chunk.text]))


def _shown_of(
    question: Question, evidence: Evidence, item: Ranked, chunks: Mapping[int, Chunk]
) -> list[tuple[int, FurtherHit]]:
    """Choose what to show of a file, the likeliest first.

    Args:
        chunks: Its best chunks, by their indices in the evidence.
    """
    worth = [float(evidence.worth[place]) for place in chunks]
    if question.report is None:
        most = 1 + _ALSO
        values = passages.values(
            list(chunks.values()),
            worth,
            [float(evidence.cosine[place]) for place in chunks],
            of_tests=bool(question.asks_for & Trait.TEST),
        )
    else:
        most = 1 + _ALSO_FOR_A_REPORT
        values = [
            own - passages.HEADS.get(chunk.kind, 0.0)
            for own, chunk in zip(worth, chunks.values(), strict=True)
        ]
    order = sorted(zip(chunks, values, passages.shares(values), strict=True), key=lambda row: -row[1])
    if question.report is not None:
        once = {chunks[place].qualified_name: place for place, _value, _share in reversed(order)}
        order = [row for row in order if once[chunks[row[0]].qualified_name] == row[0]]
    order = order[:most]
    information = dict(zip(question.words, evidence.idf.tolist(), strict=True))
    found: list[tuple[int, FurtherHit]] = []
    for place, _value, share in order:
        worth_showing = not found or item.score * share >= passages.LIKELY
        chunk = passages.window(chunks[place], information) if worth_showing else chunks[place]
        found.append((place, (chunk, share)))
    return found


def _whole(evidence: Evidence, chunks: Mapping[int, Chunk]) -> list[tuple[int, FurtherHit]]:
    """Return the best chunks of a file as they are, what explains before what mentions."""

    def worth(place: int) -> float:
        return float(evidence.worth[place]) - passages.HEADS.get(chunks[place].kind, 0.0)

    return [(place, (chunks[place], 1.0)) for place in sorted(chunks, key=worth, reverse=True)][: 1 + _ALSO]
