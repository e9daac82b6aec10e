"""Call graphs of the files as they are now: on request, or around the hits of a search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING
from zlib import crc32

from msgspec.structs import replace

from gitrag.actions import left_out
from gitrag.actions.answer import Answer
from gitrag.actions.compiler_index import compiled_calls
from gitrag.actions.current_view import CurrentView, tell_absent
from gitrag.actions.graph_answer import SKIPPED, GraphAnswer, NoCall, Source
from gitrag.actions.hit_lines import LIKELY_SHARE
from gitrag.actions.lines import file_lines
from gitrag.actions.search import SEEN_S, SearchOptions
from gitrag.actions.uncalled import left_unresolved, without_callers
from gitrag.callgraph import answering
from gitrag.callgraph.answering import Direction, GraphQuestion
from gitrag.callgraph.extraction import unsupported
from gitrag.callgraph.graph import MODULE, Followed, Graph, Node, graph
from gitrag.callgraph.loading import MISSING, Deadline, Loaded, TimeoutReachedError
from gitrag.callgraph.neighbourhood import Place
from gitrag.callgraph.paths import MOST_CALLS, Paths, shortest_paths
from gitrag.callgraph.reach import Reach, Uncalled, no_callee, no_caller, reach, unresolved_in
from gitrag.callgraph.resolution import ResolvedCalls, without_collecting
from gitrag.callgraph.subjects import Subject, is_test, subjects, tests_within
from gitrag.chunking.languages import language_of
from gitrag.corpus.layout import CollectionKind, slug
from gitrag.errors import GitragError
from gitrag.git import matcher
from gitrag.git.meant import globs_meant
from gitrag.indexing.call_facts import facts_of, manifests_of, not_in_graph, rows_of, texts_of
from gitrag.model import CallGraph
from gitrag.search.graph_filter import graph_filter, is_graphed
from gitrag.words.numbers import count
from gitrag.words.path_traits import Trait, traits
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from gitrag.search.engine import Hit

TIMEOUT_S = 30.0
"""Time limit of a call graph; a search answers without one after that."""

_LEAST_SCORE = 0.2
"""Score below which a graph around a hit is not shown unasked: four of five such hits do not answer."""

_MOST_LINES = 80
"""Lines of a definition that are shown beside a picture."""

_LONGEST_LINE = 400
_MOST_SOURCE = 2_000_000
"""Characters of code in one page; of the definitions after that only the place is shown."""

_BATCH = 200
"""Definitions whose calls are resolved between two checks of the time: well under a second's work."""

TIMED_OUT = "Call graph generation timed out ({seconds:.0f}s). The codebase may be very large."
FAILED = "Call graph generation failed: {reason}"
NO_NODES = "No call graph nodes matched the filter. Try broadening your search term or use --unfiltered."
NONE_MATCHED = "No call graph nodes matched the filter. Try a broader filter or path."
NONE_LIKELY = "No call graph: no code found likely answers. `gitrag search --graph` draws one all the same."
UNFILTERED = "Generating unfiltered call graph — output may be large."


def call_graph(
    workspace: Workspace,
    question: GraphQuestion,
    *,
    to: str | None = None,
    globs: Sequence[str] = (),
    module: str = "",
    about: Sequence[tuple[str, str]] = (),
    timeout_s: float = TIMEOUT_S,
    check: Callable[[], None] = lambda: None,
) -> GraphAnswer:
    """Return the calls among the files as they are now; failures are part of the answer.

    Args:
        about: Path and language of the files shown to the reader; those without a call graph are listed.

    Raises:
        NoMatchError: No definition matches the target.
    """
    workspace.require_index()
    skipped = tuple(unsupported(about))
    deadline = Deadline(timeout_s)

    def checked() -> None:
        deadline.check()
        check()

    try:
        collection = f"{slug(module)}-{CollectionKind.CODE}" if module else None
        if globs:
            question = replace(question, allowed=matcher(globs_meant(workspace.repo.root, globs)))
        seen_s = SEEN_S if question.places else 0.0  # around the hits of a search: of the files it looked at
        with calls_of(workspace, collection, checked, seen_s) as (calls, loaded, others):
            if question.target in loaded.failed and not loaded.definitions(question.target):
                raise UnreadError(question.target, loaded.failed[question.target])
            paths, no_path = None, ""
            if to is not None and question.target is not None:
                found, paths, no_path = _paths(calls, question.target, to, question.allowed, loaded)
            else:
                found = answering.answer(calls, question)
            unread = tuple(sorted({*loaded.failed, *calls.failed}))
            asked = question if paths is None else replace(question, target=None)
            none = tuple(_missing(workspace, asked, found, calls, loaded, unread, others))
            none += tuple(_unresolved(workspace, asked, found, calls, loaded, none))
    except answering.NoMatchError as error:
        tell_absent(workspace)
        if not skipped:
            raise _with_left_out(workspace, error, error.target or question.target or "") from None
        return GraphAnswer(question.filter, None, SKIPPED.format(path=skipped[0]))
    except TimeoutReachedError:
        return GraphAnswer(question.filter, None, TIMED_OUT.format(seconds=timeout_s), skipped)
    except (RecursionError, MemoryError, UnicodeError, ValueError) as failure:
        log_failure(workspace, "the call graph failed", failure)
        failed = FAILED.format(reason=failure or type(failure).__name__)
        return GraphAnswer(question.filter, None, failed, skipped)
    if not found.nodes:
        return GraphAnswer(question.filter, None, _unmatched(question), skipped, loaded.made, unread)
    return GraphAnswer(
        question.filter, found, None, skipped, loaded.made, unread, none, chains=paths, no_path=no_path
    )


def _unmatched(question: GraphQuestion) -> str:
    return NONE_MATCHED if question.places is None else NO_NODES


def _with_left_out(
    workspace: Workspace, error: answering.NoMatchError, target: str
) -> answering.NoMatchError:
    """Return the error that says too what is left out of the index and has the target."""
    if not (sentences := left_out.of_target(workspace, target)):
        return error
    said = "; ".join(sentences)
    return answering.NoMatchError(
        f"{error} {said[0].upper()}{said[1:]}.",
        error.hint,
        target,
        tuple(each for each in sentences if not each.startswith(left_out.NOT_SEARCHED)),
    )


class UnreadError(answering.NoMatchError):
    """The file asked about could not be read."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"{path} could not be read for the call graph: {reason}.", "`gitrag doctor` lists such files."
        )


def _paths(
    calls: ResolvedCalls, start: str, end: str, allowed: Callable[[str], bool], loaded: Loaded
) -> tuple[Graph, Paths, str]:
    """Return the shortest chains of calls between two targets, or that there is none."""
    nodes = [node for _, node in calls.nodes() if allowed(node.path)]
    starts = [nodes[i] for i in answering.definitions_named(start, nodes)]
    ends = [nodes[i] for i in answering.definitions_named(end, nodes)]
    found = shortest_paths(calls, starts, ends, allowed)
    followed = Followed(limits=calls.notes)
    if found.shown:
        ends_shown = {end for path in found.shown for end in (path[0].caller, path[-1].callee)}
        return graph(ends_shown, found.edges, followed), found, ""
    if set(starts) & set(ends):
        return graph(starts, ()), found, f"{start} and {end} are the same, or one is in the other."
    back = shortest_paths(calls, ends, starts, allowed)
    said = (
        f"No chain of up to {MOST_CALLS} calls from {start} to {end} in {count(len(loaded.files), 'file')}."
    )
    if back.shown:
        length = count(len(back.shown[0]), "call")
        said += f" The other way there is one of {length}: gitrag graph {end} --to {start}"
    doubtful = calls.doubtful([*starts, *ends], allowed)
    return graph({*starts, *ends}, (), Followed(doubtful=doubtful, limits=calls.notes)), found, said


def tests_of(workspace: Workspace, graph: Graph) -> frozenset[Node]:
    """Return the definitions of a graph that are tests', by file, module or name; in Rust by attribute."""
    found = {node for node in graph.nodes if is_test(node)}
    for path, nodes in groupby(graph.nodes, key=lambda node: node.path):
        if language_of(path) == "rust":
            with suppress(GitragError):
                spans = tests_within(file_lines(workspace, path))
                found.update(
                    node for node in nodes for first, last in spans if first <= node.line_start <= last
                )
    return frozenset(found)


def sources_of(workspace: Workspace, graph: Graph) -> dict[Node, Source]:
    """Read the first lines of a graph's definitions from the working tree; what cannot be read is left out.

    The code outside definitions is not shown: it is the whole file.
    """
    found: dict[Node, Source] = {}
    room = _MOST_SOURCE
    for path, nodes in groupby(graph.nodes, key=lambda node: node.path):
        try:
            lines = file_lines(workspace, path)
        except GitragError:
            continue
        for node in nodes:
            own = lines[node.line_start - 1 : node.line_end]
            if node.name == MODULE or room <= 0:
                continue
            kept = tuple(line[:_LONGEST_LINE] for line in own[:_MOST_LINES])
            room -= sum(map(len, kept))
            found[node] = kept, len(own) - len(kept)
    return found


def _missing(
    workspace: Workspace,
    question: GraphQuestion,
    found: Graph,
    calls: ResolvedCalls,
    loaded: Loaded,
    unread: Sequence[str],
    others: Callable[[], list[tuple[str, str, str]]],
) -> Iterator[NoCall]:
    """Yield what the definitions asked for by name do not have, with what was looked at."""
    if question.target is None:
        return
    about = subjects(found.matches, question.target)
    place = {node: number for number, each in enumerate(about) for node in each.members}
    called, tested, calling = set[int | None](), set[int | None](), set[int | None]()
    tests = tests_of(workspace, found) - place.keys()
    for edge in found.edges:
        caller, callee = place.get(edge.caller), place.get(edge.callee)
        if caller != callee or not about[caller or 0].is_compound:
            (tested if edge.caller in tests else called).add(callee)
            calling.add(caller)
    uncalled = [
        (each, number in tested)
        for number, each in enumerate(about)
        if question.direction is not Direction.CALLEES
        and number not in called
        and found.followed.without_callers.isdisjoint(each.members)
    ]
    no_callees = [
        each
        for number, each in enumerate(about)
        if question.direction is not Direction.CALLERS
        and number not in calling
        and found.followed.without_callees.isdisjoint(each.members)
    ]
    if not uncalled and not no_callees:
        return
    files = {path: name for path, (name, _) in loaded.files.items() if question.allowed(path)}
    beyond = [each for each in others() if question.allowed(each[0])]

    @cache
    def looked_at(language: str) -> Reach:
        return reach(language, files, unread, beyond)

    for each, own, where in _without_callers(workspace, calls, loaded, uncalled, _outside(about)):
        looked = looked_at(files[each.own.path])
        said = no_caller(looked.looked_at, own, where)
        yield NoCall(each, True, said, looked.looked_at, looked.gaps, own)
    for each in no_callees:
        looked = looked_at(files[each.own.path])
        yield NoCall(each, False, no_callee(looked.looked_at), looked.looked_at, looked.gaps)


def _unresolved(
    workspace: Workspace,
    question: GraphQuestion,
    found: Graph,
    calls: ResolvedCalls,
    loaded: Loaded,
    none: Sequence[NoCall],
) -> Iterator[NoCall]:
    """Yield the functions asked for by name that are called, with the other places that may call them."""
    if question.target is None or question.direction is Direction.CALLEES:
        return
    said = {each.subject.own for each in none if each.is_caller}
    about = subjects(found.matches, question.target)
    alone = {each.own: each for each in about if each.kind == "function" and each.own not in said}
    called: dict[Node, set[str]] = {}
    for edge in found.edges:
        if edge.callee in alone:
            called.setdefault(edge.callee, set()).update(f"{edge.caller.path}:{line}" for line in edge.lines)
    for node, places in left_unresolved(workspace, calls, loaded, called).items():
        if places:
            yield NoCall(alone[node], True, unresolved_in(places), known=Uncalled(places), is_called=True)


def _without_callers(
    workspace: Workspace,
    calls: ResolvedCalls,
    loaded: Loaded,
    asked: Sequence[tuple[Subject, bool]],
    outside: Callable[[Node, str], bool],
) -> Iterator[tuple[Subject, Uncalled, str]]:
    """Yield what may call what no call was resolved to; of what only tests call, in other code, if anything.

    Args:
        asked: What was asked for, each with whether tests call it.
    """
    in_test = cache(lambda path: bool(traits(path) & Trait.TEST))

    def untested(node: Node, path: str) -> bool:
        return outside(node, path) and not in_test(path)

    for is_tested in (False, True):
        subjects = [each for each, own in asked if own == is_tested]
        members = [each.members for each in subjects]
        known = without_callers(workspace, calls, loaded, members, untested if is_tested else outside)
        for each, own in zip(subjects, known, strict=True):
            if own.unresolved or not is_tested:
                yield each, own, " outside of tests" * is_tested


def _outside(about: Sequence[Subject]) -> Callable[[Node, str], bool]:
    """Return what tells whether a place is outside of a file or directory asked about."""
    inside = {each.name for each in about if each.kind in {"file", "directory"}}
    return lambda _node, path: not any(path == name or path.startswith(f"{name}/") for name in inside)


@contextmanager
def calls_of(
    workspace: Workspace, collection: str | None, check: Callable[[], None], seen_s: float = 0.0
) -> Iterator[tuple[ResolvedCalls, Loaded, Callable[[], list[tuple[str, str, str]]]]]:
    """Yield the definitions and calls of the files as they are now, their facts, and what reads the others.

    The inferred types are freed before the garbage collector of cycles runs over them. ``seen_s`` as of
    `CurrentView`.
    """
    with without_collecting():
        for age_s in (seen_s, 0.0):
            view = CurrentView(workspace, says_staleness=False, seen_s=age_s)
            read = view.read(
                lambda db, view_id, overlay: (
                    rows_of(db, view_id, overlay, collection),
                    manifests_of(db, view_id, overlay),
                )
            )
            rows, manifests = read.found
            loaded = facts_of(workspace.store, read.now, rows, check=check)
            if not age_s or all(loaded.failed.get(each.path) != MISSING for each in read.now.changes):
                break  # else a file has changed since it was looked at, and was not read yet
        blobs = {row.path: row.blob for row in rows}
        compiled = compiled_calls(workspace.config.scip_index, read.now, loaded.files, blobs, check)
        calls = ResolvedCalls(loaded.files, check, texts_of(read.now, manifests), compiled)

        def others() -> list[tuple[str, str, str]]:
            return view.read(
                lambda db, view_id, overlay: not_in_graph(db, view_id, overlay, collection)
            ).found

        try:
            yield calls, loaded, others
        finally:
            calls.forget()


def log_failure(workspace: Workspace, what: str, failure: Exception) -> None:
    from gitrag.machine.log import logged

    with logged(workspace.store.directory) as log:
        log.error(what, exc_info=failure)


def calling_files(
    workspace: Workspace, wanted: Callable[[str], bool], timeout_s: float
) -> tuple[dict[str, set[str]], bool]:
    """Map each file to the other files that call its definitions.

    Args:
        wanted: Tells whether calls from a path count.
        timeout_s: Time limit. Files are read in the order of a hash, so a partial result is a fair sample.

    Returns:
        The files, and whether the result is complete; an empty one when the calls cannot be read.
    """
    workspace.require_index()
    callers: dict[str, set[str]] = {}
    deadline = Deadline(timeout_s)
    try:
        with calls_of(workspace, None, deadline.check) as (calls, _loaded, _others):
            rows = [(own, node.path) for own, node in calls.nodes() if wanted(node.path)]
            rows.sort(key=lambda row: crc32(row[1].encode("utf-8", "surrogateescape")))
            for batch in range(0, len(rows), _BATCH):
                for edge in calls.callees([own for own, _ in rows[batch : batch + _BATCH]]):
                    if edge.caller.path != edge.callee.path and not edge.rule:
                        callers.setdefault(edge.callee.path, set()).add(edge.caller.path)
    except TimeoutReachedError:
        return callers, False
    except (RecursionError, MemoryError, UnicodeError, ValueError) as failure:
        log_failure(workspace, "the calls could not be read", failure)
        return {}, False
    return callers, True


_EVERYTHING = SearchOptions()


def graph_of(
    workspace: Workspace,
    answer: Answer,
    limits: SearchOptions = _EVERYTHING,
    *,
    unfiltered: bool = False,
    asked_for: bool = True,
    check: Callable[[], None] = lambda: None,
) -> CallGraph | None:
    """Return the call graph around the code hits of a search; None without hits.

    Args:
        asked_for: Draw the calls around every hit and its further passages; else only around the passages
            that likely answer, if any does.
    """
    from gitrag.callgraph.drawing import as_calls, as_mermaid
    from gitrag.callgraph.drawing import left_out as not_drawn

    if not answer.hits:
        return None
    code = code_of(answer)
    if not asked_for and not unfiltered:
        every, code = code, _likely(code)
        if not code:
            return CallGraph(graph_filter(answer.query, every) or None, None, NONE_LIKELY, 0)
    pattern = None if unfiltered else graph_filter(answer.query, code) or None
    if limits.ref or limits.committed_only:  # what was looked at last is another question's
        workspace.look_anew()
    found = call_graph(
        workspace,
        GraphQuestion(filter=pattern, places=None if unfiltered else tuple(_places(code))),
        globs=limits.filters.globs,
        module=limits.module,
        about=[(hit.path, hit.language) for hit in code if is_graphed(hit)],
        check=check,
    )
    if found.graph and not (asked_for or unfiltered):
        found = _without_tests(found, found.graph)
    return CallGraph(
        pattern,
        as_mermaid(found.graph) if found.graph else None,
        found.error,
        len(found.graph.nodes) if found.graph else 0,
        tuple([UNFILTERED] * unfiltered) + found.remarks,
        as_calls(found.graph) if found.graph else (),
        not_drawn(found.graph) if found.graph else 0,
    )


def _likely(code: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return the best passages of hits that likely answer, beside the best one and by themselves."""
    best = max((hit.score for hit in code), default=0.0)
    least = max(_LEAST_SCORE, best * LIKELY_SHARE)
    return tuple(replace(hit, also=()) for hit in code if hit.score >= least)


def _without_tests(found: GraphAnswer, whole: Graph) -> GraphAnswer:
    """Leave out the tests that call what was found, and say how many they are."""
    tests = {node for node in whole.nodes if is_test(node) and node not in whole.matches}
    if not tests:
        return found
    kept = [edge for edge in whole.edges if tests.isdisjoint((edge.caller, edge.callee))]
    calling = len(tests & {edge.caller for edge in whole.edges})
    limits = (*whole.followed.limits, f"Left out: {count(calling, 'test')} that call them.")
    followed = replace(whole.followed, limits=limits if calling else whole.followed.limits)
    return replace(found, graph=graph(whole.matches, kept, followed))


def _places(code: Sequence[Hit]) -> Iterator[Place]:
    """Yield the lines of code hits, the best first, each file's further hits after its best one."""
    for hit in code:
        if is_graphed(hit):
            for chunk in (hit.chunk, *(chunk for chunk, _ in hit.also)):
                yield Place(hit.path, chunk.line_start, chunk.line_end, bool(chunk.name))


def code_of(answer: Answer) -> tuple[Hit, ...]:
    """Return the code hits of an answer, best first."""
    return next((each.hits for each in answer.sections if each.kind is CollectionKind.CODE), ())
