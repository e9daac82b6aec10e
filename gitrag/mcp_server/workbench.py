"""What the tools work on: repositories, explorations and core files; one call at a time."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.to_thread

from gitrag.actions.core_context import project_of
from gitrag.actions.first_index import index_first
from gitrag.actions.issues import SyncListener
from gitrag.errors import GitragError, NoRepositoryError, UsageError
from gitrag.machine.files import existing
from gitrag.machine.log import open_log
from gitrag.memory.core_files import CoreFiles
from gitrag.memory.explorations import Explorations
from gitrag.memory.home import home_directory
from gitrag.workspace import Workspace

MOST_OTHERS = 8
"""Most repositories besides the server's own, each with its index in memory."""


_TELL_EVERY_S = 0.1

_MOST_THREADS = 8
"""Most threads of tool calls; only one works, the others wait for it."""

T = TypeVar("T")


class StoppedError(Exception):
    """The client has cancelled the request."""


class ToolCall:
    """One call of a tool.

    Args:
        tell: Reports progress to the client: done, total, and what; raises once the client is gone.
    """

    def __init__(self, tell: Callable[[float, float | None, str], None] = lambda *_: None) -> None:
        self._tell = tell
        self._stopped = threading.Event()
        self._told = -math.inf
        self._ticks = 0

    def stop(self) -> None:
        """Cancel the call."""
        self._stopped.set()

    def check(self) -> None:
        """Raise if the call was cancelled.

        Raises:
            StoppedError: The call was cancelled.
        """
        if self._stopped.is_set():
            raise StoppedError

    def advance(self, done: int, total: int, what: str = "") -> None:
        """Report progress."""
        self.check()
        now = time.monotonic()
        if now - self._told >= _TELL_EVERY_S:
            self._told = now
            self._tell(done, total or None, what)

    def tick(self, what: str = "") -> None:
        """Report that work goes on, if its progress is not known."""
        self._ticks += 1
        self.advance(self._ticks, 0, what)


class Workbench:
    """The server's own repository, others that were named since, and the user's memory.

    Neither the drafting of vectors nor an index in memory is thread-safe: each call holds ``lock``.

    Args:
        start: Where the server was started.
        environ: The environment.
    """

    def __init__(self, start: Path, environ: Mapping[str, str]) -> None:
        self.lock = threading.Lock()
        self._threads = anyio.CapacityLimiter(_MOST_THREADS)
        self.start = start
        self._environ = environ
        self._heard: list[str] = []
        self._others: dict[str, Workspace] = {}
        self.workspace = self._open(start)
        self.core = CoreFiles(home_directory(environ))
        self.log_path: Path | None = None
        with suppress(OSError):
            open_log(self.workspace.store.directory)
            self.log_path = self.workspace.store.directory / "log"

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Run a function in a thread of the tools' own pool; if the client cancels, the thread is abandoned.

        The SDK reads its input in threads of the default pool: if those were all waiting for ``lock``, no
        ping would be read.
        """
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._threads)

    def explorations(self) -> Explorations:
        """Open the user's explorations, with the model that searches use, if it is there."""
        return Explorations(home_directory(self._environ), self.workspace.encoder_if_ready)

    def app_of(self, project: str) -> Workspace:
        """Return the repository of a project; an empty name means the server's own.

        Raises:
            UsageError: No repository of this name has been opened.
        """
        wanted = project.strip()
        if not wanted or wanted in {project_of(self.workspace), self.workspace.name}:
            return self.workspace
        if wanted in self._others:
            self._others[wanted].require_repository()
            return self._others[wanted]
        known = ", ".join([project_of(self.workspace), *self._others])
        raise UsageError(
            f'There is no project "{wanted[:60]}" here; there is {known}.',
            "Leave project out, or call index_code with the path of another repository and this name.",
        )

    def open_path(self, path: str, project: str) -> tuple[Workspace, str]:
        """Open the repository that contains a path: the server's own, or another one.

        Returns:
            The repository, and the path relative to its top; empty for all of it.

        Raises:
            UsageError: There is no such directory or file, or no repository around it.
        """
        place = existing(self.start / path)
        if place is None:
            raise UsageError(
                f"There is no {path}.", "Give a path of this repository, or another repository's."
            )
        directory = place if place.is_dir() else place.parent
        try:
            workspace = self._open(directory)
        except NoRepositoryError as error:
            raise UsageError(
                f"{path} is in no git repository.",
                "gitrag indexes git repositories; run `git init` there first.",
            ) from error
        if workspace.repo.git_dir == self.workspace.repo.git_dir:
            workspace = self.workspace
        else:
            name = project_of(workspace, project)
            if name in {project_of(self.workspace), self.workspace.name}:
                raise UsageError(f'"{name}" is this project.', "Give the other one another name in project.")
            if name not in self._others and len(self._others) >= MOST_OTHERS:
                raise UsageError(f"{MOST_OTHERS} other repositories are open.", "Start a server there.")
            known = self._others.get(name)
            if known is not None and known.repo.git_dir == workspace.repo.git_dir:
                workspace = known
            self._others[name] = workspace
        root = (workspace.repo.root or workspace.repo.git_dir).resolve()
        inside = place.relative_to(root).as_posix() if place.is_relative_to(root) else "."
        return workspace, "" if inside == "." else inside

    def index_first(self, call: ToolCall) -> None:
        """Index the server's own repository if it never was: nobody may have run `gitrag init`."""

        @contextmanager
        def progress(_label: str, _total: int | None) -> Iterator[_Told]:
            yield _Told(call)

        index_first(self.workspace, progress, for_agents=True)

    def notes(self) -> list[str]:
        """Return and clear the notes for the user since the last call."""
        heard = list(dict.fromkeys(self._heard))
        self._heard.clear()
        return heard

    def listener(self, call: ToolCall) -> SyncListener:
        """Return callbacks that report a sync of issues to the maker of a call."""
        return SyncListener(
            note=self._heard.append, advance=lambda done, total: call.advance(done, total or 0, "issues")
        )

    def log_bug(self, tool: str, error: Exception) -> str:
        """Log a bug; return the message for the caller."""
        logging.getLogger("gitrag").error("a bug in the tool %s", tool, exc_info=error)
        where = f"; the traceback is in {self.log_path}" if self.log_path else ""
        return f"gitrag hit a bug{where}. Try `gitrag doctor`."

    def _open(self, place: Path) -> Workspace:
        return Workspace.open(place, environ=self._environ, say=self._heard.append, resident=True)


class _Told:
    """Progress that is reported to the maker of a call."""

    def __init__(self, call: ToolCall) -> None:
        self._call = call

    def update(self, done: int, total: int | None = None) -> None:
        self._call.advance(done, total or 0, "files")

    def status(self, text: str) -> None:
        self._call.tick(text)


def advice(error: GitragError) -> str:
    """Return an error's message with its hint."""
    return f"{error} {error.hint}".strip()
