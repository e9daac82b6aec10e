"""The page of an answer: what was found, and what it can be narrowed to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from markupsafe import Markup
from msgspec import Struct

from gitrag.actions.answer import Answer
from gitrag.actions.requests import SearchRequest
from gitrag.actions.search import SearchOptions
from gitrag.actions.search_box import read_box
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import NotSetUpError, UsageError
from gitrag.report.parts import kind_of, nearest_line, notes_of, shown, standing
from gitrag.report.places import best_lines
from gitrag.report.text import as_text, chance
from gitrag.search.engine import Hit
from gitrag.search.exact import Pattern
from gitrag.search.sections import AnswerSection, Wanted
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
from gitrag.web.marking import Spans, lines_of, marked, marks_of, source_of
from gitrag.web.repositories import Repositories

USUAL = 20
"""Files of each kind on a page."""

_LINES = 10
"""Lines of an exact search for a file of a question."""

MOST = 200
LONGEST_QUERY = 8_000
"""Characters of a question: a bug report of some pages, in an address."""

_LIKELY = 0.5
_DOUBTFUL = 0.2
_SPECIAL = frozenset("*?[]\\")


class ShownHit(Struct, frozen=True):
    """A file of an answer as a page shows it.

    Attributes:
        spans: What says where texts are marked.
    """

    found: Hit
    address: Addresses
    coloured: tuple[Markup, ...]
    spans: Spans

    @property
    def path(self) -> Markup:
        """Its path, the question's words marked."""
        return marked(shown(self.found.path), self.spans(shown(self.found.path)))

    @property
    def note(self) -> Markup:
        """A sentence of a document that bears on the question."""
        return marked(self.found.note, self.spans(self.found.note))

    @property
    def best(self) -> int:
        """The line that says most."""
        return best_lines(self.found)[0].number

    @property
    def place(self) -> str:
        """The lines of its best piece."""
        chunk = self.found.chunk
        return f"{chunk.line_start}-{chunk.line_end}" if chunk.line_end > chunk.line_start else f"{self.best}"

    @property
    def what(self) -> str:
        """What that is: ``method``, or the status of a document."""
        document = self.found.document
        return standing(document) if document else kind_of(self.found.chunk)

    @property
    def name(self) -> str:
        """The name of it, or id and title."""
        document = self.found.document
        return f"{document.id}: {document.title}" if document else self.found.chunk.qualified_name

    @property
    def level(self) -> str:
        """How likely it answers: ``high``, ``middle`` or ``low``."""
        score = self.found.score
        return "high" if score >= _LIKELY else "middle" if score >= _DOUBTFUL else "low"

    @property
    def said(self) -> str:
        """The same in words."""
        return chance(self.found)

    def at(self, line: int, path: str = "") -> str:
        """Return the address of a line of it, or of another file."""
        return self.address.file(path or self.found.path, line)


ShownSection = tuple[str, tuple[ShownHit, ...]]
"""The title of one kind of collection, empty where there is no other, and its files."""


class SearchPage(Struct, frozen=True):
    """An answer as a page shows it.

    Attributes:
        lines: How many lines an exact search shows; 0 for a question.
        more: Where more files are; empty where there are no more.
    """

    query: str
    sections: tuple[ShownSection, ...] = ()
    facets: tuple[Facet, ...] = ()
    chosen: tuple[tuple[str, str], ...] = ()
    files: int = 0
    lines: int = 0
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
        unfinished: Whether it is being typed, and asked once more when it is not.
    """
    begin = time.perf_counter()
    query = query[:LONGEST_QUERY].strip()
    most = min(max(most, 1), MOST)
    known = repositories.known()
    if not query:
        facet = repository_facet((), choices, len(known))
        return SearchPage("", facets=(facet,) if facet else (), chosen=choices.chosen)
    try:
        text, asked = read_box(query)
        everything, narrowed, heard = _ask(
            repositories, text, choices, partial(_options, asked, most=most, unfinished=unfinished)
        )
    except (UsageError, NotSetUpError) as error:
        if choices.chosen or isinstance(error, UsageError):
            return SearchPage(query, chosen=choices.chosen, problem=str(error), hint=error.hint)
        raise
    lacking = dict.fromkeys(
        f"{each.line}. {each.hint}".rstrip() for each in (*narrowed.asked, *everything.asked) if each.why
    )
    found, every = narrowed.hits, everything.hits
    held = [section for section in narrowed.sections if section.hits]
    sections = tuple(_sections(repositories, held, _spans(narrowed, asked)))
    lines = sum(len(hit.snippet) for hit in found) if asked.exact else 0
    is_full = lines >= most * _LINES if lines else any(len(section.hits) >= most for section in held)
    notes = tuple(notes_of(narrowed))
    if found and (line := nearest_line(narrowed)):
        notes = (f"{line[0].upper()}{line[1:]}; these are the nearest.", *notes)
    of_repositories = repository_facet(every, choices, len(known))
    problem = "" if found else "Nothing found." if asked.exact else as_text(narrowed)
    return SearchPage(
        query,
        sections,
        (*([of_repositories] if of_repositories else []), *facets(every, found, choices)),
        choices.chosen,
        len({(hit.repository, hit.path) for hit in found}) if lines else len(found),
        lines,
        (*lacking, *notes, *heard, *filter(None, [repositories.problem])),
        problem=problem,
        more=addresses.search(query, choices.chosen, min(most * 2, MOST)) if is_full and most < MOST else "",
        milliseconds=round((time.perf_counter() - begin) * 1000),
    )


def _spans(answer: Answer, asked: SearchRequest) -> Spans:
    """Return what marks the words of a question, or what an exact search finds."""
    if asked.exact:
        return Pattern(answer.query, asked.exact == "regex").spans
    return marks_of(frozenset(answer.words))


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


def _options(asked: SearchRequest, choices: Choices, *, most: int, unfinished: bool) -> SearchOptions:
    """Return what is typed and what is chosen as options: where both say something, what is chosen."""
    own = choices.of(COLLECTION)
    kinds = tuple(kind for kind in CollectionKind if kind.value in own) if own else tuple(CollectionKind)
    chosen = {
        "kinds": choices.of(KIND),
        "languages": choices.of(LANGUAGE),
        "paths": tuple(_glob(folder) for folder in choices.of(PATH)),
    }
    return SearchOptions.of(
        asked,
        **{name: values for name, values in chosen.items() if values},
        wanted=Wanted(kinds or tuple(CollectionKind)),
        limit=most * _LINES if asked.exact else most,
        grouped=True,
        refine_s=0.0,
        soon=True,
        unfinished=unfinished,
    )


def _glob(folder: str) -> str:
    name = "".join(f"\\{each}" if each in _SPECIAL else each for each in folder.strip("/"))
    return f"/{name}/**"


def _sections(
    repositories: Repositories, held: Sequence[AnswerSection], spans: Spans
) -> Iterator[ShownSection]:
    alone = [section.kind for section in held] == [CollectionKind.CODE]
    here = {name for name, each in repositories.known().items() if repositories.is_here(each)}
    every = [hit for section in held for hit in section.hits]
    sources = [source_of(hit.path, [line.text for line in hit.snippet]) for hit in every]
    read = repositories.here.colouring.read(sources)
    shown_hits = (
        ShownHit(
            hit,
            Addresses("" if hit.repository in here else hit.repository),
            tuple(lines_of(source, parts, spans)),
            spans,
        )
        for hit, source, parts in zip(every, sources, read, strict=True)
    )
    for section in held:
        title = "" if alone else COLLECTIONS[section.kind]
        yield title, tuple(next(shown_hits) for _ in section.hits)
