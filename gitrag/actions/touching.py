"""Find the commits that changed a definition, also one that is there no more."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.chunking import chunk, language_of
from gitrag.chunking.languages import is_code
from gitrag.errors import UsageError
from gitrag.git.commits import CommitError, commit_ids
from gitrag.git.conversion import as_stored
from gitrag.git.environment import GitTimeoutError
from gitrag.git.grep import files_with
from gitrag.git.pickaxe import changing_count
from gitrag.git.repository import BlobError
from gitrag.indexing.history import MOST_COMMITS
from gitrag.machine.files import read_regular
from gitrag.machine.programs import PrintedTooMuchError
from gitrag.search.lookup import dotted, lies_in
from gitrag.words.numbers import count
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from gitrag.store.connection import Connection
    from gitrag.store.views import ViewOverlay

_MOST_PLACES = 5
_MOST_CHANGES = 1_000
_MOST_BYTES = 16 << 20
_FOLLOWING_S = 10.0
"""Time limit for git to follow one definition through the history."""

_LOOKING_S = 10.0
"""Time limit for finding the commit that removed a definition: 20,000 commits of sympy take four."""

_FINDING_S = 5.0
"""Time limit for finding a definition in a commit that the index does not have."""

_HINT = "`gitrag search NAME` finds names."
_FIRST_BATCH = 250
_MOST_FILES = 50


class Removed(Struct, frozen=True):
    """A definition that a commit removed.

    Attributes:
        line_start: Its first line, before the commit.
    """

    commit: str
    path: str
    line_start: int
    line_end: int


class _Defined(Struct, frozen=True):
    """Where the files of a commit define a name.

    Attributes:
        lines: Path, first and last line of each definition.
        is_whole: Whether all files could be looked at.
        now: A file of the working tree that defines it, where no file of the commit does; empty for none.
    """

    lines: tuple[tuple[str, int, int], ...]
    is_whole: bool
    now: str = ""


def commits_touching(workspace: Workspace, commit: str, name: str, notes: list[str]) -> list[str]:
    """Return the commits that changed the lines of a definition, as git follows them.

    Where the commit has none of this name, the newest one before it that removed one is looked for; it counts
    too.

    Args:
        notes: What was not looked at is added here, a sentence each.

    Raises:
        UsageError: No definition of this name is found.
    """
    parts = tuple(dotted(name).split("."))
    if not parts[-1]:
        raise UsageError(f"{name[:80]!r} is no name of a definition.", _HINT)
    defined = _defined(workspace, commit, parts)
    if defined.lines:
        return _followed(workspace, commit, name, defined.lines, notes)
    missing = f"No definition is called {name[:80]!r} in {commit[:10]}"
    if not defined.is_whole:
        missing = (
            f"No definition called {name[:80]!r} was found in {commit[:10]}, not all of which was looked at"
        )
    if defined.now:
        missing += f", though one is in {defined.now} as it is now"
    removed = _removed(workspace, commit, parts, missing)
    own, paths = removed[0].commit, list(dict.fromkeys(each.path for each in removed))
    others = f" and {count(len(paths) - 1, 'other file')}" if len(paths) > 1 else ""
    notes.append(f"{missing}: {own[:10]} removed it from {paths[0]}{others}.")
    were = [(each.path, each.line_start, each.line_end) for each in removed]
    return [own, *_followed(workspace, f"{own}^", name, were, notes)]


def _followed(
    workspace: Workspace, commit: str, name: str, places: Sequence[tuple[str, int, int]], notes: list[str]
) -> list[str]:
    """Return the commits that changed lines of files as they are in a commit."""
    from gitrag.git.blame import changed_before

    found: list[str] = []
    for path, first, last in places[:_MOST_PLACES]:
        changed = changed_before(workspace.repo, commit, path, (first, last), _MOST_CHANGES, _FOLLOWING_S)
        if changed is None:
            notes.append(
                f"Who changed {path}:{first}-{last} was not found out: git took longer than"
                f" {_FOLLOWING_S:.0f} s, or cannot tell."
            )
        else:
            found += changed
    if len(places) > _MOST_PLACES:
        notes.append(f"{name[:80]} is defined in {len(places)} places: the first {_MOST_PLACES} count.")
    return found


def _defined(workspace: Workspace, commit: str, parts: Sequence[str]) -> _Defined:
    """Find the definitions of a name in the files of a commit: by the index, else by git."""
    from gitrag.actions.current_view import CurrentView
    from gitrag.search.lookup import look_up_name
    from gitrag.store.candidates import NO_FILTERS, open_scope
    from gitrag.store.export import tree_of
    from gitrag.store.source import IndexFile

    tree = workspace.repo.resolve(commit).tree
    name = ".".join(parts)

    def read(
        db: Connection, view_id: int, overlay: ViewOverlay
    ) -> tuple[list[str], list[str], frozenset[str]]:
        """Return which files define the name now, which do in the commit, and which of it are indexed."""
        source = IndexFile(db)
        now = look_up_name(source, open_scope(db, view_id, overlay, NO_FILTERS), name)
        there, indexed = [], frozenset[str]()
        if tree_of(db, view_id) == tree:
            scope = open_scope(db, view_id)
            there = [each.path for each in look_up_name(source, scope, name).named]
            if not there:
                indexed = frozenset(source.read_paths(scope.files.path_id.tolist()).values())
        return [each.path for each in now.named], there, indexed

    now, there, indexed = CurrentView(workspace).read(read).found
    found = [
        (path, *lines) for path in dict.fromkeys(there) for lines in _lines_of(workspace, commit, path, parts)
    ]
    if found:
        return _Defined(tuple(found), is_whole=True)
    end = time.monotonic() + _FINDING_S
    paths, is_whole = files_with(workspace.repo, commit, parts[-1], _FINDING_S)
    for path in paths:
        if path in indexed or not is_code(language_of(path) or ""):
            continue
        if time.monotonic() > end:
            is_whole = False
            break
        found += [(path, *lines) for lines in _lines_of(workspace, commit, path, parts)]
    own = "" if found else next((path for path in now if _defines_now(workspace, path, parts)), "")
    return _Defined(tuple(found), is_whole, own)


def _defines_now(workspace: Workspace, path: str, parts: Sequence[str]) -> bool:
    """Tell whether a file of the working tree defines a name, in this case of its letters."""
    try:
        data = read_regular((workspace.repo.root or workspace.repo.git_dir) / path, _MOST_BYTES)
        data = as_stored(workspace.repo, path, data)
    except (OSError, BlobError):
        return False
    return bool(_lines_in(data, path, parts))


def _lines_of(workspace: Workspace, commit: str, path: str, parts: Sequence[str]) -> list[tuple[int, int]]:
    """Return first and last line of the definitions of a name in a file of a commit, if it is there."""
    try:
        done = workspace.repo.git("cat-file", "blob", f"{commit}:{path}", most_bytes=_MOST_BYTES)
    except PrintedTooMuchError:  # no file of code that anybody wrote
        return []
    return _lines_in(done.stdout, path, parts) if not done.returncode else []


def _lines_in(data: bytes, path: str, parts: Sequence[str]) -> list[tuple[int, int]]:
    lines: dict[str, list[int]] = {}
    for each in chunk(data, language_of(path, data)):
        if each.name and _is_called(path, each.qualified_name, parts):
            lines.setdefault(each.qualified_name, []).extend((each.line_start, each.line_end))
    return [(min(own), max(own)) for own in lines.values()]


def _is_called(path: str, qualified: str, parts: Sequence[str]) -> bool:
    """Tell whether a definition has a name, the first parts of which may name its module."""
    return any(
        f".{qualified}".endswith(f".{'.'.join(parts[start:])}") and lies_in(path, parts[:start])
        for start in range(len(parts))
    )


def _removed(workspace: Workspace, commit: str, parts: Sequence[str], missing: str) -> list[Removed]:
    """Return what the newest commit removed that was found to remove a definition of a name.

    Raises:
        UsageError: None was found; it begins with what is ``missing``.
    """
    end = time.monotonic() + _LOOKING_S
    looked, size = 0, _FIRST_BATCH
    ids: list[str] = []
    with suppress(CommitError, GitTimeoutError, PrintedTooMuchError):
        ids = commit_ids(workspace.repo, commit, MOST_COMMITS)
        while looked < len(ids) and time.monotonic() < end:
            batch = ids[looked : looked + size]
            left = max(end - time.monotonic(), 0.01)
            for own, paths in changing_count(workspace.repo, batch, parts[-1], left):
                if found := _removed_by(workspace, own, paths, parts):
                    return found
                if time.monotonic() > end:
                    break
            else:
                looked, size = looked + len(batch), 2 * size
    if not looked:
        raise UsageError(f"{missing}, and which commit removed one could not be looked for.", _HINT)
    these = count(looked, "commit") if looked < MOST_COMMITS else f"the newest {count(looked, 'commit')}"
    if looked < len(ids):
        these = f"the newest {looked:,} of {count(len(ids), 'commit')}"
    raise UsageError(
        f"{missing}, and none of {these} was found to remove one: looked at were, merges apart, up to"
        f" {_MOST_FILES} files of code of each in which it changes how often {parts[-1][:80]!r} occurs.",
        _HINT,
    )


def _removed_by(
    workspace: Workspace, commit: str, paths: Sequence[str], parts: Sequence[str]
) -> list[Removed]:
    return [
        Removed(commit, path, *lines)
        for path in [path for path in paths if is_code(language_of(path) or "")][:_MOST_FILES]
        if not _lines_of(workspace, commit, path, parts)
        for lines in _lines_of(workspace, f"{commit}^", path, parts)
    ]
