"""The repositories that gitrag knows: where each stands; add one, and put some in a group."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from gitrag.errors import UsageError
from gitrag.git import Repository
from gitrag.memory.registry import Known, Registered, RegisteredPlace, Registry
from gitrag.store.file_state import NAME as INDEX

_LONGEST_GROUP = 60


class Standing(StrEnum):
    """What is at a repository's place, as far as can be told without opening it."""

    INDEXED = "indexed"
    NOT_INDEXED = "not indexed"
    GONE = "not there"


class KnownRepository(Struct, frozen=True):
    """A repository that gitrag knows.

    Attributes:
        name: What ``--repo`` takes.
        path: Its main worktree; of a bare one its directory.
        standing: indexed, not indexed, or not there: moved, deleted or not mounted.
        groups: The groups that it is in.
    """

    name: str
    path: Path
    standing: Standing
    groups: tuple[str, ...]


def standing_of(entry: RegisteredPlace) -> Standing:
    """Return what is at a repository's place."""
    with suppress(OSError):
        if entry.path.is_dir() and entry.git_dir.is_dir():
            return Standing.INDEXED if (entry.git_dir / "gitrag" / INDEX).is_file() else Standing.NOT_INDEXED
    return Standing.GONE


def listed(held: Registered) -> list[KnownRepository]:
    """Return the repositories of the registry, in order of names."""
    return [
        KnownRepository(
            each.name,
            each.entry.path,
            standing_of(each.entry),
            tuple(name for name, members in held.groups.items() if each.entry.git_dir in members),
        )
        for each in held.known
    ]


def add(registry: Registry, places: Sequence[Path]) -> tuple[list[Known], list[Known]]:
    """Add the repositories that some directories are in.

    Returns:
        Those that are new, and those that were known.
    """
    entries = [RegisteredPlace.of(Repository.discover(place)) for place in places]
    new = set(registry.add(entries))
    held = registry.read()
    named = [known for entry in dict.fromkeys(entries) if (known := held.at(entry.git_dir))]
    return [each for each in named if each.entry in new], [each for each in named if each.entry not in new]


def missing(held: Registered) -> Iterator[Known]:
    return (each for each in held.known if standing_of(each.entry) is Standing.GONE)


def regroup(registry: Registry, name: str, repositories: Sequence[str], *, remove: bool) -> tuple[Known, ...]:
    """Put repositories in a group, or take them out; take all out where none is named.

    Returns:
        Who is in the group then.
    """
    _require_name(name)
    held = registry.read()
    there = held.groups.get(name, ())
    if remove:
        gone = held.in_group(name) if not repositories else ()
        named = [known for wanted in repositories for known in held.find(wanted)]
        dropped = {each.entry.git_dir for each in (*gone, *named)}
        members = [member for member in there if member not in dropped] if repositories else []
    else:
        named = [known for wanted in repositories for known in held.find(wanted)]
        members = [*there, *(each.entry.git_dir for each in named)]
    wanted_entries = [each.entry for each in held.known if each.entry.git_dir in members]
    registry.group(name, wanted_entries)
    return tuple(each for each in held.known if each.entry in wanted_entries)


def _require_name(name: str) -> None:
    if not name.strip() or len(name) > _LONGEST_GROUP or not name.isprintable() or os.sep in name:
        raise UsageError(
            f"{name[:_LONGEST_GROUP]!r} cannot be a group's name.",
            f"Give a word of at most {_LONGEST_GROUP} characters, without /.",
        )
