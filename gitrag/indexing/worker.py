"""The one background process of a store.

Whoever finds the worker's lock taken leaves a mark, the worktree that asks, and goes; the one that holds it
looks for marks before it ends. So a burst of fifty commits leads to one catch-up after the first, not fifty.
"""

from __future__ import annotations

import os
import platform
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from gitrag.errors import GitragError
from gitrag.machine.files import make_private, open_private, write_private
from gitrag.machine.isolation import reason_of
from gitrag.machine.locks import FileLock, Holder, is_held, read_holder, write_holder

_NICENESS = 10
"""Of 19; the hooks start it with the same."""


_IOPRIO_SET = {"x86_64": 251, "aarch64": 30, "riscv64": 30}
"""The number of Linux's ioprio_set(2), which neither Python nor libc has a function for."""

_OWN_PROCESS = 1
_IDLE_CLASS = 3 << 13
"""IOPRIO_WHO_PROCESS, and class IOPRIO_CLASS_IDLE at level 0."""

_AUTOGROUP = Path("/proc/self/autogroup")
"""Where Linux shares processors out among sessions first (``sched_autogroup``), niceness counts within a
session only, and that of the session is written here. Unlike a process's it may be raised again."""

_FAILURE = "worker.failed"

_IDLE_LOAD = 0.25
"""Of a process a processor, on average over the last minute: less is nobody's work to speak of."""


class Worker:
    """The worker's lock and marks, in the store's directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._marks = directory / "worker.marks"
        self._taken = directory / "worker.taken"
        self._note = directory / "worker.holder"
        self._failure = directory / _FAILURE
        self._lock = FileLock(directory / "worker.lock")

    def run(
        self,
        worktree: Path,
        work: Callable[[Path, Callable[[], bool]], None],
        settled: Callable[[], None] = lambda: None,
    ) -> bool:
        """Do the work for a worktree and for those that ask meanwhile; leave it to the running worker if any.

        Args:
            worktree: The worktree that asks.
            work: Does the work for a worktree. It is given a function that tells whether somebody has asked
                meanwhile, so that fresh text goes before old vectors.
            settled: Called when this process is the worker.

        Returns:
            Whether this process was the worker.

        Raises:
            Exception: The work for a worktree failed; the first such error, once the others are done. It is
                noted until a worker has had no failure.
        """
        make_private(self._directory)
        self._mark(worktree)
        worked = False
        failures: list[Exception] = []
        # After the lock is let go, a mark may have come from somebody who still found it taken.
        while self._marks.exists() and self._lock.try_acquire():
            try:
                worked = True
                settled()
                write_holder(self._note, "indexing in the background")
                while asked := self._take_marks():
                    for path in asked:
                        if path.is_dir():
                            try:
                                work(path, self._marks.exists)
                            except Exception as error:  # noqa: BLE001 - raised below; others wait for their work
                                failures.append(error)
                    self._taken.unlink()
                self._tell(failures)
            finally:
                with suppress(OSError):
                    self._note.unlink()
                self._lock.release()
        if failures:
            raise failures[0]
        return worked

    def _tell(self, failures: Sequence[Exception]) -> None:
        """Note the first failure; that there was none, too."""
        with suppress(OSError):  # the log has it
            if failures:
                first = failures[0]
                told = str(first) if isinstance(first, GitragError) else reason_of(first)
                write_private(self._failure, told)
            else:
                self._failure.unlink(missing_ok=True)

    def _mark(self, worktree: Path) -> None:
        with open_private(self._marks, "ab") as file:  # a short append is atomic
            file.write(os.fsencode(worktree) + b"\0")

    def _take_marks(self) -> list[Path]:
        """Move the marks aside until their work is done, so that those of a killed worker count again."""
        asked = self._taken.read_bytes() if self._taken.exists() else b""
        with suppress(FileNotFoundError):
            self._marks.replace(self._taken)
            marks = self._taken.read_bytes()
            if asked:
                self._taken.write_bytes(asked + marks)
            asked += marks
        return list(dict.fromkeys(Path(os.fsdecode(path)) for path in asked.split(b"\0") if path))


def last_failure(directory: Path) -> str:
    """Say why the last background worker failed; empty when it did not, or is still at work."""
    if is_held(directory / "worker.lock"):
        return ""
    ended = read_holder(directory / "worker.holder")  # it takes its note away when it can
    if ended is not None:
        return f"process {ended.pid} ended in the middle of its work"
    try:
        return (directory / _FAILURE).read_text("utf-8").strip()
    except (OSError, ValueError):
        return ""


def running(directory: Path) -> Holder | None:
    """Tell which process is working in the background, if one is."""
    return read_holder(directory / "worker.holder") if is_held(directory / "worker.lock") else None


def lower_priority() -> None:
    """Let everything else on the machine go first, at its processors and, on Linux, at its disks."""
    with suppress(OSError, AttributeError):  # Windows has no nice
        os.setpriority(os.PRIO_PROCESS, 0, max(_NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))
    call = _IOPRIO_SET.get(platform.machine())
    if sys.platform == "linux" and call is not None:
        import ctypes

        ctypes.CDLL(None).syscall(call, _OWN_PROCESS, 0, _IDLE_CLASS)  # refused, it stays as it is
    _lower_session(_NICENESS)


@contextmanager
def in_turn() -> Iterator[None]:
    """Work as fast as anybody while others wait for it, as far as Linux lets a process of low priority."""
    _lower_session(0)
    try:
        yield
    finally:
        _lower_session(_NICENESS)


def _lower_session(niceness: int) -> None:
    """Set the niceness of the session, if this process has one of its own."""
    with suppress(OSError, AttributeError):  # no such file; or too often: ten times a second are allowed
        if os.getsid(0) == os.getpid():
            _AUTOGROUP.write_text(f"{niceness}\n", "ascii")


def processors() -> int:
    """Tell how many processors to use: half of them, and the others too while nobody else does."""
    count = os.cpu_count() or 1
    with suppress(OSError, AttributeError):
        if os.getloadavg()[0] < count * _IDLE_LOAD:
            return count
    return max(1, count // 2)


def end_on_request() -> None:
    """Make SIGTERM end this process by way of its ``finally`` blocks; for a process of our own."""
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
