"""The context that a session gets on the files marked as core, and suggestions which files to mark."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gitrag.errors import NotSetUpError
from gitrag.git import meant_path
from gitrag.git.history import ChangeCount
from gitrag.git.own import own_file
from gitrag.indexing.known import recorded
from gitrag.indexing.notices import prime_updates
from gitrag.memory.core_files import CoreFile, CoreFiles, context_text
from gitrag.memory.home import project_name
from gitrag.model import Chunk, Kind
from gitrag.store.connection import StoreMissingError
from gitrag.words.path_traits import OUTSIDE_THE_PRODUCT, traits
from gitrag.workspace import Workspace

KEY_SIGNATURES = 8
"""Signatures shown for a file, to be taken in at a glance: classes and public functions first."""

SUGGESTIONS = 8

_LONGEST_SIGNATURE = 120
_DEFINITIONS = frozenset({Kind.FUNCTION, Kind.METHOD, Kind.CLASS})

_HALF_LIFE_S = 182 * 86_400
"""A change of half a year ago counts half."""

_GRAPH_S = 15.0
"""Time limit for finding callers: all of pip's 2,000 definitions take one second."""


@dataclass(frozen=True, slots=True)
class Suggested:
    """A file that might be worth marking as core, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Files that might be worth marking as core.

    Attributes:
        files: Best first.
        commits: How many commits were read for what is changed often.
        callers_known: Whether all files were looked at for who calls whom.
    """

    files: tuple[Suggested, ...]
    commits: int
    callers_known: bool


def project_of(workspace: Workspace, given: str | None = None) -> str:
    """Return the name of the repository's project: as given, else after origin, else after the directory."""
    return project_name(given, workspace.repo, workspace.repo.root or workspace.repo.git_dir)


def core_path(workspace: Workspace, given: str, start: Path) -> str:
    """Return the path of a file of the working tree, relative to its top.

    Args:
        workspace: The repository.
        given: The path: from ``start``, from the top, the end of one, or absolute.
        start: Where the user is.

    Raises:
        UsageError: The file is missing, outside, in a git directory, ignored, or behind a symbolic link; or
            several are meant.
    """
    root = workspace.repo.root
    if root is None:
        raise NotSetUpError("A bare repository has no files to mark.", "Run this in a worktree.")
    return own_file(workspace.repo, root, meant_path(workspace.repo, start, given), given)


def core_context(workspace: Workspace, core: CoreFiles, project: str | None = None) -> str:
    """Return the Markdown section on the project's core files; empty when none is marked."""
    marked = core.all(project_of(workspace, project))
    if not marked:
        return ""
    with suppress(StoreMissingError):
        if workspace.store.exists() and prime_updates(workspace.age()):
            workspace.update()
    return context_text(marked, key_signatures(workspace, [each.path for each in marked]))


def key_signatures(workspace: Workspace, paths: Iterable[str]) -> dict[str, list[str]]:
    """Return the most telling signatures of each file, by path; none for a file that is not indexed."""
    return {path: _key(chunks) for path, chunks in outline(workspace, paths).items()}


def outline(workspace: Workspace, paths: Iterable[str]) -> dict[str, list[Chunk]]:
    """Return the indexed chunks of files, by path, in the order of their lines."""
    from gitrag.store import candidates, content, views

    wanted = set(paths)
    now = workspace.snapshot()
    found: dict[str, list[Chunk]] = {}
    with suppress(StoreMissingError), workspace.store.read() as db:
        view = views.current(db, workspace.repo.worktree)
        if view is None:
            return {}
        ids = [path_id for path_id, path in candidates.all_paths(db) if path in wanted]
        scope = candidates.open_scope(db, view.view_id, recorded(db, now, view), path_ids=ids)
        names = candidates.read_paths(db, scope.files.path_id.tolist())
        chunks = content.read_chunks(db, scope.chunk_id.tolist())
        for chunk_id, file in zip(scope.chunk_id.tolist(), scope.file.tolist(), strict=True):
            found.setdefault(names[int(scope.files.path_id[file])], []).append(chunks[chunk_id])
    return {path: sorted(own, key=lambda chunk: chunk.line_start) for path, own in found.items()}


def suggest(
    workspace: Workspace, marked: Sequence[CoreFile], most: int = SUGGESTIONS, graph_s: float = _GRAPH_S
) -> Suggestions:
    """Suggest files to mark as core, with the reason; marks nothing. Callers are looked for in `graph_s`.

    Core is likely what many files of the repository call and what is changed often; a change counts half for
    each half year since. Both numbers have the same weight: the logarithm of each, relative to the largest.
    """
    from gitrag.git.history import recent_changes

    history = recent_changes(workspace.repo)
    callers, all_known = _calling_files(workspace, graph_s)
    known = {each.path for each in marked}
    newest = max((count.last for count in history.changes.values()), default=0)
    root = workspace.repo.root
    paths = [
        path
        for path in {*history.changes, *callers}
        if path not in known
        and not traits(path) & OUTSIDE_THE_PRODUCT
        and _is_code(path)
        and root
        and os.path.isfile(root / path)  # noqa: PTH113  # returns False where the path is too long
    ]
    changed = {path: history.changes.get(path, ChangeCount(0, 0)) for path in paths}
    lively = _shares(
        {
            path: each.commits * math.exp2((each.last - newest) / _HALF_LIFE_S)
            for path, each in changed.items()
        }
    )
    central = _shares({path: len(callers.get(path, ())) for path in paths})
    best = sorted(paths, key=lambda path: (-lively[path] - central[path], path))[:most]
    found = tuple(
        Suggested(
            path, _reason(len(callers.get(path, ())), all_known, changed[path].commits, history.commits)
        )
        for path in best
        if lively[path] or central[path]
    )
    return Suggestions(found, history.commits, all_known)


def _calling_files(workspace: Workspace, graph_s: float) -> tuple[dict[str, set[str]], bool]:
    """Map each file to the files, tests excepted, that call it; return also whether that is complete."""
    from gitrag.actions.graph import calling_files

    if not workspace.store.exists():
        return {}, False
    return calling_files(workspace, lambda path: not traits(path) & OUTSIDE_THE_PRODUCT, graph_s)


def _shares(values: Mapping[str, float]) -> dict[str, float]:
    most = math.log1p(max(values.values(), default=0.0))
    return {path: math.log1p(value) / most if most else 0.0 for path, value in values.items()}


def _reason(callers: int, all_known: bool, number: int, commits: int) -> str:
    said = []
    if callers:
        more = "" if all_known else " or more"
        said.append(f"called from {callers}{more} file{'s' * (callers != 1 or not all_known)}")
    if number:
        times = "once" if number == 1 else f"{number} times"
        said.append(f"changed {times} in the last {commits:,} commit{'s' * (commits != 1)}")
    return ", ".join(said)


def _is_code(path: str) -> bool:
    from gitrag.chunking.languages import is_code, language_of

    language = language_of(path)
    return language is not None and is_code(language)


def _key(chunks: Sequence[Chunk]) -> list[str]:
    defined = [chunk for chunk in chunks if chunk.kind in _DEFINITIONS and chunk.signature]
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
