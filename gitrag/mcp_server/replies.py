"""What the tools return, as data and as text. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gitrag.actions.graph import GraphAnswer
from gitrag.actions.lines import MOST_LINES, Outline, Range
from gitrag.actions.references import References
from gitrag.actions.repositories.calls import CallsBetween, CallsElsewhere
from gitrag.actions.search import Answer
from gitrag.actions.search_code import Cascade, Snippet
from gitrag.actions.status import WorkspaceStatus
from gitrag.callgraph.graph import Edge
from gitrag.callgraph.subjects import is_test
from gitrag.chunking.occurrences import Use
from gitrag.indexing.notices import looked_line, undrafted_line
from gitrag.memory.core_files import CoreFile
from gitrag.memory.observations import Observation
from gitrag.memory.projects import name_of
from gitrag.report import listed_paths, reworded_lines, shown, wording_line
from gitrag.report.documents import UncalledDefinition
from gitrag.report.graph_data import uncalled
from gitrag.search.engine import LEAST_ANSWER
from gitrag.words.control_characters import Text, joined

_SURE = 0.9
"""As in ``gitrag graph``: calls with a lower confidence are likely, not certain."""

_MOST_PARTS = 120
_FIRST_LINES = 60
"""Parts of an outline, and lines of the range that it names as an example."""

CALLS = 40
"""Most calls in one answer, some 1,500 tokens: the callers of a base class's method may be hundreds."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """What an answer rests on."""

    commit: str | None
    uncommitted_included: bool
    uncommitted_files: int = 0
    unembedded: int | None = None
    waiting_files: int = 0
    notes: list[str] = field(default_factory=list)
    drafted: bool = True


@dataclass(frozen=True, slots=True)
class SnippetData:
    """Lines of a file; ``variants`` are the paths of files that are nearly the same.

    ``nearest``: it is only near, and likely no answer.
    ``repository``: where several were asked, its name, which is also that of a project.
    """

    id: str
    path: str
    line_start: int
    line_end: int
    name: str
    class_name: str
    kind: str
    language: str
    score: float | None
    via: str
    text: str
    variants: list[str] = field(default_factory=list)
    repository: str = ""
    nearest: bool = False


@dataclass(frozen=True, slots=True)
class WordData:
    """What is known of the question's words.

    Where no hit is likely, ``missing``: no file that was searched contains them; ``only_beside``: only tests,
    examples or docs do. ``searched_for``: the question with misspelt words corrected, or the words of it that
    occur where it is not in English (``english_only``); empty where as asked.
    """

    missing: list[str] = field(default_factory=list)
    only_beside: list[str] = field(default_factory=list)
    note: str = ""
    searched_for: str = ""
    english_only: bool = False


@dataclass(frozen=True, slots=True)
class CodeFound:
    """Snippets, best first; what exists and is ``not_indexed``, or not all of it, a sentence each."""

    query: str
    project: str
    sufficient: bool
    results: list[SnippetData]
    freshness: Freshness
    words: WordData = field(default_factory=WordData)
    not_indexed: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Searched:
    """Decisions, specifications, code, and issues where there are copies of any.

    ``variants``: for the path of a code snippet, those of files that are nearly the same.
    """

    query: str
    adr_matches: list[dict[str, Any]]
    spec_matches: list[dict[str, Any]]
    code_snippets: list[dict[str, Any]]
    call_graphs: list[dict[str, Any]]
    freshness: Freshness
    words: WordData = field(default_factory=WordData)
    issue_matches: list[dict[str, Any]] = field(default_factory=list)
    variants: dict[str, list[str]] = field(default_factory=dict)
    not_indexed: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CallData:
    """A call, and how certain it is."""

    caller: str
    caller_path: str
    line: int
    callee: str
    callee_path: str
    callee_line: int
    confidence: float
    lines: list[int]


@dataclass(frozen=True, slots=True)
class ReferenceData:
    """A line that has a name; ``sure``: its file defines the name, or imports it from where it is defined."""

    path: str
    line: int
    use: str
    within: str
    text: str
    sure: bool


@dataclass(frozen=True, slots=True)
class CallsOfRepository:
    """Calls between the repository that was asked and another one; the other's end has that one's path."""

    repository: str
    direction: str
    found_by: str
    calls: list[CallData]
    left_out: int


@dataclass(frozen=True, slots=True)
class Calls:
    """Who calls whom; who names what no call leads to; what exists and is ``not_indexed``, or not whole."""

    filter: str | None
    matches: list[str]
    calls: list[CallData]
    left_out: int
    mermaid: str | None
    error: str | None
    freshness: Freshness
    references: list[ReferenceData] = field(default_factory=list)
    references_left_out: int = 0
    matches_left_out: int = 0
    elsewhere: list[CallsOfRepository] = field(default_factory=list)
    without_callers: list[UncalledDefinition] = field(default_factory=list)
    not_indexed: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class IndexedCode:
    """What is indexed."""

    project: str
    files: int
    chunks: int
    freshness: Freshness


@dataclass(frozen=True, slots=True)
class Accepted:
    """That it will be done."""

    files: int


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a file; or, of a long one of which no range was asked for, its outline as ``text``.

    ``not_indexed``: why searches do not find the file, or only its outline.
    """

    path: str
    line_start: int
    line_end: int
    lines_in_file: int
    text: str
    moved: str
    freshness: Freshness
    is_outline: bool = False
    not_indexed: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Standing:
    """How the index stands."""

    project: str
    indexed: bool
    fresh: bool
    files: int
    chunks: int
    embedded: int
    texts: int
    model_ready: bool
    working: bool
    freshness: Freshness


@dataclass(frozen=True, slots=True)
class Told:
    """Markdown for a session's start."""

    markdown: str
    freshness: Freshness


@dataclass(frozen=True, slots=True)
class Remembered:
    """Something remembered."""

    id: int
    type: str
    topic_key: str
    title: str
    project: str
    scope: str
    revision: int
    updated: str
    sections: dict[str, str]
    created: bool = False
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Recollection:
    """What is remembered, best or latest first."""

    results: list[Remembered]


@dataclass(frozen=True, slots=True)
class Core:
    """Core files."""

    project: str
    files: list[dict[str, str]]
    changed: bool = False


def of_answer(answer: Answer | None, commit: str | None, notes: Sequence[str]) -> Freshness:
    """Return the state of the files behind an answer from the index; without one, of the working tree."""
    if answer is None:
        return Freshness(commit, uncommitted_included=True, notes=list(notes))
    said = [*notes, *reworded_lines(answer), *answer.outlined]
    if answer.looked_at is not None:
        said.append(looked_line(answer.looked_at, answer.collections, answer.least))
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
        said.append("uncommitted changes included")
    if freshness.unembedded and freshness.drafted:
        said.append(f"{counted(freshness.unembedded, 'text')} on draft vectors")
    if freshness.waiting_files:
        said.append(f"{counted(freshness.waiting_files, 'file')} not indexed yet: ask again later")
    return "; ".join([*[", ".join(said)], *freshness.notes])


def snippet_data(snippet: Snippet) -> SnippetData:
    """Return a snippet as data."""
    return SnippetData(
        id=snippet.id,
        path=snippet.path,
        line_start=snippet.line_start,
        line_end=snippet.line_end,
        name=snippet.name,
        class_name=snippet.enclosing,
        kind=snippet.kind,
        language=snippet.language,
        score=snippet.score,
        via=snippet.via.value,
        text=snippet.text,
        variants=list(snippet.variants),
        repository=snippet.repository,
        nearest=is_nearest(snippet),
    )


def is_nearest(snippet: Snippet) -> bool:
    """Return whether a snippet is only near, and likely no answer; an exact match is none such."""
    return snippet.score is not None and snippet.score < LEAST_ANSWER


def word_data(answer: Answer | None) -> WordData:
    """Return what is known of a question's words; nothing where the index was not searched."""
    if answer is None:
        return WordData()
    said = answer.wording
    return WordData(
        missing=list(said.missing),
        only_beside=[each.word for each in said.only_beside],
        note=wording_line(answer),
        searched_for=said.searched_for or said.read_of,
        english_only=said.foreign,
    )


_NOT_CODE = " search asks decisions, specifications and issues too."
_NEXT_SEARCH = "ask for a name, in other words, or call_graph"


def code_text(found: Cascade, freshness: Freshness) -> Text:
    """Return snippets as text: a heading for each, then its lines."""
    lines = []
    if not found.snippets:
        lines.append(f"No code found for '{found.query}'. Try a broader search term.{_NOT_CODE}")
    if note := word_data(found.answer).note:
        lines.append(f"{note}; nearest:" if found.snippets else note)
    elif found.snippets and all(map(is_nearest, found.snippets)):
        lines.append(f"nothing scores {LEAST_ANSWER:.2f} or more; nearest:")
    for each in found.snippets:
        name = ".".join(part for part in (each.enclosing, each.name) if part)
        score = f"{each.score:.2f} " if each.score is not None else ""
        score += "nearest " if is_nearest(each) else ""
        what = " ".join(part for part in (each.kind, name) if part)
        place = f"{each.repository}:{each.path}" if each.repository else each.path
        lines += [f"{place}:{each.line_start}-{each.line_end}  {what}  ({score}{each.via.value})"]
        lines += [f"also: {listed_paths(each.variants)}"] if each.variants else []
        lines += [*each.text.split("\n"), ""]
    sufficient = "sufficient" if found.sufficient else f"not sufficient: {_NEXT_SEARCH}"
    return joined([*lines, f"[{sufficient}; {freshness_line(freshness)}]"])


def _call(edge: Edge) -> CallData:
    return CallData(
        caller=edge.caller.name,
        caller_path=edge.caller.path,
        line=edge.line,
        callee=edge.callee.name,
        callee_path=edge.callee.path,
        callee_line=edge.callee.line_start,
        confidence=edge.confidence,
        lines=list(edge.lines),
    )


def calls(
    found: GraphAnswer,
    named: References | None,
    limit: int,
    mermaid: str | None,
    freshness: Freshness,
    elsewhere: CallsElsewhere | None = None,
) -> Calls:
    """Return a call graph as data: the matching definitions, and the calls nearest to them, tests last."""
    graph = found.graph
    matches = sorted(graph.matches) if graph else []
    edges = (
        sorted(
            graph.edges,
            key=lambda edge: (not {edge.caller, edge.callee} & graph.matches, is_test(edge.caller)),
        )
        if graph
        else []
    )
    places = sorted(named.found, key=lambda each: (list(Use).index(each.use), each.is_test)) if named else []
    return Calls(
        filter=found.filter,
        matches=[f"{each.path}:{each.line_start}-{each.line_end} {each.name}" for each in matches[:limit]],
        calls=list(map(_call, edges[:limit])),
        left_out=max(len(edges) - limit, 0),
        matches_left_out=max(len(matches) - limit, 0),
        mermaid=mermaid,
        error=found.error,
        freshness=freshness,
        references=[
            ReferenceData(each.path, each.line, each.use.value, each.within, each.text, each.is_sure)
            for each in places[:limit]
        ],
        references_left_out=max(len(places) - limit, 0),
        elsewhere=[_elsewhere(each, limit) for each in elsewhere.found] if elsewhere else [],
        without_callers=list(uncalled(found.none[:limit])),
        not_indexed=list(found.not_indexed),
    )


def _elsewhere(between: CallsBetween, limit: int) -> CallsOfRepository:
    edges = sorted(between.edges, key=lambda edge: is_test(edge.caller))
    return CallsOfRepository(
        repository=between.repository,
        direction="callers" if between.by_other else "callees",
        found_by=between.found_by,
        calls=list(map(_call, edges[:limit])),
        left_out=max(len(edges) - limit, 0),
    )


def calls_text(found: Calls) -> Text:
    """Return calls as text: the matching definitions, a line for each call, the diagram."""
    lines = [*found.matches]
    if found.matches_left_out:
        lines.append(f"{found.matches_left_out} more definitions match: name one, or raise limit.")
    lines += map(_call_line, found.calls)
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
        unsure = "" if place.sure or place.use == Use.TEXT else " (by name alone)"
        lines.append(f"- {place.path}:{place.line}{within} {place.use}{unsure}: {place.text}")
    if found.references_left_out:
        lines.append(f"{found.references_left_out} more places are left out: raise limit.")
    if found.mermaid:
        lines += ["", "```mermaid", *found.mermaid.split("\n"), "```"]
    return joined([*lines, *([found.error] if found.error else []), f"[{freshness_line(found.freshness)}]"])


def _call_line(each: CallData, caller_in: str = "", callee_in: str = "") -> str:
    unsure = "" if each.confidence >= _SURE else " (likely)"
    return (
        f"- {caller_in}{each.caller_path}:{','.join(map(str, each.lines))} {each.caller} -> {each.callee}"
        f" {callee_in}{each.callee_path}:{each.callee_line}{unsure}"
    )


def range_text(found: Range, freshness: Freshness) -> Text:
    """Return lines as text, with the range to ask for next where the file goes on."""
    moved = f" ({found.moved})" if found.moved else ""
    more = ""
    if found.line_end < found.lines:
        last = min(found.line_end + MOST_LINES, found.lines)
        more = f"; {found.path} has {found.lines} lines, next {found.path}:{found.line_end + 1}-{last}"
    head = f"{found.path}:{found.line_start}-{found.line_end}{moved}"
    return joined([head, *found.text.split("\n"), f"[{freshness_line(freshness)}{more}]"])


def outline_text(found: Outline) -> Text:
    """Return an outline as text: a line for each definition or heading, and the range to ask for."""
    rows = [f"{each.line_start}-{each.line_end}  {each.text}" for each in found.parts[:_MOST_PARTS]]
    more = len(found.parts) - _MOST_PARTS
    rows += [f"{counted(more, 'part')} more"] if more > 0 else []
    asked = f"{found.path} has {found.lines} lines: get a range of it, as {found.path}:1-{_FIRST_LINES}."
    return joined([asked, *rows])


def indexed_text(data: IndexedCode, path: str, *, is_named: bool) -> Text:
    """Return what was indexed, as text, and how to search it; is_named: as a project of its own."""
    said = [f"Indexed {data.chunks} chunks from {data.files} files"]
    if data.files and is_named:
        said.append(f'search_code with project "{data.project}" searches them.')
    elif data.files:
        said.append("search_code finds them; no project needs to be given.")
    else:
        said.append(f"Git ignores what is in {path}, or the settings leave it out: `gitrag status` says why.")
    return joined([*said, f"[{freshness_line(data.freshness)}]"])


def remembered(each: Observation, *, created: bool = False, score: float | None = None) -> Remembered:
    """Return an observation as data."""
    return Remembered(
        id=each.observation_id,
        type=each.kind,
        topic_key=each.identity.topic_key,
        title=each.title,
        project=name_of(each.identity.project),
        scope=each.identity.scope,
        revision=each.revision,
        updated=each.updated,
        sections=dict(each.sections),
        created=created,
        score=None if score is None else round(score, 4),
    )


def core_rows(files: Sequence[CoreFile]) -> list[dict[str, str]]:
    """Return core files as data."""
    return [{"project": each.project, "path": each.path, "summary": each.summary} for each in files]


def searched(found: Mapping[str, Any], answer: Answer, freshness: Freshness, words: WordData) -> Searched:
    """Return the report's JSON as data, and what it has no place for."""
    return Searched(
        query=found["query"],
        adr_matches=found["adr_matches"],
        spec_matches=found["spec_matches"],
        code_snippets=found["code_snippets"],
        call_graphs=found["call_graphs"],
        freshness=freshness,
        words=words,
        issue_matches=found.get("issue_matches", []),
        variants={shown(hit.path): list(map(shown, hit.variants)) for hit in answer.hits if hit.variants},
        not_indexed=list(answer.not_indexed),
    )
