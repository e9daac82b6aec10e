"""Locks on files, across processes: take one, wait for one, say who holds one; and the lock of the index.

Whoever waits for a lock on a file does so in `wait_for`. How long each waits is listed in docs/storage.md,
"How long we wait for a lock".
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO

from msgspec import Struct

from gitrag.errors import BusyError, StoreError
from gitrag.machine.files import existing, open_private, write_private
from gitrag.machine.refusals import disk_error

_POLL_S = 0.004
"""Write transactions last tens of milliseconds; a shorter sleep only burns the holder's core."""


class Holder(Struct, frozen=True):
    """The last process to take a lock exclusively.

    Attributes:
        pid: Its process id.
        purpose: What it is doing, in a few words.
        since: Unix time in seconds.
    """

    pid: int
    purpose: str
    since: float

    def __str__(self) -> str:
        return f"process {self.pid} ({self.purpose})"


class CannotLockError(Exception):
    """A file cannot be locked, though no process holds it; the text is the operating system's."""


def try_lock(file: IO[str], *, shared: bool = False) -> bool:
    """Lock an open file if no other process has; closing it, or `unlock`, releases it.

    Args:
        file: The file; to be locked exclusively, it must be open for writing.
        shared: Whether others may hold it too, shared.

    Raises:
        CannotLockError: The file system has no locks, or no more of them.
    """
    try:
        import fcntl  # all that portalocker uses here, which takes 25 ms to load
    except ImportError:  # Windows
        return _try_lock_there(file, shared=shared)
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # as portalocker has it
        return False
    except OSError as error:
        raise CannotLockError(str(error)) from error
    return True


def _try_lock_there(file: IO[str], *, shared: bool) -> bool:
    import portalocker

    kind = portalocker.LockFlags.SHARED if shared else portalocker.LockFlags.EXCLUSIVE
    try:
        portalocker.lock(file, kind | portalocker.LockFlags.NON_BLOCKING)
    except portalocker.AlreadyLocked:
        return False
    except portalocker.LockException as error:
        raise CannotLockError(str(error)) from error
    return True


def unlock(file: IO[str]) -> None:
    """Release the lock on an open file."""
    try:
        import fcntl
    except ImportError:  # Windows
        import portalocker

        portalocker.unlock(file)
    else:
        fcntl.flock(file, fcntl.LOCK_UN)


def wait_for(
    take: Callable[[], bool], deadline: float, *, poll_s: float, waiting: Callable[[], None] = lambda: None
) -> bool:
    """Take a lock as soon as it is free.

    Args:
        take: Tries to take it, and returns whether it did; called at least once.
        deadline: When to give up, by `time.monotonic`.

    Returns:
        Whether it was taken; False when others held it until the deadline.
    """
    while not take():
        if time.monotonic() > deadline:
            return False
        waiting()
        time.sleep(poll_s)
    return True


class FileLock:
    """A file lock, shared or exclusive, that does not wait. A file that cannot be locked counts as taken."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[str] | None = None

    def try_acquire(self, *, shared: bool = False) -> bool:
        """Take the lock if it is free."""
        try:
            try:
                file = open_private(self.path, "a+", encoding="utf-8")
            except OSError:
                if not shared:
                    raise
                if not existing(self.path):
                    return True  # a writer could not make it either
                file = self.path.open(encoding="utf-8")  # a read-only disk can still be read
        except OSError as error:
            told = disk_error(error, self.path)
            raise told or StoreError(f"Cannot open the lock file {self.path}: {error.strerror}.") from error
        try:
            taken = try_lock(file, shared=shared)
        except CannotLockError:
            taken = False
        if not taken:
            file.close()
            return False
        self._file = file
        return True

    def release(self) -> None:
        if self._file is not None:
            unlock(self._file)
            self._file.close()
            self._file = None


@contextmanager
def held_for_changes(path: Path, limit_s: float) -> Iterator[None]:
    """Hold the lock beside a small file while it is read and written anew."""
    lock = FileLock(path.with_suffix(".lock"))
    if not wait_for(lock.try_acquire, time.monotonic() + limit_s, poll_s=0.01):
        raise BusyError(f"Another process has been changing {path.name} for {limit_s:.0f} s.", "Try again.")
    try:
        yield
    finally:
        lock.release()


def is_held(path: Path) -> bool:
    """Tell whether a process holds a lock exclusively; False if there is no lock file."""
    lock = FileLock(path)
    if existing(path) and not lock.try_acquire(shared=True):
        return True
    lock.release()
    return False


class StoreLock:
    """The lock of an index, for one writer or many readers.

    DuckDB lets one process write or many read. Each operation holds the lock while its connection is open,
    and waits its turn. Readers first pass a gate that a waiting writer closes, so that a stream of
    overlapping readers cannot keep a writer out.

    Attributes:
        while_held: Returns a context that is entered while the lock is held.
    """

    def __init__(self, directory: Path, timeout_s: float) -> None:
        self._directory = directory
        self._timeout_s = timeout_s
        self.while_held: Callable[[], AbstractContextManager[None]] = nullcontext

    @contextmanager
    def shared(self, *, patience_s: float | None = None) -> Iterator[None]:
        """Hold the lock together with other readers."""
        deadline = time.monotonic() + self._limit_s(patience_s)
        gate, lock = self._locks()
        self._wait(gate, deadline, shared=True)
        gate.release()
        self._wait(lock, deadline, shared=True)
        try:
            with self.while_held():
                yield
        finally:
            lock.release()

    @contextmanager
    def exclusive(self, purpose: str, *, patience_s: float | None = None) -> Iterator[None]:
        """Hold the lock exclusively.

        Args:
            purpose: What for, in a few words; shown to waiting processes.

        Raises:
            BusyError: Other processes held it for longer than the time limit.
        """
        deadline = time.monotonic() + self._limit_s(patience_s)
        gate, lock = self._locks()
        self._wait(gate, deadline)
        try:
            self._wait(lock, deadline)
        finally:
            gate.release()
        write_holder(self._directory / "lock.holder", purpose)
        try:
            with self.while_held():
                yield
        finally:
            with suppress(OSError):
                (self._directory / "lock.holder").unlink()
            lock.release()

    def _limit_s(self, patience_s: float | None) -> float:
        return self._timeout_s if patience_s is None else min(patience_s, self._timeout_s)

    def _locks(self) -> tuple[FileLock, FileLock]:
        return FileLock(self._directory / "lock.gate"), FileLock(self._directory / "lock")

    def _wait(self, lock: FileLock, deadline: float, *, shared: bool = False) -> None:
        if not wait_for(lambda: lock.try_acquire(shared=shared), deadline, poll_s=_POLL_S):
            holder = read_holder(self._directory / "lock.holder")
            raise BusyError(
                f"The index was in use by {holder or 'searching processes'} "
                f"for more than {self._timeout_s:g} s.",
                "Try again; `gitrag doctor` shows who holds the lock.",
            )


def write_holder(path: Path, purpose: str) -> None:
    """Record who holds a lock; the lock is valid even if the record cannot be written."""
    with suppress(OSError):
        write_private(path, json.dumps({"pid": os.getpid(), "purpose": purpose, "since": time.time()}))


def read_holder(path: Path) -> Holder | None:
    """Read who holds a lock, or held it when killed; None when there is no readable record."""
    try:
        note = json.loads(path.read_text("utf-8"))
        return Holder(int(note["pid"]), str(note["purpose"]), float(note["since"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
