"""What a view loses and gains, by git's report, rule files and modules; the store is not asked."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeGuard, TypeVar

from msgspec import Struct

from gitrag.chunking import decode, has_outline, key_of, language_of, named, needs_first_line
from gitrag.chunking.languages import MOST_OUTLINED_BYTES
from gitrag.chunking.notebooks import MOST_NOTEBOOK_BYTES, NOTEBOOK
from gitrag.corpus.layout import Layout, Module, configured
from gitrag.corpus.manifests import detect, is_manifest, is_of_workspace
from gitrag.git import BlobError, Change, Repository, Rules, is_rule_file
from gitrag.git.repository import SUBMODULE_MODE, SYMLINK_MODE
from gitrag.indexing.records import prepare_paths
from gitrag.model import Skip, TreeEntry
from gitrag.store.content import OUTLINED, WANTED
from gitrag.store.views import Difference, EntryRecord, PathRecord, View

if TYPE_CHECKING:
    from gitrag.indexing.snapshot import Options, Snapshot


def rule_files_of(repo: Repository, changes: Sequence[Change]) -> dict[str, bytes]:
    """Read the rule files among the entries of a tree."""
    files = {}
    for change in changes:
        if is_rule_file(change.path) and _is_regular(change.entry):
            with suppress(BlobError):  # may be missing in a partial clone
                files[change.path] = repo.read_blob(change.entry.blob)
    return files


def rules_of(now: Snapshot, files: Mapping[str, bytes]) -> Rules:
    """Build the rules from HEAD's rule files, overridden by uncommitted ones."""
    current = dict(files)
    for change in now.changes:
        if is_rule_file(change.path):
            current.pop(change.path, None)
            if _is_regular(change.entry):
                current[change.path] = now.reader.read(change.entry.blob)
    return Rules.build(current, now.options.exclude)


def manifest_modules_of(
    now: Snapshot, entries: Iterable[TreeEntry] | None = None
) -> tuple[tuple[Module, ...], tuple[str, ...]]:
    """Find the modules, from the current files; and notes.

    Args:
        entries: HEAD's files, if they have already been listed.
    """
    if entries is None:
        entries = now.repo.entries(now.head.tree) if _may_name_modules(now) else ()
    current = {entry.path: entry for entry in entries}
    for change in now.changes:
        current.pop(change.path, None)
        if change.entry is not None:
            current[change.path] = change.entry
    return manifest_modules(now.reader.read, now.options, current.values())


def _may_name_modules(now: Snapshot) -> bool:
    """Tell whether the manifests of a tree have to be looked for: a list of all its files is long."""
    if now.options.places.modules:
        return False
    changed = (change.path for change in now.changes)
    return any(map(is_of_workspace, (*now.repo.top_names(now.head.tree), *changed)))


def manifest_modules(
    read_blob: Callable[[str], bytes], options: Options, entries: Iterable[TreeEntry]
) -> tuple[tuple[Module, ...], tuple[str, ...]]:
    """Return the configured modules, else those that the manifests name."""
    if options.places.modules:
        return configured(options.places.modules), ()
    manifests = {entry.path: entry for entry in entries if is_manifest(entry.path) and _is_regular(entry)}

    def read(path: str) -> bytes | None:
        try:
            return read_blob(manifests[path].blob)
        except BlobError:
            return None

    return detect(manifests, read)


def _is_regular(entry: TreeEntry | None) -> TypeGuard[TreeEntry]:
    """Tell whether a path is a regular file; git does not follow a symbolic link to a rule file either."""
    return entry is not None and bool(entry.blob) and entry.mode not in (SYMLINK_MODE, SUBMODULE_MODE)


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
        found = manifest_modules(repo.read_blob, now.options, repo.entries(tree))[0]
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
        found = manifest_modules_of(now, entries)[0]
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
