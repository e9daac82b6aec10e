"""What a view loses and gains, as follows from git's report and the rules; the store is not asked."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from gitrag.chunking import decode, has_outline, key_of, language_of, named, needs_first_line
from gitrag.chunking.decoding import MOST_NOTEBOOK_BYTES, NOTEBOOK
from gitrag.chunking.languages import MOST_OUTLINED_BYTES
from gitrag.corpus.layout import Layout, Module
from gitrag.corpus.manifests import is_manifest
from gitrag.git import BlobError, Change, Rules, is_rule_file
from gitrag.indexing.records import prepare_paths
from gitrag.indexing.rules_and_modules import (
    manifest_modules,
    manifest_modules_of,
    rule_files_of,
    rules_of,
)
from gitrag.model import Skip, TreeEntry
from gitrag.store.content import OUTLINED, WANTED
from gitrag.store.views import Difference, EntryRecord, PathRecord, View

if TYPE_CHECKING:
    from gitrag.indexing.snapshot import Snapshot

T = TypeVar("T")

_MOST_WANTED = 32 << 20
"""Bytes that the attribute `gitrag` may ask for in one file: a clone's attributes are not the user's."""

NO_DIFFERENCE = Difference()


class TreeDifference(Struct, frozen=True):
    """How to build the view of HEAD's tree.

    Attributes:
        base: The view to start from; None to start from nothing.
        files: The tree's rule files, path and content.
    """

    base: View | None
    files: Mapping[str, bytes]
    modules: tuple[Module, ...]
    difference: Difference


class Differences:
    """Computes the differences that a snapshot needs, each once.

    So they can be computed before the store is locked, and asked for again when it is.
    """

    def __init__(self, now: Snapshot) -> None:
        self._now = now
        self._done: dict[Hashable, object] = {}
        self._paths: dict[str, PathRecord] = {}

    def of_tree(
        self, base: View | None, files: Mapping[str, bytes], modules: tuple[Module, ...]
    ) -> TreeDifference:
        """Return how to build the view of HEAD's tree: from the difference with a view if the rules allow."""
        return self._once(("tree", base, modules), lambda: _of_tree(self._now, base, files, modules))

    def uncommitted(self, files: Mapping[str, bytes], modules: tuple[Module, ...]) -> Difference:
        """Return what the uncommitted changes change, given HEAD's rule files and its tree's modules."""
        key = ("uncommitted", tuple(sorted(files.items())), modules)
        return self._once(key, lambda: uncommitted(self._now, files, modules))

    def records(self, paths: Sequence[str]) -> list[PathRecord]:
        new = [path for path in paths if path not in self._paths]
        self._paths.update(zip(new, prepare_paths(new, self._now.options.model), strict=True) if new else ())
        return [self._paths[path] for path in paths]

    def _once(self, key: Hashable, work: Callable[[], T]) -> T:
        if key not in self._done:
            self._done[key] = work()
        found: T = self._done[key]  # type: ignore[assignment]  # what was kept under this key
        return found


def _of_tree(
    now: Snapshot, base: View | None, files: Mapping[str, bytes], modules: tuple[Module, ...]
) -> TreeDifference:
    repo, tree = now.repo, now.head.tree
    if base is not None and not repo.has_object(base.tree):
        base, modules = None, ()  # rewritten and pruned since then
    changes = list(repo.diff(base.tree, tree)) if base else []
    if base is None or any(is_manifest(change.path) for change in changes):
        found = manifest_modules(repo.read_blob, now.options, repo.entries(tree)).modules
        if found != modules:  # the layout differs: every path may belong to another collection
            base, modules = None, found
    if base is None or any(is_rule_file(change.path) for change in changes):
        base = None
        changes = [Change(entry.path, entry) for entry in repo.entries(tree)]
        files = rule_files_of(repo, changes)
    return TreeDifference(base, files, modules, difference_of(now, changes, files, modules))


def whole_tree(now: Snapshot) -> Difference:
    """Return HEAD's whole tree as a difference from nothing, without modules."""
    changes = [Change(entry.path, entry) for entry in now.repo.entries(now.head.tree)]
    return difference_of(now, changes, rule_files_of(now.repo, changes), ())


def uncommitted(now: Snapshot, files: Mapping[str, bytes], modules: tuple[Module, ...]) -> Difference:
    """Decide what uncommitted changes change; a manifest that names other modules also moves committed files.

    Args:
        files: HEAD's rule files.
        modules: The modules of HEAD's tree.
    """
    changes = {change.path: change for change in now.changes}
    found = modules
    if any(map(is_manifest, changes)):
        entries = list(now.repo.entries(now.head.tree))
        found = manifest_modules_of(now, entries).modules
        if found != modules:
            before, after = Layout(now.options.places, modules), Layout(now.options.places, found)
            for entry in entries:
                if before.collection(entry.path) != after.collection(entry.path):
                    changes.setdefault(entry.path, Change(entry.path, entry))
    return difference_of(now, list(changes.values()), files, found)


def difference_of(
    now: Snapshot, changes: Sequence[Change], files: Mapping[str, bytes], modules: tuple[Module, ...]
) -> Difference:
    """Decide what changes, under the rules in HEAD's rule files and with the modules of its tree."""
    limit = now.options.max_bytes
    return decide(
        changes,
        rules_of(now, files),
        now.reader.first_line,
        lambda entry, most: _is_too_large(now, entry, max(limit, most)),
        Layout(now.options.places, modules).collection,
    )


def _is_too_large(now: Snapshot, entry: TreeEntry, limit: int) -> bool:
    return now.reader.size(entry.blob) > limit and _text_size(now, entry) > limit


def _text_size(now: Snapshot, entry: TreeEntry) -> int:
    """Return how much of a file is text, in bytes: of a notebook its cells."""
    size = now.reader.size(entry.blob)
    if language_of(entry.path) != NOTEBOOK or size > MOST_NOTEBOOK_BYTES:
        return size
    try:
        return len(decode(now.reader.read(entry.blob), NOTEBOOK).encode())
    except BlobError:
        return size


def decide(
    changes: Iterable[Change],
    rules: Rules,
    first_line: Callable[[TreeEntry], str],
    is_too_large: Callable[[TreeEntry, int], bool],
    collection_of: Callable[[str], str] = lambda _path: "code",
) -> Difference:
    """Decide for each change what the view records. Pure.

    Args:
        rules: Which paths are left out.
        first_line: Reads the first line of a file whose name does not tell its language.
        is_too_large: Tells whether a file is larger than the view's limit and so many bytes. Then the path is
            left out, not the content: another view may have a higher limit.
    """
    removed: list[str] = []
    added: list[EntryRecord] = []
    for change in changes:
        entry = change.entry
        if entry is None:
            removed.append(change.path)
            continue
        skip = change.skip or rules.skip(entry.path, entry.mode)
        mark = WANTED if not skip and rules.asks_for(entry.path) else ""
        if not skip and is_too_large(entry, _MOST_WANTED if mark else 0):
            if mark or not has_outline(entry.path) or is_too_large(entry, MOST_OUTLINED_BYTES):
                skip = Skip.TOO_LARGE
            else:
                mark = OUTLINED
        if skip:
            added.append(EntryRecord(entry.path, entry.blob, None, skip.value))
            continue
        line = first_line(entry) if needs_first_line(entry.path) else ""
        language = key_of(entry.path, line)
        if language != NOTEBOOK:  # many say Python, for a forge to count; its JSON is read all the same
            language = named(rules.language(entry.path) or "") or language
        added.append(
            EntryRecord(entry.path, entry.blob + mark, language, collection=collection_of(entry.path))
        )
    return Difference(tuple(removed), tuple(added))
