"""Call graphs of the files as they are now: asked for, or of what a search found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from zlib import crc32

from gitrag.actions.search import Answer
from gitrag.callgraph import answering
from gitrag.callgraph.answering import GraphQuestion
from gitrag.callgraph.extraction import unsupported
from gitrag.callgraph.graph import Graph
from gitrag.callgraph.loading import Deadline, Loaded, TimeoutReachedError
from gitrag.callgraph.resolution import ResolvedCalls, without_collecting
from gitrag.corpus.layout import CollectionKind, slug
from gitrag.git import matcher
from gitrag.indexing.call_facts import facts_of, rows_of
from gitrag.indexing.reading import read_view
from gitrag.model import CallGraph
from gitrag.search.graph_filter import graph_filter, is_graphed
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from gitrag.search.engine import Hit

TIMEOUT_S = 30.0
"""How long a call graph may take (requirements, 2.7)."""

_MOST_NAMED = 3
"""Files that could not be read; `gitrag doctor` has all."""

_BATCH = 200
"""Definitions whose calls are resolved at once: well under a second."""

TIMED_OUT = "Call graph generation timed out ({seconds:.0f}s). The codebase may be very large."
FAILED = "Call graph generation failed: {reason}"
NO_NODES = "No call graph nodes matched the filter. Try broadening your search term or use --unfiltered."
SKIPPED = "Call graph generation skipped for {path} (language not supported). Showing other results."
UNREAD = "Files that could not be read for the call graph: {count} ({paths})."
UNFILTERED = "Generating unfiltered call graph — output may be large."


@dataclass(frozen=True, slots=True)
class GraphAnswer:
    """A call graph, or why there is none.

    Attributes:
        filter: What it was limited to; None for no filter.
        graph: The graph; None where there is an error.
        error: Why there is none, for the user.
        skipped: Paths that were asked about, in languages whose calls are not known.
        made: Contents that had to be parsed for it.
        unread: Paths of files that could not be read, or not in full.
    """

    filter: str | None
    graph: Graph | None
    error: str | None = None
    skipped: tuple[str, ...] = ()
    made: int = 0
    unread: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know beside the graph, a line each."""
        notes = [SKIPPED.format(path=path) for path in self.skipped]
        if self.unread:
            named = ", ".join([*self.unread[:_MOST_NAMED], *["…"] * (len(self.unread) > _MOST_NAMED)])
            notes.append(UNREAD.format(count=len(self.unread), paths=named))
        return tuple(notes)


def call_graph(
    workspace: Workspace,
    question: GraphQuestion,
    *,
    globs: Sequence[str] = (),
    module: str = "",
    about: Sequence[tuple[str, str]] = (),
    timeout_s: float = TIMEOUT_S,
    check: Callable[[], None] = lambda: None,
) -> GraphAnswer:
    """Give the calls among the files as they are now; what fails is said in the answer.

    Args:
        workspace: gitrag on the repository.
        question: Which part.
        globs: Only paths like these, as in .gitignore; none means all.
        module: The only module of the workspace; empty for all.
        about: Path and language of what the reader has before him; what has no known calls is named.
        timeout_s: How long it may take.
        check: Called all the while; what it raises ends the work.

    Raises:
        NotSetUpError: There is no index.
        NoMatchError: The question's target is no definition.
        UsageError: Its filter is no good regular expression.
    """
    workspace.require_index()
    skipped = tuple(unsupported(about))
    deadline = Deadline(timeout_s)

    def checked() -> None:
        deadline.check()
        check()

    try:
        collection = f"{slug(module)}-{CollectionKind.CODE}" if module else None
        with _calls_of(workspace, collection, checked) as (calls, loaded):
            found = answering.answer(calls, replace(question, allowed=matcher(globs)) if globs else question)
            unread = tuple(sorted({*loaded.failed, *calls.failed}))
    except answering.NoMatchError:
        if not skipped:
            raise
        return GraphAnswer(question.filter, None, SKIPPED.format(path=skipped[0]))
    except TimeoutReachedError:
        return GraphAnswer(question.filter, None, TIMED_OUT.format(seconds=timeout_s), skipped)
    except (RecursionError, MemoryError, UnicodeError, ValueError) as failure:
        _log_failure(workspace, "the call graph failed", failure)
        reason = failure or type(failure).__name__
        return GraphAnswer(question.filter, None, FAILED.format(reason=reason), skipped)
    if not found.nodes:
        return GraphAnswer(question.filter, None, NO_NODES, skipped, loaded.made, unread)
    return GraphAnswer(question.filter, found, None, skipped, loaded.made, unread)


@contextmanager
def _calls_of(
    workspace: Workspace, collection: str | None, check: Callable[[], None]
) -> Iterator[tuple[ResolvedCalls, Loaded]]:
    """Read what the files as they are now define and call; give the facts, too.

    What is inferred meanwhile is let go of before the cycle collector may look at it.
    """
    with without_collecting():
        now, rows = read_view(
            workspace.store,
            workspace.snapshot,
            lambda db, now, refreshed: (now, rows_of(db, refreshed, collection)),
            budget_s=workspace.config.catch_up_s,
        )
        loaded = facts_of(workspace.store, now, rows, check=check)
        calls = ResolvedCalls(loaded.files, check)
        try:
            yield calls, loaded
        finally:
            calls.forget()


def _log_failure(workspace: Workspace, what: str, failure: Exception) -> None:
    """Write a failure to the log, with its traceback."""
    from gitrag.machine.log import logged

    with logged(workspace.store.directory) as log:
        log.error(what, exc_info=failure)


def calling_files(
    workspace: Workspace, wanted: Callable[[str], bool], timeout_s: float
) -> tuple[dict[str, set[str]], bool]:
    """Give for each file the other files that call what it defines.

    Args:
        workspace: gitrag on the repository.
        wanted: Tells whether calls made in a path's file count.
        timeout_s: How long it may take. Files are read in an order of no meaning, so that what is known when
            the time is over is a fair sample.

    Returns:
        The files, and whether these are all; nothing where the calls cannot be read.

    Raises:
        NotSetUpError: There is no index.
    """
    workspace.require_index()
    callers: dict[str, set[str]] = {}
    deadline = Deadline(timeout_s)
    try:
        with _calls_of(workspace, None, deadline.check) as (calls, _loaded):
            rows = [(own, node.path) for own, node in calls.nodes() if wanted(node.path)]
            rows.sort(key=lambda row: crc32(row[1].encode("utf-8", "surrogateescape")))
            for batch in range(0, len(rows), _BATCH):
                for edge in calls.callees([own for own, _ in rows[batch : batch + _BATCH]]):
                    if edge.caller.path != edge.callee.path:
                        callers.setdefault(edge.callee.path, set()).add(edge.caller.path)
    except TimeoutReachedError:
        return callers, False
    except (RecursionError, MemoryError, UnicodeError, ValueError) as failure:
        _log_failure(workspace, "the calls could not be read", failure)
        return {}, False
    return callers, True


def graph_of(
    workspace: Workspace,
    answer: Answer,
    *,
    globs: Sequence[str] = (),
    module: str = "",
    unfiltered: bool = False,
    check: Callable[[], None] = lambda: None,
) -> CallGraph | None:
    """Draw the calls around what a search found; None where it found nothing.

    Args:
        workspace: gitrag on the repository.
        answer: What the search found.
        globs: Only paths like these.
        module: The only module of the workspace; empty for all.
        unfiltered: Draw all calls.
        check: Called all the while; what it raises ends the work.
    """
    from gitrag.callgraph.drawing import as_calls, as_mermaid

    if not answer.hits:
        return None
    code = code_of(answer)
    pattern = None if unfiltered else graph_filter(answer.query, code) or None
    found = call_graph(
        workspace,
        GraphQuestion(filter=pattern),
        globs=globs,
        module=module,
        about=[(hit.path, hit.language) for hit in code if is_graphed(hit)],
        check=check,
    )
    return CallGraph(
        pattern,
        as_mermaid(found.graph) if found.graph else None,
        found.error,
        len(found.graph.nodes) if found.graph else 0,
        tuple([UNFILTERED] * unfiltered) + found.notes,
        as_calls(found.graph) if found.graph else (),
    )


def code_of(answer: Answer) -> tuple[Hit, ...]:
    """Give the hits of an answer that are code, best first."""
    return next((each.hits for each in answer.sections if each.kind is CollectionKind.CODE), ())
