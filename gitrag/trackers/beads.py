"""Beads: issues in the repository's ``.beads``, from the program ``bd`` or its export.

https://github.com/steveyegge/beads/blob/main/docs/JSON_SCHEMA.md and internal/types/types.go

``bd list --json --all --limit 0`` prints a list, from version 2 on as ``data`` of an object with
``schema_version``. ``.beads/issues.jsonl``, what ``bd export`` writes, has the same objects, one a line, with
``_type`` "issue"; lines of another type are no issues.
Fields: ``id``, ``title``, ``description``, ``status`` (open, in_progress, blocked, deferred, closed,
tombstone: deleted), ``labels``, ``assignee``, ``created_by``, ``created_at``, ``updated_at``, ``closed_at``,
and ``dependencies``: ``issue_id``, ``depends_on_id``, ``type`` (blocks: the former waits for the latter).

Not mapped: priority, type, design, acceptance criteria, notes, comments, and the other kinds of dependency.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeGuard

from gitrag.machine.programs import Limits, ProgramError, run_program
from gitrag.trackers.base import (
    IssuePage,
    Order,
    Registration,
    TrackerError,
    TrackerSetting,
    TrackerSetupError,
)
from gitrag.trackers.fields import (
    Json,
    MalformedError,
    as_object,
    items,
    names,
    objects,
    required,
    text,
    when,
)
from gitrag.trackers.issue import Issue, IssueState, find_references

COMMAND = ("bd", "list", "--json", "--all", "--limit", "0")
FOLDER = ".beads"
_EXPORTS = ("issues.jsonl", "beads.jsonl")  # the second one before version 0.20
_PROGRAM_TIMEOUT_S = 120.0
_MOST_BYTES = 256 * 1024 * 1024
"""Most bytes read from the program or the export: a hundred thousand issues of two kilobytes."""


class Beads:
    """A repository's issues."""

    order = Order.WHOLE

    def __init__(self, setting: TrackerSetting) -> None:
        self._root = setting.root
        self._environ = setting.environ
        self._note = setting.note

    def fetch(self, since: datetime | None, cursor: str | None) -> IssuePage:
        del since, cursor
        try:
            found = self._from_program()
            if found is None:
                found = list(self._from_export())
            kept = [item for item in found if text(item, "status") != "tombstone"]
            waiting = _waiting(kept)
            issues = tuple(_to_issue(item, waiting) for item in kept)
        except MalformedError as error:
            raise TrackerError(f"{TRACKER.name} has something else than issues: {error}.") from error
        return IssuePage(issues, total=len(issues))

    def search(self, words: Sequence[str]) -> None:
        """Find nothing: there is no search; see `gitrag.trackers.base.Tracker`."""

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _from_program(self) -> list[Json] | None:
        """Run ``bd``; return None if it is not installed, or fails but an export can be read instead."""
        try:
            done = run_program(
                COMMAND, self._environ, Limits(_PROGRAM_TIMEOUT_S, _MOST_BYTES), cwd=self._root
            )
        except FileNotFoundError:
            return None
        except (OSError, ProgramError) as error:
            self._check_export(f"it did not answer ({error})")
            return None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            self._check_export(said[-1] if said else f"status {done.returncode}")
            return None
        try:
            printed = json.loads(done.stdout or b"[]")
            return objects((printed["data"] if _is_envelope(printed) else printed) or [], "the list")
        except (ValueError, RecursionError) as error:
            self._check_export(f"what it printed is no JSON ({error})")
            return None

    def _check_export(self, why: str) -> None:
        """Raise an error with the program's message if no export can be read instead."""
        if self._export() is None:
            raise TrackerError(f"`{' '.join(COMMAND)}` failed: {why}.", "Try `bd doctor`.")
        self._note(f"`{' '.join(COMMAND)}` failed: {why}; {FOLDER} is read instead")

    def _export(self) -> Path | None:
        folder = self._root / FOLDER
        if folder.is_symlink():  # a repository may contain a link to anywhere
            return None
        for name in _EXPORTS:
            path = folder / name
            if path.is_file() and not path.is_symlink():
                return path
        return None

    def _from_export(self) -> Iterator[Json]:
        path = self._export()
        if path is None:
            raise TrackerSetupError(
                f"There is neither the program bd nor {FOLDER}/{_EXPORTS[0]}.",
                "Install Beads, or `bd export` there.",
            )
        if path.stat().st_size > _MOST_BYTES:
            raise TrackerError(
                f"{FOLDER}/{path.name} is larger than {_MOST_BYTES} bytes.",
                "Install Beads: its program is asked.",
            )
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    try:
                        record = as_object(json.loads(line), "it")
                    except (ValueError, RecursionError) as error:
                        raise TrackerError(
                            f"{FOLDER}/{path.name}, line {number}, is no issue.", "A merge left half done?"
                        ) from error
                    if (text(record, "_type") or "issue") == "issue":
                        yield record


def _is_envelope(printed: object) -> TypeGuard[Json]:
    return isinstance(printed, dict) and "data" in printed


def _waiting(found: list[Json]) -> dict[str, dict[str, set[str]]]:
    """Return for each issue which others it waits for, and which wait for it."""
    edges: dict[str, dict[str, set[str]]] = defaultdict(lambda: {"blocks": set(), "blocked_by": set()})
    for item in found:
        for edge in (as_object(each, "dependencies") for each in items(item, "dependencies")):
            if (text(edge, "type") or text(edge, "dependency_type")) == "blocks":
                own = text(edge, "issue_id") or required(item, "id")
                other = text(edge, "depends_on_id") or required(edge, "id")
                edges[own]["blocked_by"].add(other)
                edges[other]["blocks"].add(own)
    return edges


def _to_issue(item: Json, waiting: dict[str, dict[str, set[str]]]) -> Issue:
    key, title, body = required(item, "id"), text(item, "title"), text(item, "description")
    edges = waiting[key]
    return Issue(
        id=key,
        title=title,
        status=IssueState.CLOSED if text(item, "status") == "closed" else IssueState.OPEN,
        labels=names(item, "labels", "name"),
        assignees=tuple(filter(None, [text(item, "assignee")])),
        author=text(item, "created_by"),
        created=when(item, "created_at"),
        updated=when(item, "updated_at"),
        closed=when(item, "closed_at"),
        url=f"{FOLDER}/{_EXPORTS[0]}",
        tracker=TRACKER.name,
        references=find_references(key, title, body, blocks=edges["blocks"], blocked_by=edges["blocked_by"]),
        body=body,
    )


TRACKER = Registration(name="beads", open=Beads, check="bd doctor")
