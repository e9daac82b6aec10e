"""The definitions that a change touches, and the commits that touch a definition."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from gitrag.actions.impact import Called, weight
from gitrag.callgraph.reach import Uncalled
from gitrag.chunking import chunk, language_of
from gitrag.chunking.languages import is_code
from gitrag.embedding.text import chunk_text
from gitrag.errors import GitragError, UsageError
from gitrag.git.commits import PLAIN_GRAPH, CommitError, commit_ids
from gitrag.git.conversion import as_stored
from gitrag.git.difference import ChangedFile, changed_files, ends_of
from gitrag.git.environment import GitTimeoutError
from gitrag.git.grep import GrepLine, changing_count, files_with, grep
from gitrag.git.repository import BlobError, Repository
from gitrag.indexing.history import MOST_COMMITS
from gitrag.machine.files import read_regular
from gitrag.machine.programs import PrintedTooMuchError
from gitrag.model import DEFINITIONS, Chunk, ChunkOfFile
from gitrag.search.lookup import dotted, lies_in
from gitrag.search.similar_chunks import SimilarChunk
from gitrag.words.numbers import count
from gitrag.words.path_traits import Trait, traits
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from gitrag.store.connection import Connection
    from gitrag.store.views import ViewOverlay

Cut: TypeAlias = Callable[[str, bytes], Sequence[Chunk]]
"""Cuts a side of a file, given its path and content, into chunks."""

_MOST_COMPARED = 400
"""Files of code whose definitions are compared."""

_MOST_PATHS = 20
"""A commit that changes more tells of no single definition."""

_MOST_REMOVED = 20
_SHORTEST_NAME = 4
"""Characters of a name that is looked for in other files: shorter ones are words of their own."""

_CALL = re.compile(r"\w[.:>]+\w+[!?]?\(|\b\w+\(|<%|\{\{")

_MOVES = {"added": "removed", "removed": "added"}
_UNTESTED = 2
"""A definition that no test calls counts so many times."""


class Touched(ChunkOfFile, Struct, frozen=True):
    """A definition that a change adds, changes or removes.

    Attributes:
        path: Its file.
        chunk: Its first chunk; of a removed one as it was.
        how: ``added``, ``changed`` or ``removed``.
        is_moved: Whether the change removes it elsewhere, or adds it there.
        called: Who calls it; None where nobody was found, or it was not looked for.
        is_looked_for: Whether its callers were looked for; of a removed one, what still has its name.
        known: Where no call was resolved to it, what else is known of who calls it.
        named: Of a removed one the lines outside the change that still have its name.
        existing: Definitions that are like it, best first.
    """

    path: str
    chunk: Chunk
    how: str
    is_moved: bool = False
    called: Called | None = None
    is_looked_for: bool = False
    named: tuple[GrepLine, ...] = ()
    known: Uncalled | None = None
    existing: tuple[SimilarChunk, ...] = ()

    @property
    def still_named(self) -> tuple[str, ...]:
        """Of a removed one the places outside the change that have its name: ``path:line``."""
        return tuple(f"{line.path}:{line.number}" for line in self.named)

    @property
    def risk(self) -> int:
        """Its places in product code that may break: twice as much if no test calls it, or it is gone."""
        if self.how == "removed":
            return _UNTESTED * len(self.named)
        if self.called is None:
            return 0
        return weight(self.called) * (1 if self.called.tests else _UNTESTED)


def cutting_once() -> Cut:
    """Return what cuts a side of a file into chunks, each only once however often it is asked for."""
    return cache(lambda path, data: tuple(chunk(data, language_of(path, data))))


def touched_by(files: Sequence[ChangedFile], cut: Cut, notes: list[str]) -> list[Touched]:
    """Return the definitions that a change adds, alters and removes, by file.

    Args:
        notes: What was not looked at is added here, a sentence each.
    """
    found: list[Touched] = []
    code = [file for file in files if is_code(language_of(file.path) or "")]
    unread = [file for file in code if file.before is None and file.after is None]
    if unread:
        notes.append(
            f"{count(len(unread), 'file')} of code could not be compared: links, larger than 1 MiB, or beyond"
            " the 64 MiB that are read in all."
        )
    if len(code) > _MOST_COMPARED:
        notes.append(f"Of {len(code):,} files of code the definitions of {_MOST_COMPARED} were compared.")
    for file in code[:_MOST_COMPARED]:
        before, after = (definitions_of(file.path, side, cut) for side in (file.before, file.after))
        for name, (first, text) in after.items():
            if name not in before or before[name][1] != text:
                how = "changed" if name in before else "added"
                found.append(Touched(file.path, first, how))
        found += [
            Touched(file.path, first, "removed") for name, (first, _) in before.items() if name not in after
        ]
    texts = [chunk_text(each.chunk) if each.how in _MOVES else "" for each in found]
    by_how = {
        how: {text for each, text in zip(found, texts, strict=True) if each.how == how} for how in _MOVES
    }
    return [
        replace(each, is_moved=True) if text in by_how.get(_MOVES.get(each.how, ""), ()) else each
        for each, text in zip(found, texts, strict=True)
    ]


def still_named(
    workspace: Workspace,
    removed: Sequence[Touched],
    files: Sequence[ChangedFile],
    span: str,
    notes: list[str],
) -> list[Touched]:
    """Return what is removed, with the lines of files outside the change that still have its name."""
    if not removed:
        return []
    if ends_of(span)[1] and not _ends_here(workspace, span):
        notes.append(
            "What still names the removed definitions was not looked for: the range ends at another commit"
            " than the working tree's."
        )
        return list(removed)
    ordered = sorted(removed, key=lambda each: bool(traits(each.path) & Trait.TEST))
    sought = {each: pattern for each in ordered if (pattern := _sought(each))}
    asked = list(sought)[:_MOST_REMOVED]
    if len(asked) < len(removed):
        left = len(removed) - len(asked)
        notes.append(
            f"Of {count(left, 'removed definition')} was not looked for what still names it: names of fewer"
            f" than {_SHORTEST_NAME} characters, or beyond {_MOST_REMOVED}."
        )
    changed = {file.path for file in files}
    there, is_whole = grep(workspace.repo, [sought[each][0] for each in asked], names=True)
    lines = [line for line in there if line.path not in changed and _is_read(line)]
    found = {each: tuple(line for line in lines if sought[each][1].search(line.text)) for each in asked}
    if not is_whole:
        notes.append(
            "The search for what still names the removed definitions was cut off (3 s, 512 KiB, or 40 lines a"
            " file): there may be more."
        )
        found = {each: own for each, own in found.items() if own}
    return [replace(each, named=found.get(each, ()), is_looked_for=each in found) for each in removed]


def _ends_here(workspace: Workspace, span: str) -> bool:
    return workspace.repo.resolve(ends_of(span)[1]).commit == workspace.repo.head().commit


def _is_read(line: GrepLine) -> bool:
    """Tell whether a line is code: in a template one that calls something."""
    language = language_of(line.path) or ""
    return is_code(language) or (language == "html" and _CALL.search(line.text) is not None)


def _sought(each: Touched) -> tuple[str, re.Pattern[str]] | None:
    """Return the name to look for, and what a line has: of a short one its owner's before it."""
    *owners, name = re.split(r"[.:#]+", each.name)
    if len(name) >= _SHORTEST_NAME:
        return name, re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    if owners and len(owners[-1]) >= _SHORTEST_NAME:
        return owners[-1], re.compile(rf"(?<!\w){re.escape(owners[-1])}(?:\.|::|->|#){re.escape(name)}(?!\w)")
    return None


def definitions_of(path: str, data: bytes | None, cut: Cut) -> dict[str, tuple[Chunk, str]]:
    """Return a file's definitions by qualified name: the first chunk of each, and the text of all."""
    found: dict[str, tuple[Chunk, str]] = {}
    for each in cut(path, data) if data is not None and language_of(path) is not None else ():
        if each.kind in DEFINITIONS and each.name:
            first, text = found.get(each.qualified_name, (each, ""))
            found[each.qualified_name] = first, f"{text}\n{each.text}"
    return found


def touched_by_commits(
    repo: Repository, commits: Sequence[tuple[str, int]], timeout_s: float
) -> list[tuple[str, ...] | None]:
    """Return the qualified names of the definitions that each of some commits touches, those of tests last.

    Merges are compared with their first parents.

    Args:
        commits: Their ids, and how many paths each changes.

    Returns:
        None for one that was not looked at, or not all of it: it changes more than 20 paths, it is a first
        commit, the clone lacks files of it, one is too large, or the time was over.
    """
    end = time.monotonic() + timeout_s
    cut = cutting_once()
    found: list[tuple[str, ...] | None] = []
    for own, changed in commits:
        is_looked_at = changed <= _MOST_PATHS and time.monotonic() < end
        found.append(_touched_by_commit(repo, own, cut) if is_looked_at else None)
    return found


def _touched_by_commit(repo: Repository, commit: str, cut: Cut) -> tuple[str, ...] | None:
    missing: list[str] = []
    try:
        touched = touched_by(changed_files(repo, f"{commit}^..{commit}", PLAIN_GRAPH), cut, missing)
    except GitragError:  # among them that it has no parent
        return None
    if missing:
        return None
    kept = [each for each in touched if each.how != "removed"]
    kept += [each for each in touched if each.how == "removed" and not each.is_moved]
    ordered = sorted(kept, key=lambda each: bool(traits(each.path) & Trait.TEST))
    return tuple(dict.fromkeys(each.name for each in ordered))


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


Removed = tuple[str, str, int, int]
"""A commit, and path, first and last line of a definition that it removed."""


def commits_touching(workspace: Workspace, commit: str, name: str, notes: list[str]) -> list[str]:
    """Return the commits that changed the lines of a definition, as git follows them.

    Where the commit has none of this name, the newest one before it that removed one is looked for; it counts
    too.

    Args:
        notes: What was not looked at is added here, a sentence each.
    """
    parts = tuple(dotted(name).split("."))
    if not parts[-1]:
        raise UsageError(f"{name[:80]!r} is no name of a definition.", _HINT)
    defined, is_whole, now = _defined(workspace, commit, parts)
    if defined:
        return _followed(workspace, commit, name, defined, notes)
    missing = f"No definition is called {name[:80]!r} in {commit[:10]}"
    if not is_whole:
        missing = (
            f"No definition called {name[:80]!r} was found in {commit[:10]}, not all of which was looked at"
        )
    if now:
        missing += f", though one is in {now} as it is now"
    removed = _removed(workspace, commit, parts, missing)
    own, paths = removed[0][0], list(dict.fromkeys(path for _, path, *_ in removed))
    others = f" and {count(len(paths) - 1, 'other file')}" if len(paths) > 1 else ""
    notes.append(f"{missing}: {own[:10]} removed it from {paths[0]}{others}.")
    were = [(path, first, last) for _, path, first, last in removed]
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


def _defined(
    workspace: Workspace, commit: str, parts: Sequence[str]
) -> tuple[Sequence[tuple[str, int, int]], bool, str]:
    """Find the definitions of a name in the files of a commit: by the index, else by git.

    Returns:
        Path, first and last line of each; whether all files were looked at; and a file of the working tree
        that defines it, where no file of the commit does, empty for none.
    """
    from gitrag.actions.current_view import CurrentView
    from gitrag.search.lookup import look_up_name
    from gitrag.store.export import tree_of
    from gitrag.store.scopes import NO_FILTERS, open_scope
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
        return found, True, ""
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
    return found, is_whole, own


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
    """Return what the newest commit removed that was found to remove a definition of a name."""
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
        (commit, path, *lines)
        for path in [path for path in paths if is_code(language_of(path) or "")][:_MOST_FILES]
        if not _lines_of(workspace, commit, path, parts)
        for lines in _lines_of(workspace, f"{commit}^", path, parts)
    ]
