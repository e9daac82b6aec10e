"""What programs are told of what was found: JSON, its schema, and the data of tools, made by one table.

What is not in the table is told whole, by its fields. Paths and other texts are valid Unicode in any case.
"""

from __future__ import annotations

import json
import re
import types
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache, reduce
from inspect import cleandoc, getdoc
from operator import or_
from pathlib import Path
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UNSET, Struct, UnsetType

from gitrag.report.impact import TestsToRun, tests_to_run
from gitrag.report.parts import day, standing
from gitrag.words.control_characters import in_whole_characters

_CHUNK = "name=chunk.qualified_name kind=chunk.kind line_start=chunk.line_start line_end=chunk.line_end"
_DOCUMENT = "id=document.id title=document.title status=standing(document) path=document.path"
_NEAREST = "nearest=many(unreached.nearest)@NearDocument"
_UNCALLED = (
    "is_without_caller=known.is_without_caller unresolved=known.unresolved registered=known.registered"
    " base_outside=known.base_outside mentioned=known.mentioned looked_at also@PlacedName"
)
_SHORT_UNCALLED = _UNCALLED.replace(
    "=known.unresolved", "=ten(known.unresolved) unresolved_places=len(known.unresolved)"
).replace("=known.mentioned", "=ten(known.mentioned) mentioned_places=len(known.mentioned)")
_OBSERVATION = (
    "observation_id=observation.observation_id kind=observation.kind identity=observation.identity"
    " repository=observation.identity.repository title=observation.title session_id=observation.session_id"
    " revision=observation.revision created=observation.created updated=observation.updated"
    " sections=observation.sections"
)
_CALL = "line=edge.line confidence=edge.confidence lines=edge.lines provenance=edge.provenance rule=edge.rule"
_NODE = "path=node.path name=node.name line_start=node.line_start"
_CALLED = f"{_NODE} places=len(callers) files test_places=len(tests)"
_IMPACT = "with_callers=len(called) without_callers{} definitions looked_at left_out"

TOLD: Final[Mapping[str, str]] = {
    "actions.governance.change_impact.BearingTest": "path calls through named_alike=is_named_alike"
    " together=companion changed=is_changed",
    "actions.governance.change_impact.ChangeImpact": "range=span change=said files"
    " definitions=by_risk callers_looked_at=impact.looked_at tests tests_to_run=runnable(tests) companions"
    " commits_looked_at=searched questions@ReviewQuestion named"
    " nearest=many(unreached.nearest)@NearDocument issues=closing notes=every_note"
    " not_indexed=given(not_indexed)?",
    "actions.governance.change_impact.Closing": "id title state named=is_named score~",
    "actions.governance.bearings.Bearing": f"relation {_DOCUMENT} kind score~ section note",
    "actions.governance.check.Checked": "target query candidates=documents@Candidate issues@Candidate"
    " missing impact",
    "actions.governance.related.Duplicates": "text threshold duplicates=chunks nearest",
    "actions.governance.related.Related": "text edges=documents nearest instead",
    "actions.exact_search.ExactAnswer": "query=pattern.text mode=way(pattern.is_regex) matches lines files"
    " omitted searched_files=searched left_out_files=left_out unread_files=unread commit=answer.commit"
    " dirty=answer.dirty not_indexed=given(not_indexed)?",
    "actions.exact_search.Match": "path=hit.path line=line.number column text=line.text"
    " name=hit.chunk.qualified_name kind=hit.chunk.kind repository=given(hit.repository)?",
    "actions.history.CommitMatch": "commit=commit.id date=day(commit.authored) author=commit.author"
    " subject=said.subject rank paths=commit.paths definitions snippet=said.reason found_by",
    "actions.history.HistoryAnswer": "query commit_matches=matches searched notes",
    "actions.impact.Called": f"{_CALLED} callers@Caller tests@Caller",
    "actions.impact.Impact": f"called {_IMPACT.format('')}",
    "actions.hub.search.HubAnswer": "query matches=hits@HubHit searched@HubSearched files absent",
    "actions.graph_answer.NoCaller": f"path name line_start {_UNCALLED}",
    "actions.instead.Instead": "files@CodeMatch commits",
    "actions.measure.Measured": "commits left_out found model notes replayed=given(replayed)?",
    "actions.prime.SessionStart": f"topic notes documents=entries@PrimedDocument {_NEAREST} instead overview"
    " core=stripped(core) since=passed",
    "actions.graph_answer.Reference": "path line use within text is_sure",
    "actions.graph_answer.References": "name places=found files_not_read=unread",
    "actions.answer.Answer": "query adr_matches=decisions@DocumentMatch"
    " spec_matches=specifications@DocumentMatch code_snippets=code@CodeMatch call_graphs"
    " issue_matches=issues@DocumentMatch? repositories=given(asked)? not_indexed=given(not_indexed)?",
    "actions.answer.Asked": "name path outcome why commit",
    "actions.search_code.Snippet": "id path line_start line_end name class_name=enclosing kind language score"
    " via text variants repository nearest=is_nearest",
    "actions.similar.Similar": "place similar=answer.hits@Neighbour copies drafts commit=answer.commit"
    " dirty=answer.dirty",
    "actions.touched.Touched": "path name kind how line_start=chunk.line_start risk looked_for=is_looked_for"
    " callers=many(called.callers)@Caller tests=many(called.tests)@Caller still_named"
    " is_without_caller=bool(known.is_without_caller) unresolved=many(known.unresolved)"
    " registered=many(known.registered) base_outside=known.base_outside",
    "actions.why.NamedIssue": "id title state",
    "actions.why.Reason": "commit date=day(authored) author subject=said.subject reason=said.reason lines"
    " paths merge issues decisions",
    "actions.why.Why": "path line_start line_end within reasons further uncommitted before documents@RuledBy"
    " notes",
    "actions.uninstall.Left": "what place",
    "actions.uninstall.InstalledPiece": "what place",
    "agents.setup.FileStep": "path action note",
    "callgraph.published.PublishedPackage": "name manifest",
    "config.keys.Setting": "key value origin help git_config=source.git_name variable=source.variable"
    " team=known(source.team) allowed",
    "hooking.status.HookReport": "name state path detail advice=mend lines configured changed?",
    "machine.prerequisites.Check": "name state message mend=fix",
    "mcp_server.question_tools.RelatedFound": "edges duplicates nearest questions@ReviewQuestion"
    " helpers@Alike twins@Alike removed@StillNamed impact@ShortImpact tests freshness instead",
    "mcp_server.replies.Calls": "filter matches calls@CallLine left_out mermaid error freshness"
    " references@NamedLine references_left_out matches_left_out elsewhere without_callers@ShortUncalled"
    " without_callers_left_out unresolved@ShortUnresolved unresolved_left_out not_indexed",
    "mcp_server.replies.CallsOfRepository": "repository direction found_by calls@CallLine left_out",
    "mcp_server.replies.Core": "project files@CoreLine changed",
    "mcp_server.replies.Remembered": "id=observation.observation_id type=observation.kind"
    " topic_key=observation.identity.topic_key title=observation.title project=observation.identity.name"
    " scope=observation.identity.scope revision=observation.revision updated=observation.updated"
    " sections=observation.sections created score~",
    "memory.explorations.Recalled": f"{_OBSERVATION} score~ section",
    "memory.explorations.Saved": f"{_OBSERVATION} is_new=created",
    "memory.observations.Identity": "topic_key project=name scope",
    "memory.observations.Observation": _OBSERVATION.replace("observation.", ""),
    "embedding.local_model.ModelStatus": "ready path size_bytes problem",
    "model.CallGraph": "filter mermaid error",
    "report.documents.GarbageDocument": "views=garbage.views contents=garbage.contents chunks=garbage.chunks"
    " texts=garbage.texts paths=garbage.paths commits=garbage.commits applied freed_bytes size_bytes",
    "actions.graph_answer.CallElsewhere": f"caller callee {_CALL}",
    "actions.graph_answer.CallsBetween": "repository direction packages files found_by calls",
    "actions.graph_answer.GraphAnswer": "nodes=marked_nodes edges=numbered_edges files=given(files)?"
    " left_out=given(left_out)? references=beside? elsewhere=between?"
    " without_callers=given(without_callers)? unresolved=given(unresolved)@Unresolved?"
    " not_indexed=given(not_indexed)?",
    "actions.graph_answer.GraphEdge": f"caller callee {_CALL}",
    "actions.graph_answer.GraphNode": "path=node.path name=node.name kind=node.kind"
    " line_start=node.line_start line_end=node.line_end matched",
    "search.cochange.Companion": "path beside together of usual=is_usual",
    "search.similar_chunks.SimilarChunk": f"path {_CHUNK} cosine~",
    "workspace.Indexed": "files=counts.files chunks=counts.chunks new=refreshed.cut dirty=refreshed.dirty"
    " left_out=mapping(counts.skipped) seconds=thousandths(seconds)",
    "trackers.issue.Issue": "id title status labels assignees author created updated closed url tracker"
    " references body?",
    "trackers.issue.IssueLinks": "specs adrs blocks blocked_by",
    "Alike": "path name line_start=chunk.line_start line_end=chunk.line_end existing",
    "CallLine": "caller=caller.name caller_path=caller.path line callee=callee.name callee_path=callee.path"
    " callee_line=callee.line_start confidence lines provenance rule",
    "Caller": "path=caller.path name=caller.name line confidence lines provenance rule",
    "Collection": "collection=name documents chunks unembedded updated",
    "CheckReply": "target=found.target candidates=found.documents@Candidate issues=found.issues@Candidate"
    " missing=found.missing impact=found.impact@ShortImpact freshness",
    "CodeReply": "query=found.query project sufficient=found.sufficient results=found.snippets freshness"
    " words not_indexed=found.not_indexed",
    "CodeMatch": f"path score~ snippet=chunk.text {_CHUNK} repository=given(repository)?"
    " nearest=given(is_nearest)?",
    "Candidate": f"{_DOCUMENT} kind score~ section why named=known(line) named_line=line"
    " governing=governs note",
    "CoreLine": "project path summary",
    "DocumentMatch": "id=document.id title=document.title path score~ snippet=chunk.text"
    " repository=given(repository)? nearest=given(is_nearest)?",
    "HubHit": f"repository path collection score~ {_CHUNK} snippet=chunk.text",
    "HubSearched": "repository=name branch commit",
    "LinesReply": "path=found.path line_start=found.line_start line_end=found.line_end"
    " lines_in_file=found.lines_in_file text=found.text moved=found.moved freshness"
    " is_outline=found.is_outline not_indexed=found.not_indexed",
    "NamedLine": "path line use within text sure=is_sure",
    "NearDocument": f"{_DOCUMENT} kind score~",
    "Neighbour": "path line_start=chunk.line_start line_end=chunk.line_end name=chunk.qualified_name"
    " kind=chunk.kind cosine=float(cosine) snippet=chunk.text",
    "PlacedName": "path name line_start",
    "PrimedDocument": f"kind {_DOCUMENT} text=given(note)?",
    "ReviewQuestion": f"question=asks {_DOCUMENT} kind score~ section touched_by note",
    "Review": "range=span questions=documents@ReviewQuestion helpers=added@Alike named"
    f" {_NEAREST} impact removed twins@Alike",
    "RuledBy": f"{_DOCUMENT} score~",
    "SearchReply": "query=found.query adr_matches=found.decisions@DocumentMatch"
    " spec_matches=found.specifications@DocumentMatch code_snippets=found.code@CodeMatch"
    " call_graphs=found.call_graphs freshness words issue_matches=many(found.issues)@DocumentMatch"
    " variants=variants(found.hits) not_indexed=found.not_indexed",
    "Unresolved": "path name line_start unresolved=known.unresolved also@PlacedName",
    "ShortUncalled": f"path name line_start {_SHORT_UNCALLED}",
    "ShortUnresolved": "path name line_start unresolved=ten(known.unresolved)"
    " unresolved_places=len(known.unresolved) also@PlacedName",
    "ShortCalled": f"{_CALLED} callers=five(callers)@Caller tests=five(tests)@Caller",
    "StandingReply": "project indexed=known(found.view) fresh=found.fresh files=number(found.view.files)"
    " chunks=number(found.view.chunks) embedded=number(found.view.embedded) texts=number(found.view.texts)"
    " model_ready=found.model.ready working=known(found.worker) freshness",
    "StillNamed": "path name line_start=chunk.line_start still_named=ten(still_named)",
    "ShortImpact": f"called=ten(called)@ShortCalled {_IMPACT.format('=ten(without_callers)')}",
}
"""The keys of a class's JSON in their order, by its name in gitrag; or of a form that a key asks for.

    key=path          what is at ``path``, dotted; without ``key=`` the path is the key
    key=name(path)    the same, through a function of ``_FUNCTIONS``
    path@Form         each told by this row, not by that of its class
    path~             rounded to four places
    path?             left out where it has no value
"""

_KEY = re.compile(
    r"(?:(?P<key>\w+)=)?(?:(?P<function>\w+)\()?(?P<path>[\w.]+)\)?(?:@(?P<form>\w+))?(?P<rounded>~)?(?P<optional>\??)"
)
_FUNCTIONS: Final[Mapping[str, tuple[Callable[[Any], Any], Any]]] = {
    "bool": (bool, bool),
    "day": (day, str),
    "float": (float, float),
    "five": (lambda value: value[:5], None),
    "given": (lambda value: value or UNSET, None),
    "known": (lambda value: value is not None, bool),
    "len": (len, int),
    "mapping": (dict, dict[str, int]),
    "many": (lambda value: value or (), None),
    "number": (lambda value: value or 0, int),
    "runnable": (tests_to_run, tuple[TestsToRun, ...]),
    "standing": (standing, str),
    "stripped": (lambda value: value.strip("\n"), str),
    "ten": (lambda value: value[:10], None),
    "thousandths": (lambda value: round(value, 3), float),
    "variants": (lambda hits: {hit.path: hit.variants for hit in hits if hit.variants}, dict[str, list[str]]),
    "way": (lambda is_regex: "regex" if is_regex else "word", str),
}
"""With the type of what they return; None for that of their argument."""

_ATTRIBUTE = re.compile(r"^    (?P<name>\w+): (?P<text>.+?)(?=^    \w+: |^\S|\Z)", re.MULTILINE | re.DOTALL)


class _Key(Struct, frozen=True):
    name: str
    path: tuple[str, ...]
    function: str = ""
    form: str = ""
    is_rounded: bool = False
    is_optional: bool = False

    def of(self, value: object) -> Any:
        """Return what is told of a value under this key; what lies behind nothing is empty."""
        for name in self.path:
            value = "" if value is None else getattr(value, name)
        if self.function:
            value = _FUNCTIONS[self.function][0](value)
        return round(value, 4) if self.is_rounded and isinstance(value, float) else value


def json_text(answer: object, form: str = "") -> str:
    """Return an answer as JSON, by the row of its class or of a form."""
    return json.dumps(plain_data(answer, form), ensure_ascii=False, indent=2)


def plain_data(value: object, form: str = "", text: Callable[[str], str] = in_whole_characters) -> Any:
    """Return an answer, or a list of them, as dicts, lists, texts and numbers.

    Args:
        form: The row that it is told by; empty for that of its class.
        text: Makes a text fit for its readers.
    """
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str | Path):
        return text(str(value))
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, Mapping):
        return {text(str(key)): plain_data(own, form, text) for key, own in value.items()}
    if isinstance(value, tuple | list):
        return [plain_data(each, form, text) for each in value]
    if isinstance(value, Struct):
        keys = _row(form) or _row(_name(type(value))) or _fields(type(value))
        told = ((key, key.of(value)) for key in keys)
        return {key.name: plain_data(own, key.form, text) for key, own in told if own is not UNSET}
    return msgspec.to_builtins(value, str_keys=True)


def shape_of(kind: Any, form: str = "") -> Any:
    """Return a type, or one that has the keys that are told of it, for its schema."""
    if (arguments := get_args(kind)) and get_origin(kind) is not None:
        shapes = [shape_of(each, form) for each in arguments]
        if get_origin(kind) in (Union, types.UnionType):
            return reduce(or_, shapes)
        return kind if shapes == list(arguments) else get_origin(kind)[tuple(shapes)]
    return _shape(kind, form) if isinstance(kind, type) and issubclass(kind, Struct) else kind


@cache
def _shape(kind: type[Struct], form: str) -> type[Struct]:
    row = _row(form) or _row(_name(kind))
    keys = row or _fields(kind)
    fields: list[Any] = []
    as_it_is = not row
    said = [" ".join(cleandoc(kind.__doc__ or "").partition("Attributes:")[0].split()), "", "Attributes:"]
    for key in keys:
        owner, own = _type_at(kind, key.path)
        own = _FUNCTIONS[key.function][1] or own if key.function else own
        before = own
        own = str if row and isinstance(own, type) and issubclass(own, Enum) else shape_of(own, key.form)
        as_it_is &= own == before
        fields.append((key.name, own | UnsetType, UNSET) if key.is_optional else (key.name, own))
        given = _FUNCTIONS[key.function][1] if key.function else None
        if given in (None, str):  # what counts or asks tells another thing
            said.append(f"    {key.name}: {_said_of(owner, key.path[-1])}")
    if as_it_is:
        return kind
    name, doc = form or kind.__name__, {"__doc__": "\n".join(said)}
    return msgspec.defstruct(name, fields, namespace=doc, module=kind.__module__, kw_only=True)


def _type_at(kind: Any, path: tuple[str, ...]) -> tuple[Any, Any]:
    """Return the class that has the last attribute of a path, and the attribute's type."""
    owner = kind
    for name in path:
        owner = next((each for each in get_args(kind) if isinstance(each, type)), kind)
        own: Any = getattr(owner, name, None)
        is_property = isinstance(own, property)
        kind = _hints(own.fget)["return"] if is_property else _hints(owner)[name]
    return owner, kind


@cache
def _hints(of: Any) -> dict[str, Any]:
    from gitrag.actions.history import CommitMatch
    from gitrag.corpus.layout import CollectionKind
    from gitrag.search.engine import Hit
    from gitrag.search.sections import AnswerSection
    from gitrag.store.commits import StoredCommit
    from gitrag.store.inspection import ViewCounts

    # Where they are named, they are imported for type checkers only.
    named = (AnswerSection, CollectionKind, CommitMatch, Hit, StoredCommit, ViewCounts)
    late = {each.__name__: each for each in named}
    return get_type_hints(of, localns=late)


def _said_of(owner: Any, name: str) -> str:
    """Return what a class's docstring says of an attribute, or a property's."""
    if isinstance(own := getattr(owner, name, None), property):
        return " ".join((getdoc(own) or "").split())
    found = {each["name"]: each["text"] for each in _ATTRIBUTE.finditer(cleandoc(owner.__doc__ or ""))}
    return " ".join(found.get(name, "").split())


@cache
def _row(name: str) -> tuple[_Key, ...]:
    return tuple(map(_read, TOLD.get(name, "").split()))


def _read(text: str) -> _Key:
    found = _KEY.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return _Key(
        found["key"] or found["path"],
        tuple(found["path"].split(".")),
        found["function"] or "",
        found["form"] or "",
        bool(found["rounded"]),
        bool(found["optional"]),
    )


@cache
def _fields(kind: type[Struct]) -> tuple[_Key, ...]:
    needed = len(kind.__struct_fields__) - len(kind.__struct_defaults__)
    names = enumerate(zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True))
    return tuple(_Key(key, (name,), is_optional=at >= needed) for at, (key, name) in names)


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("gitrag.")
