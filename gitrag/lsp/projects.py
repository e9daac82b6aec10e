"""The repositories that an editor works in; each is asked one question at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from gitrag.actions.answer import Answer
from gitrag.actions.repositories.chosen import choose
from gitrag.actions.repositories.kept import KeptRepositories
from gitrag.actions.requests import Scope
from gitrag.actions.search import SearchOptions, search
from gitrag.errors import ConfigError, NoRepositoryError
from gitrag.machine.files import existing, within
from gitrag.memory.registry import Registry
from gitrag.workspace import Workspace

_MOST = 16
"""Repositories that are kept open."""

_MOST_KEPT = 100
_WAIT_S = 0.05

T = TypeVar("T")
Check = Callable[[], None]
"""Raises where the editor has cancelled the request."""


class Project:
    """A repository: its index in memory for searches and files, and beside that calls and history.

    Args:
        start: A directory of it, as the editor names it.
    """

    def __init__(self, start: Path, environ: Mapping[str, str], say: Callable[[str], None]) -> None:
        self._searched = Workspace.open(start, environ=environ, say=say, resident=True)
        self._read = Workspace.open(start, environ=environ, say=say)
        self._locks = {True: threading.Lock(), False: threading.Lock()}
        self._kept: dict[tuple[str, str], tuple[object, Any]] = {}
        place = self._read.place
        same = (each for each in (start, *start.parents) if each.exists() and each.samefile(place))
        self.base = next(same, place)

    @contextmanager
    def turn(self, check: Check, *, searches: bool = False) -> Iterator[Workspace]:
        """Wait for one's turn, and have the repository."""
        lock = self._locks[searches]
        while not lock.acquire(timeout=_WAIT_S):
            check()
        try:
            check()
            workspace = self._searched if searches else self._read
            workspace.require_repository()
            yield workspace
        finally:
            lock.release()

    def kept(self, kind: str, path: str, make: Callable[[Workspace], T], check: Check) -> T:
        """Return what is known of a file, made anew only where git says that anything has changed."""
        with self.turn(check) as workspace:
            state = workspace.snapshot().key
            known, found = self._kept.get((kind, path), (None, None))
            if known != state:
                found = make(workspace)
                if len(self._kept) >= _MOST_KEPT:
                    self._kept.clear()
                self._kept[kind, path] = state, found
            value: T = found
            return value


class Projects:
    """The repositories around files and folders.

    Args:
        say: Called with what the user should know of an answer.
    """

    def __init__(self, environ: Mapping[str, str], say: Callable[[str], None]) -> None:
        # What names one repository is not for all.
        self._environ = {name: environ[name] for name in environ if name not in {"GIT_DIR", "GIT_WORK_TREE"}}
        self._say = say
        self._around: dict[Path, Project] = {}
        self._several = KeptRepositories(self._environ, say)
        self._lock = threading.Lock()
        self._asking = threading.Lock()

    def around(self, directory: Path) -> Project | None:
        """Return the repository that a directory lies in; None if it is in none.

        Raises:
            ConfigError: A setting of it is wrong.
        """
        with self._lock:
            if (found := self._around.get(directory)) is not None:
                return found
            try:
                opened = Project(directory, self._environ, self._say)
            except NoRepositoryError:
                return None
            same = (each for each in self._around.values() if each.base == opened.base)
            found = next(same, opened)
            if len(set(self._around.values())) >= _MOST and found is opened:
                self._around.clear()
            self._around[directory] = found
            return found

    def of_file(self, file: Path) -> tuple[Project, str] | None:
        """Return the repository of a file, and its path in there; None if it is in none."""
        project = self.around(file.parent) if existing(file.parent) is not None else None
        inside = within(project.base, file) if project is not None else None
        return (project, inside) if project is not None and inside else None

    def search(
        self, folders: Sequence[Path], query: str, options: SearchOptions, check: Check
    ) -> tuple[Answer, Mapping[str, Project]]:
        """Ask the repositories of some folders; return also which is meant by a hit's repository.

        Raises:
            ConfigError: A setting of each is wrong.
        """
        found: dict[Project, None] = {}
        problems: list[ConfigError] = []
        for each in folders:
            try:
                if (project := self.around(each)) is not None:
                    found[project] = None
            except ConfigError as error:
                problems.append(error)
        if problems and not found:
            raise problems[0]
        for problem in problems:
            self._say(f"{problem} {problem.hint}".strip())
        if not found:
            raise NoRepositoryError("No folder of the editor is in a git repository.", "git init")
        if len(found) == 1:
            (only,) = found
            with only.turn(check, searches=True) as workspace:
                return search(workspace, query, options), {"": only}
        scope = Scope(names=tuple(str(each.base) for each in found))
        chosen = choose(scope, Registry(), folders[0], None)
        with self._asking:
            check()
            answer = self._several.ask(chosen, query, options)
        for line in answer.lacking:
            self._say(line)
        return answer, {each.name: project for each in answer.asked if (project := self.around(each.path))}
