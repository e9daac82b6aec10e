"""What the tools return, as data and as text. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gitrag.actions.graph import GraphAnswer
from gitrag.actions.lines import Range
from gitrag.actions.search import Answer
from gitrag.actions.search_code import Cascade, Snippet
from gitrag.actions.status import WorkspaceStatus
from gitrag.indexing.notices import looked_line, undrafted_line
from gitrag.memory.core_files import CoreFile
from gitrag.memory.observations import Observation
from gitrag.report import reworded_lines, wording_line
from gitrag.words.control_characters import sanitise_line

_SURE = 0.9
"""As in ``gitrag graph``: calls with a lower confidence are likely, not certain."""

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
    """Lines of a file."""

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
    """Snippets, best first."""

    query: str
    project: str
    sufficient: bool
    results: list[SnippetData]
    freshness: Freshness
    words: WordData = field(default_factory=WordData)


@dataclass(frozen=True, slots=True)
class Searched:
    """Decisions, specifications, code, and issues where there are copies of any."""

    query: str
    adr_matches: list[dict[str, Any]]
    spec_matches: list[dict[str, Any]]
    code_snippets: list[dict[str, Any]]
    call_graphs: list[dict[str, Any]]
    freshness: Freshness
    words: WordData = field(default_factory=WordData)
    issue_matches: list[dict[str, Any]] = field(default_factory=list)


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


@dataclass(frozen=True, slots=True)
class Calls:
    """Who calls whom."""

    filter: str | None
    matches: list[str]
    calls: list[CallData]
    left_out: int
    mermaid: str | None
    error: str | None
    freshness: Freshness
    matches_left_out: int = 0


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
    """Lines of a file."""

    path: str
    line_start: int
    line_end: int
    lines_in_file: int
    text: str
    moved: str
    freshness: Freshness


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
    said = [*notes, *map(sanitise_line, reworded_lines(answer))]
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
        said.append(f"{counted(freshness.unembedded, 'chunk')} on draft vectors")
    if freshness.waiting_files:
        said.append(f"{counted(freshness.waiting_files, 'file')} not indexed yet")
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
    )


def word_data(answer: Answer | None) -> WordData:
    """Return what is known of a question's words; nothing where the index was not searched."""
    if answer is None:
        return WordData()
    said = answer.wording
    return WordData(
        missing=list(said.missing),
        only_beside=[each.word for each in said.only_beside],
        note=sanitise_line(wording_line(answer)),
        searched_for=said.searched_for or said.read_of,
        english_only=said.foreign,
    )


def code_text(found: Cascade, freshness: Freshness) -> str:
    """Return snippets as text: a heading for each, then its lines."""
    lines = [] if found.snippets else [f"No code found for '{found.query}'. Try a broader search term."]
    if note := word_data(found.answer).note:
        lines.append(f"{note}; nearest:" if found.snippets else note)
    for each in found.snippets:
        name = ".".join(part for part in (each.enclosing, each.name) if part)
        score = f"{each.score:.2f} " if each.score is not None else ""
        what = " ".join(part for part in (each.kind, name) if part)
        lines += [f"{each.path}:{each.line_start}-{each.line_end}  {what}  ({score}{each.via.value})"]
        lines += [each.text, ""]
    sufficient = "sufficient" if found.sufficient else "not sufficient"
    return "\n".join([*lines, f"[{sufficient}; {freshness_line(freshness)}]"])


def calls(found: GraphAnswer, limit: int, mermaid: str | None, freshness: Freshness) -> Calls:
    """Return a call graph as data: the matching definitions, and the calls nearest to them."""
    graph = found.graph
    matches = sorted(graph.matches) if graph else []
    edges = (
        sorted(graph.edges, key=lambda edge: not {edge.caller, edge.callee} & graph.matches) if graph else []
    )
    return Calls(
        filter=found.filter,
        matches=[f"{each.path}:{each.line_start}-{each.line_end} {each.name}" for each in matches[:limit]],
        calls=[
            CallData(
                caller=edge.caller.name,
                caller_path=edge.caller.path,
                line=edge.line,
                callee=edge.callee.name,
                callee_path=edge.callee.path,
                callee_line=edge.callee.line_start,
                confidence=edge.confidence,
            )
            for edge in edges[:limit]
        ],
        left_out=max(len(edges) - limit, 0),
        matches_left_out=max(len(matches) - limit, 0),
        mermaid=mermaid,
        error=found.error,
        freshness=freshness,
    )


def calls_text(found: Calls) -> str:
    """Return calls as text: the matching definitions, a line for each call, the diagram."""
    lines = [*found.matches]
    if found.matches_left_out:
        lines.append(f"{found.matches_left_out} more definitions match: name one, or raise limit.")
    for each in found.calls:
        unsure = "" if each.confidence >= _SURE else " (likely)"
        lines.append(
            f"- {each.caller_path}:{each.line} {each.caller} -> {each.callee}"
            f" {each.callee_path}:{each.callee_line}{unsure}"
        )
    if found.left_out:
        lines.append(f"{found.left_out} more calls are left out: name one definition, or raise limit.")
    if found.mermaid:
        lines += ["", "```mermaid", found.mermaid.rstrip("\n"), "```"]
    return "\n".join(
        [*lines, *([found.error] if found.error else []), f"[{freshness_line(found.freshness)}]"]
    )


def range_text(found: Range, freshness: Freshness) -> str:
    """Return lines as text."""
    moved = f" ({found.moved})" if found.moved else ""
    more = f"; {found.path} has {found.lines} lines" if found.line_end < found.lines else ""
    head = f"{found.path}:{found.line_start}-{found.line_end}{moved}"
    return f"{head}\n{found.text}\n[{freshness_line(freshness)}{more}]"


def remembered(each: Observation, *, created: bool = False, score: float | None = None) -> Remembered:
    """Return an observation as data."""
    return Remembered(
        id=each.observation_id,
        type=each.kind,
        topic_key=each.identity.topic_key,
        title=each.title,
        project=each.identity.project,
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


def searched(found: Mapping[str, Any], freshness: Freshness, words: WordData) -> Searched:
    """Return the report's JSON as data."""
    return Searched(
        query=found["query"],
        adr_matches=found["adr_matches"],
        spec_matches=found["spec_matches"],
        code_snippets=found["code_snippets"],
        call_graphs=found["call_graphs"],
        freshness=freshness,
        words=words,
        issue_matches=found.get("issue_matches", []),
    )
