"""What exists and yet no question finds: files that are left out of the index, and the way in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from gitrag.actions.current_view import CurrentView
from gitrag.chunking.languages import language_of
from gitrag.git import matcher
from gitrag.git.grep import files_with
from gitrag.indexing.notices import FETCH
from gitrag.machine.files import existing
from gitrag.model import Skip
from gitrag.search.lookup import Tail, read
from gitrag.store import candidates
from gitrag.store.candidates import NO_FILTERS, Filters
from gitrag.words.numbers import count
from gitrag.words.typed_paths import composed
from gitrag.workspace import Workspace

_ATTRIBUTE = "the attribute `gitrag` in .gitattributes brings it in"
SUBMODULES = "searched with --submodules"
_TEXT = {
    Skip.TOO_LARGE: "over max_file_bytes (gitrag config set max_file_bytes, or the attribute `gitrag`)",
    Skip.MINIFIED: f"minified ({_ATTRIBUTE})",
    Skip.GENERATED: f"generated ({_ATTRIBUTE})",
    Skip.VENDORED: f"vendored ({_ATTRIBUTE})",
    Skip.LOCK_FILE: f"a lock file ({_ATTRIBUTE})",
    Skip.IGNORED: "by .gitragignore, `exclude` or `-gitrag`",
}
"""Why text is left out, which can be read all the same."""
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
    """What is left out of what a question looked at, read once however much is asked of it.

    Args:
        workspace: The repository.
        view: What was asked.
    """

    def __init__(self, workspace: Workspace, view: CurrentView) -> None:
        self._workspace, self._view = workspace, view

    def named(self, text: str, directory: str = "", found: Sequence[str] = ()) -> tuple[str, ...] | None:
        """Say of a path in a question why it is not found, though it exists, a sentence each; None if it is.

        Args:
            text: The question.
            directory: Where relative paths start.
            found: The paths that were found.
        """
        tails = read(text, directory).tails
        if not any("/" in tail.path or "." in tail.path for tail in tails):
            return ()
        every, _, _ = self._every
        for tail in tails:
            if any(_is_meant(path, tail) or f"/{tail.path}/" in f"/{path}" for path in found):
                return None
            if said := _at(tail, every):
                return tuple(said)
        return _ignored(self._workspace, tails)

    def holding(self, words: Sequence[str], filters: Filters = NO_FILTERS) -> tuple[str, ...]:
        """Say which files that are left out, but not by filters, have words, a sentence each."""
        every, changed, commit = self._every
        allowed = matcher(filters.globs) if filters.globs else None
        why_of = {
            path: _REASONS[Skip(why)]
            for path, why in every.items()
            if why in _TEXT
            and (allowed is None or allowed(path))
            and (not filters.languages or language_of(path) in filters.languages)
        }
        places = [(commit, why_of.keys() - changed)] if commit else []
        places.append(("", why_of.keys() & changed))
        said = []
        for word in words[:_WORDS]:
            having: list[str] = []
            for at, paths in places:
                given = sorted(paths) if len(paths) <= _GIVEN else ()
                found = files_with(self._workspace.repo, at, word, _FINDING_S, given)[0] if paths else []
                having += [path for path in found if path in paths]
            said += [f'"{word}" is in {path}, left out: {why_of[path]}' for path in having[:_NAMED]]
            if len(having) > _NAMED:
                said.append(f"{count(len(having) - _NAMED, 'more file')} that are left out have it")
        modules = [path for path, why in every.items() if why == Skip.SUBMODULE]
        if said or not modules or filters != NO_FILTERS:
            return tuple(said)
        more = f" and {len(modules) - _NAMED} more" if len(modules) > _NAMED else ""
        return (f"not searched: {', '.join(modules[:_NAMED])}{more} ({SUBMODULES})",)

    @cached_property
    def _every(self) -> tuple[dict[str, str], set[str], str]:
        """All paths that are left out, and why; which are uncommitted; and the commit, empty for none."""
        result = self._view.read(candidates.left_out)
        changes = {change.path: change for change in result.now.changes}
        every = {
            path: why
            for path, why, is_hidden in result.found
            if not is_hidden or (path in changes and changes[path].entry)
        }
        every |= {path: change.skip.value for path, change in changes.items() if change.skip}
        return every, {*changes}, result.refreshed.head.commit or ""


def of_target(workspace: Workspace, target: str) -> tuple[str, ...]:
    """Say why a path or a name that exists is not found, a sentence each; else nothing."""
    left_out = LeftOut(workspace, CurrentView(workspace))
    return left_out.named(target) or left_out.holding([re.split(r"[.:#]+", target)[-1]])


def _is_meant(path: str, tail: Tail) -> bool:
    own, wanted = (composed(each).casefold() for each in (path, tail.path))
    return own == wanted or (not tail.anchored and own.endswith(f"/{wanted}"))


def _at(tail: Tail, every: Mapping[str, str]) -> list[str]:
    """Say what is left out where a path leads: the file, what it lies in, what lies in it."""
    wanted = composed(tail.path).casefold()
    inside: list[str] = []
    for path, why in every.items():
        own = composed(path).casefold()
        if _is_meant(path, tail):
            return [f"there is {path}, but it is left out: {_REASONS[Skip(why)]}"]
        if tail.anchored and why in _ABOVE and wanted.startswith(f"{own}/"):
            return [f"there is {path}, but it is left out: {_REASONS[Skip(why)]}"]
        if own.startswith(f"{wanted}/"):
            inside.append(why)
    return [
        f"there is {tail.path}/, but of it {count(many, 'file')} left out: {_REASONS[Skip(why)]}"
        for why, many in Counter(inside).most_common(_NAMED)
    ]


def _ignored(workspace: Workspace, tails: Iterable[Tail]) -> tuple[str, ...]:
    """Say that git ignores a path that exists."""
    repo = workspace.repo
    for tail in tails:
        if repo.root is None or not tail.anchored or existing(repo.root / tail.path) is None:
            continue
        if not repo.git("check-ignore", "--quiet", "--", tail.path).returncode:
            return (f"there is {tail.path}, but git ignores it",)
    return ()
