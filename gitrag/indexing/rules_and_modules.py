"""The rule files and the modules of a tree: they decide which paths are indexed, and in which collection."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeGuard

from gitrag.corpus.layout import configured
from gitrag.corpus.manifests import ManifestModules, detect, is_manifest, is_of_workspace
from gitrag.git import BlobError, Change, Repository, Rules, is_rule_file
from gitrag.git.repository import SUBMODULE_MODE, SYMLINK_MODE
from gitrag.model import TreeEntry

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


def manifest_modules_of(now: Snapshot, entries: Iterable[TreeEntry] | None = None) -> ManifestModules:
    """Find the modules, from the current files.

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
