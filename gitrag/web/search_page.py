"""The page of an answer: what was found, and what it can be narrowed to."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterator, Sequence
from functools import partial

from markupsafe import Markup
from msgspec import Struct

from gitrag import report
from gitrag.actions.search import Answer, SearchOptions
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import NotSetUpError, UsageError
from gitrag.report.reasons import chance
from gitrag.search.engine import Hit
from gitrag.search.language_filter import language_named
from gitrag.search.question import read
from gitrag.search.sections import Wanted
from gitrag.store.candidates import Filters
from gitrag.web import addresses
from gitrag.web.addresses import Addresses
from gitrag.web.facets import (
    COLLECTION,
    COLLECTIONS,
    KIND,
    LANGUAGE,
    PATH,
    Choices,
    Facet,
    facets,
    repository_facet,
)
from gitrag.web.marking import lines_of, marked, source_of
from gitrag.web.repositories import Repositories

USUAL = 20
"""Files of each kind on a page."""

MOST = 200
LONGEST_QUERY = 8_000
"""Characters of a question: a bug report of some pages, in an address."""

_LIKELY = 0.5
_DOUBTFUL = 0.2
_SPECIAL = frozenset("*?[]\\")


class ShownLine(Struct, frozen=True):
    """A line of a file, coloured, and where it is."""

    number: int
    text: Markup
    matches: bool
    address: str


class Link(Struct, frozen=True):
    """Where something else is."""

    text: str
    address: str


class ShownHit(Struct, frozen=True):
    """A file of an answer as a page shows it.

    Attributes:
        repository: Its repository, where several were asked; else empty.
        path: Its path, the question's words marked.
        address: Where its best lines are.
        place: The lines of its best piece.
        what: What that is: ``method``, or the status of a document.
        name: The name of it, or id and title.
        score: In [0, 1].
        level: ``high``, ``middle`` or ``low``.
        said: The score in words.
        is_nearest: Whether it is only near, and likely no answer.
        lines: The lines that say most.
        note: A sentence of a document that bears on the question.
        also: Other places in the file.
        variants: Files that are nearly the same.
    """

    repository: str
    path: Markup
    address: str
    place: str
    what: str
    name: str
    score: float
    level: str
    said: str
    is_nearest: bool
    lines: tuple[ShownLine, ...]
    note: Markup
    also: tuple[Link, ...]
    variants: tuple[Link, ...]


class ShownSection(Struct, frozen=True):
    """The files of one kind of collection; the title is empty where there is no other."""

    title: str
    hits: tuple[ShownHit, ...]


class SearchPage(Struct, frozen=True):
    """An answer as a page shows it.

    Attributes:
        query: The question as asked.
        sections: What was found.
        facets: What it can be narrowed to.
        chosen: What it is narrowed to.
        files: How many files were found.
        notes: What the user should know beside it, a line each.
        problem: Why there is no answer; empty where there is one.
        hint: What to do about it.
        more: Where more files are; empty where there are no more.
        milliseconds: How long it took.
    """

    query: str
    sections: tuple[ShownSection, ...] = ()
    facets: tuple[Facet, ...] = ()
    chosen: tuple[tuple[str, str], ...] = ()
    files: int = 0
    notes: tuple[str, ...] = ()
    problem: str = ""
    hint: str = ""
    more: str = ""
    milliseconds: int = 0


def search_page(
    repositories: Repositories, query: str, choices: Choices, most: int, *, unfinished: bool = False
) -> SearchPage:
    """Ask a question; an empty one has an empty page.

    Args:
        repositories: Whom to ask.
        choices: What it is narrowed to.
        most: The most files of a kind.
        unfinished: Whether it is being typed, and asked once more when it is not.

    Raises:
        UsageError: What it is narrowed to makes no sense.
    """
    begin = time.perf_counter()
    query = query[:LONGEST_QUERY].strip()
    most = min(max(most, 1), MOST)
    known = repositories.known()
    if not query:
        facet = repository_facet((), choices, len(known))
        return SearchPage("", facets=(facet,) if facet else (), chosen=choices.chosen)
    try:
        everything, narrowed, heard = _ask(
            repositories, query, choices, partial(_options, most=most, unfinished=unfinished)
        )
    except (UsageError, NotSetUpError) as error:
        if choices.chosen or isinstance(error, UsageError):
            return SearchPage(query, chosen=choices.chosen, problem=str(error), hint=error.hint)
        raise
    lacking = dict.fromkeys(
        f"{each.line}. {each.hint}".rstrip() for each in (*narrowed.asked, *everything.asked) if each.why
    )
    found, every = narrowed.hits, everything.hits
    words = frozenset(read(narrowed.wording.searched_for or narrowed.query).words)
    held = [section for section in narrowed.sections if section.hits]
    alone = [section.kind for section in held] == [CollectionKind.CODE]
    here = {name for name, each in known.items() if repositories.is_here(each)}
    shown = _shown(repositories, here, [hit for section in held for hit in section.hits], words)
    sections = tuple(
        ShownSection("" if alone else COLLECTIONS[section.kind], tuple(next(shown) for _ in section.hits))
        for section in held
    )
    is_full = any(len(section.hits) >= most for section in held)
    notes = tuple(report.notes_of(narrowed))
    if found and (line := report.nearest_line(narrowed)):
        notes = (f"{line[0].upper()}{line[1:]}; these are the nearest.", *notes)
    of_repositories = repository_facet(every, choices, len(known))
    return SearchPage(
        query,
        sections,
        (*([of_repositories] if of_repositories else []), *facets(every, found, choices)),
        choices.chosen,
        len(found),
        (*lacking, *notes, *heard, *filter(None, [repositories.problem])),
        problem="" if found else report.as_text(narrowed),
        more=addresses.search(query, choices.chosen, min(most * 2, MOST)) if is_full and most < MOST else "",
        milliseconds=round((time.perf_counter() - begin) * 1000),
    )


def _ask(
    repositories: Repositories, query: str, choices: Choices, options: Callable[[Choices], SearchOptions]
) -> tuple[Answer, Answer, dict[str, None]]:
    """Ask a question, and once more where its answer is narrowed.

    Returns:
        What the repositories asked have, what is left of it, and what else the user should know.
    """
    first = choices.of_repositories
    with repositories.turn(choices) as (searcher, heard):
        everything = narrowed = searcher(first)(query, options(first))
        if choices.chosen != first.chosen:
            narrowed = searcher(choices)(query, options(choices))
        return everything, narrowed, dict.fromkeys(heard)


def _options(choices: Choices, *, most: int, unfinished: bool) -> SearchOptions:
    own = choices.of(COLLECTION)
    kinds = tuple(kind for kind in CollectionKind if kind.value in own) if own else tuple(CollectionKind)
    filters = Filters(
        choices.of(KIND),
        tuple(language_named(name) for name in choices.of(LANGUAGE)),
        tuple(_glob(folder) for folder in choices.of(PATH)),
    )
    return SearchOptions(
        filters=filters,
        wanted=Wanted(kinds or tuple(CollectionKind)),
        limit=most,
        grouped=True,
        refine_s=0.0,
        unfinished=unfinished,
    )


def _glob(folder: str) -> str:
    """Return the pattern of all files in a folder."""
    name = "".join(f"\\{each}" if each in _SPECIAL else each for each in folder.strip("/"))
    return f"/{name}/**"


def _shown(
    repositories: Repositories, here: Container[str], hits: Sequence[Hit], words: frozenset[str]
) -> Iterator[ShownHit]:
    sources = [source_of(hit.path, [line.text for line in hit.lines]) for hit in hits]
    read = repositories.here.colouring.read(sources)
    for hit, source, parts in zip(hits, sources, read, strict=True):
        address = Addresses("" if hit.repository in here else hit.repository)
        yield _shown_hit(hit, address, lines_of(source, parts, words), words)


def _shown_hit(hit: Hit, address: Addresses, coloured: Sequence[Markup], words: frozenset[str]) -> ShownHit:
    chunk, document = hit.chunk, hit.document
    path = report.shown(hit.path)
    best = report.best_lines(hit)[0].number
    place = f"{chunk.line_start}-{chunk.line_end}" if chunk.line_end > chunk.line_start else f"{best}"
    return ShownHit(
        repository=hit.repository,
        path=marked(path, words),
        address=address.file(hit.path, best),
        place=place,
        what=report.standing(document) if document else report.kind_of(chunk),
        name=f"{document.id}: {document.title}" if document else chunk.qualified_name,
        score=hit.score,
        level="high" if hit.score >= _LIKELY else "middle" if hit.score >= _DOUBTFUL else "low",
        said=chance(hit.score),
        is_nearest=hit.is_nearest,
        lines=tuple(
            ShownLine(line.number, text, line.matches, address.file(hit.path, line.number))
            for line, text in zip(hit.lines, coloured, strict=True)
        ),
        note=marked(hit.note, words),
        also=tuple(
            Link(
                f"{further.chunk.line_start} {further.chunk.name}".rstrip(),
                address.file(hit.path, further.chunk.line_start),
            )
            for further in hit.also
        ),
        variants=tuple(Link(report.shown(each), address.file(each)) for each in hit.variants),
    )
