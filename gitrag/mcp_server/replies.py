"""What the tools return, as data and as text. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from msgspec import Struct

from gitrag.actions.answer import Answer
from gitrag.actions.graph_answer import (
    CallsBetween,
    GraphAnswer,
    NoCaller,
    Reference,
)
from gitrag.actions.lines import MOST_LINES, Outline, Range
from gitrag.actions.search_code import Cascade
from gitrag.actions.status import WorkspaceStatus
from gitrag.callgraph.graph import Edge, Graph, Node, reason
from gitrag.callgraph.subjects import is_test
from gitrag.chunking.occurrences import Use
from gitrag.indexing.notices import looked_line, uncalibrated_line, undrafted_line
from gitrag.memory.core_files import CoreFile
from gitrag.memory.observations import Observation
from gitrag.report.impact import numbers
from gitrag.report.parts import listed_paths, reworded_lines, wording_line
from gitrag.search.engine import LEAST_ANSWER
from gitrag.search.snippet import shown
from gitrag.words.control_characters import Text, joined

_MOST_LINES = 20
"""Lines of one caller, or of the tests in a file."""

_MOST_PARTS = 120
_FIRST_LINES = 60
"""Parts of an outline, and lines of the range that it names as an example."""

CALLS = 40
"""Most calls in one answer, some 1,500 tokens: the callers of a base class's method may be hundreds."""


class Freshness(Struct, frozen=True):
    """What an answer rests on."""

    commit: str | None
    uncommitted_included: bool
    uncommitted_files: int = 0
    unembedded: int | None = None
    waiting_files: int = 0
    notes: list[str] = []
    drafted: bool = True


class WordData(Struct, frozen=True):
    """What is known of the question's words.

    Where no hit is likely, ``missing``: no file that was searched contains them; ``only_beside``: only tests,
    examples or docs do. ``searched_for``: the question with misspelt words corrected, or the words of it that
    occur where it is not in English (``english_only``); empty where as asked.
    """

    missing: list[str] = []
    only_beside: list[str] = []
    note: str = ""
    searched_for: str = ""
    english_only: bool = False


class CallsOfRepository(Struct, frozen=True):
    """Calls between the repository that was asked and another one; the other's end has that one's path."""

    repository: str
    direction: str
    found_by: str
    calls: Sequence[Edge]
    left_out: int


class Calls(Struct, frozen=True):
    """Who calls whom; who names what no call leads to; what exists and is ``not_indexed``, or not whole."""

    filter: str | None
    matches: list[str]
    calls: Sequence[Edge]
    left_out: int
    mermaid: str | None
    error: str | None
    freshness: Freshness
    references: Sequence[Reference] = ()
    references_left_out: int = 0
    matches_left_out: int = 0
    elsewhere: list[CallsOfRepository] = []
    without_callers: Sequence[NoCaller] = ()
    unresolved: Sequence[NoCaller] = ()
    not_indexed: Sequence[str] = ()
    without_callers_left_out: int = 0
    unresolved_left_out: int = 0


class Remembered(Struct, frozen=True):
    """Something remembered."""

    observation: Observation
    created: bool = False
    score: float | None = None


class Core(Struct, frozen=True):
    """Core files."""

    project: str
    files: Sequence[CoreFile]
    changed: bool = False


def of_answer(answer: Answer | None, commit: str | None, notes: Sequence[str]) -> Freshness:
    """Return the state of the files behind an answer from the index; without one, of the working tree."""
    if answer is None:
        return Freshness(commit, uncommitted_included=True, notes=list(notes))
    said = [*notes, *reworded_lines(answer), *answer.outlined]
    if answer.looked_at is not None:
        said.append(looked_line(answer.looked_at, answer.collections, answer.least))
    if line := uncalibrated_line(hit.model for hit in answer.hits):
        said.append(line)
    if answer.drafts and not answer.drafted:
        said.append(undrafted_line(answer.drafts))
    elif not answer.model:
        said.append("The model is not ready: the question was drafted too. `gitrag model fetch` gets it.")
    return Freshness(
        answer.commit,
        uncommitted_included=True,
        uncommitted_files=answer.dirty,
        unembedded=answer.drafts,
        waiting_files=answer.waiting,
        notes=said,
        drafted=answer.drafted,
    )


def of_status(status: WorkspaceStatus, notes: Sequence[str]) -> Freshness:
    """Return the freshness of an index from its status."""
    view = status.view
    return Freshness(
        status.commit,
        uncommitted_included=status.whole,
        uncommitted_files=status.dirty,
        unembedded=status.unembedded if view else None,
        waiting_files=view.waiting if view else 0,
        notes=list(notes),
    )


def counted(number: int, noun: str) -> str:
    """Return ``1 file``, ``847 files``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def freshness_line(freshness: Freshness) -> str:
    """Return the freshness as one line."""
    said = [f"commit {freshness.commit[:10]}" if freshness.commit else "no commit yet"]
    if freshness.uncommitted_files and not freshness.uncommitted_included:
        said.append(f"uncommitted changes of {counted(freshness.uncommitted_files, 'file')} not all indexed")
    elif freshness.uncommitted_files:
        said.append(f"with uncommitted changes of {counted(freshness.uncommitted_files, 'file')}")
    elif freshness.uncommitted_included:
        said.append("the files as they are now")
    if freshness.unembedded and freshness.drafted:
        said.append(f"{counted(freshness.unembedded, 'text')} on draft vectors")
    if freshness.waiting_files:
        said.append(f"{counted(freshness.waiting_files, 'file')} not indexed yet: ask again later")
    return "; ".join([*[", ".join(said)], *freshness.notes])


def word_data(answer: Answer | None) -> WordData:
    """Return what is known of a question's words; nothing where the index was not searched."""
    if answer is None:
        return WordData()
    said = answer.wording
    return WordData(
        missing=list(said.missing),
        only_beside=[word for word, *_ in said.only_beside],
        note=wording_line(answer),
        searched_for=said.searched_for or said.read_of,
        english_only=said.foreign,
    )


_NOT_CODE = " search asks decisions, specifications and issues too."
_FAINT = 0.1
_FIRST_OF_FAINT = 3
"""Of a snippet with a lower score so many lines are shown: by its score fewer than one in ten answers."""

_NEXT_SEARCH = "ask for a name, in other words, or call_graph"


def code_text(found: Cascade, freshness: Freshness) -> Text:
    """Return snippets as text: a heading for each, then its lines."""
    lines: list[str] = []
    told: set[str] = set()
    if not found.snippets:
        lines.append(f"No code found for '{found.query}'. Try a broader search term.{_NOT_CODE}")
    if note := word_data(found.answer).note:
        lines.append(f"{note}; nearest:" if found.snippets else note)
    elif found.snippets and all(each.is_nearest for each in found.snippets):
        lines.append(f"nothing scores {LEAST_ANSWER:.2f} or more; nearest:")
    for each in found.snippets:
        name = ".".join(part for part in (each.enclosing, each.name) if part)
        score = f"{each.score:.2f} " if each.score is not None else ""
        score += "nearest " if each.is_nearest else ""
        what = " ".join(part for part in (each.kind, name) if part)
        place = f"{each.repository}:{each.path}" if each.repository else each.path
        lines += [f"{place}:{each.line_start}-{each.line_end}  {what}  ({score}{each.via.value})"]
        lines += [f"also: {listed_paths(each.variants)}"] if each.variants else []
        text = [shown(line) for line in each.text.split("\n")]
        if each.score is not None and each.score < _FAINT:  # its name tells enough
            more = len(text) - _FIRST_OF_FAINT
            text = [*text[:_FIRST_OF_FAINT], *([f"… {counted(more, 'line')} more"] if more > 0 else [])]
        also = [f"also in this file: {', '.join(each.also)}"] if each.also and each.path not in told else []
        told.add(each.path)
        lines += [*text, *also, ""]
    sufficient = "sufficient" if found.sufficient else f"not sufficient: {_NEXT_SEARCH}"
    return joined([*lines, f"[{sufficient}; {freshness_line(freshness)}]"])


def calls(found: GraphAnswer, limit: int, freshness: Freshness, *, is_drawn: bool) -> Calls:
    """Return a call graph as data: the matching definitions, and the calls nearest to them, tests last."""
    graph = found.graph
    matches = found.matches
    edges = _nearest_first(graph, is_chain=found.chains is not None) if graph else []
    places = sorted(found.references, key=lambda each: (list(Use).index(each.use), each.is_test))
    return Calls(
        filter=found.filter,
        matches=[_said(each) for each in matches[:limit]],
        calls=edges[:limit],
        left_out=max(len(edges) - limit, 0),
        matches_left_out=max(len(matches) - limit, 0),
        mermaid=(found.mermaid or None) if is_drawn else None,
        error=found.error,
        freshness=freshness,
        references=places[:limit],
        references_left_out=max(len(places) - limit, 0),
        elsewhere=[_elsewhere(each, limit) for each in found.elsewhere or ()],
        without_callers=found.without_callers[:limit],
        unresolved=found.unresolved[:limit],
        not_indexed=found.not_indexed,
        without_callers_left_out=max(len(found.without_callers) - limit, 0),
        unresolved_left_out=max(len(found.unresolved) - limit, 0),
    )


def _nearest_first(graph: Graph, *, is_chain: bool) -> list[Edge]:
    """Return calls by how many calls they are away from what the graph is about, tests last of each.

    Args:
        is_chain: They lead from some matches to others: they are told in their order.
    """
    called = {edge.callee for edge in graph.edges} if is_chain else set()
    away = dict.fromkeys(sorted(graph.matches - called), 0)
    beside: dict[Node, list[Node]] = {}
    for edge in graph.edges:
        beside.setdefault(edge.caller, []).append(edge.callee)
        if not is_chain:
            beside.setdefault(edge.callee, []).append(edge.caller)
    reached = deque(away)
    while reached:
        node = reached.popleft()
        for other in beside.get(node, ()):
            if other not in away:
                away[other] = away[node] + 1
                reached.append(other)
    far = len(away)
    return sorted(
        graph.edges,
        key=lambda edge: (
            min(away.get(edge.caller, far), away.get(edge.callee, far)),
            is_test(edge.caller),
        ),
    )


def _elsewhere(between: CallsBetween, limit: int) -> CallsOfRepository:
    edges = sorted(between.edges, key=lambda edge: is_test(edge.caller))
    return CallsOfRepository(
        repository=between.repository,
        direction=between.direction,
        found_by=between.found_by,
        calls=edges[:limit],
        left_out=max(len(edges) - limit, 0),
    )


def calls_text(found: Calls) -> Text:
    """Return calls as text: the matching definitions, a line for each call, the diagram."""
    lines = [*found.matches]
    if found.matches_left_out:
        lines.append(f"{found.matches_left_out} more definitions match: name one, or raise limit.")
    lines += _call_lines(found)
    if found.left_out:
        lines.append(f"{found.left_out} more calls are left out: name one definition, or raise limit.")
    for other in found.elsewhere:
        calls_it = other.direction == "callers"
        lines.append(f"{other.repository} {'calls it' if calls_it else 'is called'}: {other.found_by}.")
        before = (f"{other.repository}:", "") if calls_it else ("", f"{other.repository}:")
        lines += [_call_line(each, *before) for each in other.calls]
        if other.left_out:
            lines.append(f"{other.left_out} more of its calls are left out: raise limit.")
    for place in found.references:
        within = f" {place.within}" if place.within else ""
        unsure = "" if place.is_sure or place.use is Use.TEXT else " (by name alone)"
        lines.append(f"- {place.path}:{place.line}{within} {place.use}{unsure}: {place.text}")
    if found.references_left_out:
        lines.append(f"{found.references_left_out} more places are left out: raise limit.")
    if found.mermaid:
        lines += ["", "```mermaid", *found.mermaid.split("\n"), "```"]
    return joined([*lines, *([found.error] if found.error else []), f"[{freshness_line(found.freshness)}]"])


def _call_lines(found: Calls) -> Iterator[str]:
    """Yield a line for each call; around one definition, its callers and what it calls apart."""
    about = found.matches[0] if len(found.matches) == 1 and not found.matches_left_out else ""
    groups: dict[str, list[str]] = {"called by": [], "by tests": [], "calls": [], "further": []}
    tests: dict[tuple[str, str], list[int]] = {}
    for each in found.calls:
        lines = numbers(each.lines, _MOST_LINES)
        if about and _said(each.callee) == about and is_test(each.caller):
            tests.setdefault((each.caller.path, _unsure(each)), []).extend(each.lines)
        elif about and _said(each.callee) == about:
            groups["called by"].append(f"- {each.caller.path}:{lines} {each.caller.name}{_unsure(each)}")
        elif about and _said(each.caller) == about:
            callee = f"{each.callee.path}:{each.callee.line_start} {each.callee.name}"
            groups["calls"].append(f"- {callee} (from {lines}){_unsure(each)}")
        else:
            groups["further"].append(_call_line(each))
    groups["by tests"] = [
        f"- {path}:{numbers(sorted(those), _MOST_LINES)}{unsure}" for (path, unsure), those in tests.items()
    ]
    for heading, said in groups.items():
        if said:
            yield from ([f"{heading}:"] if about else [])
            yield from said


def _said(node: Node) -> str:
    return f"{node.path}:{node.line_start}-{node.line_end} {node.name}"


def _unsure(each: Edge) -> str:
    return "" if each.is_sure else f" ({' '.join(filter(None, ('likely', reason(each))))})"


def _call_line(each: Edge, caller_in: str = "", callee_in: str = "") -> str:
    return (
        f"- {caller_in}{each.caller.path}:{numbers(each.lines, _MOST_LINES)} {each.caller.name}"
        f" -> {each.callee.name}"
        f" {callee_in}{each.callee.path}:{each.callee.line_start}{_unsure(each)}"
    )


def range_text(found: Range, freshness: Freshness) -> Text:
    """Return lines as text, with the range to ask for next where the file goes on."""
    moved = f" ({found.moved})" if found.moved else ""
    more = ""
    if found.line_end < found.lines_in_file:
        last = min(found.line_end + MOST_LINES, found.lines_in_file)
        of = found.path
        more = f"; {of} has {found.lines_in_file} lines, next {of}:{found.line_end + 1}-{last}"
    head = f"{found.path}:{found.line_start}-{found.line_end}{moved}"
    return joined([head, *found.text.split("\n"), f"[{freshness_line(freshness)}{more}]"])


def outline_text(found: Outline) -> Text:
    """Return an outline as text: a line for each definition or heading, and the range to ask for."""
    rows = [f"{first}-{last}  {text}" for first, last, text in found.parts[:_MOST_PARTS]]
    more = len(found.parts) - _MOST_PARTS
    rows += [f"{counted(more, 'part')} more"] if more > 0 else []
    asked = f"{found.path} has {found.lines} lines: get a range of it, as {found.path}:1-{_FIRST_LINES}."
    return joined([asked, *rows])


def indexed_text(files: int, chunks: int, path: str, named: str, freshness: Freshness) -> Text:
    """Return what was indexed, as text, and how to search it; ``named``: as a project of its own."""
    said = [f"Indexed {chunks} chunks from {files} files"]
    if files and named:
        said.append(f'search_code with project "{named}" searches them.')
    elif files:
        said.append("search_code finds them; no project needs to be given.")
    else:
        said.append(f"Git ignores what is in {path}, or the settings leave it out: `gitrag status` says why.")
    return joined([*said, f"[{freshness_line(freshness)}]"])
