"""Search for lines exactly: a regular expression, or whole words, in the files as they are now."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gitrag.actions import catch_up
from gitrag.actions.answer import Answer
from gitrag.actions.current_view import CurrentView, tell_absent
from gitrag.actions.left_out import LeftOut, outline_lines
from gitrag.actions.search import SearchOptions, no_collection, search, with_meant_globs
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import UsageError
from gitrag.indexing.worker import running
from gitrag.search.engine import Hit, Scoped
from gitrag.search.exact import ExactLines, Pattern, find_lines
from gitrag.search.sections import AnswerSection, Wanted, choose
from gitrag.search.snippet import Line
from gitrag.store import scopes
from gitrag.store.source import IndexFile
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from gitrag.store.connection import Connection
    from gitrag.store.scopes import LeftOutRow
    from gitrag.store.views import ViewOverlay

LIMIT = 200
"""Lines that are returned if no other number is asked for: what somebody may read."""


class Match(Struct, frozen=True):
    """A line that matches.

    Attributes:
        line: The line.
        column: The byte at which the match begins, 1-based.
    """

    hit: Hit
    line: Line
    column: int


class ExactAnswer(Struct, frozen=True):
    """The lines that match, and what was looked at.

    Attributes:
        answer: The lines as hits, by path and line: those of a definition together.
        lines: How many lines match, returned or not.
        files: How many files they are in.
        searched: How many files were looked at.
        left_out: How many text files were not, since they are left out of the index.
        unread: How many were not, since they could not be read, or not yet.
        not_indexed: Which files that are left out have the word, where no other has it; of which that have it
            only the outline is indexed: a sentence each.
    """

    pattern: Pattern
    answer: Answer
    lines: int
    files: int
    searched: int
    left_out: int
    unread: int
    not_indexed: tuple[str, ...] = ()

    @property
    def omitted(self) -> int:
        """How many of the lines that match are not returned."""
        return self.lines - sum(len(hit.snippet) for hit in self.answer.hits)

    @property
    def matches(self) -> tuple[Match, ...]:
        """The lines, by path and number."""
        return self.matches_in(self.answer)

    def matches_in(self, answer: Answer) -> tuple[Match, ...]:
        """Return the lines of an answer, and where each matches first."""

        def column(text: str) -> int:
            start = next(iter(self.pattern.spans(text)), (0, 0))[0]
            return len(text[:start].encode("utf-8", "surrogateescape")) + 1

        return tuple(Match(hit, line, column(line.text)) for hit in answer.hits for line in hit.snippet)

    def marked(self, answer: Answer) -> Answer:
        """Return an answer whose lines, others than before, are marked where they match."""

        def marked(hit: Hit) -> Hit:
            lines = (replace(line, matches=self.pattern.matches(line.text)) for line in hit.snippet)
            return replace(hit, snippet=tuple(lines))

        return answer.changed(marked)


_ALL = SearchOptions()


def either(
    workspace: Workspace, query: str, options: SearchOptions, hear: Callable[[ExactAnswer], object]
) -> Answer:
    """Answer a question, or search exactly where the options say so; that is heard."""
    if not options.exact:
        return search(workspace, query, options)
    found = search_exactly(workspace, Pattern(query, options.exact == "regex"), options)
    hear(found)
    return found.answer


def search_exactly(workspace: Workspace, pattern: Pattern, options: SearchOptions = _ALL) -> ExactAnswer:
    """Find every line that matches, in the text of the index, uncommitted changes included.

    Args:
        options: ``limit`` is that of lines; scores and what concerns questions in words are ignored.
    """
    if not pattern.text or "\n" in pattern.text:
        raise UsageError(
            "An exact search needs a text of one line.", "For example: gitrag search --word retry_count"
        )
    wanted = (options.wanted or Wanted()).within(workspace.name)
    options = replace(options, filters=with_meant_globs(workspace, options.filters))
    workspace.require_index()
    view = CurrentView(
        workspace, revision=options.ref, committed_only=options.committed_only, with_issues=wanted.issues
    )
    limit = LIMIT if options.limit is None else options.limit

    def ask(
        db: Connection, view_id: int, overlay: ViewOverlay
    ) -> tuple[ExactLines, dict[int, str], list[LeftOutRow]]:
        present = {*IndexFile(db).touched(view_id), *overlay.collections}
        names = tuple(name for each in choose(wanted, present).values() for name in each)
        filters = replace(options.filters, collections=names)
        found = find_lines(db, Scoped(view_id, overlay, filters), pattern, limit, workspace.store.memo)
        may_be_there = not (found.lines or pattern.is_regex)
        rows = scopes.left_out(db, view_id, overlay) if may_be_there else []
        shown = {hit.content_id for hit in found.hits}
        return found, scopes.outlined(db, shown, workspace.store.memo), rows

    result = view.read(ask)
    found, outlined, rows = result.found
    refreshed = result.refreshed
    if refreshed.waiting and running(workspace.store.directory) is None:
        catch_up.start_worker(workspace)
    if options.ref is not None or not found.lines:
        tell_absent(workspace, options.ref)
    if not found.collections:
        raise no_collection(workspace, wanted)
    answer = Answer(
        query=pattern.text,
        sections=(AnswerSection(CollectionKind.CODE, found.hits),),
        commit=refreshed.head.commit,
        dirty=refreshed.dirty,
        drafts=0,
        waiting=refreshed.waiting,
        model=True,
        collections=tuple(f"{workspace.name}-{each}" for each in found.collections),
    )
    unread, left_out = found.unsearched
    not_indexed = outline_lines(found.hits, outlined, result.now.reader)
    if not (found.lines or pattern.is_regex):
        not_indexed = LeftOut(workspace, rows, result).holding([pattern.text], options.filters)
    return ExactAnswer(
        pattern, answer, found.lines, found.files, found.searched, left_out, unread, not_indexed
    )
