"""Which repository memory belongs to: the key that it is stored under, and what that is called.

A name does not tell repositories apart: a key does. It is

* ``github.com/team/shop``, the remote (`gitrag.git.identity`): all clones and worktrees share their memory;
* ``/home/me/shop@<first commit>``, the place, where there is no remote; without a commit ``/home/me/shop@``;
* ``shop``, a name alone: given as ``--project``, written by hand, or stored before there were other keys.

What was stored under the place counts as the remote's once there is one. What is stored under a name alone
may be of any repository called so: nobody takes it over but the user.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from gitrag.errors import GitragError, UsageError
from gitrag.git import Repository
from gitrag.git.identity import of_directory, written
from gitrag.machine.files import read_regular
from gitrag.memory.registry import RegisteredPlace, Registry

DEFAULT_HOME = ".gitrag"
"""GITRAG_HOME's default, in the home directory."""


def home_directory(environ: Mapping[str, str]) -> Path:
    """Return GITRAG_HOME, or ``~/.gitrag``."""
    given = environ.get("GITRAG_HOME", "")
    if given == "~" or given.startswith("~/"):
        return Path(environ.get("HOME") or Path.home()) / given[2:]
    return Path(given).absolute() if given else Path(environ.get("HOME") or Path.home()) / DEFAULT_HOME


def project_name(given: str | None, repo: Repository | None, start: Path) -> str:
    """Return a project's name: as given, else after origin, else after the directory."""
    if given and given.strip():
        return given.strip()
    if repo is None:
        return start.resolve().name
    return repo.remote_name() or repo.default_directory_name


_OF_REPOSITORY = re.compile(r"(?:[^/]*[.:][^/]*)?/.+", re.DOTALL)
_MOST_BYTES = 1 << 20
_FIRST_COMMIT = re.compile(r"@([0-9a-f]{40}(?:[0-9a-f]{24})?)?$")


def is_repository(key: str) -> bool:
    """Return whether a key is a repository's rather than a name alone."""
    return bool(_OF_REPOSITORY.fullmatch(key))


def name_of(key: str) -> str:
    """Return what the project of a key is called: by the last part of a remote or place, or as it is."""
    if not is_repository(key):
        return key
    parts = _FIRST_COMMIT.sub("", key).split("/")
    shown = (part.removesuffix(".git") for part in reversed(parts) if not part.startswith("."))
    return next(shown, "") or key


def shown_names(keys: Iterable[str]) -> dict[str, str]:
    """Return how to show each key: by its name, whole where two have that."""
    names = {key: name_of(key) for key in keys}
    times = Counter(names.values())
    return {key: name if times[name] == 1 else key for key, name in names.items()}


class Project(Struct, frozen=True):
    """A project that memory is kept of.

    Attributes:
        given: Its key, where the remote or the user says so; empty where the place does.
        place: Where it is, as its keys begin that have no remote; empty where only a key was given.
        repo: Its repository; None if there is none there.
    """

    name: str
    given: str = ""
    place: str = ""
    repo: Repository | None = None

    def own(self, stored: Iterable[str]) -> list[str]:
        """Return which of the stored keys are surely this project's, its own first."""
        found = [key for key in stored if (self._is_here(key) if self.place else key == self.given)]
        return sorted(found, key=lambda key: (key != self.given, key.endswith("@"), key))

    def readable(self, stored: Collection[str]) -> list[str]:
        """Return the stored keys of what is the project's or may be: those of `own`, and its name alone."""
        named = [self.name] if self.place and self.name in stored else []
        return [*self.own(stored), *named]

    def key(self, stored: Iterable[str]) -> str:
        """Return the key to store under, where there is memory under these already."""
        if self.given:
            return self.given
        root = next((key for key in self.own(stored) if not key.endswith("@")), "")
        return root or self.place + (self.repo.first_commit() if self.repo is not None else "")

    def _is_here(self, key: str) -> bool:
        if not key.startswith(self.place):
            return bool(key) and key == self.given
        commit = key.removeprefix(self.place)
        if not commit:  # from before the first commit: what was cloned to the place since may be another one
            return not self.given
        return self.repo is not None and self.repo.has_commit(commit)


def project_at(repo: Repository | None, start: Path) -> Project:
    """Return the project of a repository; outside of one, of a directory."""
    name = written(project_name(None, repo, start))
    if repo is None:
        return Project(name, place=f"{of_directory(start.resolve())}@")
    return Project(name, repo.remote_identity(), f"{of_directory(repo.common_dir)}@", repo)


def project_called(given: str | None, here: Project, stored: Collection[str]) -> Project:
    """Return the project that a name or a key means: the one here, else the one with memory, else a new one.

    Args:
        given: What the user said; blank for the project here.
    """
    wanted = (given or "").strip()
    if wanted in {"", here.name}:
        return here
    whole = is_repository(wanted) and wanted in stored
    found = [wanted] if whole else [key for key in stored if name_of(key) == wanted]
    if len(found) > 1:
        raise UsageError(
            f'{len(found)} projects are called "{wanted}".', f"Say which: {', '.join(sorted(found))}"
        )
    return Project(wanted, found[0] if found else wanted)


def has_namesake(project: Project, stored: Iterable[str]) -> bool:
    """Return whether memory or the registry knows another repository of a project's name, or cannot tell."""
    own = project.own(stored)
    if any(is_repository(key) and name_of(key) == project.name and key not in own for key in stored):
        return True
    try:
        entries = Registry().read().entries
    except GitragError:
        return True
    for entry in entries:
        if not _may_be_called(entry, project.name):
            continue
        if project.repo is not None and entry.git_dir == project.repo.common_dir:
            continue
        name, remote = entry.path.name.removesuffix(".git"), ""
        with suppress(GitragError):
            other = Repository.discover(entry.path)
            name, remote = project_name(None, other, entry.path), other.remote_identity()
        if name == project.name and not (remote and remote == project.given):
            return True
    return False


def _may_be_called(entry: RegisteredPlace, name: str) -> bool:
    """Tell without git, which takes 14 ms, whether a repository can be called so, by remote or directory."""
    parts = (*entry.path.parts[-2:], *entry.git_dir.parts[-2:])
    if any(written(part).removesuffix(".git") == name for part in parts):
        return True
    try:
        config = read_regular(entry.git_dir / "config", _MOST_BYTES)
    except OSError:
        return False
    # git escapes some names, and remotes may be in files that this one includes
    return name.encode() in config or b"[include" in config.lower() or not {'"', "\\"}.isdisjoint(name)
