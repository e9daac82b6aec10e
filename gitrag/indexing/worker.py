"""The single background process of a store.

A process that finds the worker's lock taken leaves a mark naming its worktree, and exits; the worker
looks for marks before it exits. So a burst of fifty commits causes one catch-up after the first, not fifty.
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
"""Out of 19; the hooks start the worker with the same niceness."""

_IOPRIO_SET = {"x86_64": 251, "aarch64": 30, "riscv64": 30}
"""System call number of Linux's ioprio_set(2), which neither Python nor libc wraps."""

_OWN_PROCESS = 1
_IDLE_CLASS = 3 << 13
"""IOPRIO_WHO_PROCESS, and class IOPRIO_CLASS_IDLE at level 0."""

_AUTOGROUP = Path("/proc/self/autogroup")
"""Linux divides processors among sessions first (``sched_autogroup``); niceness counts only within a
session. The session's own niceness is written here; unlike a process's it may be set back."""

_FAILURE = "worker.failed"
_NOTE = "worker.holder"

CUTTING = "cutting files"
"""What it does first."""

REFINING = "refining draft vectors"
"""What the worker does for most of its time."""

WAITING = "waiting "
"""Before what for, until it is its turn to embed (`gitrag/indexing/turn.py`)."""

_IDLE_LOAD = 0.25
"""Load per processor, averaged over the last minute, below which the machine counts as idle."""


class Worker:
    """The worker's lock and marks, in the store's directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._marks = directory / "worker.marks"
        self._taken = directory / "worker.taken"
        self._note = directory / _NOTE
        self._failure = directory / _FAILURE
        self._lock = FileLock(directory / "worker.lock")

    def run(
        self,
        worktree: Path,
        work: Callable[[Path, Callable[[], bool]], None],
        settled: Callable[[], None] = lambda: None,
    ) -> bool:
        """Work for a worktree and for those that ask meanwhile; leave it to a running worker if there is one.

        Args:
            work: Does the work for a worktree. It receives a function that tells whether another request
                    has come in, so that new text is indexed before old text is embedded.

        Returns:
            Whether this process was the worker.

        Raises:
            Exception: The work for a worktree failed; the first such error, after the others are done. It is
                recorded until a worker succeeds throughout.
        """
        make_private(self._directory)
        self.mark(worktree)
        worked = False
        failures: list[Exception] = []
        # After the lock is released: a process that still found it taken may have left a mark.
        while self._marks.exists() and self._lock.try_acquire():
            try:
                worked = True
                settled()
                write_holder(self._note, "indexing")
                while asked := self._take_marks():
                    for path in asked:
                        if path.is_dir():
                            try:
                                work(path, self._marks.exists)
                            except Exception as error:  # noqa: BLE001 - raised below; the others come first
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
        """Record the first failure, or that there was none."""
        with suppress(OSError):  # it is in the log anyway
            if failures:
                first = failures[0]
                told = str(first) if isinstance(first, GitragError) else reason_of(first)
                write_private(self._failure, told)
            else:
                self._failure.unlink(missing_ok=True)

    def mark(self, worktree: Path, *, only: bool = False) -> None:
        """Ask for a worktree, or for it only, whatever others have asked for."""
        with open_private(self._marks, "wb" if only else "ab") as file:  # short appends are atomic
            file.write(os.fsencode(worktree) + b"\0")

    def _take_marks(self) -> list[Path]:
        """Move the marks aside until their work is done, so that a killed worker's marks count again."""
        asked = self._taken.read_bytes() if self._taken.exists() else b""
        with suppress(FileNotFoundError):
            self._marks.replace(self._taken)
            marks = self._taken.read_bytes()
            if asked:
                self._taken.write_bytes(asked + marks)
            asked += marks
        return list(dict.fromkeys(Path(os.fsdecode(path)) for path in asked.split(b"\0") if path))


def last_failure(directory: Path) -> str:
    """Return why the last background worker failed; empty when it did not, or is still running."""
    if is_held(directory / "worker.lock"):
        return ""
    ended = read_holder(directory / _NOTE)  # the worker deletes its record on success
    if ended is not None:
        began = is_held(directory / "worker.lock") or read_holder(directory / _NOTE) != ended
        return "" if began else f"process {ended.pid} ended while {ended.purpose}"
    try:
        return (directory / _FAILURE).read_text("utf-8").strip()
    except (OSError, ValueError):
        return ""


def running(directory: Path) -> Holder | None:
    """Return the background process and what it does, if one is running."""
    return read_holder(directory / _NOTE) if is_held(directory / "worker.lock") else None


def ask_to_end(directory: Path) -> None:
    """Have the worker, if one is running, leave what is not done: as if asked for what is no worktree."""
    if running(directory) is not None:
        Worker(directory).mark(Path(os.devnull), only=True)


def tell(directory: Path, purpose: str) -> None:
    """Record what this process does now, where it is the worker."""
    own = read_holder(directory / _NOTE)
    if own is not None and own.pid == os.getpid() and own.purpose != purpose:
        write_holder(directory / _NOTE, purpose)


def lower_priority() -> None:
    """Lower this process's priority for processors and, on Linux, for disks."""
    with suppress(OSError, AttributeError):  # Windows has no nice
        os.setpriority(os.PRIO_PROCESS, 0, max(_NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))
    call = _IOPRIO_SET.get(platform.machine())
    if sys.platform == "linux" and call is not None:
        import ctypes

        ctypes.CDLL(None).syscall(call, _OWN_PROCESS, 0, _IDLE_CLASS)  # if refused, the priority stays
    _lower_session(_NICENESS)


@contextmanager
def in_turn() -> Iterator[None]:
    """Run at normal priority while others wait for this process, as far as Linux allows."""
    _lower_session(0)
    try:
        yield
    finally:
        _lower_session(_NICENESS)


def _lower_session(niceness: int) -> None:
    """Set the niceness of the session, if this process has a session of its own."""
    with suppress(OSError, AttributeError):  # no such file, or more than the ten changes a second allowed
        if os.getsid(0) == os.getpid():
            _AUTOGROUP.write_text(f"{niceness}\n", "ascii")


def processors() -> int:
    """Return how many processors to use: half of them, or all while the machine is idle."""
    count = os.cpu_count() or 1
    with suppress(OSError, AttributeError):
        if os.getloadavg()[0] < count * _IDLE_LOAD:
            return count
    return max(1, count // 2)


def end_on_request() -> None:
    """Make SIGTERM unwind this process through its ``finally`` blocks; only for processes gitrag started."""
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
