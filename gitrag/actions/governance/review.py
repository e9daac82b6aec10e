"""What a change touches but does not name, and what it adds although something like it exists."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from gitrag.actions.documents import indexed_documents
from gitrag.actions.governance.bearings import (
    KINDS,
    NEAREST,
    Bearing,
    FileTarget,
    Unreached,
    bearings,
    best_first,
    find_unreached,
    searched,
)
from gitrag.actions.governance.likeness import like
from gitrag.actions.governance.presets import PRESETS, Preset
from gitrag.actions.governance.related import THRESHOLD
from gitrag.actions.impact import Called, Impact, callers_of_change
from gitrag.actions.touched import Cut, Touched, cutting_once, definitions_of, still_named, touched_by
from gitrag.chunking import decode, language_of
from gitrag.corpus.governing import named
from gitrag.corpus.layout import CollectionKind
from gitrag.embedding.text import chunk_text, split_words
from gitrag.errors import UsageError
from gitrag.git.difference import ChangedFile, changed_files, messages
from gitrag.model import Chunk, ChunkOfFile, Kind
from gitrag.search.similar_chunks import SimilarChunk
from gitrag.store.candidates import Filters
from gitrag.words.path_traits import Trait, traits
from gitrag.workspace import Workspace

HELPERS = 5
"""Existing definitions shown for each added one. Of 20 added definitions that were later merged with an
existing one, 19 have it among these, 18 with the default threshold (`scripts/bench/related.py`)."""

TWIN = 0.8
"""Least cosine of what is nearly like a changed definition: a mend of one is often one of its twin too."""

NAMED_ALIKE = 0.65
"""Least cosine of one with the same name in another class."""

_MAKERS = frozenset({"__construct", "__init__", "constructor", "init", "initialize", "main", "new"})
"""Names that every class or program has."""

_LOOKED_AT = 40
"""Nearest chunks to look at: the added ones themselves and tests are among them, and skipped."""

MOST_QUERIES = 12
"""Files of a change that are asked about one by one, those with the most added definitions first."""

MOST_ADDED = 40
"""Added definitions that are compared; a change with more is an import of foreign code."""

_MIN_WORDS = 8
"""Shorter definitions are all alike, and not compared."""

_MOST_TOUCHED = 50
"""Changed files that a search leaves room for."""

_MESSAGE_CHARACTERS = 600
"""How much of the commit messages is used: the model reads some 600 characters."""

_KINDS = PRESETS["review"].kinds

_DEFINITIONS = (Kind.FUNCTION.value, Kind.METHOD.value, Kind.CLASS.value)


class Added(ChunkOfFile, Struct, frozen=True):
    """A definition that a change adds, and the existing ones like it.

    Attributes:
        path: Its file.
        existing: Best first.
    """

    path: str
    chunk: Chunk
    existing: tuple[SimilarChunk, ...]


class Review(Struct, frozen=True):
    """The findings on a change.

    Attributes:
        span: The range of revisions.
        documents: What it touches but does not name, best first.
        added: By path and line; only definitions with an existing one like them.
        asked: For how many of them was searched; for the commits' messages besides, if ``by_messages``.
        named: Ids of documents that scored enough and that the change names.
        unreached: What comes nearest where nothing is asked and named; None where something is.
        compared: How many of the added definitions were compared with what exists.
        new: How many definitions it adds: without tests, moved and very short ones.
        threshold: Least cosine of what is called alike.
        impact: Who calls what it changes; None where it changes no code.
        removed: The definitions that it removes, with the lines that still have their names.
        twins: Those that it changes, each with others nearly like it that it does not change.
        notes: What the command says on stderr, a line each, and whose callers were not looked for.
    """

    span: str
    documents: tuple[Bearing, ...]
    added: tuple[Added, ...]
    files: int = 0
    asked: int = 0
    by_messages: bool = False
    named: tuple[str, ...] = ()
    unreached: Unreached | None = None
    compared: int = 0
    new: int = 0
    threshold: float = THRESHOLD
    impact: Impact | None = None
    removed: tuple[Touched, ...] = ()
    twins: tuple[Added, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def called(self) -> tuple[Called, ...]:
        """Functions and classes that it changes and that are called, those with the most callers first."""
        return self.impact.called if self.impact is not None else ()


def review(
    workspace: Workspace,
    span: str,
    threshold: float = THRESHOLD,
    advance: Callable[[int, int], None] = lambda _done, _total: None,
) -> Review:
    """Review a change.

    Args:
        span: A range as git reads it: ``main...HEAD``, ``HEAD~1``.
        threshold: Minimum cosine for an existing definition to be called like an added one.
        advance: Called with how many questions are answered, of how many.

    Raises:
        NotSetUpError: There is no index.
        UsageError: Git knows no such range.
    """
    workspace.require_index()
    files = changed_files(workspace.repo, span)
    said = messages(workspace.repo, span)
    cut = cutting_once()
    new = added_definitions(files, cut)
    added = new[:MOST_ADDED]
    queries = queries_of(files, said, added)
    steps = len(queries) + 3
    advance(0, steps)
    changed = changed_definitions(files, cut)[:MOST_ADDED]
    helpers = tuple(helpers_like(workspace, added, threshold))
    left_out: list[str] = []
    touched, gone = touched_by(files, cut, left_out)
    own = {(each.path, each.name) for each in touched}
    least = max(threshold, TWIN)
    twins = tuple(helpers_like(workspace, changed, least, NAMED_ALIKE, own)) if changed else ()
    advance(1, steps)
    impact = callers_of_change(workspace, span, files)
    removed = still_named(workspace, gone, files, span, left_out)
    if impact is not None and left_out:
        impact = replace(impact, left_out=(*impact.left_out, *left_out))
    advance(2, steps)
    told = unnamed(workspace, files, said, queries, advance=lambda done: advance(done + 2, steps))
    advance(steps, steps)
    return Review(
        span,
        told.questions,
        helpers,
        files=len(files),
        asked=sum(bool(path) for path in queries),
        by_messages="" in queries,
        named=told.named,
        unreached=told.unreached,
        compared=len(added),
        new=len(new),
        threshold=threshold,
        impact=impact,
        removed=tuple(removed),
        twins=twins,
    )


class Unnamed(Struct, frozen=True):
    """The documents that a change touches.

    Attributes:
        questions: Those that it does not name, best first.
        named: Ids of those that it names.
        unreached: What comes nearest where there is neither; None where there is one.
    """

    questions: tuple[Bearing, ...]
    named: tuple[str, ...]
    unreached: Unreached | None


def unnamed(
    workspace: Workspace,
    files: Sequence[ChangedFile],
    said: Sequence[str],
    queries: Mapping[str, str],
    *,
    searched: Mapping[str, str] | None = None,
    advance: Callable[[int], None] = lambda _done: None,
    kinds: Collection[CollectionKind] = _KINDS,
) -> Unnamed:
    """Find the decisions, specifications and issues that a change touches, and those that it does not name.

    Args:
        queries: What is asked about it, as `queries_of` returns.
        searched: For which of them issues are searched; None for all.
        advance: Called with how many questions are answered.
    """
    touched = {file.path for file in files}
    order = [kind for kind in CollectionKind if kind in kinds]
    least = _searched_preset().min_score
    if not any(True for _ in indexed_documents(workspace, order)):  # half a second on django
        return Unnamed((), (), find_unreached(workspace, (), order, least, touched))
    asked = list(_governing(workspace, files, queries, kinds))
    further: list[Bearing] = []
    for done, (path, query) in enumerate((queries if searched is None else searched).items(), start=1):
        advance(done)
        found = [replace(each, touched_by=path) for each in _searched(workspace, query, len(touched))]
        likely = [each for each in found if each.score >= least]
        asked += likely[: _searched_preset().limit]
        further += found
    questions, named_ones = _questions(files, said, asked)
    unreached = None
    if not questions and not named_ones:
        unreached = find_unreached(workspace, (*asked, *further), order, least, touched)
    return Unnamed(tuple(questions), tuple(named_ones), unreached)


def added_definitions(files: Sequence[ChangedFile], cut: Cut) -> list[tuple[str, Chunk]]:
    """Return the definitions that a change adds, with their paths, without tests and moved ones. Pure."""
    gone: set[str] = set()
    new: list[tuple[str, Chunk]] = []
    for file in files:
        before, after = (definitions_of(file.path, side, cut) for side in (file.before, file.after))
        gone |= {chunk_text(each) for name, (each, _) in before.items() if name not in after}
        if not traits(file.path) & Trait.TEST:
            new += [(file.path, each) for name, (each, _) in after.items() if name not in before]
    return [
        (path, each)
        for path, each in new
        if len(each.text.split()) >= _MIN_WORDS and chunk_text(each) not in gone
    ]


def changed_definitions(files: Sequence[ChangedFile], cut: Cut) -> list[tuple[str, Chunk]]:
    """Return the definitions that a change alters, with their paths, without tests and classes. Pure."""
    found: list[tuple[str, Chunk]] = []
    for file in files:
        before, after = (definitions_of(file.path, side, cut) for side in (file.before, file.after))
        if not traits(file.path) & Trait.TEST:
            found += [
                (file.path, each)
                for name, (each, text) in after.items()
                if name in before and before[name][1] != text
                if each.kind is not Kind.CLASS
                and each.name not in _MAKERS
                and len(each.text.split()) >= _MIN_WORDS
            ]
    return found


def helpers_like(
    workspace: Workspace,
    added: Sequence[tuple[str, Chunk]],
    threshold: float,
    named_alike: float = 1.0,
    own: Collection[tuple[str, str]] = (),
) -> Iterator[Added]:
    """Yield added definitions, each with the existing ones like it.

    Args:
        named_alike: Least cosine of those with its own name, where that is lower.
        own: Paths and qualified names of those that are not told either.
    """
    own = {*own, *((path, each.qualified_name) for path, each in added)}
    found = like(
        workspace,
        [chunk_text(each) for _, each in added],
        filters=Filters(kinds=_DEFINITIONS),
        limit=_LOOKED_AT,
        at_least=min(threshold, named_alike),
    )
    for (path, each), near in zip(added, found, strict=True):
        others = [
            other
            for other in near
            if (other.path, other.chunk.qualified_name) not in own
            and (other.chunk.kind is Kind.CLASS) == (each.kind is Kind.CLASS)
            and not traits(other.path) & Trait.TEST
            and other.cosine >= (named_alike if other.chunk.name == each.name else threshold)
        ]
        if others:
            yield Added(path, each, tuple(_distinct(others))[:HELPERS])


def _distinct(others: Iterable[SimilarChunk]) -> Iterator[SimilarChunk]:
    """Yield each definition once, though several of its chunks may be listed."""
    seen = set()
    for other in others:
        key = other.path, other.chunk.qualified_name
        if key not in seen:
            seen.add(key)
            yield other


def _questions(
    files: Sequence[ChangedFile], said: Sequence[str], asked: Iterable[Bearing]
) -> tuple[list[Bearing], list[str]]:
    """Return what was found for the paths and is not named by the change itself, and ids it names. Pure."""
    preset = PRESETS["review"]
    mentioned = "\n".join(
        [*said, *(decode(file.after, language_of(file.path)) for file in files if file.after is not None)]
    )
    ids, touched = named(mentioned).keys(), {file.path for file in files}
    best: dict[str, Bearing] = {}
    named_ones: dict[str, None] = {}
    for each in asked:
        document = each.document
        if each.score < preset.min_score or document.path in touched:
            continue
        is_issue = each.kind is CollectionKind.ISSUES
        if document.id in ids or (is_issue and _names_issue(mentioned, document.id)):
            named_ones[each.name] = None
            continue
        known = best.get(document.path)
        if known is None or known.score < each.score:
            where = each.touched_by or (known.touched_by if known else "")
            best[document.path] = replace(each, touched_by=where)
    return best_first(best.values())[: preset.limit], list(named_ones)


def _governing(
    workspace: Workspace,
    files: Sequence[ChangedFile],
    queries: Mapping[str, str],
    kinds: Collection[CollectionKind],
) -> Iterator[Bearing]:
    """Yield the decisions that may bear on the changed files, as `check` finds them, and on the messages."""
    sides = {file.path: file.before if file.after is None else file.after for file in files}
    targets = {
        path: FileTarget(path, ((path, decode(sides[path] or b"", language_of(path))),)) if path else query
        for path, query in queries.items()
    }
    for path, found in zip(targets, bearings(workspace, list(targets.values())), strict=True):
        for each in found:
            if each.kind in kinds:
                yield replace(each, touched_by=path)


def _searched(workspace: Workspace, query: str, touched: int) -> list[Bearing]:
    """Return the issues that a search finds, whatever their scores: the nearest are named if none is likely.

    Files of the change, of which there are ``touched``, are none of them, and may take their places.
    """
    preset = _searched_preset()
    most = max(preset.limit, NEAREST + min(touched, _MOST_TOUCHED))
    try:
        found = searched(workspace, query, replace(preset.options(), min_score=0.0, limit=most))
    except UsageError:  # no words in the query
        return []
    return [each for each, _ in found]


def _searched_preset() -> Preset:
    """Return what is searched: the documents that `bearings` does not score."""
    preset = PRESETS["review"]
    return replace(preset, kinds=tuple(kind for kind in _KINDS if kind not in KINDS))


def queries_of(
    files: Sequence[ChangedFile], said: Sequence[str], added: Sequence[tuple[str, Chunk]]
) -> Mapping[str, str]:
    """Return the queries for a change, by path: its messages (no path), and what each file adds."""
    queries: dict[str, str] = {}
    own = {file.path: [each for path, each in added if path == file.path] for file in files}
    code = [path for path in own if language_of(path) and not traits(path) & Trait.TEST]
    for path in sorted(code, key=lambda path: -len(own[path]))[:MOST_QUERIES]:
        new = own[path]
        names = " ".join(split_words(each.name) for each in new)
        sentences = " ".join(each.docstring.partition("\n\n")[0].partition(". ")[0] for each in new)
        stem = path.rpartition(".")[0] or path
        queries[path] = f"{split_words(stem)} {names} {sentences}".strip()
    if said:
        queries[""] = " ".join(" ".join(said).split())[:_MESSAGE_CHARACTERS]
    return queries


def _names_issue(text: str, own: str) -> bool:
    mark = "#" if own.isdecimal() else ""
    return bool(re.search(rf"(?<![\w-]){mark}{re.escape(own)}(?![\w-])", text))
