"""Call graphs of the files as they are now: on request, or around the hits of a search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from zlib import crc32

from gitrag.actions.current_view import CurrentView
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
from gitrag.model import CallGraph
from gitrag.search.graph_filter import graph_filter, is_graphed
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from gitrag.search.engine import Hit

TIMEOUT_S = 30.0
"""Time limit of a call graph; a search answers without one after that."""

_MOST_NAMED = 3
"""Unreadable files that are named; `gitrag doctor` lists more."""

_BATCH = 200
"""Definitions whose calls are resolved between two checks of the time: well under a second's work."""

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
        filter: The filter applied; None if there was none.
        graph: The graph; None if there was an error.
        error: Why there is none, for the user.
        skipped: Paths asked about whose language has no call graph.
        made: How many files' contents had to be parsed for it.
        unread: Paths of files that could not be read in full.
    """

    filter: str | None
    graph: Graph | None
    error: str | None = None
    skipped: tuple[str, ...] = ()
    made: int = 0
    unread: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines that the user should see beside the graph."""
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
    """Return the calls among the files as they are now; failures are part of the answer.

    Args:
        workspace: gitrag on the repository.
        question: Which part of the graph.
        globs: Only paths like these, as in .gitignore; none means all.
        module: Only this module of the workspace; empty for all.
        about: Path and language of the files shown to the reader; those without a call graph are listed.
        timeout_s: Time limit.
        check: Called repeatedly; an exception from it ends the work.

    Raises:
        NotSetUpError: There is no index.
        NoMatchError: No definition matches the target.
        UsageError: The filter is not a valid regular expression.
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
    """Yield the definitions and calls of the files as they are now, with the facts they were made from.

    The inferred types are freed before the garbage collector of cycles runs over them.
    """
    with without_collecting():
        view = CurrentView(workspace, says_staleness=False)
        read = view.read(lambda db, view_id, overlay: rows_of(db, view_id, overlay, collection))
        loaded = facts_of(workspace.store, read.now, read.found, check=check)
        calls = ResolvedCalls(loaded.files, check)
        try:
            yield calls, loaded
        finally:
            calls.forget()


def _log_failure(workspace: Workspace, what: str, failure: Exception) -> None:
    """Log a failure with its traceback."""
    from gitrag.machine.log import logged

    with logged(workspace.store.directory) as log:
        log.error(what, exc_info=failure)


def calling_files(
    workspace: Workspace, wanted: Callable[[str], bool], timeout_s: float
) -> tuple[dict[str, set[str]], bool]:
    """Map each file to the other files that call its definitions.

    Args:
        workspace: gitrag on the repository.
        wanted: Tells whether calls from a path count.
        timeout_s: Time limit. Files are read in the order of a hash, so a partial result is a fair sample.

    Returns:
        The files, and whether the result is complete; an empty one when the calls cannot be read.

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
    """Return the call graph around the code hits of a search; None without hits.

    Args:
        workspace: gitrag on the repository.
        answer: What the search found.
        globs: Only paths like these.
        module: Only this module of the workspace; empty for all.
        unfiltered: Return all calls.
        check: Called repeatedly; an exception from it ends the work.
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
    """Return the code hits of an answer, best first."""
    return next((each.hits for each in answer.sections if each.kind is CollectionKind.CODE), ())
