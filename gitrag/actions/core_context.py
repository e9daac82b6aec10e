"""The context that a session gets on the files marked as core, and suggestions which files to mark."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from gitrag.actions.kept import counts as kept_counts
from gitrag.actions.kept import keep_counts
from gitrag.errors import NotSetUpError, UsageError
from gitrag.git import meant_path
from gitrag.git.meant import files_of, own_file
from gitrag.indexing.known import recorded
from gitrag.indexing.notices import prime_updates
from gitrag.memory.core_files import CoreFile, CoreFiles, context_text, under
from gitrag.memory.projects import Project, has_namesake, project_at, project_called
from gitrag.model import DEFINITIONS, Chunk, Kind
from gitrag.store.connection import StoreMissingError
from gitrag.words.path_traits import OUTSIDE_THE_PRODUCT, traits
from gitrag.workspace import Workspace

KEY_SIGNATURES = 8
"""Signatures shown for a file, to be taken in at a glance: classes and public functions first."""

SUGGESTIONS = 8

_LISTED = 3
"""Paths named in a note."""

_LONGEST_SIGNATURE = 120

_HALF_LIFE_S = 182 * 86_400
"""A change of half a year ago counts half."""

_GRAPH_S = 15.0
"""Time limit for finding callers: all of pip's 2,000 definitions take one second."""


class Suggested(Struct, frozen=True):
    """A file that might be worth marking as core, and why."""

    path: str
    reason: str


class MarkedFiles(Struct, frozen=True):
    """The core files of a project.

    Attributes:
        doubtful: Files here that are marked under the project's name alone: others have it
            too, or not all that is marked under it is here.
    """

    project: Project
    keys: tuple[str, ...]
    files: tuple[CoreFile, ...]
    missing: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()

    @property
    def doubt(self) -> str:
        """A line that asks whose the doubtful ones are; empty if there are none."""
        if not self.doubtful:
            return ""
        return (
            f'Not shown: {_listed(self.doubtful)}, marked under the name "{self.project.name}" alone, which'
            f" may be another's. If that is this repository: gitrag core adopt {self.project.name}"
        )

    @property
    def notes(self) -> list[str]:
        """Lines that say what is not offered, and what to do."""
        gone = f"Not shown: {_listed(self.missing)}, marked but no file here. gitrag core unmark PATH"
        return [line for line in (gone if self.missing else "", self.doubt) if line]


def _listed(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _LISTED} more" if len(paths) > _LISTED else ""
    return ", ".join(paths[:_LISTED]) + more


def project_of(workspace: Workspace) -> Project:
    """Return the repository's project."""
    return project_at(workspace.repo, workspace.place)


def marked_files(core: CoreFiles, here: Project, given: str | None = None) -> MarkedFiles:
    """Return the files that are marked as core of a project.

    Args:
        given: A name or key in its place.
    """
    every = core.all()
    stored = list(dict.fromkeys(each.key for each in every))
    project = project_called(given, here, stored)
    own, readable = project.own(stored), project.readable(stored)
    paths = [each.path for each in every if each.key in readable]
    there = None if project.repo is None else files_of(project.repo, paths)  # None: nothing here tells
    named = {each.path for each in every if each.key in readable and each.key not in own}
    doubted = bool(named) and (bool(there is not None and named - there) or has_namesake(project, stored))
    keys = own if doubted else readable
    marked = under(every, keys)
    if there is None:
        return MarkedFiles(project, tuple(keys), tuple(marked))
    doubtful = {each.path for each in under(every, readable)} - {each.path for each in marked}
    return MarkedFiles(
        project,
        tuple(keys),
        tuple(each for each in marked if each.path in there),
        tuple(each.path for each in marked if each.path not in there),
        tuple(sorted(doubtful & there)),
    )


def mark(
    core: CoreFiles, here: Project, path: str, summary: str | None, given: str | None = None
) -> CoreFile:
    """Mark a file as core of the project here, or of one that is given; see `CoreFiles.mark`."""
    found = marked_files(core, here, given)
    key = found.project.key(found.keys)
    if summary is None:
        summary = next((each.summary for each in found.files if each.path == path), None)
    return core.mark(
        key, path, summary, former=[each for each in found.project.own(found.keys) if each != key]
    )


def adopt(workspace: Workspace, core: CoreFiles, given: str) -> list[CoreFile]:
    """Mark what is marked under another key, or a name alone, as core of this repository: its files."""
    files = core.all(given)
    if not files:
        raise UsageError(f'Nothing is marked under "{given[:60]}".', "gitrag core list --all")
    here = marked_files(core, project_of(workspace))
    paths = files_of(workspace.repo, [each.path for each in files])
    return core.adopt(given, here.project.key(here.keys), paths)


def core_path(workspace: Workspace, given: str, start: Path) -> str:
    """Return the path of a file of the working tree, relative to its top.

    Args:
        given: The path: from ``start``, from the top, the end of one, or absolute.
    """
    root = workspace.repo.root
    if root is None:
        raise NotSetUpError("A bare repository has no files to mark.", "Run this in a worktree.")
    return own_file(workspace.repo, root, meant_path(workspace.repo, start, given), given)


def core_context(workspace: Workspace, marked: MarkedFiles) -> str:
    """Return the Markdown section on the repository's core files; empty when none is marked."""
    if not marked.files:
        return ""
    with suppress(StoreMissingError):
        if workspace.store.exists() and prime_updates(workspace.age()):
            workspace.update()
    return context_text(marked.files, key_signatures(workspace, [each.path for each in marked.files]))


def key_signatures(workspace: Workspace, paths: Iterable[str]) -> dict[str, list[str]]:
    """Return the most telling signatures of each file, by path; none for a file that is not indexed."""
    return {path: _key(chunks) for path, chunks in outline(workspace, paths).items()}


def outline(workspace: Workspace, paths: Iterable[str]) -> dict[str, list[Chunk]]:
    """Return the indexed chunks of files, by path, in the order of their lines."""
    from gitrag.store import content, scopes, views

    wanted = set(paths)
    now = workspace.snapshot()
    found: dict[str, list[Chunk]] = {}
    with suppress(StoreMissingError), workspace.store.read() as db:
        view = views.current(db, workspace.repo.worktree)
        if view is None:
            return {}
        ids = [path_id for path_id, path in scopes.all_paths(db) if path in wanted]
        scope = scopes.open_scope(db, view.view_id, recorded(db, now, view), path_ids=ids)
        names = scopes.read_paths(db, scope.files.path_id.tolist())
        chunks = content.read_chunks(db, scope.chunk_id.tolist())
        for chunk_id, file in zip(scope.chunk_id.tolist(), scope.file.tolist(), strict=True):
            found.setdefault(names[int(scope.files.path_id[file])], []).append(chunks[chunk_id])
    return {path: sorted(own, key=lambda chunk: chunk.line_start) for path, own in found.items()}


def suggest(
    workspace: Workspace,
    marked: Sequence[CoreFile],
    most: int = SUGGESTIONS,
    graph_s: float = _GRAPH_S,
    *,
    earlier: bool = False,
) -> tuple[tuple[Suggested, ...], int, bool]:
    """Suggest files to mark as core, with the reason; marks nothing. Callers are looked for in `graph_s`.

    Beside them are how many commits were read, and whether all files were looked at for who calls whom.

    Core is likely what many files of the repository call and what is changed often; a change counts half for
    each half year since. Both numbers have the same weight: the logarithm of each, relative to the largest.

    Args:
        earlier: Whether callers do that were counted in an earlier state, which is said.
    """
    from gitrag.git.commits import recent_changes

    commits, changes = recent_changes(workspace.repo)
    callers, at, all_known = _calling_files(workspace, graph_s, earlier=earlier)
    known = {each.path for each in marked}
    newest = max((last for _, last in changes.values()), default=0)
    root = workspace.repo.root
    paths = [
        path
        for path in {*changes, *callers}
        if path not in known
        and _is_code(path)
        and not traits(path, OUTSIDE_THE_PRODUCT)
        and root
        and os.path.isfile(root / path)  # noqa: PTH113  # returns False where the path is too long
    ]
    changed = {path: changes.get(path, (0, 0)) for path in paths}
    lively = _shares(
        {path: count * math.exp2((last - newest) / _HALF_LIFE_S) for path, (count, last) in changed.items()}
    )
    central = _shares({path: callers.get(path, 0) for path in paths})
    best = sorted(paths, key=lambda path: (-lively[path] - central[path], path))[:most]
    found = tuple(
        Suggested(path, _reason(callers.get(path, 0), at, all_known, changed[path][0], commits))
        for path in best
        if lively[path] or central[path]
    )
    return found, commits, all_known


def _calling_files(
    workspace: Workspace, graph_s: float, *, earlier: bool
) -> tuple[dict[str, int], str, bool]:
    """Count the files, tests excepted, that call each file, as `kept_counts`."""
    if not workspace.store.exists():
        return {}, "", False
    now = workspace.snapshot()
    if kept := kept_counts(workspace, now, earlier=earlier):
        return kept
    from gitrag.actions.graph import calling_files

    files, is_whole = calling_files(workspace, lambda path: not traits(path) & OUTSIDE_THE_PRODUCT, graph_s)
    callers = {path: len(calling) for path, calling in files.items()}
    if workspace.snapshot().key == now.key:
        keep_counts(workspace, now, callers, is_whole=is_whole)
    return callers, "", is_whole


def _shares(values: Mapping[str, float]) -> dict[str, float]:
    most = math.log1p(max(values.values(), default=0.0))
    return {path: math.log1p(value) / most if most else 0.0 for path, value in values.items()}


def _reason(callers: int, at: str, all_known: bool, number: int, commits: int) -> str:
    said = []
    if callers:
        more = "" if all_known else " or more"
        files = f"file{'s' * (callers != 1 or not all_known)}"
        said.append(f"called from {callers}{more} {files}{f' at {at}' if at else ''}")
    if number:
        times = "once" if number == 1 else f"{number} times"
        said.append(f"changed {times} in the last {commits:,} commit{'s' * (commits != 1)}")
    return ", ".join(said)


def _is_code(path: str) -> bool:
    from gitrag.chunking.languages import is_code, language_of

    language = language_of(path)
    return language is not None and is_code(language)


def _key(chunks: Sequence[Chunk]) -> list[str]:
    defined = [chunk for chunk in chunks if chunk.kind in DEFINITIONS and chunk.signature]
    first = {
        chunk.qualified_name: chunk for chunk in reversed(defined)
    }  # a long definition has several chunks
    order = sorted(first.values(), key=lambda chunk: (_rank(chunk), chunk.line_start))[:KEY_SIGNATURES]
    return [_short(chunk.signature) for chunk in sorted(order, key=lambda chunk: chunk.line_start)]


def _rank(chunk: Chunk) -> tuple[bool, bool]:
    is_private = chunk.name.startswith("_")
    return is_private, chunk.kind is Kind.METHOD


def _short(signature: str) -> str:
    line = " ".join(signature.split()).replace("`", "'")
    return line if len(line) <= _LONGEST_SIGNATURE else line[: _LONGEST_SIGNATURE - 1] + "…"
