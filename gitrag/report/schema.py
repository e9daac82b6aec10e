"""The JSON Schemas of what commands print with ``--json``, made from the types that they print."""

from __future__ import annotations

import re
from collections.abc import Mapping
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any, Final, get_args, get_origin

import msgspec

from gitrag.actions.answer import Answer
from gitrag.actions.core_context import Suggested
from gitrag.actions.exact_search import ExactAnswer
from gitrag.actions.governance.change_impact import ChangeImpact
from gitrag.actions.governance.check import Checked
from gitrag.actions.governance.related import Duplicates, Related
from gitrag.actions.graph_answer import GraphAnswer
from gitrag.actions.history import HistoryAnswer
from gitrag.actions.hub.push import Pushes
from gitrag.actions.hub.search import HubAnswer
from gitrag.actions.issues import Issue, IssuesStatus, Synced
from gitrag.actions.measure import Measured
from gitrag.actions.prime import SessionStart
from gitrag.actions.repositories.known import KnownRepository
from gitrag.actions.sharing.pull import Pulled
from gitrag.actions.sharing.push import Pushed
from gitrag.actions.sharing.upkeep import SharedStatus, Tidied, Verified
from gitrag.actions.similar import Similar
from gitrag.actions.status import WorkspaceStatus
from gitrag.actions.why import Why
from gitrag.config.keys import Setting
from gitrag.embedding.local_model import ModelFetch, ModelStatus
from gitrag.errors import UsageError
from gitrag.hooking.status import HookReport
from gitrag.hub.rights import Grant
from gitrag.hub.servers import Server
from gitrag.hub.upkeep import Discarded, Dropped, HubStatus, Placed, Searched
from gitrag.machine.prerequisites import Check
from gitrag.memory.core_files import CoreFile
from gitrag.memory.explorations import Imported, Recalled, Saved
from gitrag.memory.observations import Observation
from gitrag.report import documents
from gitrag.report.hub import HubMade, HubTried
from gitrag.report.told import shape_of
from gitrag.store.inspection import CollectionCounts
from gitrag.words.spelling import did_you_mean

VERSION: Final = 1
"""Raised when a key of any document changes its meaning or goes; new keys may come without."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REF = "#/$defs/{name}"
_ATTRIBUTE = re.compile(r"^    (?P<name>\w+): (?P<text>.+?)(?=^    \w+: |^\S|\Z)", re.MULTILINE | re.DOTALL)

DOCUMENTS: Final[Mapping[str, tuple[Any, ...]]] = {
    "init": (documents.InitDocument, documents.AgentsDocument),
    "search": (Answer, ExactAnswer),
    "similar": (Similar,),
    "history": (HistoryAnswer,),
    "why": (Why,),
    "measure": (Measured,),
    "impact": (ChangeImpact,),
    "prime": (SessionStart,),
    "graph": (GraphAnswer,),
    "status": (WorkspaceStatus,),
    "index": (documents.UpdateDocument,),
    "index update": (documents.UpdateDocument,),
    "index embed": (documents.VectorsDocument,),
    "index status": (Annotated[list[CollectionCounts], "Collection"],),
    "index remove": (documents.RemovedDocument,),
    "uninstall": (documents.UninstallDocument,),
    "repos add": (list[KnownRepository],),
    "repos forget": (list[KnownRepository],),
    "repos group": (list[KnownRepository],),
    "repos list": (list[KnownRepository],),
    "gc": (documents.GarbageDocument,),
    "issues sync": (Synced,),
    "issues status": (IssuesStatus,),
    "issues list": (list[Issue],),
    "issues show": (Issue,),
    "agents install": (documents.AgentsDocument,),
    "agents remove": (documents.AgentsDocument,),
    "explore save": (Saved,),
    "explore show": (Observation,),
    "explore list": (list[Observation],),
    "explore search": (list[Recalled],),
    "explore export": (documents.ExportDocument,),
    "explore import": (Imported,),
    "explore adopt": (list[Observation],),
    "explore delete": (documents.DeletedDocument,),
    "core mark": (CoreFile,),
    "core list": (list[CoreFile],),
    "core unmark": (documents.UnmarkedDocument,),
    "core adopt": (list[CoreFile],),
    "core suggest": (list[Suggested],),
    "check": (Checked, documents.PushDocument),
    "related": (Related, Duplicates, Annotated[ChangeImpact, "Review"]),
    "share pull": (Pulled,),
    "share push": (Pushed,),
    "share status": (SharedStatus,),
    "share verify": (Verified,),
    "share gc": (Tidied,),
    "hub init": (HubMade,),
    "hub add-server": (Server,),
    "hub place": (Placed,),
    "hub push": (Pushes,),
    "hub search": (HubAnswer,),
    "hub status": (HubStatus,),
    "hub grant": (list[Grant],),
    "hub branch": (Searched,),
    "hub drop": (Discarded,),
    "hub gc": (Dropped,),
    "hub try": (HubTried,),
    "model fetch": (ModelFetch,),
    "model status": (ModelStatus,),
    "doctor": (list[Check],),
    "hooks install": (list[HookReport],),
    "hooks uninstall": (list[HookReport],),
    "hooks status": (list[HookReport],),
    "config": (list[Setting],),
    "schema": (list[documents.CommandRow],),
}
"""For each command what it prints with ``--json``; one of several, by its options; annotated with the row of
`told` that is not its class's."""


def schema_id(command: str) -> str:
    """Return the name of a command's schema, with its version."""
    return f"urn:gitrag:{command.replace(' ', '-')}:{VERSION}"


def commands() -> list[documents.CommandRow]:
    """List the commands that print JSON, with the names of their schemas."""
    return [documents.CommandRow(command, schema_id(command)) for command in DOCUMENTS]


def schema_of(command: str) -> dict[str, Any]:
    """Return the JSON Schema of what a command prints."""
    types = DOCUMENTS.get(command)
    if types is None:
        raise UsageError(
            f'There is no schema of "{command[:60]}".{did_you_mean(command, list(DOCUMENTS))}',
            "`gitrag schema` lists the commands that have one.",
        )
    shapes = [
        shape_of(*get_args(each)) if get_origin(each) is Annotated else shape_of(each) for each in types
    ]
    roots, definitions = msgspec.json.schema_components(shapes, schema_hook=_of_path, ref_template=_REF)
    for each in definitions.values():
        _describe(each)
    root = roots[0] if len(roots) == 1 else {"anyOf": list(roots)}
    return {
        "$schema": _DIALECT,
        "$id": schema_id(command),
        "title": f"gitrag {command} --json",
        "version": VERSION,
        **root,
        "$defs": definitions,
    }


def _of_path(kind: type) -> dict[str, Any]:
    if kind is Path:
        return {"type": "string"}
    raise NotImplementedError(kind.__name__)


def _describe(definition: dict[str, Any]) -> None:
    """Take the descriptions of the keys from the class's docstring; no other keys are allowed."""
    if definition.get("type") != "object":
        return
    definition["additionalProperties"] = False
    head, _, attributes = cleandoc(definition.get("description", "")).partition("Attributes:\n")
    definition["description"] = " ".join(head.split())
    for found in _ATTRIBUTE.finditer(attributes):
        if found["name"] in definition["properties"]:
            own = definition["properties"][found["name"]]
            definition["properties"][found["name"]] = {**own, "description": " ".join(found["text"].split())}
