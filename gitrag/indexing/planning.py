"""What follows from git's report alone, computed before the store is locked."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard, TypeVar

from gitrag.corpus.layout import Layout, Module, configured
from gitrag.corpus.manifests import ManifestModules, detect, is_manifest
from gitrag.git import BlobError, Change, Repository, Rules, is_rule_file
from gitrag.git.repository import SUBMODULE_MODE, SYMLINK_MODE
from gitrag.indexing.plan import Plan, plan
from gitrag.indexing.preparation import prepare_paths
from gitrag.model import TreeEntry
from gitrag.store.views import PathRecord, View

if TYPE_CHECKING:
    from gitrag.indexing.snapshot import Options, Snapshot

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Move:
    """How to build the view of HEAD's tree.

    Attributes:
        base: The view to start from; None to start from nothing.
        files: The tree's rule files, path and content.
        modules: The tree's modules.
        difference: What differs from the base.
    """

    base: View | None
    files: Mapping[str, bytes]
    modules: tuple[Module, ...]
    difference: Plan


class Planning:
    """Computes what a snapshot needs, caching each result.

    It can run before the store is locked; running it again with what the store then says costs nothing.

    Args:
        now: The snapshot.
    """

    def __init__(self, now: Snapshot) -> None:
        self._now = now
        self._done: dict[Hashable, object] = {}
        self._paths: dict[str, PathRecord] = {}

    def move(self, base: View | None, files: Mapping[str, bytes], modules: tuple[Module, ...]) -> Move:
        """Return how to build the view of HEAD's tree: from the difference with a view if the rules allow.

        Args:
            base: The nearest view under the same rules.
            files: The rule files of its tree.
            modules: The modules of its tree.
        """
        return self._once(("move", base, modules), lambda: self._move(base, files, modules))

    def on_top(self, files: Mapping[str, bytes], modules: tuple[Module, ...]) -> Plan:
        """Return what the uncommitted changes change, given HEAD's rule files and its tree's modules."""
        key = ("on top", tuple(sorted(files.items())), modules)
        return self._once(key, lambda: on_top(self._now, files, modules))

    def records(self, paths: Sequence[str]) -> list[PathRecord]:
        """Build the records of paths."""
        new = [path for path in paths if path not in self._paths]
        self._paths.update(zip(new, prepare_paths(new), strict=True) if new else ())
        return [self._paths[path] for path in paths]

    def _once(self, key: Hashable, work: Callable[[], T]) -> T:
        if key not in self._done:
            self._done[key] = work()
        found: T = self._done[key]  # type: ignore[assignment]  # what was kept under this key
        return found

    def _move(self, base: View | None, files: Mapping[str, bytes], modules: tuple[Module, ...]) -> Move:
        repo, tree = self._now.repo, self._now.head.tree
        if base is not None and not repo.has_object(base.tree):
            base, modules = None, ()  # rewritten and pruned since then
        changes = list(repo.diff(base.tree, tree)) if base else []
        if base is None or any(is_manifest(change.path) for change in changes):
            found = manifest_modules(repo.read_blob, self._now.options, repo.entries(tree)).modules
            if found != modules:  # the layout differs: every path may belong to another collection
                base, modules = None, found
        if base is None or any(is_rule_file(change.path) for change in changes):
            base = None
            changes = [Change(entry.path, entry) for entry in repo.entries(tree)]
            files = rule_files_of(repo, changes)
        return Move(base, files, modules, plan_of(self._now, changes, files, modules))


def on_top(now: Snapshot, files: Mapping[str, bytes], modules: tuple[Module, ...]) -> Plan:
    """Decide what uncommitted changes change; a manifest that names other modules also moves committed files.

    Args:
        now: The snapshot.
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
    return plan_of(now, list(changes.values()), files, found)


def plan_of(
    now: Snapshot, changes: Sequence[Change], files: Mapping[str, bytes], modules: tuple[Module, ...]
) -> Plan:
    """Decide what changes, under the rules in HEAD's rule files and with the modules of its tree."""
    limit = now.options.max_bytes
    return plan(
        changes,
        _rules(files, now),
        now.reader.first_line,
        lambda entry: now.reader.size(entry.blob) > limit,
        Layout(now.options.places, modules).collection,
    )


def rule_files_of(repo: Repository, changes: Sequence[Change]) -> dict[str, bytes]:
    """Read the rule files among the entries of a tree."""
    files = {}
    for change in changes:
        if is_rule_file(change.path) and _is_regular(change.entry):
            with suppress(BlobError):  # may be missing in a partial clone
                files[change.path] = repo.read_blob(change.entry.blob)
    return files


def manifest_modules_of(now: Snapshot, entries: Iterable[TreeEntry] | None = None) -> ManifestModules:
    """Find the modules, from the current files.

    Args:
        now: The snapshot.
        entries: HEAD's files, if they have already been listed.
    """
    current = {entry.path: entry for entry in entries or now.repo.entries(now.head.tree)}
    for change in now.changes:
        current.pop(change.path, None)
        if change.entry is not None:
            current[change.path] = change.entry
    return manifest_modules(now.reader.read, now.options, current.values())


def manifest_modules(
    read_blob: Callable[[str], bytes], options: Options, entries: Iterable[TreeEntry]
) -> ManifestModules:
    """Return the configured modules, else those that the manifests name."""
    if options.places.modules:
        return ManifestModules(configured(options.places.modules))
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


def _rules(files: Mapping[str, bytes], now: Snapshot) -> Rules:
    """Build the rules from HEAD's rule files, overridden by uncommitted ones."""
    current = dict(files)
    for change in now.changes:
        if is_rule_file(change.path):
            current.pop(change.path, None)
            if _is_regular(change.entry):
                current[change.path] = now.reader.read(change.entry.blob)
    return Rules.build(current, now.options.exclude)
