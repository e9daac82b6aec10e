"""Isolate files that crash the process that reads them, or make it fail: only that file is lost.

A parser in C may overflow its stack, or the system may kill a process that uses too much memory. To find the
file, those in question are read again, in the end each in a process of its own.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Self, TypeVar

from gitrag.errors import BusyError
from gitrag.machine.files import open_private
from gitrag.machine.locks import CannotLockError, try_lock
from gitrag.machine.processes import Pool, ProcessDiedError

Job = TypeVar("Job")
Result = TypeVar("Result")

ENDED = "the process that read it ended abruptly"
"""Reason recorded for a file that killed its process."""

_REASON_CHARS = 200
_KEPT_S = 7 * 86400.0
"""A record of files that nobody reads again goes after this time."""

_GROUP = 16
"""Files passed to a process per call."""

_GROUP_HERE = 4
"""Files read here between two looks at the time."""


def reason_of(error: BaseException) -> str:
    """Return in one short line what went wrong."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}".removesuffix(": ")[:_REASON_CHARS]


class Reading:
    """Reads files, in several processes if it is worth it; a file that kills its process costs only itself.

    Args:
        directory: Where the files this process is reading are recorded; None for nowhere.
        processes: How many processes may read at once; below 2 only this one.
        helps: Whether this process reads too what it shares, in place of one that would have to start.
        deadline: When to begin no more of what is shared, in the time of ``time.monotonic``; None for never.
    """

    def __init__(
        self, directory: Path | None, processes: int, *, helps: bool = False, deadline: float | None = None
    ) -> None:
        self._helps = helps
        self._deadline = deadline
        self._journal = Journal(directory) if directory is not None else None
        self._suspects: frozenset[str] = frozenset()
        self._met: set[str] = set()
        self._processes = processes
        self._pool: Pool | None = None

    def __enter__(self) -> Self:
        self._suspects = self._journal.suspects() if self._journal else frozenset()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._pool is not None:
            self._pool.close()
        if self._journal is not None and kind is None:
            self._journal.clear(self._met)

    def start(
        self,
        function: Callable[[Sequence[Job]], list[Result]],
        jobs: Sequence[tuple[str, Job]],
        failed: Callable[[Job, str], Result],
        *,
        shared: bool,
    ) -> Callable[[], list[Result]]:
        """Start reading files.

        Args:
            jobs: Names, without white space, and the arguments for the function.
            shared: Whether it is worth starting other processes.

        Returns:
            A function that waits for the results, which are in no particular order; after the deadline, of
            what had begun.
        """
        apart = [job for name, job in jobs if name in self._suspects]
        self._met.update(name for name, _ in jobs)
        rest = [each for each in jobs if each[0] not in self._suspects]
        if self._processes < 2 or not shared:
            return lambda: self._in_time(function, rest) + read_apart(function, apart, failed)
        pool = self._opened()
        running = [(group, pool.submit(function, [job for _, job in group])) for group in _grouped(rest)]

        def there() -> list[Result]:
            results: list[Result] = []
            for group, future in reversed(running) if self._helps else ():
                if not self._is_over() and future.cancel():
                    results += self._here(function, group)
            for group, future in running:
                for _, other in running if self._is_over() else ():
                    other.cancel()
                if future.cancelled():
                    continue
                try:
                    results += future.result()
                except ProcessDiedError:
                    apart.extend(job for _, job in group)
            return results + read_apart(function, apart, failed)

        return there

    def _in_time(
        self, function: Callable[[Sequence[Job]], list[Result]], jobs: Sequence[tuple[str, Job]]
    ) -> list[Result]:
        """Read here until the deadline, some at any rate."""
        results: list[Result] = []
        for group in _grouped(jobs, _GROUP_HERE if self._deadline else len(jobs)):
            if not (results and self._is_over()):
                results += self._here(function, group)
        return results

    def _here(
        self, function: Callable[[Sequence[Job]], list[Result]], jobs: Sequence[tuple[str, Job]]
    ) -> list[Result]:
        with self._journal.reading(name for name, _ in jobs) if self._journal else nullcontext():
            return function([job for _, job in jobs]) if jobs else []

    def _is_over(self) -> bool:
        return self._deadline is not None and time.monotonic() > self._deadline

    def _opened(self) -> Pool:
        if self._pool is None:
            self._pool = Pool(self._processes - self._helps)
        return self._pool


def read_apart(
    function: Callable[[Sequence[Job]], list[Result]],
    jobs: Sequence[Job],
    failed: Callable[[Job, str], Result],
) -> list[Result]:
    """Read files in another process, and one that kills it in a process of its own.

    Args:
        function: Reads some of the files; a module-level function.
        failed: Makes the result for a file that kills its process even alone, given the reason.
    """
    if not jobs:
        return []
    results: list[Result] = []
    groups = _grouped(jobs)
    with closing(Pool(2)) as pool:
        while groups:
            group = groups.pop(0)
            try:
                results += pool.submit(function, group).result()
            except ProcessDiedError:
                _require_processes(pool)
                if len(group) == 1:
                    results.append(failed(group[0], ENDED))
                else:
                    groups[:0] = [[job] for job in group]
    return results


def _require_processes(pool: Pool) -> None:
    """Raise if processes die even without work: then no file is to blame."""
    try:
        for started in [pool.submit(os.getpid) for _ in range(2)]:
            started.result()
    except ProcessDiedError as error:
        raise BusyError(
            "The processes that read files end at once.",
            "Is memory short, or the number of processes limited? Try again.",
        ) from error


def _grouped(jobs: Sequence[Job], size: int = _GROUP) -> list[list[Job]]:
    return [list(jobs[i : i + size]) for i in range(0, len(jobs), size or 1)]


class Journal:
    """Records what this process is reading, so that a later one can isolate the file that killed it."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._left: dict[Path, set[str]] = {}

    def suspects(self) -> frozenset[str]:
        """Return what processes that no longer exist were reading when they ended."""
        found: set[str] = set()
        for path in sorted(self._directory.glob("reading.*")):
            with suppress(OSError, ValueError, CannotLockError), path.open("r+", encoding="ascii") as file:
                if try_lock(file):
                    self._left[path] = set(file.read().split())
                    found |= self._left[path]
        return frozenset(found)

    def clear(self, met: Collection[str]) -> None:
        """Delete the records found whose files have all been read, those in question in isolation.

        The others are left for who reads those files, for some days: most will never be asked for again.
        """
        for path, names in self._left.items():
            with suppress(OSError):
                if names.issubset(met) or time.time() - path.stat().st_mtime > _KEPT_S:
                    path.unlink()
        self._left = {}

    @contextmanager
    def reading(self, names: Iterable[str]) -> Iterator[None]:
        """Record names, without white space, while they are read; any exception ends the record.

        If no record can be written, they are read all the same.
        """
        path = self._directory / f"reading.{os.getpid()}.{id(self)}"
        file: IO[str] | None = None
        with suppress(OSError):
            file = open_private(path, "w", encoding="ascii")
            with suppress(CannotLockError):
                try_lock(file)
            file.write("\n".join(names))
            file.flush()
        try:
            yield
        finally:
            if file is not None:
                with suppress(OSError):
                    path.unlink()
                with suppress(OSError):  # what a full disk had no room for
                    file.close()
