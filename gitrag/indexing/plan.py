"""The changes a view needs, given what git reports as changed. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gitrag.chunking import language_of, needs_first_line
from gitrag.git import Change, Rules
from gitrag.model import Skip, TreeEntry
from gitrag.store.views import EntryRecord


@dataclass(frozen=True, slots=True)
class Plan:
    """The difference between two views.

    Attributes:
        removed: Paths that are gone.
        added: Paths that are new or changed, with what they hold or why they are left out.
    """

    removed: tuple[str, ...]
    added: tuple[EntryRecord, ...]


def plan(
    changes: Iterable[Change],
    rules: Rules,
    first_line: Callable[[TreeEntry], str],
    is_too_large: Callable[[TreeEntry], bool],
    collection_of: Callable[[str], str] = lambda _path: "code",
) -> Plan:
    """Decide for each change what the view records.

    Args:
        changes: What differs, from a tree diff, a whole tree, or the working tree.
        rules: Which paths are left out.
        first_line: Reads the first line of a file whose name does not tell its language.
        is_too_large: Tells whether a file is larger than the view's limit. Then the path is left out, not the
            content: another view may have a higher limit.
        collection_of: Names the collection of a path.
    """
    removed: list[str] = []
    added: list[EntryRecord] = []
    for change in changes:
        entry = change.entry
        if entry is None:
            removed.append(change.path)
            continue
        skip = change.skip or rules.skip(entry.path, entry.mode)
        if not skip and is_too_large(entry):
            skip = Skip.TOO_LARGE
        if skip:
            added.append(EntryRecord(entry.path, entry.blob, None, skip.value))
            continue
        line = first_line(entry) if needs_first_line(entry.path) else ""
        language = language_of(entry.path, line)
        added.append(EntryRecord(entry.path, entry.blob, language, collection=collection_of(entry.path)))
    return Plan(tuple(removed), tuple(added))
