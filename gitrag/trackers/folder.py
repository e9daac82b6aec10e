"""``.sdd/issues``: a file for each issue, and ``_meta.json`` with how far the last sync got."""

from __future__ import annotations

import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO

from msgspec import Struct, convert, to_builtins

from gitrag.errors import BusyError, StoreError
from gitrag.machine import files
from gitrag.machine.locks import CannotLockError, try_lock, unlock, wait_for
from gitrag.trackers.issue import Issue, by_number, parse, read_moment, render

PARTS = (".sdd", "issues")
_META = "_meta.json"
_LOCK = "_lock"
_META_VERSION = 1
_MODE = 0o600  # the tracker may be private
_DIRECTORY_MODE = 0o700
_LOCK_POLL_S = 0.1

_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
"""Characters that are safe in file names everywhere; no dot at the end, which Windows drops; at most 100,
since a name may have 255 bytes and suffixes are added."""

_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
"""Names that Windows reserves for devices, with any suffix."""


def is_file_name(issue_id: str) -> bool:
    """Return whether an id is a valid file name on every system, and cannot lead out of the directory."""
    return bool(_ID.fullmatch(issue_id)) and not _DEVICES.fullmatch(issue_id)


class Meta(Struct, frozen=True):
    """How far the last sync got.

    Attributes:
        place: Which tracker's issues these are, as text.
        cursor: Everything updated before this time has a copy; empty if that is not certain of any time.
        complete: Whether every issue has been copied at least once.
        synced: When the last sync succeeded, Unix seconds; 0 if none did.
        merged: Ids of issues that a merged change says it closes.
    """

    place: str = ""
    tracker: str = ""
    cursor: str = ""
    complete: bool = False
    synced: float = 0.0
    merged: tuple[str, ...] = ()

    @property
    def since(self) -> datetime | None:
        """The cursor as a time."""
        return read_moment(self.cursor) if self.cursor else None


class IssueFolder:
    """The issues' directory of a working tree."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root.joinpath(*PARTS)

    def make(self) -> None:
        """Create the directory."""
        place = self.root
        for name in PARTS:
            place = place / name
            try:
                place.mkdir(mode=_DIRECTORY_MODE, exist_ok=True)
            except OSError as error:
                raise StoreError(
                    f"Cannot make {place}: {error.strerror}.", "Issues are kept in it; make it writable."
                ) from error
            _must_be_directory(place)

    def is_there(self) -> bool:
        """Return whether the directory exists and is not behind a symbolic link."""
        return all(not place.is_symlink() and place.is_dir() for place in (self.path.parent, self.path))

    def write(self, issue: Issue) -> bool:
        """Write an issue's file; return False if it has that content already and was left alone."""
        path = self._file(issue.id)
        content = render(issue)
        try:
            if _read(path) == content:
                return False
            files.replace(path, content, _MODE, durable=False)
        except OSError as error:
            raise StoreError(f"Cannot write {path}: {error.strerror}.", "Make it writable.") from error
        return True

    def read(self, issue_id: str) -> Issue | None:
        """Return an issue; None if there is no such file, or gitrag did not write it."""
        if not is_file_name(issue_id) or not self.is_there():
            return None
        try:
            content = _read(self._file(issue_id))
            return None if content is None else parse(content)
        except (OSError, ValueError):
            return None

    def ids(self) -> list[str]:
        """Return the ids that have a file, sorted by number."""
        if not self.is_there():
            return []
        found = [path.stem for path in self.path.glob("*.md") if is_file_name(path.stem)]
        return sorted(found, key=by_number)

    def all(self) -> Iterator[Issue]:
        for issue_id in self.ids():
            issue = self.read(issue_id)
            if issue is not None:
                yield issue

    def remove(self, issue_id: str) -> bool:
        """Remove an issue's file; return False if gitrag did not write it."""
        if self.read(issue_id) is None:
            return False
        self._file(issue_id).unlink(missing_ok=True)
        return True

    def read_meta(self) -> Meta | None:
        """Return how far the last sync got; None if no readable file says so."""
        if not self.is_there():
            return None
        try:
            content = _read(self.path / _META)
            note = json.loads(content or b"")
            if note.pop("version") != _META_VERSION:
                return None
            meta = convert(note, Meta)
            if meta.cursor and read_moment(meta.cursor).tzinfo is None:
                return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        return meta

    def write_meta(self, meta: Meta) -> None:
        """Record how far a sync got."""
        note = json.dumps({"version": _META_VERSION, **to_builtins(meta)}, indent=1)
        try:
            files.replace(self.path / _META, f"{note}\n".encode(), _MODE, durable=False)
        except OSError as error:
            raise StoreError(f"Cannot write {self.path / _META}: {error.strerror}.") from error

    @contextmanager
    def locked(self, timeout_s: float, waiting: Callable[[], None]) -> Iterator[None]:
        """Lock the directory against other syncs.

        Args:
            waiting: Called every tenth of a second while it waits.
        """
        path = self.path / _LOCK
        with self._open_lock(path) as file:
            try:
                taken = wait_for(
                    lambda: try_lock(file),
                    time.monotonic() + timeout_s,
                    poll_s=_LOCK_POLL_S,
                    waiting=waiting,
                )
            except CannotLockError as error:
                raise StoreError(f"Cannot lock {path}: {error}.") from error
            if not taken:
                raise BusyError("Another gitrag is syncing these issues.", "Try again when it is done.")
            try:
                yield
            finally:
                unlock(file)

    def _open_lock(self, path: Path) -> IO[str]:
        try:
            return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | files.NO_LINK | files.OURS, _MODE), "a")
        except OSError as error:
            raise StoreError(f"Cannot open {path}: {error.strerror}.", "Make it writable.") from error

    def _file(self, issue_id: str) -> Path:
        return self.path / f"{issue_id}.md"


def _read(path: Path) -> bytes | None:
    """Return the content of a regular file; None if there is none. Symbolic links are not followed."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return None
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _must_be_directory(place: Path) -> None:
    if place.is_symlink() or not place.is_dir():
        raise StoreError(
            f"{place} is not a directory.", "Issues are kept in it; move away what is there in its place."
        )
