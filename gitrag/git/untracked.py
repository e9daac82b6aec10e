"""Remember the untracked files that git found, and detect when they may have changed.

Two thirds of `git status` is the search for untracked files: 40 ms of 55 with 6,900 files in 3,200
directories. A file that appears or disappears changes its directory's modification time, so a long-lived
process checks those times instead (9 ms, while git runs), and asks git for tracked files only. git's own
untracked cache does the same, but must be written into the index, which is the user's; and it trusts a
directory that was changed a moment before it was read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

from gitrag.git.repository import Repository
from gitrag.machine.files import read_regular

T = TypeVar("T")

_SETTLED_NS = 2_000_000_000
"""What changed less than this before it was examined may have changed again unnoticed: file systems store
times in steps of up to two seconds."""

_PAUSE_NS = 10_000_000_000
"""Minimum time between two attempts to remember: each walks all directories, in vain if files come and go."""

_MOST = 50_000
"""Directories; with more, git's own fsmonitor is the better way."""

_Sign: TypeAlias = "tuple[int, ...] | None"


class Untracked(Generic[T]):
    """Remembers the untracked files as long as nothing can have changed them.

    What can: an entry created or deleted in a directory that git searches, an ignore file, git's
    configuration, the index.
    """

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._found: Sequence[T] = ()
        self._signs: dict[bytes, _Sign] | None = None
        self._index: _Sign = None
        self._not_before_ns = 0

    @property
    def is_known(self) -> bool:
        """Whether a result is remembered, provided nothing has changed."""
        return self._signs is not None

    def known(self) -> Sequence[T] | None:
        """Return the remembered files; None if git has to search."""
        if self._signs is None or any(_sign(path) != sign for path, sign in self._signs.items()):
            self._signs = None
            return None
        return self._found

    def remember(self, found: Sequence[T], since_ns: int) -> None:
        """Keep the result of git's search, begun at a given time, from the second search of an index on."""
        index = _sign(os.fsencode(self._repository.git_dir / "index"))
        unchanged, self._index = index == self._index, index
        if not unchanged or since_ns < self._not_before_ns:
            return
        self._not_before_ns = since_ns + _PAUSE_NS
        signs: dict[bytes, _Sign] = {}
        for path in self._witnesses():
            signs[path] = sign = _sign(path)
            if len(signs) > _MOST or (sign and max(sign[:2]) > since_ns - _SETTLED_NS):
                return
        self._found, self._signs = found, signs

    def _witnesses(self) -> Iterator[bytes]:
        """List the directories that git searches, and the files that control the search and the ignoring."""
        repository = self._repository
        # `matching`: directories that a rule names, not those that only contain ignored files. `dirty`: git
        # would run another in each submodule, with what that one's configuration names.
        listing = ("--untracked-files=all", "--ignored=matching", "--ignore-submodules=dirty")
        done = repository.git("status", "--porcelain", "-z", *listing)
        found = [entry for entry in done.stdout.split(b"\0") if entry.endswith(b"/")]
        ignored = {entry[3:-1] for entry in found if entry.startswith(b"!! ")}
        # Untracked files are listed one by one, so an untracked directory is a nested repository: git does
        # not search. Nor does it search a submodule.
        closed = {entry[3:-1] for entry in found if entry.startswith(b"?? ")} | self._submodules()
        top = os.fsencode(repository.root or "")
        waiting = [b""]
        while waiting:
            directory = waiting.pop()
            place = os.path.join(top, directory)  # noqa: PTH118 - bytes
            yield place
            if directory in closed:
                yield from _what_makes_it_a_repository(place)
                continue
            with suppress(OSError), os.scandir(place) as inside:
                for entry in inside:
                    name = os.path.join(directory, entry.name)  # noqa: PTH118
                    if entry.name == b".gitignore" or (entry.name == b".git" and directory):
                        yield entry.path  # a .git that is not a repository may become one
                    elif entry.name == b".git":
                        continue
                    elif entry.is_dir(follow_symlinks=False) and name not in ignored:
                        waiting.append(name)
        yield os.fsencode(repository.git_dir / "index")
        yield os.fsencode(repository.git_dir / "HEAD")  # configuration can depend on the branch
        yield os.fsencode(repository.git_dir / "reftable" / "tables.list")  # which may be stored there
        yield os.fsencode(repository.git_dir / "config.worktree")
        yield os.fsencode(repository.common_dir / "info" / "exclude")
        listed = repository.git("config", "--list", "--show-origin", "-z").stdout.split(b"\0")
        for origin in {item.removeprefix(b"file:") for item in listed[::2] if item.startswith(b"file:")}:
            yield os.path.join(top, origin)  # noqa: PTH118
        excludes = repository.git("config", "--type=path", "core.excludesFile").stdout.rstrip(b"\n")
        if excludes:
            yield os.path.join(top, excludes)  # noqa: PTH118
        home = Path(repository.environment.get("HOME", top.decode("utf-8", "surrogateescape")))
        own = Path(repository.environment.get("XDG_CONFIG_HOME") or home / ".config") / "git"
        chosen = repository.environment.get("GIT_CONFIG_GLOBAL") or home / ".gitconfig"
        for file in (home / ".gitconfig", chosen, own / "config", own / "ignore"):
            yield os.fsencode(file)

    def _submodules(self) -> set[bytes]:
        entries = self._repository.git("ls-files", "--stage", "-z").stdout.split(b"\0")
        return {entry.partition(b"\t")[2] for entry in entries if entry.startswith(b"160000 ")}


def _what_makes_it_a_repository(place: bytes) -> Iterator[bytes]:
    """List the files that make a directory a repository: its HEAD, and the file that says where that is."""
    git = os.path.join(place, b".git")  # noqa: PTH118 - bytes
    with suppress(OSError):  # usually a directory
        pointer = read_regular(Path(os.fsdecode(git)))
        yield git
        git = os.path.join(place, pointer.removeprefix(b"gitdir:").strip())  # noqa: PTH118
    yield os.path.join(git, b"HEAD")  # noqa: PTH118


def _sign(path: bytes) -> _Sign:
    """Return what changes with a file or a directory's entries, times first; None if it is missing."""
    try:
        status = os.stat(path)  # noqa: PTH116 - bytes
    except OSError:
        return None
    size = 0 if stat.S_ISDIR(status.st_mode) else status.st_size
    return status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev, size
