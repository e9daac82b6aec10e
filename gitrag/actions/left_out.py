"""What exists and yet no question finds: files that are left out of the index, and the way in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from gitrag.actions.current_view import CurrentView, ReadResult
from gitrag.chunking.languages import language_of
from gitrag.errors import BusyError, StoreError
from gitrag.git import matcher
from gitrag.git.grep import files_with
from gitrag.git.meant import followed
from gitrag.indexing.notices import FETCH
from gitrag.indexing.snapshot import ContentReader
from gitrag.machine.files import existing
from gitrag.model import Skip
from gitrag.search.engine import Hit
from gitrag.search.lookup import Tail, names_a_path, read
from gitrag.store import scopes, views
from gitrag.store.scopes import NO_FILTERS, Filters, LeftOutRow
from gitrag.store.views import ViewOverlay
from gitrag.words.numbers import count, size
from gitrag.words.typed_paths import composed, typed
from gitrag.workspace import Workspace

_LARGE = "(gitrag config set max_file_bytes, or the attribute `gitrag`)"
_ATTRIBUTE = "the attribute `gitrag` in .gitattributes brings it in"
SUBMODULES = "searched with --submodules"
NOT_SEARCHED = "not searched: "
"""How a sentence begins on what may have what was asked for, and was not looked at."""
_TEXT = {
    Skip.TOO_LARGE: f"over max_file_bytes {_LARGE}",
    Skip.OUTLINED: "only its outline is indexed: {size} " + _LARGE,
    Skip.MINIFIED: f"minified ({_ATTRIBUTE})",
    Skip.GENERATED: f"generated ({_ATTRIBUTE})",
    Skip.VENDORED: f"vendored ({_ATTRIBUTE})",
    Skip.LOCK_FILE: f"a lock file ({_ATTRIBUTE})",
    Skip.IGNORED: "by .gitragignore, `exclude` or `-gitrag`",
}
"""Why text is left out, or all but its outline, which can be read all the same."""
_REASONS = {
    **_TEXT,
    Skip.BINARY: "binary",
    Skip.LFS: "git has only its address (git lfs pull)",
    Skip.SYMLINK: "a link that leads out of the repository, or nowhere",
    Skip.SUBMODULE: f"a submodule ({SUBMODULES})",
    Skip.ABSENT: f"not in this partial clone ({FETCH})",
    Skip.UNREADABLE: "it cannot be read (gitrag doctor)",
}
_ABOVE = {Skip.SUBMODULE, Skip.SYMLINK}
"""What a path that is given may lie in."""

_NAMED = 3
"""Files that are named in an answer."""

_WORDS = 2
_FINDING_S = 1.0
"""Words that are looked for in what is left out, and seconds for each."""

_GIVEN = 400
"""More paths are not given to git one by one: it looks at all files then."""


class LeftOut:
    """What is left out of what a question looked at.

    Args:
        rows: What is left out: `scopes.left_out`.
    """

    def __init__(self, workspace: Workspace, rows: Sequence[LeftOutRow], state: ReadResult[Any]) -> None:
        self._workspace, self._rows, self._state = workspace, rows, state

    @classmethod
    def read(cls, workspace: Workspace, view: CurrentView) -> LeftOut:
        """Read which files the index leaves out of a view."""
        result = view.read(scopes.left_out)
        return cls(workspace, result.found, result)

    def named(self, text: str, directory: str = "", found: Sequence[str] = ()) -> tuple[str, ...] | None:
        """Say why a question's path is not found, though it exists, a sentence each; None if it is."""
        if not names_a_path(text, directory):
            return ()
        tails = read(text, directory).tails
        for tail in tails:
            if any(_is_meant(path, tail) or f"/{tail[0]}/" in f"/{path}" for path in found):
                return None
            if said := self._at(tail):
                return tuple(said)
        return _ignored(self._workspace, tails)

    def holding(self, words: Sequence[str], filters: Filters = NO_FILTERS) -> tuple[str, ...]:
        """Say which files that are left out, but not by filters, have words, a sentence each."""
        every, changed, commit = self._every
        allowed = matcher(filters.globs) if filters.globs else None
        text = {
            path
            for path, why in every.items()
            if why in _TEXT
            and (allowed is None or allowed(path))
            and (not filters.languages or language_of(path) in filters.languages)
        }
        places = [(commit, text - changed)] if commit else []
        places.append(("", text & changed))
        said = []
        for word in words[:_WORDS]:
            having: list[str] = []
            for at, paths in places:
                given = sorted(paths) if len(paths) <= _GIVEN else ()
                found = files_with(self._workspace.repo, at, word, _FINDING_S, given)[0] if paths else []
                having += [path for path in found if path in paths]
            said += [f'"{word}" is in {path}, {self._why(path)}' for path in having[:_NAMED]]
            if len(having) > _NAMED:
                said.append(f"{count(len(having) - _NAMED, 'more file')} that are left out have it")
        modules = [path for path, why in every.items() if why == Skip.SUBMODULE]
        if said or not modules or filters != NO_FILTERS:
            return tuple(said)
        more = f" and {len(modules) - _NAMED} more" if len(modules) > _NAMED else ""
        return (f"{NOT_SEARCHED}{', '.join(modules[:_NAMED])}{more} ({SUBMODULES})",)

    @cached_property
    def _every(self) -> tuple[dict[str, str], set[str], str]:
        """All paths that are left out, and why; which are uncommitted; and the commit, empty for none."""
        changes = {change.path: change for change in self._state.now.changes}
        every = {
            path: why
            for path, why, is_hidden, _ in self._rows
            if not is_hidden or (path in changes and changes[path].entry)
        }
        every |= {path: change.skip.value for path, change in changes.items() if change.skip}
        return every, {*changes}, self._state.refreshed.head.commit or ""

    def among(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Say which of some files are left out, a sentence each."""
        return tuple(f"{path}: {self._why(path)}" for path in paths if path in self._every[0])

    def _why(self, path: str) -> str:
        why = Skip(self._every[0][path])
        blob = next((row[3] for row in self._rows if row[:2] == (path, why)), "")
        return _why(why, blob, self._state.now.reader)

    def _at(self, tail: Tail) -> list[str]:
        """Say what is left out where a path leads: the file, what it lies in, what lies in it."""
        name, is_whole = tail
        wanted = composed(name).casefold()
        inside: list[str] = []
        for path, why in self._every[0].items():
            own = composed(path).casefold()
            if _is_meant(path, tail) or (is_whole and why in _ABOVE and wanted.startswith(f"{own}/")):
                if why == Skip.SYMLINK and followed(self._workspace.repo.root, path) != path:
                    return []  # what it leads to is searched
                return [f"there is {path}, but {'' if why == Skip.OUTLINED else 'it is '}{self._why(path)}"]
            if own.startswith(f"{wanted}/") and why != Skip.OUTLINED:
                inside.append(why)
        return [
            f"there is {name}/, but of it {count(many, 'file')} left out: {_REASONS[Skip(why)]}"
            for why, many in Counter(inside).most_common(_NAMED)
        ]


def outline_lines(hits: Iterable[Hit], blobs: Mapping[int, str], reader: ContentReader) -> tuple[str, ...]:
    """Say of which files found only the outline is indexed, and how large each is, a sentence each."""
    found = {hit.path: blobs[hit.content_id] for hit in hits if hit.content_id in blobs}
    return tuple(f"{path}: {_why(Skip.OUTLINED, blob, reader)}" for path, blob in found.items())


def of_paths(workspace: Workspace, paths: Sequence[str]) -> tuple[str, ...]:
    """Say why searches do not find some committed files, or only their outlines, a sentence each."""
    with suppress(StoreError, BusyError), workspace.store.read() as db:
        if paths and (view := views.current(db, workspace.repo.worktree)):
            rows = scopes.left_out(db, view.view_id, ViewOverlay(), paths)
            reader = ContentReader(workspace.repo)
            return tuple(f"{path}: {_why(Skip(why), blob, reader)}" for path, why, _, blob in rows)
    return ()


def of_path(workspace: Workspace, path: str) -> tuple[str, ...]:
    """Say in a sentence why searches do not find a file that is there, or only its outline."""
    parts = path.split("/")
    places = ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]
    with suppress(StoreError, BusyError), workspace.store.read() as db:
        view = views.current(db, workspace.repo.worktree)
        if view is None:
            return ()
        rows = {row[0]: row for row in scopes.left_out(db, view.view_id, ViewOverlay(), places)}
        if row := next((rows[place] for place in places if place in rows), None):
            return (f"{row[0]}: {_why(Skip(row[1]), row[3], ContentReader(workspace.repo))}",)
        if not views.look_up(db, view.view_id, ViewOverlay(), [path]):
            return _ignored(workspace, [(path, True)])
    return ()


def _why(why: Skip, blob: str, reader: ContentReader) -> str:
    """Return that a file is left out, and why, or how much of it is."""
    if why is Skip.OUTLINED:
        return _TEXT[why].format(size=size(reader.size(blob)))
    return f"left out: {_REASONS[why]}"


def of_target(workspace: Workspace, target: str) -> tuple[str, ...]:
    """Say why a path or a name that exists is not found, a sentence each; else nothing."""
    left_out = LeftOut.read(workspace, CurrentView(workspace))
    path = typed(re.sub(r"(?::\d+)+$", "", target))
    is_path = language_of(path)  # what its ending or its line says is a name in many a minified file
    return left_out.named(target) or (() if is_path else left_out.holding([re.split(r"[.:#]+", target)[-1]]))


def _is_meant(path: str, tail: Tail) -> bool:
    own, wanted = (composed(each).casefold() for each in (path, tail[0]))
    return own == wanted or (not tail[1] and own.endswith(f"/{wanted}"))


def _ignored(workspace: Workspace, tails: Iterable[Tail]) -> tuple[str, ...]:
    """Say that git ignores a path that exists."""
    repo = workspace.repo
    for path, is_whole in tails:
        if repo.root is None or not is_whole or existing(repo.root / path) is None:
            continue
        if not repo.git("check-ignore", "--quiet", "--", path).returncode:
            return (f"there is {path}, but git ignores it",)
    return ()
