"""The files that a user marked as core: a session is told of them at its start.

``core_files.yaml`` under GITRAG_HOME holds ``{project: [{path, summary}]}``, to be read and edited by people.
It is replaced atomically, through a symbolic link if it is one, and keeps what people wrote in it
(`core_text`); a lock is held from reading to writing.
"""

from __future__ import annotations

import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gitrag.errors import BusyError, StoreError
from gitrag.machine import files
from gitrag.machine.locks import FileLock, wait_for
from gitrag.memory import core_text
from gitrag.words.bounded_yaml import YamlValue, parse_mapping

NAME = "core_files.yaml"
MOST_BYTES = 1024 * 1024
"""Largest file: thousands of core files, of which a handful makes sense."""

_LOCK_TIMEOUT_S = 10.0
_LOCK_POLL_S = 0.01

HEADING = "\n\n## Core Codebase Context\n"


@dataclass(frozen=True, slots=True)
class CoreFile:
    """A file that is marked as core.

    Attributes:
        project: The name of its project.
        path: Relative to the repository's top level.
        summary: What to know about it; may be empty.
    """

    project: str
    path: str
    summary: str


class CoreFiles:
    """The core files of a user, of all projects.

    Args:
        home: GITRAG_HOME; created when something is first marked.
    """

    def __init__(self, home: Path) -> None:
        self.path = home / NAME

    def all(self, project: str | None = None) -> list[CoreFile]:
        """Return core files by project, in the order they were marked; only one project's if given.

        Raises:
            ConfigError: The file is malformed; the message names the line.
        """
        found = [
            CoreFile(name, path, summary)
            for name, entries in self._parsed(self._content()).items()
            for path, summary in entries.items()
        ]
        return [each for each in found if project is None or each.project == project]

    def mark(self, project: str, path: str, summary: str | None = None) -> CoreFile:
        """Mark a file as core, or give a marked one a new summary; without a summary it keeps its own."""
        with self._locked():
            content = self._content()
            was = self._parsed(content).get(project, {}).get(path)
            new = (was or "") if summary is None else summary.strip()
            if new != was:
                with self._editing():
                    edited = core_text.with_entry(content, str(self.path), MOST_BYTES, project, path, new)
                self._write(edited)
            return CoreFile(project, path, new)

    def unmark(self, project: str, path: str) -> bool:
        """Remove a file's mark; return whether it had one."""
        if not self.path.exists():
            return False
        with self._locked():
            content = self._content()
            if path not in self._parsed(content).get(project, {}):
                return False
            with self._editing():
                edited = core_text.without_entries(content, str(self.path), MOST_BYTES, project, path)
            self._write(edited)
            return True

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
        with _locked(self.path.with_suffix(".lock")):
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


def context_text(core: Sequence[CoreFile], signatures: Mapping[str, Sequence[str]]) -> str:
    """Return the Markdown section on a session's core files; empty if there are none.

    Args:
        core: The project's core files.
        signatures: The signatures to show, by path.
    """
    if not core:
        return ""
    parts = [HEADING]
    for each in core:
        parts.append(f"\n### {each.path}\n{each.summary}\n")
        parts += [f"- `{signature}`\n" for signature in signatures.get(each.path, ())]
    return "".join(parts)


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


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = FileLock(path)
    if not wait_for(lock.try_acquire, time.monotonic() + _LOCK_TIMEOUT_S, poll_s=_LOCK_POLL_S):
        raise BusyError(
            f"Another process has been changing {NAME} for {_LOCK_TIMEOUT_S:.0f} s.", "Try again."
        )
    try:
        yield
    finally:
        lock.release()
