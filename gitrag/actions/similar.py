"""Find the code nearest in meaning to a place: a line, a range of lines, a definition, a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gitrag.actions.answer import Answer
from gitrag.actions.current_view import CurrentView
from gitrag.actions.search import SearchOptions, led_by_links, with_meant_globs
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import UsageError
from gitrag.git import ambiguous, seen_from
from gitrag.late import np
from gitrag.model import Chunk
from gitrag.search import lookup
from gitrag.search.engine import Hit, Scoped
from gitrag.search.lookup import Named
from gitrag.search.sections import AnswerSection
from gitrag.search.similar_chunks import SimilarChunk, similar_chunks
from gitrag.search.snippet import Line
from gitrag.store import content, scopes, vectors
from gitrag.store.memo import Memo
from gitrag.store.scopes import NO_FILTERS, SearchScope
from gitrag.store.source import IndexFile
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.store.connection import Connection
    from gitrag.store.views import ViewOverlay

_SURPLUS = 3
_COPIES = 50
"""Chunks read beyond the number asked for: copies, and drafts that refining puts in another order."""

_SHOWN_LINES = 3


class ComparedPlace(Struct, frozen=True):
    """Where what is compared lies.

    Attributes:
        path: The file.
        line_start: First line, 1-based.
        line_end: Last line, inclusive.
        name: The definition; empty for none, and for several.
        kind: Its kind; ``lines`` for several.
    """

    path: str
    line_start: int
    line_end: int
    name: str
    kind: str


class Similar(Struct, frozen=True):
    """What is near a place in meaning.

    Attributes:
        place: The place.
        answer: The chunks as hits, nearest first; their score is the cosine.
        copies: Where the same text lies.
        drafts: How many texts of the repository are compared by draft vectors.
    """

    place: ComparedPlace
    answer: Answer
    copies: tuple[ComparedPlace, ...]
    drafts: int


_Near = tuple[Mapping[int, Chunk], str, Sequence[SimilarChunk], UsageError | None]
"""The chunks at a place, its path, and the chunks near them; or why the view has none."""


def similar(workspace: Workspace, given: str, options: SearchOptions, *, at_least: float = -1.0) -> Similar:
    """Find the chunks nearest in meaning to those at a place, by their vectors.

    Args:
        given: ``path:line``, ``path:first-last``, a path, or the name of a definition.
        options: Filters, the number of chunks, and the directory that paths start in.
        at_least: Minimum cosine.
    """
    workspace.require_index()
    view = CurrentView(workspace, committed_only=options.committed_only)
    limit = workspace.config.limit if options.limit is None else options.limit
    encoder = workspace.encoder_if_ready()

    given = led_by_links(workspace, given, options.directory) or given
    options = replace(options, filters=with_meant_globs(workspace, options.filters))

    def ask(db: Connection, view_id: int, overlay: ViewOverlay) -> _Near:
        whole = scopes.open_scope(db, view_id, overlay, NO_FILTERS)
        try:
            path, own = _at(db, whole, given, options.directory)
        except UsageError as error:  # another view may have it: the first one asked is a guess
            return {}, "", (), error
        vector = _mean(db, whole, own)
        if vector is None:
            problem = (
                f"{given} has no vector: data (JSON, XML, CSV, translations) is found by its words alone."
            )
            return {}, "", (), UsageError(problem, "Name a place in code or prose.")
        scoped = Scoped(view_id, overlay, options.filters)
        many = limit * _SURPLUS + _COPIES + len(own)
        found = similar_chunks(db, scoped, vector[None], limit=many, at_least=at_least)[0]
        return own, path, found, None

    result = view.read(ask)
    own, _, near, _ = result.found
    chunk_ids = [*own, *(each.chunk_id for each in near)]
    result = view.refine(ask, result, chunk_ids, encoder, workspace.config.refine_s)
    own, path, near, problem = result.found
    if problem is not None:
        raise problem
    place = _place(path, list(own.values()))
    others = [each for each in near if not _is_of(each, path, place, own)]
    text = "\n".join(chunk.text for chunk in own.values())
    hits = [_hit(each) for each in others if each.chunk.text != text][:limit]
    copies = tuple(_place(each.path, [each.chunk]) for each in others if each.chunk.text == text)
    answer = Answer(
        query="",
        sections=(AnswerSection(CollectionKind.CODE, tuple(hits)),),
        commit=result.refreshed.head.commit,
        dirty=result.refreshed.dirty,
        drafts=0,
        waiting=result.refreshed.waiting,
        model=True,
    )
    return Similar(place, answer, copies, result.unembedded)


def _at(db: Connection, scope: SearchScope, given: str, directory: str) -> tuple[str, dict[int, Chunk]]:
    """Return the file and the chunks at a place.

    Raises:
        UsageError: There is no such place, or several are meant.
    """
    text = " ".join(given.split())
    source = IndexFile(db)
    named = lookup.look_up(source, scope, text, directory).named
    named = named or lookup.look_up_name(source, scope, text).named
    sure = [each for each in named if each.score == 1.0 and len(each.chunk_ids) <= 1]
    if not named:
        raise UsageError(
            f"No indexed file or definition is called {given!r}.",
            "Give FILE:LINE, FILE:LINE-LINE, a file or a definition: gitrag similar src/app.py:12",
        )
    if len(sure) != 1:
        raise ambiguous(given, _places(db, named, directory))
    meant = sure[0]
    own = content.read_chunks(db, scope.chunk_id[scope.file == meant.file].tolist())
    chunks = dict(sorted(own.items()))
    if meant.chunk_ids:
        first = chunks[meant.chunk_ids[0]]
        return meant.path, _whole(chunks, first)
    if meant.lines is None:
        return meant.path, chunks
    first_line, last_line = meant.lines
    within = {
        i: each for i, each in chunks.items() if each.line_start <= last_line and each.line_end >= first_line
    }
    if not within:
        lines = max((each.line_end for each in chunks.values()), default=0)
        raise UsageError(
            f"{meant.path} has no text on line {first_line}: its last is {lines}.", "Give another line."
        )
    if first_line == last_line:  # windows of files without a grammar overlap
        within = dict(list(within.items())[:1])
    return meant.path, within


def _whole(chunks: Mapping[int, Chunk], first: Chunk) -> dict[int, Chunk]:
    """Return a definition's chunks: a long one has several, one after the other."""
    return {
        i: each
        for i, each in chunks.items()
        if each is first
        or (each.qualified_name == first.qualified_name and each.signature == first.signature)
    }


def _places(db: Connection, named: Sequence[Named], directory: str) -> list[str]:
    """Return what is named as somebody would give it, with the names of definitions."""
    chunks = content.read_chunks(db, [i for each in named for i in each.chunk_ids])
    paths = seen_from(directory, (each.path for each in named))
    return [
        f"{path}:{chunks[i].line_start} ({chunks[i].qualified_name})" if i else path
        for each, path in zip(named, paths, strict=True)
        for i in each.chunk_ids or (0,)
    ]


def _mean(db: Connection, scope: SearchScope, chunks: Iterable[int]) -> NDArray[np.float32] | None:
    """Return the mean of the chunks' vectors, float32 (384,), L2-normalised; None where none has one."""
    rows = np.flatnonzero(np.isin(scope.chunk_id, list(chunks)) & (scope.text_id > 0))
    known = vectors.read(db, np.unique(scope.text_id[rows]), Memo())
    if not len(known.text_ids):
        return None
    total = (known.small.astype(np.float32) * known.scale[:, None]).sum(axis=0)
    mean: NDArray[np.float32] = total / max(float(np.linalg.norm(total)), 1e-9)
    return mean


def _place(path: str, chunks: Sequence[Chunk]) -> ComparedPlace:
    """Return where some chunks of a file lie."""
    first = chunks[0]
    is_one = all(each.qualified_name == first.qualified_name for each in chunks)
    return ComparedPlace(
        path,
        min(each.line_start for each in chunks),
        max(each.line_end for each in chunks),
        first.qualified_name if is_one else "",
        first.kind.value if is_one else "lines",
    )


def _is_of(found: SimilarChunk, path: str, place: ComparedPlace, own: Mapping[int, Chunk]) -> bool:
    here = found.path == path
    chunk = found.chunk
    return here and (
        found.chunk_id in own or (chunk.line_start <= place.line_end and chunk.line_end >= place.line_start)
    )


def _hit(found: SimilarChunk) -> Hit:
    chunk = found.chunk
    numbered = enumerate(chunk.text.split("\n"), chunk.line_start)
    lines = [Line(number, text, matches=False) for number, text in numbered if text.strip()]
    shown = tuple(lines[:_SHOWN_LINES])
    cosine = round(found.cosine, 4)
    return Hit(found.path, chunk, cosine, shown, (), 0.0, cosine, ())
