"""Who calls what a change touches, or what a file defines: what may break, and which tests cover it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from gitrag.actions.graph import calls_of, log_failure, tests_of
from gitrag.actions.graph_answer import NoCaller, no_callers
from gitrag.actions.lines import file_lines
from gitrag.actions.uncalled import without_callers
from gitrag.callgraph.extraction import LANGUAGES
from gitrag.callgraph.graph import MODULE, SURE, Edge, Followed, Node, graph
from gitrag.callgraph.loading import Deadline, Loaded, TimeoutReachedError
from gitrag.callgraph.reach import Uncalled, reach
from gitrag.callgraph.resolution import ResolvedCalls
from gitrag.chunking.languages import is_code, language_of
from gitrag.chunking.notebooks import decode
from gitrag.errors import GitragError
from gitrag.git.difference import ChangedFile, DifferenceTooLargeError, changed_lines
from gitrag.words.numbers import count
from gitrag.words.path_traits import is_of_an_example
from gitrag.workspace import Workspace

TIMEOUT_S = 10.0
"""Time limit for reading calls: a check and a review have more to say than this."""

_FIRST_BATCH = 8
"""Definitions whose callers are looked for at once; each further batch is twice as large."""

_MOST_LANGUAGES = 3

_UNSEARCHED = Uncalled(is_searched=False)
"""Of a definition before whose turn the time was over."""

MOST_CALLS = 3
"""Calls between a test and what is changed, of which each but the first is another definition's."""

_MOST_BETWEEN = 100
"""Definitions on the way of which the callers are looked for, at each distance."""

Id = tuple[str, int]
Spans = Mapping[str, Sequence[tuple[int, int]]]
"""First and last line of the parts of files that are asked about, by path."""


class Called(Struct, frozen=True):
    """A definition that is called, or has tests.

    Attributes:
        callers: The calls from product code and examples, an edge for each calling definition.
        tests: The calls from tests.
    """

    node: Node
    callers: tuple[Edge, ...]
    tests: tuple[Edge, ...]

    @property
    def files(self) -> int:
        """How many files of product code call it."""
        return len({edge.caller.path for edge in self.callers})


def weight(called: Called) -> int:
    """Return how many callers a definition has; two that only a rule says it is called by are as one."""
    return len(called.callers) - sum(bool(edge.rule) for edge in called.callers) // 2


class Impact(Struct, frozen=True):
    """Who calls some definitions.

    Attributes:
        called: Those with callers, those with the most first.
        uncalled: Those to which no call was resolved, by path and line.
        known: What else is known of who calls each of these.
        definitions: How many definitions are asked about.
        looked_at: What was read for it: ``12 files``.
        left_out: What was not looked at, a sentence each.
        reached_by: The files of tests that call these definitions through others, and by how many calls.
    """

    called: tuple[Called, ...]
    uncalled: tuple[Node, ...] = ()
    known: tuple[Uncalled, ...] = ()
    definitions: int = 0
    looked_at: str = ""
    left_out: tuple[str, ...] = ()
    reached_by: tuple[tuple[str, int], ...] = ()

    @property
    def without_callers(self) -> tuple[NoCaller, ...]:
        """The definitions that no call was resolved to."""
        known = zip(self.uncalled, self.known, strict=True)
        return no_callers((node, node.name, own, self.looked_at) for node, own in known)


def callers_of_change(
    workspace: Workspace,
    span: str,
    files: Sequence[ChangedFile],
    timeout_s: float | None = None,
) -> Impact | None:
    """Find who calls the functions and classes that a change touches; None if it touches no code.

    Args:
        timeout_s: Time limit for reading the calls; None for `TIMEOUT_S`.
    """
    code = [file for file in files if is_code(language_of(file.path) or "")]
    if not code:
        return None
    try:
        lines = changed_lines(workspace.repo, span)
    except DifferenceTooLargeError as error:
        return Impact((), left_out=(f"Callers were not looked for: {error}",))
    spans: dict[str, Sequence[tuple[int, int]]] = {}
    differing = 0
    for file in code:
        if file.path not in lines or file.after is None:
            continue
        if _is_as_now(workspace, file):
            spans[file.path] = lines[file.path]
        else:
            differing += 1
    left_out = []
    if differing:
        left_out.append(
            f"{count(differing, 'file')} of the change {'differs' if differing == 1 else 'differ'} from the"
            " working tree: callers were not looked for there; check its branch out to have them."
        )
    return _callers(workspace, spans, {}, left_out, timeout_s, through=MOST_CALLS)


def callers_from_outside(
    workspace: Workspace, target: str | None, paths: Collection[str], timeout_s: float | None = None
) -> Impact | None:
    """Find who calls the definitions of a file or directory from outside of it; None if it defines none.

    Args:
        target: The file or directory; None to count calls from inside, too.
    """
    code = [path for path in paths if is_code(language_of(path) or "")]
    if not code:
        return None
    whole = {path: [(1, 1 << 31)] for path in code}
    inside = {} if target is None else dict.fromkeys(code, target)
    found = _callers(workspace, whole, inside, [], timeout_s)
    return None if found.looked_at and not found.definitions else found


def _callers(
    workspace: Workspace,
    spans: Spans,
    inside: Mapping[str, str],
    left_out: Sequence[str],
    timeout_s: float | None,
    through: int = 1,
) -> Impact:
    """Find the callers of the definitions in parts of files.

    Args:
        inside: The file or directory calls from which do not count, by path; empty to count them.
        through: How many calls there may be between a test and them.
    """
    timeout_s = TIMEOUT_S if timeout_s is None else timeout_s
    said = list(left_out)
    supported = {path for path in spans if language_of(path) in LANGUAGES}
    said += _unsupported(spans.keys() - supported)
    if not supported:
        return Impact((), left_out=tuple(said))
    deadline = Deadline(timeout_s)
    edges: list[Edge] = []
    wanted: dict[Node, Id] = {}
    done: list[Node] = []
    looked_at = ""
    known: dict[Node, Uncalled] = {}
    reached: tuple[tuple[str, int], ...] = ()

    def counts(edge: Edge) -> bool:
        return edge.caller != edge.callee and is_outside(edge.callee, edge.caller.path)

    def is_outside(node: Node, path: str) -> bool:
        return not _lies_in(path, inside.get(node.path))

    try:
        with calls_of(workspace, None, deadline.check) as (calls, loaded, others_of):
            wanted = _definitions_in(calls, {path: spans[path] for path in supported})
            beyond = others_of()
            said += _not_in_the_index(supported - loaded.files.keys() - loaded.failed.keys(), beyond)
            looked_at, gaps = _reach_of(supported, loaded, beyond)
            if wanted:
                said += gaps
            for batch in _batches(list(wanted)):
                edges += calls.callers([wanted[node] for node in batch])
                done += batch
            called = {edge.callee for edge in edges if counts(edge)}
            uncalled = [node for node in done if node not in called]
            none = without_callers(workspace, calls, loaded, [(node,) for node in uncalled], is_outside)
            known = dict(zip(uncalled, none, strict=True))
            said += Followed(doubtful=calls.doubtful(done, lambda _path: True), limits=calls.notes).notes
            reached = _reaching(workspace, calls, edges, through)
    except TimeoutReachedError:
        said.append(_cut_short(len(done), len(wanted), timeout_s))
    except (RecursionError, MemoryError, UnicodeError, ValueError) as failure:
        log_failure(workspace, "callers could not be read", failure)
        said.append(f"Callers could not be read: {failure or type(failure).__name__}")
    found = tuple(_called(workspace, done, [edge for edge in edges if counts(edge)]))
    alone = _without(done, found)
    states = tuple(known.get(node, _UNSEARCHED) for node in alone)
    return Impact(found, alone, states, len(wanted), looked_at, tuple(said), reached)


def _without(nodes: Iterable[Node], found: Iterable[Called]) -> tuple[Node, ...]:
    known = {each.node for each in found}
    return tuple(node for node in nodes if node not in known)


def _reaching(
    workspace: Workspace, calls: ResolvedCalls, edges: Iterable[Edge], most: int
) -> tuple[tuple[str, int], ...]:
    """Return the files of tests that call what has some callers through others, and by how many calls.

    Args:
        edges: The calls by those callers.
        most: How many calls there may be.
    """
    ids = {node: own for own, node in calls.nodes()} if most > 1 else {}
    seen = {edge.callee for edge in edges}
    found: dict[str, int] = {}
    for between in range(1, most + 1):
        sure = {edge.caller for edge in edges if edge.confidence >= SURE and not edge.rule} - seen
        tests = tests_of(workspace, graph(sure, ()))
        for node in sorted(tests) if between > 1 else ():
            found.setdefault(node.path, between)
        callers = sorted(node for node in sure - tests if node.name != MODULE)[:_MOST_BETWEEN]
        if between == most or not callers:
            break
        seen |= sure
        edges = calls.callers([ids[node] for node in callers])
    return tuple(found.items())


def _unsupported(paths: Collection[str]) -> Iterator[str]:
    """Say of which files callers are never known."""
    if paths:
        named = ", ".join(sorted({language_of(path) or "" for path in paths})[:_MOST_LANGUAGES])
        yield (
            f"{count(len(paths), 'file')} in languages without a call graph ({named}): callers are not known."
        )


def _not_in_the_index(paths: Iterable[str], beyond: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """Say of which files nothing is known, and why."""
    why = {path: state for path, _, state in beyond}
    for path in sorted(paths):
        yield f"{path} is not in the index ({why.get(path, 'left out')}): its callers are not known."


def _cut_short(done: int, wanted: int, timeout_s: float) -> str:
    """Say how far a search for callers came until its time was over."""
    if not wanted:
        return f"Callers were not looked for: the calls could not be read in {timeout_s:g} s."
    return (
        f"Callers of {done:,} of the {count(wanted, 'definition')} were looked for, until"
        f" the time was over ({timeout_s:g} s); `gitrag graph NAME --callers` takes longer."
    )


def _called(workspace: Workspace, nodes: Sequence[Node], edges: Sequence[Edge]) -> list[Called]:
    """Return the definitions that are called, those with the most callers outside tests first."""
    tests = {node for node in tests_of(workspace, graph((), edges)) if not is_of_an_example(node.path)}
    by_callee: dict[Node, list[Edge]] = {node: [] for node in nodes}
    for edge in sorted(set(edges), key=lambda each: (bool(each.rule), each)):
        by_callee[edge.callee].append(edge)
    found = [
        Called(
            node,
            tuple(edge for edge in own if edge.caller not in tests),
            tuple(edge for edge in own if edge.caller in tests),
        )
        for node, own in by_callee.items()
        if own
    ]
    return sorted(found, key=lambda each: (-weight(each), -len(each.tests), each.node))


def _definitions_in(calls: ResolvedCalls, spans: Spans) -> dict[Node, Id]:
    """Return the functions with a line in those parts, and the classes of which a line is in no function."""
    by_path: dict[str, list[tuple[Id, Node]]] = {}
    for own, node in calls.nodes():
        if node.path in spans and node.name != MODULE:
            by_path.setdefault(node.path, []).append((own, node))
    found: dict[Node, Id] = {}
    for path, rows in sorted(by_path.items()):
        for first, last in spans[path]:
            met = [(own, node) for own, node in rows if node.line_start <= last and first <= node.line_end]
            nodes = [node for _, node in met]
            found |= {
                node: own
                for own, node in met
                if node.kind != "class" or not _is_in_function(node, nodes, first, last)
            }
    return dict(sorted(found.items()))


def _is_in_function(cls: Node, nodes: Sequence[Node], first: int, last: int) -> bool:
    """Tell whether the lines of a part that a class has are all in one of its functions or inner classes."""
    first, last = max(first, cls.line_start), min(last, cls.line_end)
    return any(
        node != cls
        and cls.line_start <= node.line_start <= first
        and last <= node.line_end <= cls.line_end
        and (node.line_start, node.line_end) != (cls.line_start, cls.line_end)
        for node in nodes
    )


def _batches(nodes: Sequence[Node]) -> Iterator[Sequence[Node]]:
    start, size = 0, _FIRST_BATCH
    while start < len(nodes):
        yield nodes[start : start + size]
        start, size = start + size, size * 2


def _reach_of(
    paths: Collection[str], loaded: Loaded, others: Sequence[tuple[str, str, str]]
) -> tuple[str, list[str]]:
    """Return the files that were read, counted, and what of those that may have callers was not read."""
    files = {path: name for path, (name, _) in loaded.files.items()}
    languages = sorted({files[path] for path in paths if path in files})
    said: list[str] = []
    looked = []
    for language in languages:
        found = reach(language, files, loaded.failed, others)
        looked.append(found.looked_at)
        said += [f"Not looked at: {gap}." for gap in found.gaps]
    return " and ".join(dict.fromkeys(looked)), list(dict.fromkeys(said))


def _lies_in(path: str, place: str | None) -> bool:
    if place is None:
        return False
    return place in {"", "."} or path == place or path.startswith(f"{place}/")


def _is_as_now(workspace: Workspace, file: ChangedFile) -> bool:
    """Tell whether a changed file is in the working tree as the change leaves it, line ends aside."""
    try:
        now = file_lines(workspace, file.path)
    except GitragError:
        return False
    lines = decode(file.after or b"", language_of(file.path)).split("\n")
    return now == (lines[:-1] if lines[-1] == "" else lines)
