"""Find the commits that changed a definition, also one that is there no more."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from gitrag.chunking import chunk, language_of
from gitrag.chunking.languages import is_code
from gitrag.errors import UsageError
from gitrag.git.commits import CommitError, commit_ids
from gitrag.git.environment import GitTimeoutError
from gitrag.git.pickaxe import changing_count
from gitrag.indexing.history import MOST_COMMITS
from gitrag.machine.programs import PrintedTooMuchError
from gitrag.words.numbers import count
from gitrag.workspace import Workspace

_MOST_PLACES = 5
_MOST_CHANGES = 1_000
_MOST_BYTES = 16 << 20
_FOLLOWING_S = 10.0
"""Time limit for git to follow one definition through the history."""

_LOOKING_S = 10.0
"""Time limit for finding the commit that removed a definition: 20,000 commits of sympy take four."""

_FIRST_BATCH = 250
_MOST_FILES = 50


@dataclass(frozen=True, slots=True)
class Removed:
    """A definition that a commit removed.

    Attributes:
        commit: The commit.
        path: Its file.
        line_start: Its first line, before the commit.
        line_end: Its last line.
    """

    commit: str
    path: str
    line_start: int
    line_end: int


def commits_touching(workspace: Workspace, commit: str, name: str, notes: list[str]) -> list[str]:
    """Return the commits that changed the lines of a definition, as git follows them.

    Where there is none of this name now, the newest commit that removed one is looked for; it counts too.

    Args:
        workspace: gitrag on the repository.
        commit: The commit whose history counts.
        name: The definition's name, qualified or not.
        notes: What was not looked at is added here, a sentence each.

    Raises:
        UsageError: No definition of this name is found.
    """
    places = _places(workspace, commit, name)
    if not places:
        removed = _removed(workspace, commit, name)
        own = removed[0].commit
        notes.append(f"No definition is called {name[:80]!r} any more: {own[:10]} removed it.")
        were = [(each.path, each.line_start, each.line_end) for each in removed]
        return [own, *_followed(workspace, f"{own}^", name, were, notes)]
    return _followed(workspace, commit, name, places, notes)


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


def _places(workspace: Workspace, commit: str, name: str) -> list[tuple[str, int, int]]:
    """Return path, first and last line in a commit of the definitions that have a name."""
    from gitrag.actions.current_view import CurrentView
    from gitrag.search.lookup import look_up_name
    from gitrag.store.candidates import NO_FILTERS, open_scope
    from gitrag.store.source import IndexFile

    named = CurrentView(workspace).read(
        lambda db, view_id, overlay: (
            look_up_name(IndexFile(db), open_scope(db, view_id, overlay, NO_FILTERS), name).named
        )
    )
    paths = dict.fromkeys(each.path for each in named.found)
    return [(path, *lines) for path in paths for lines in _lines_of(workspace, commit, path, name)]


def _lines_of(workspace: Workspace, commit: str, path: str, name: str) -> list[tuple[int, int]]:
    """Return first and last line of the definitions of a name in a file of a commit, if it is there."""
    done = workspace.repo.git("cat-file", "blob", f"{commit}:{path}", most_bytes=_MOST_BYTES)
    lines: dict[str, list[int]] = {}
    for each in chunk(done.stdout, language_of(path)) if not done.returncode else ():
        if each.name and f".{each.qualified_name}".endswith(f".{name}"):
            lines.setdefault(each.qualified_name, []).extend((each.line_start, each.line_end))
    return [(min(own), max(own)) for own in lines.values()]


def _removed(workspace: Workspace, commit: str, name: str) -> list[Removed]:
    """Return what the newest commit removed that removed a definition of a name.

    Raises:
        UsageError: None did of those that could be looked at.
    """
    hint = "`gitrag search NAME` finds names."
    missing = f"No definition is called {name[:80]!r} in the files as they are now"
    text = re.split(r"[.:#]+", name)[-1]
    end = time.monotonic() + _LOOKING_S
    looked, size = 0, _FIRST_BATCH
    ids: list[str] = []
    with suppress(CommitError, GitTimeoutError, PrintedTooMuchError):
        ids = commit_ids(workspace.repo, commit, MOST_COMMITS) if text else []
        while looked < len(ids) and time.monotonic() < end:
            batch = ids[looked : looked + size]
            left = max(end - time.monotonic(), 0.01)
            for own, paths in changing_count(workspace.repo, batch, text, left):
                if found := _removed_by(workspace, own, paths, name):
                    return found
                if time.monotonic() > end:
                    break
            else:
                looked, size = looked + len(batch), 2 * size
    if looked < len(ids):
        told = f"of {count(len(ids), 'commit')} the newest {looked:,} removed none, others were not looked at"
        raise UsageError(f"{missing}; {told}.", hint)
    raise UsageError(f"{missing}, and none of {count(looked, 'commit')} removed one (merges apart).", hint)


def _removed_by(workspace: Workspace, commit: str, paths: Sequence[str], name: str) -> list[Removed]:
    return [
        Removed(commit, path, *lines)
        for path in [path for path in paths if is_code(language_of(path) or "")][:_MOST_FILES]
        if not _lines_of(workspace, commit, path, name)
        for lines in _lines_of(workspace, f"{commit}^", path, name)
    ]
