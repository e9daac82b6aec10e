"""The files that a user marked as core: a session is told of them at its start.

``core_files.yaml`` under GITRAG_HOME holds ``{project: [{path, summary}]}``, to be read and edited by people.
It is replaced atomically, through a symbolic link if it is one, and keeps what people wrote in it
(`core_text`); a lock is held from reading to writing. A project is a repository's key, or a name alone
(`gitrag.memory.projects`).
"""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from gitrag.errors import StoreError
from gitrag.machine import files
from gitrag.machine.locks import held_for_changes
from gitrag.memory import core_text
from gitrag.memory.projects import is_repository, name_of
from gitrag.words.bounded_yaml import YamlValue, parse_mapping
from gitrag.words.control_characters import sanitise_line

NAME = "core_files.yaml"
MOST_BYTES = 1024 * 1024
"""Largest file: thousands of core files, of which a handful makes sense."""

_LOCK_TIMEOUT_S = 10.0

HEADING = "\n\n## Core Codebase Context\n"


class CoreFile(Struct, frozen=True):
    """A file that is marked as core.

    Attributes:
        project: The name of its project.
        path: Relative to the repository's top level.
        summary: What to know about it; may be empty.
        repository: The key of its repository; empty where it is marked under a name alone.
    """

    project: str
    path: str
    summary: str
    repository: str = ""

    @property
    def key(self) -> str:
        """The key of its project."""
        return self.repository or self.project


class CoreFiles:
    """The core files of a user, of all projects."""

    def __init__(self, home: Path) -> None:
        self.path = home / NAME

    def all(self, projects: str | Sequence[str] | None = None) -> list[CoreFile]:
        """Return core files by project, in the order they were marked; only those `under` some keys."""
        found = [
            _core_file(key, path, summary)
            for key, entries in self._parsed(self._content()).items()
            for path, summary in entries.items()
        ]
        return found if projects is None else under(found, _keys(projects))

    def mark(
        self, project: str, path: str, summary: str | None = None, *, former: Sequence[str] = ()
    ) -> CoreFile:
        """Mark a file as core, or give a marked one a new summary; without a summary it keeps its own.

        Args:
            former: Other keys of the same project: the first is renamed, where this one is not there yet.
        """
        with self._locked():
            content = before = self._content()
            for key in former:
                content = self._renamed(content, key, project)
            was = self._parsed(content).get(project, {}).get(path)
            new = (was or "") if summary is None else summary.strip()
            if new != was:
                with self._editing():
                    content = core_text.with_entry(content, str(self.path), MOST_BYTES, project, path, new)
            if content != before:
                self._write(content)
            return _core_file(project, path, new)

    def adopt(self, old: str, project: str, paths: Collection[str]) -> list[CoreFile]:
        """Mark files that are marked under another key under this one, too; return those that were not.

        Where that is all there is under both, the key is renamed; else the other's marks stay.
        """
        with self._locked():
            content = self._content()
            parsed = self._parsed(content)
            found = parsed.get(old, {})
            new = [path for path in found if path in paths and path not in parsed.get(project, {})]
            if project not in parsed and len(new) == len(found):
                content = self._renamed(content, old, project)
            else:
                with self._editing():
                    for path in new:
                        content = core_text.with_entry(
                            content, str(self.path), MOST_BYTES, project, path, found[path]
                        )
            if new:
                self._write(content)
            return [_core_file(project, path, found[path]) for path in new]

    def unmark(self, projects: str | Sequence[str], path: str) -> bool:
        """Remove a file's mark under each of these keys; return whether it had one."""
        if not self.path.exists():
            return False
        with self._locked():
            content = before = self._content()
            for key in _keys(projects):
                if path in self._parsed(content).get(key, {}):
                    with self._editing():
                        content = core_text.without_entries(content, str(self.path), MOST_BYTES, key, path)
            if content != before:
                self._write(content)
            return content != before

    def _renamed(self, content: bytes, old: str, new: str) -> bytes:
        """Rename a key that has marks, where the new one is not there."""
        parsed = self._parsed(content)
        if new in parsed or not parsed.get(old):
            return content
        with self._editing():
            return core_text.renamed(content, str(self.path), MOST_BYTES, old, new)

    def _content(self) -> bytes:
        try:
            with self.path.open("rb") as file:
                return file.read(MOST_BYTES + 1)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise StoreError(f"Cannot read {self.path}: {error.strerror}.", "Make it readable.") from error

    def _parsed(self, content: bytes) -> dict[str, dict[str, str]]:
        parsed = parse_mapping(content, str(self.path), MOST_BYTES)
        return {project: dict(_entries(value, self.path)) for project, value in parsed.items()}

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the file against other writers, from reading to writing."""
        try:
            files.make_private(self.path.parent)
        except OSError as error:
            raise self._unwritable(error) from error
        with held_for_changes(self.path, _LOCK_TIMEOUT_S):
            yield

    @contextmanager
    def _editing(self) -> Iterator[None]:
        try:
            yield
        except core_text.CannotEditError as error:
            raise StoreError(
                f"{self.path} is left as it is: {error}.", "Edit it by hand; it is YAML."
            ) from error

    def _write(self, content: bytes) -> None:
        if len(content) > MOST_BYTES:
            raise StoreError(f"{self.path} would become larger than 1 MiB.", "Shorten the summaries.")
        try:
            path = files.target(self.path)
            mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else files.PRIVATE
            files.replace(path, content, mode)
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> StoreError:
        return StoreError(
            f"Cannot write {self.path}: {error.strerror}.",
            "Make it writable, or set GITRAG_HOME to another directory.",
        )


def under(files: Sequence[CoreFile], keys: Sequence[str]) -> list[CoreFile]:
    """Return the core files under some keys, by key; of several of one path the first."""
    found: dict[str, CoreFile] = {}
    for each in (each for key in keys for each in files if each.key == key):
        found.setdefault(each.path, each)
    return list(found.values())


def context_text(core: Sequence[CoreFile], signatures: Mapping[str, Sequence[str]]) -> str:
    """Return the Markdown section on a session's core files; empty if there are none.

    Args:
        signatures: The signatures to show, by path.
    """
    if not core:
        return ""
    parts = [HEADING]
    for each in core:
        parts.append(f"\n### {sanitise_line(each.path)}\n{' '.join(each.summary.split())}\n")
        parts += [f"- `{signature}`\n" for signature in signatures.get(each.path, ())]
    return "".join(parts)


def _keys(projects: str | Sequence[str]) -> Sequence[str]:
    return [projects] if isinstance(projects, str) else projects


def _core_file(key: str, path: str, summary: str) -> CoreFile:
    return CoreFile(name_of(key), path, summary, key if is_repository(key) else "")


def _entries(value: YamlValue, path: Path) -> Iterator[tuple[str, str]]:
    if value is None:
        return
    if not isinstance(value, list):
        raise _wrong(path)
    for entry in value:
        given = entry.get("path") if isinstance(entry, dict) else None
        summary = entry.get("summary") if isinstance(entry, dict) else None
        if not isinstance(given, str) or not isinstance(summary, str | None):
            raise _wrong(path)
        yield given, summary or ""


def _wrong(path: Path) -> StoreError:
    return StoreError(
        f"{path} is not of the form {{project: [{{path: …, summary: …}}]}}.", "Edit it, or move it away."
    )
