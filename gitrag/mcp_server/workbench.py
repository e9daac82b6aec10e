"""What the tools work on: repositories, explorations and core files; one call at a time."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.to_thread

from gitrag.actions.catch_up import index_first
from gitrag.actions.core_context import project_of
from gitrag.actions.issues import SyncListener
from gitrag.actions.repositories.chosen import Chosen, choose
from gitrag.actions.repositories.kept import KeptRepositories
from gitrag.actions.requests import Scope
from gitrag.actions.search import Searcher
from gitrag.errors import GitragError, NoRepositoryError, RepositoryError, UsageError
from gitrag.git import Repository
from gitrag.git.patterns import MAX_GLOB_CHARS
from gitrag.machine.files import existing
from gitrag.machine.log import open_log
from gitrag.memory.core_files import CoreFiles
from gitrag.memory.explorations import Explorations
from gitrag.memory.projects import home_directory
from gitrag.memory.registry import Registry
from gitrag.workspace import Workspace

MOST_OTHERS = 8
"""Most repositories besides the server's own, each with its index in memory."""

MOST_NAMED = 64
"""Most projects with a name of their own, directories of repositories included."""

_TELL_EVERY_S = 0.1

_MOST_THREADS = 8
"""Most threads of tool calls; only one works, the others wait for it."""

_SPECIAL = frozenset("*?[\\")
"""Characters with a meaning in patterns."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Project:
    """A repository, or a directory of one, by the name under which agents ask for it.

    Attributes:
        directory: The directory, relative to the repository's top; empty for all of it.
    """

    name: str
    workspace: Workspace
    directory: str = ""

    def globs(self, path: str = "") -> tuple[str, ...]:
        """Return the patterns of paths for a question: all of the directory, or what a pattern has of it.

        Args:
            path: A pattern as in .gitignore, of paths from the directory or from the repository's top.
        """
        if not self.directory:
            return (path,) if path else ()
        pattern = "/" + "".join("\\" + each if each in _SPECIAL else each for each in self.directory)
        inner = path.removeprefix("/").removeprefix(f"{self.directory}/")
        if path:
            anywhere = "/" not in path.rstrip("/")
            pattern += f"/**/{inner}" if anywhere else f"/{inner}"
        if len(pattern) > MAX_GLOB_CHARS and not _SPECIAL.isdisjoint(pattern):
            raise UsageError(
                f"The pattern {pattern[:60]}… of this project has {len(pattern)} characters; more than"
                f" {MAX_GLOB_CHARS} match nothing.",
                "Leave path or project out.",
            )
        return (pattern,)  # alone a file, or a directory with all that is in it


class StoppedError(Exception):
    """The client has cancelled the request."""


class ToolCall:
    """One call of a tool.

    Args:
        tell: Reports progress to the client: done, total, and what; raises once the client is gone.

    Attributes:
        roots: The directories that the client works in, as it says.
    """

    def __init__(self, tell: Callable[[float, float | None, str], None] = lambda *_: None) -> None:
        self._tell = tell
        self.roots: tuple[Path, ...] = ()
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
        everywhere: Whether code is searched in all repositories, where a call names none.
    """

    def __init__(self, start: Path, environ: Mapping[str, str], *, everywhere: bool = False) -> None:
        self.lock = threading.Lock()
        self._threads = anyio.CapacityLimiter(_MOST_THREADS)
        self.start = start
        self._environ = environ
        self._heard: list[str] = []
        self._named: dict[str, Project] = {}
        self._several = KeptRepositories(environ, self._heard.append)
        self._everywhere = everywhere
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

    def asks_several(self, roots: Sequence[Path]) -> bool:
        """Return whether code is searched in several repositories, where a call names none."""
        return self._everywhere or (len(roots) > 1 and len(_repositories_at(roots)) > 1)

    def choose(self, call: ToolCall, names: Sequence[str]) -> list[Chosen]:
        """Return the repositories that names and globs mean; see `several`."""
        roots = _repositories_at(call.roots)
        everywhere = "*" in names or (not names and self._everywhere)
        of_roots = {root.name for root in roots}  # several may have one name: all of them are asked then
        wanted = tuple(name for name in names if name != "*" and name not in of_roots)
        asked = tuple(str(root) for root in roots if not names or root.name in names)
        return choose(Scope(everywhere, (*wanted, *asked)), Registry(), self.start, self.workspace.repo)

    def open_other(self, chosen: Chosen) -> Workspace:
        """Open one of several repositories for one question."""
        return Workspace.open(
            chosen.place,
            environ=chosen.environment(self._environ),
            say=lambda line: self._heard.append(f"{chosen.name}: {line}"),
        )

    def several(self, call: ToolCall, names: Sequence[str]) -> Searcher:
        """Return whom several repositories are asked by.

        Args:
            names: Names and globs; none means the client's roots, or all where the server asks everywhere.
        """
        return partial(self._several.ask, self.choose(call, names))

    def explorations(self) -> Explorations:
        """Open the user's explorations, with the model that searches use, if it is there."""
        return Explorations(home_directory(self._environ), self.workspace.encoder_if_ready)

    def project(self, name: str) -> Project:
        """Return the project of a name; an empty name means the server's own repository."""
        own = project_of(self.workspace).name
        wanted = name.strip()
        if wanted in self._named:
            self._named[wanted].workspace.require_repository()
            return self._named[wanted]
        if not wanted or wanted in {own, self.workspace.name}:
            return Project(own, self.workspace)
        if (kept := self._several.find(wanted)) is not None:
            kept.require_repository()
            return Project(wanted, kept)
        known = ", ".join([own, *self._named])
        raise UsageError(
            f'There is no project "{wanted[:60]}" here; there is {known}.',
            "Leave project out, or call index_code with the path of another directory and this name.",
        )

    def open_path(self, path: str, name: str) -> Project:
        """Open the repository that a path lies in, and name the path as a project.

        Without a name the server's own repository and directories of it keep the repository's name, and are
        no project of their own; another repository is named after its origin or directory, or where that is
        another's name, after its parent directory too.
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
        is_own = workspace.repo.git_dir == self.workspace.repo.git_dir
        if is_own:
            workspace = self.workspace
        else:
            opened = {each.workspace.repo.git_dir: each.workspace for each in self._named.values()}
            opened.pop(self.workspace.repo.git_dir, None)
            if workspace.repo.git_dir not in opened and len(opened) >= MOST_OTHERS:
                raise UsageError(f"{MOST_OTHERS} other repositories are open.", "Start a server there.")
            workspace = opened.get(workspace.repo.git_dir, workspace)
        root = (workspace.repo.root or workspace.repo.git_dir).resolve()
        inside = place.relative_to(root).as_posix() if place.is_relative_to(root) else "."
        inside = "" if inside == "." else inside
        given = name.strip()
        if not given and is_own:
            return Project(project_of(workspace).name, workspace, inside)
        found = Project(given or self._free_name(workspace, inside), workspace, inside)
        self._require_free(found)
        if found.name not in self._named and len(self._named) >= MOST_NAMED:
            raise UsageError(
                f"{MOST_NAMED} projects have names.", "Use one of them, or start a server there."
            )
        if not (is_own and not inside and found.name in {project_of(workspace).name, workspace.name}):
            self._named[found.name] = found
        return found

    def is_named(self, project: Project) -> bool:
        """Return whether questions reach a project by its name alone."""
        return project.name in self._named

    def _require_free(self, wanted: Project) -> None:
        """Raise where a name stands for another repository, or for another directory."""
        taken = self._named.get(wanted.name)
        if taken is None and wanted.name in {project_of(self.workspace).name, self.workspace.name}:
            taken = Project(wanted.name, self.workspace)
        if taken is not None and (taken.workspace.repo.git_dir, taken.directory) != (
            wanted.workspace.repo.git_dir,
            wanted.directory,
        ):
            where = taken.workspace.place / taken.directory
            raise UsageError(
                f'"{wanted.name[:60]}" is {where} already.', "Give this one another name in project."
            )

    def _free_name(self, workspace: Workspace, inside: str) -> str:
        """Return a name for a path of another repository that stands for nothing else."""
        base = "/".join(filter(None, [project_of(workspace).name, inside]))
        parent = workspace.place.parent.name
        for name in chain((base, f"{parent}-{base}"), (f"{base}-{number}" for number in count(2))):
            with suppress(UsageError):
                self._require_free(Project(name, workspace, inside))
                break
        return name

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


def _repositories_at(roots: Sequence[Path]) -> list[Path]:
    """Return the worktrees that some directories lie in, one of each repository."""
    found: dict[Path, Path] = {}
    for root in roots:
        with suppress(RepositoryError):
            repo = Repository.discover(root)
            found.setdefault(repo.common_dir, repo.root or repo.git_dir)
    return list(found.values())


def advice(error: GitragError) -> str:
    """Return an error's message with its hint."""
    return f"{error} {error.hint}".strip()
