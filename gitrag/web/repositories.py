"""The repositories that the page can show: the one that it was started in, and others that gitrag knows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from msgspec import Struct, field

from gitrag.actions.exact_search import either
from gitrag.actions.repositories.chosen import Chosen, choose, require_same
from gitrag.actions.repositories.kept import KeptRepositories
from gitrag.actions.requests import Scope
from gitrag.actions.search import Searcher
from gitrag.errors import NotSetUpError, StoreError
from gitrag.memory.registry import Registry, UnknownRepositoryError
from gitrag.report.exact import all_notes
from gitrag.web.addresses import REPOSITORY
from gitrag.web.desk import Desk
from gitrag.web.facets import Choices
from gitrag.workspace import Workspace

_MOST_DESKS = 8
"""Other repositories that are kept open."""


class _Read(Struct, frozen=True):
    """What was read of the registry.

    Attributes:
        state: The file's inode, size and time; None if it could not be asked for them.
        error: Why those elsewhere are not known; None if they are.
    """

    state: tuple[int, int, int] | None = None
    known: dict[str, Chosen] = field(default_factory=dict)
    error: StoreError | None = None


class Repositories:
    """Repositories to show."""

    def __init__(self, here: Desk) -> None:
        self.here = here
        self._heard: list[str] = []
        self._several = KeptRepositories(here.environ, self._heard.append)
        self._asking = threading.Lock()
        self._desks: dict[str, Desk] = {}
        self._lock = threading.Lock()
        self._last = _Read()

    def known(self) -> dict[str, Chosen]:
        """Return all that gitrag knows, the one here included, by name; where that cannot be read, none."""
        return self._read().known

    @property
    def problem(self) -> str:
        """Why no other repository is known, and what to do; empty where that is no failure."""
        error = self._read().error
        return f"No other repository is asked: {error} {error.hint}".strip() if error else ""

    def _read(self) -> _Read:
        registry = Registry()
        try:
            status = registry.path.stat()
            state = status.st_ino, status.st_size, status.st_mtime_ns
        except OSError:
            state = None
        last = self._last
        if state is None or last.state != state:  # hundreds take longer than a letter is allowed to
            found, error = [], None
            try:
                found = choose(Scope(everywhere=True), registry, self.here.start, self.here.workspace.repo)
            except NotSetUpError:  # none, and the index here is elsewhere
                pass
            except StoreError as raised:
                error = raised
            last = self._last = _Read(state, {each.name: each for each in found}, error)
        return last

    def is_here(self, chosen: Chosen) -> bool:
        """Tell whether a repository is the one that the page was started in."""
        return chosen.git_dir == self.here.workspace.repo.common_dir

    def desk(self, name: str) -> Desk:
        """Return a repository to ask, by name; empty for the one here.

        Names alone are taken, no paths: an address leads to nothing that the user has not indexed.
        """
        if not name:
            return self.here
        chosen = self._named([name])[0]
        if self.is_here(chosen):
            return self.here
        with self._lock:
            desk = self._desks.pop(name, None)
            if desk is None or desk.start != chosen.place:
                desk = Desk(chosen.place, chosen.environment(self.here.environ), name=name, beside=self.here)
            require_same(desk.workspace, chosen)
            self._desks[name] = desk
            for oldest in list(self._desks)[:-_MOST_DESKS]:
                del self._desks[oldest]
        return desk

    @contextmanager
    def looked_at(self, chosen: Chosen) -> Iterator[Workspace]:
        """Open a repository for a look beside questions; it is not kept."""
        if self.is_here(chosen):
            with self.here.slow_turn() as workspace:
                yield workspace
            return
        workspace = Workspace.open(chosen.place, environ=chosen.environment(self.here.environ))
        try:
            require_same(workspace, chosen)
            yield workspace
        finally:
            workspace.store.close()

    @contextmanager
    def turn(self, choices: Choices) -> Iterator[tuple[Callable[[Choices], Searcher], list[str]]]:
        """Wait for one's turn at asking: the repository here, or several, which it does not wait for.

        Yields:
            Who answers with such choices of repositories, and what the user should know of the answers, a
            line each. Where no name is chosen, all are asked.
        """
        if not choices.are_several:
            with self.here.turn() as workspace:
                heard = self.here.heard
                ask = partial(either, workspace, hear=lambda found: heard.extend(all_notes(found)))
                yield lambda _choices: ask, heard
            return
        with self._asking:
            self._heard.clear()
            yield lambda own: partial(self._several.ask, self._named(own.of(REPOSITORY))), self._heard

    def require(self, name: str) -> None:
        """Raise where no repository has a name."""
        self._named([name])

    def _named(self, names: Sequence[str]) -> list[Chosen]:
        read = self._read()
        known = read.known
        if read.error is not None:
            raise read.error.with_traceback(None)
        for name in names:
            if name not in known:
                raise UnknownRepositoryError(
                    f'gitrag knows no repository "{name}".', "gitrag repos list lists them."
                )
        return [known[name] for name in dict.fromkeys(names)] if names else list(known.values())
