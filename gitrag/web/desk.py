"""What the pages ask: one repository, its index kept in memory, one question at a time."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from gitrag.actions.search import SearchOptions, search
from gitrag.errors import GitragError
from gitrag.machine.log import open_log
from gitrag.web.addresses import Addresses
from gitrag.web.colouring import Colouring, ShownSource
from gitrag.workspace import Workspace


class Desk:
    """A repository to ask.

    An index in memory is not thread-safe: one question is asked at a time.

    Args:
        start: The directory that the command was started in.
        name: Its name in addresses; empty for the one that the page was started in.
        beside: The desk of that one, for another one: its index is not kept in memory.

    Attributes:
        heard: In a turn, what the user should know of the answer, a line each.
    """

    def __init__(
        self, start: Path, environ: Mapping[str, str], *, name: str = "", beside: Desk | None = None
    ) -> None:
        self.start = start
        self.environ = environ
        self.address = Addresses(name)
        self.heard: list[str] = []
        self._lock = threading.Lock()
        self.workspace = Workspace.open(start, environ=environ, say=self.hear, resident=beside is None)
        self._slow_lock = threading.Lock()
        self._slow = Workspace.open(start, environ=environ)
        self.colouring: Colouring = Colouring() if beside is None else beside.colouring

    @property
    def name(self) -> str:
        """What the repository is called on a page."""
        return self.address.repository or self.workspace.name

    def hear(self, line: str) -> None:
        """Note what the user should know of the answer."""
        self.heard.append(line)

    @contextmanager
    def turn(self) -> Iterator[Workspace]:
        """Wait for one's turn, and have the repository for oneself."""
        with self._lock:
            self.heard.clear()
            self.workspace.require_repository()
            yield self.workspace

    @contextmanager
    def slow_turn(self) -> Iterator[Workspace]:
        """Wait for one's turn at what takes seconds and drafts no vectors: calls, history."""
        with self._slow_lock:
            self._slow.require_repository()
            yield self._slow

    def warm(self) -> None:
        """Load the model and the index before the first question comes."""
        self.colouring.read([ShownSource("a.py", ("x = 1",))])
        with (
            suppress(GitragError),
            self.turn() as workspace,
        ):  # the first question meets it again, and says so
            search(workspace, "main", SearchOptions(refine_s=0.0))

    def close(self) -> None:
        """End the process that colours source."""
        self.colouring.close()

    def log_bug(self, where: str, error: Exception) -> str:
        """Log a bug; return what the page says of it."""
        directory = self.workspace.store.directory
        with suppress(OSError):
            open_log(directory)
            logging.getLogger("gitrag").error("a bug in the page %s", where, exc_info=error)
            return f"The traceback is in {directory / 'log'}; please report it."
        return "Please report it."
