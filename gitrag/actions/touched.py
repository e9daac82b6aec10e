"""The definitions that a change touches."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

from msgspec import Struct

from gitrag.actions.impact import Called, weight
from gitrag.callgraph.reach import Uncalled
from gitrag.chunking import chunk, language_of
from gitrag.chunking.languages import is_code
from gitrag.embedding.text import chunk_text
from gitrag.errors import GitragError
from gitrag.git.commits import PLAIN_GRAPH
from gitrag.git.difference import ChangedFile, changed_files
from gitrag.git.grep import GrepLine
from gitrag.git.repository import Repository
from gitrag.model import Chunk, Kind
from gitrag.words.numbers import count
from gitrag.words.path_traits import Trait, traits

Cut: TypeAlias = Callable[[str, bytes], Sequence[Chunk]]
"""Cuts a side of a file, given its path and content, into chunks."""

_DEFINITIONS = (Kind.FUNCTION, Kind.METHOD, Kind.CLASS)
_MOST_COMPARED = 400
"""Files of code whose definitions are compared."""

_MOST_PATHS = 20
"""A commit that changes more tells of no single definition."""

_UNTESTED = 2
"""A definition that no test calls counts so many times."""


class Touched(Struct, frozen=True):
    """A definition that a change adds, changes or removes.

    Attributes:
        path: Its file.
        name: Qualified name.
        kind: function, method or class.
        how: ``added``, ``changed`` or ``removed``.
        line_start: Its first line; of a removed one the first that it had.
        called: Who calls it; None where nobody was found, or it was not looked for.
        is_looked_for: Whether its callers were looked for; of a removed one, what still has its name.
        known: Where no call was resolved to it, what else is known of who calls it.
        named: Of a removed one the lines outside the change that still have its name.
    """

    path: str
    name: str
    kind: str
    how: str
    line_start: int
    called: Called | None = None
    is_looked_for: bool = False
    named: tuple[GrepLine, ...] = ()
    known: Uncalled | None = None

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


def touched_by(
    files: Sequence[ChangedFile], cut: Cut, notes: list[str]
) -> tuple[list[Touched], list[Touched]]:
    """Return the definitions that a change adds or alters, and those that it removes and does not move.

    Args:
        cut: Cuts a side of one.
        notes: What was not looked at is added here, a sentence each.
    """
    found: list[Touched] = []
    gone: list[tuple[Touched, str]] = []
    new: set[str] = set()
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
            if name not in before:
                new.add(chunk_text(first))
                found.append(Touched(file.path, name, first.kind.value, "added", first.line_start))
            elif before[name][1] != text:
                found.append(Touched(file.path, name, first.kind.value, "changed", first.line_start))
        for name, (first, _) in before.items():
            if name not in after:
                own = Touched(file.path, name, first.kind.value, "removed", first.line_start)
                gone.append((own, chunk_text(first)))
    return found, [own for own, text in gone if text not in new]


def definitions_of(path: str, data: bytes | None, cut: Cut) -> dict[str, tuple[Chunk, str]]:
    """Return a file's definitions by qualified name: the first chunk of each, and the text of all."""
    found: dict[str, tuple[Chunk, str]] = {}
    for each in cut(path, data) if data is not None and language_of(path) is not None else ():
        if each.kind in _DEFINITIONS and each.name:
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
        added, removed = touched_by(changed_files(repo, f"{commit}^..{commit}", PLAIN_GRAPH), cut, missing)
    except GitragError:  # among them that it has no parent
        return None
    if missing:
        return None
    ordered = sorted([*added, *removed], key=lambda each: bool(traits(each.path) & Trait.TEST))
    return tuple(dict.fromkeys(each.name for each in ordered))
