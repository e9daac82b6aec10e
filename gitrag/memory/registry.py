"""The repositories that were indexed on this machine, and the groups that the user has put them in.

``repositories.json`` in the user's state directory holds paths only. It is replaced atomically; a lock is
held from reading to writing. Whoever asks a repository that it names opens it as any other: an entry that is
stale, or that somebody else wrote, leads to nothing that the user could not open by its path.

All worktrees of a repository share its index, and are one entry: the main one, where there is one.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from gitrag.errors import GitragError, StoreError, UsageError
from gitrag.git import Repository
from gitrag.machine import files
from gitrag.machine.locks import held_for_changes
from gitrag.words.spelling import did_you_mean

NAME: Final = "repositories.json"
MOST_BYTES: Final = 4 * 1024 * 1024
"""Largest file: tens of thousands of paths."""

_LONGEST_PATH = 4096
_LOCK_TIMEOUT_S = 10.0
_GLOB = frozenset("*?[")


class UnknownRepositoryError(UsageError):
    """No repository or group that gitrag knows has this name, or several have it."""


class RegisteredPlace(Struct, frozen=True):
    """A repository in the registry.

    Attributes:
        path: The top of its main worktree, else of the one that was indexed; of a bare one its directory.
        git_dir: The git directory that all its worktrees share.
    """

    path: Path
    git_dir: Path

    @classmethod
    def of(cls, repo: Repository) -> RegisteredPlace:
        """Return the entry of a repository, whichever of its worktrees it is seen from."""
        own = repo.root or repo.git_dir
        path = repo.common_dir.parent if repo.worktree and repo.common_dir.name == ".git" else own
        return cls(path, repo.common_dir)


class Known(Struct, frozen=True):
    """A repository that gitrag knows, by a name that no other one has.

    Attributes:
        name: Its directory's name, with as many of the directories above as are needed to tell it apart.
    """

    name: str
    entry: RegisteredPlace


@dataclass(frozen=True, slots=True)
class Registered:
    """What the registry holds.

    Attributes:
        entries: The repositories, in the order in which they came.
        groups: The git directories of several repositories, by a name for all.
    """

    entries: tuple[RegisteredPlace, ...] = ()
    groups: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    _named: list[Known] = field(default_factory=list, compare=False, repr=False)

    @property
    def known(self) -> tuple[Known, ...]:
        """The repositories with their names, in order of names."""
        if not self._named:
            self._named.extend(_named(self.entries))
        return tuple(self._named)

    def find(self, wanted: str) -> tuple[Known, ...]:
        """Return the repositories that a name, a glob or a path means, in order of names."""
        if _GLOB.isdisjoint(wanted):
            return (self._one(wanted),)
        found = tuple(
            each
            for each in self.known
            if any(
                fnmatchcase(text, wanted) for text in (each.name, each.entry.path.name, str(each.entry.path))
            )
        )
        if not found:
            raise UnknownRepositoryError(
                f'No repository that gitrag knows has a name like "{wanted}".', _listed(self.known)
            )
        return found

    def in_group(self, name: str) -> tuple[Known, ...]:
        """Return the repositories of a group, in order of names."""
        members = self.groups.get(name)
        if members is None:
            names = list(self.groups)
            there = f"There is: {', '.join(names)}." if names else "There is no group yet."
            raise UnknownRepositoryError(
                f'There is no group "{name}".{did_you_mean(name, names)}',
                f"{there} gitrag repos group NAME REPO… makes one.",
            )
        found = tuple(each for each in self.known if each.entry.git_dir in members)
        if not found:
            raise UnknownRepositoryError(
                f'No repository is in the group "{name}".', f"gitrag repos group {name} REPO…"
            )
        return found

    def at(self, git_dir: Path) -> Known | None:
        """Return the repository with a git directory; None if it is not known."""
        return next((each for each in self.known if each.entry.git_dir == git_dir), None)

    def _one(self, wanted: str) -> Known:
        for same in (
            lambda known: known.name == wanted,
            lambda known: known.name.casefold() == wanted.casefold(),
            lambda known: _ends_in(known.entry, wanted.casefold().rstrip("/")),
        ):
            found = [each for each in self.known if same(each)]
            if len(found) == 1:
                return found[0]
            if found:
                raise UnknownRepositoryError(
                    f'{len(found)} repositories are called "{wanted}".',
                    f"Say which: {', '.join(each.name for each in found)}.",
                )
        names = [each.name for each in self.known]
        raise UnknownRepositoryError(
            f'gitrag knows no repository "{wanted}".{did_you_mean(wanted, names)}', _listed(self.known)
        )


class Registry:
    """The registry of a user on this machine.

    Args:
        directory: Where it lies; the user's state directory by default. Made when something is first added.
    """

    def __init__(self, directory: Path | None = None) -> None:
        if directory is None:
            import platformdirs

            directory = platformdirs.user_state_path("gitrag")
        self.path = directory / NAME

    def read(self) -> Registered:
        """Return what the registry holds; entries that make no sense are left out.

        Raises:
            StoreError: The file cannot be read, or is no registry.
        """
        try:
            content = files.read_regular(self.path, MOST_BYTES)  # what is cut is no JSON
        except FileNotFoundError:
            return Registered()
        except OSError as error:
            raise StoreError(
                f"Cannot read {self.path}: {error.strerror}.", "Make it readable, or remove it."
            ) from error
        try:
            held = json.loads(content)
            listed = held["repositories"]
            groups = held.get("groups", {})
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(
                f"{self.path} is no list of repositories of gitrag's.",
                "Remove it; gitrag repos add PATH… makes it again.",
            ) from error
        entries = {each.git_dir: each for each in _entries(listed)}
        return Registered(tuple(entries.values()), dict(_groups(groups)))

    def add(self, entries: Iterable[RegisteredPlace]) -> list[RegisteredPlace]:
        """Add repositories.

        Returns:
            Those that were not there.
        """
        wanted = list(dict.fromkeys(entries))
        if set(wanted) <= set(self.read().entries):
            return []
        new: list[RegisteredPlace] = []

        def added(held: Registered) -> Registered:
            there = {each.git_dir: each for each in held.entries}
            for each in wanted:
                if each.git_dir not in there:
                    new.append(each)
                there[each.git_dir] = each
            places = {each.path: each for each in there.values()}  # what is at a path now was added last
            return replace(held, entries=tuple(each for each in there.values() if places[each.path] == each))

        self._change(added)
        return new

    def forget(self, gone: Iterable[RegisteredPlace]) -> None:
        """Remove repositories, from their groups too; groups that are empty then go."""
        dropped = {each.git_dir for each in gone}

        def without(held: Registered) -> Registered:
            kept = tuple(each for each in held.entries if each.git_dir not in dropped)
            left = {
                name: tuple(each for each in members if each not in dropped)
                for name, members in held.groups.items()
            }
            return Registered(kept, {name: members for name, members in left.items() if members})

        self._change(without)

    def group(self, name: str, members: Iterable[RegisteredPlace]) -> None:
        """Make a group of repositories, in place of what it was; without members it goes."""
        wanted = tuple(dict.fromkeys(each.git_dir for each in members))

        def grouped(held: Registered) -> Registered:
            groups = {**held.groups, name: wanted}
            return replace(held, groups={each: groups[each] for each in sorted(groups) if groups[each]})

        self._change(grouped)

    def _change(self, change: Callable[[Registered], Registered]) -> None:
        try:
            files.make_private(self.path.parent)
        except OSError as error:
            raise self._unwritable(error) from error
        with held_for_changes(self.path, _LOCK_TIMEOUT_S):
            held = self.read()
            new = change(held)
            if new == held:
                return
            content = {
                "repositories": [
                    {"path": str(each.path), "git_dir": str(each.git_dir)} for each in new.entries
                ],
                "groups": {name: list(map(str, members)) for name, members in new.groups.items()},
            }
            try:
                files.replace(self.path, json.dumps(content, indent=1).encode("ascii"), files.PRIVATE)
            except OSError as error:
                raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> StoreError:
        return StoreError(
            f"Cannot write {self.path}: {error.strerror}.",
            "gitrag search --everywhere cannot find what is not listed there; make it writable.",
        )


def remember(repo: Repository, say: Callable[[str], None]) -> None:
    """Add a repository that was indexed; where that fails, say so: its index is as good."""
    try:
        Registry().add([RegisteredPlace.of(repo)])
    except GitragError as error:
        say(f"{error} {error.hint}".strip())


def _named(entries: Sequence[RegisteredPlace]) -> list[Known]:
    """Name repositories by the shortest ends of their paths that tell them apart."""
    parts = [_place(each).parts for each in entries]
    ends = [1] * len(parts)
    while True:
        names = ["/".join(own[-end:]).lstrip("/") or "/" for own, end in zip(parts, ends, strict=True)]
        times = Counter(name.casefold() for name in names)
        short = [
            at for at, name in enumerate(names) if times[name.casefold()] > 1 and ends[at] < len(parts[at])
        ]
        if not short:
            break
        for at in short:
            ends[at] += 1
    return sorted(map(Known, names, entries), key=lambda known: (known.name.casefold(), known.entry.path))


def _place(entry: RegisteredPlace) -> Path:
    """Return the directory that a repository is called after: ``x/.git`` and ``x/.bare`` are both ``x``."""
    if entry.git_dir.name.startswith("."):
        return entry.git_dir.parent
    return entry.path.with_name(entry.path.name.removesuffix(".git") or entry.path.name)


def _ends_in(entry: RegisteredPlace, wanted: str) -> bool:
    return bool(wanted) and f"/{_place(entry)}".casefold().endswith(f"/{wanted}")


def _listed(known: Sequence[Known]) -> str:
    if not known:
        return "It knows none yet: gitrag index, or gitrag repos add PATH…"
    return "gitrag repos list lists them; gitrag repos add PATH adds one."


def _entries(listed: Any) -> Iterator[RegisteredPlace]:
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict) and _is_path(each.get("path")) and _is_path(each.get("git_dir")):
            yield RegisteredPlace(Path(each["path"]), Path(each["git_dir"]))


def _groups(held: Any) -> Iterator[tuple[str, tuple[Path, ...]]]:
    for name, members in held.items() if isinstance(held, dict) else ():
        if isinstance(members, list):
            yield name, tuple(Path(each) for each in members if _is_path(each))


def _is_path(value: Any) -> bool:
    if not isinstance(value, str) or len(value) > _LONGEST_PATH or "\0" in value:
        return False
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        return False
    return value.startswith("/") and os.path.normpath(value) == value
