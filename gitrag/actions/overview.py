"""What somebody new to a repository looks for first: languages, entry points, core files, changes, tests."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

from msgspec import Struct

from gitrag.actions.core_context import Suggested, suggest
from gitrag.actions.current_view import CurrentView
from gitrag.chunking.languages import is_code, language_of
from gitrag.corpus.entry_points import EntryPoint, Read, entry_points
from gitrag.corpus.manifests import MANIFEST_BYTES
from gitrag.corpus.testing import CommandForTests, FilesOfTests, commands_for_tests, files_of_tests
from gitrag.git import BlobError
from gitrag.git.commits import LatestCommit, latest_commits, recent_changes
from gitrag.git.repository import SUBMODULE_MODE, SYMLINK_MODE
from gitrag.indexing.known import recorded
from gitrag.indexing.snapshot import Snapshot
from gitrag.memory.core_files import CoreFile
from gitrag.store.connection import StoreMissingError
from gitrag.store.inspection import MappedFile
from gitrag.words.path_traits import OUTSIDE_THE_PRODUCT, traits
from gitrag.workspace import Workspace

LATEST = 3
"""Commits whose messages are shown."""

LATELY = 50
"""Commits among which it is counted what changed."""

_CORE = 6
_CHANGED = 6

_GRAPH_S = 3.0
"""Time to look for callers: enough for some hundred files. A session does not wait longer for an overview."""

_BEGINS_AT_MAIN = frozenset(
    "c cpp csharp d dart fsharp go groovy haskell java kotlin nim rust scala swift zig".split()
)
"""Languages in which a definition called ``main`` is where a program begins."""


class LanguageShare(Struct, frozen=True):
    """How many files of a language there are, and how many lines they have."""

    name: str
    files: int
    lines: int


class OftenChanged(Struct, frozen=True):
    """A file, and how many of the latest commits changed it."""

    path: str
    commits: int


class Overview(Struct, frozen=True):
    """What a repository consists of.

    Attributes:
        files: Indexed files.
        languages: Programming languages, the one of most lines first.
        entry_points: Where programs begin, those that a manifest names first.
        core: Files that are likely central, and why; empty where files were marked as core.
        latest: The latest commits.
        changed: Files of code that most of the latest commits changed, at least two.
        commits: How many commits were looked at for that.
        tests: How files of tests are named.
        inline_tests: Files of Rust with tests inside.
        runs: How tests are run, as the repository's own files say.
    """

    files: int
    languages: tuple[LanguageShare, ...]
    entry_points: tuple[EntryPoint, ...]
    core: tuple[Suggested, ...]
    latest: tuple[LatestCommit, ...]
    changed: tuple[OftenChanged, ...]
    commits: int
    tests: tuple[FilesOfTests, ...]
    inline_tests: int
    runs: tuple[CommandForTests, ...]


def overview(workspace: Workspace, marked: tuple[CoreFile, ...] = ()) -> Overview:
    """Look at a repository as it is now; its index is brought up to date for that.

    Args:
        marked: The files that the user marked as core; where there are any, none is suggested.
    """
    from gitrag.store import inspection

    seen = CurrentView(workspace, says_staleness=False).read(
        lambda db, view_id, overlay: inspection.outlines(db, view_id, overlay, "main", "#[test]")
    )
    outlines, now = seen.found, seen.now
    core = () if marked else suggest(workspace, (), _CORE, _GRAPH_S, earlier=True)[0]
    counted: dict[str, list[int]] = {}
    for _, language, rows, _, _ in outlines:
        if is_code(language):
            counted.setdefault(language, []).append(rows)
    languages = (LanguageShare(name, len(lines), sum(lines)) for name, lines in counted.items())
    paths, read = _tree(now)
    mains = {path for path, own, _, defines, _ in outlines if defines and own in _BEGINS_AT_MAIN}
    commits, changes = recent_changes(workspace.repo, LATELY)
    changed = Counter({path: count for path, (count, _) in changes.items() if _is_shown(path, paths)})
    return Overview(
        files=len(outlines),
        languages=tuple(sorted(languages, key=lambda each: (-each.lines, each.name))),
        entry_points=entry_points(paths, read, mains),
        core=core,
        latest=latest_commits(workspace.repo, LATEST),
        changed=tuple(
            OftenChanged(path, commits)
            for path, commits in sorted(changed.items(), key=lambda each: (-each[1], each[0]))[:_CHANGED]
            if commits > 1
        ),
        commits=commits,
        tests=files_of_tests(path for path, *_ in outlines),
        inline_tests=sum(has and own == "rust" for _, own, _, _, has in outlines),
        runs=commands_for_tests(paths, read),
    )


def _is_shown(path: str, paths: frozenset[str]) -> bool:
    return path in paths and is_code(language_of(path) or "") and not traits(path, OUTSIDE_THE_PRODUCT)


def _tree(now: Snapshot) -> tuple[frozenset[str], Read]:
    """Return the paths of the regular files as they are now, and what reads a small one."""
    current = {entry.path: entry for entry in now.repo.entries(now.head.tree)}
    for change in now.changes:
        current.pop(change.path, None)
        if change.entry is not None:
            current[change.path] = change.entry
    regular = {
        path: entry.blob
        for path, entry in current.items()
        if entry.blob and entry.mode not in (SYMLINK_MODE, SUBMODULE_MODE)
    }

    def read(path: str) -> bytes | None:
        try:
            blob = regular[path]
            return now.reader.read(blob) if now.reader.size(blob) <= MANIFEST_BYTES else None
        except BlobError:
            return None

    return frozenset(regular), read


def map_files(workspace: Workspace) -> tuple[MappedFile, ...]:
    """Return what is known of each indexed file, uncommitted ones included, without updating the index."""
    from gitrag.store import inspection, views

    now = workspace.snapshot()
    with suppress(StoreMissingError), workspace.store.read() as db:
        view = views.current(db, workspace.repo.worktree)
        if view is not None:
            return tuple(inspection.mapped(db, view, recorded(db, now, view)))
    return ()
