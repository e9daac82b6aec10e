"""Code that is in no repository of the user's: of a git URL, of an installed dependency.

Of each there is a bare repository in the user's cache, with an index of its own. None is in the registry.
The oldest go where there are many.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from gitrag.actions.progress import ShowProgress
from gitrag.actions.repositories import dependencies
from gitrag.actions.repositories.chosen import Chosen
from gitrag.errors import BusyError, NetworkError, StoreError
from gitrag.git import copies
from gitrag.git.repository import name_of_url
from gitrag.machine.files import make_private
from gitrag.machine.locks import FileLock, wait_for
from gitrag.words.numbers import count
from gitrag.workspace import Workspace

MOST: Final = 32
"""Copies that are kept."""

FRESH_S: Final = 24 * 3600.0
"""How long a copy of a remote is asked before it is fetched again."""

_LOCK_TIMEOUT_S = 150.0
_LOCK_POLL_S = 0.1


class Elsewhere:
    """Copies of code from elsewhere.

    Args:
        directory: Where they are kept; in the user's cache by default.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        say: Callable[[str], None],
        progress: ShowProgress,
        directory: Path | None = None,
    ) -> None:
        if directory is None:
            import platformdirs

            directory = platformdirs.user_cache_path("gitrag") / "copies"
        self._directory = directory.parent.resolve() / directory.name  # as git says where a copy is
        self._environ = environ
        self._say = say
        self._progress = progress

    def of_url(self, url: str) -> Chosen:
        """Return a repository to ask: a shallow copy of a remote, fetched at most once a day."""
        url = copies.require_url(url)
        name = copies.name_of(url)
        place = self._place("url", url, name_of_url(url) or "remote")
        with self._writing(place):
            fetched = place / "fetched"
            try:
                is_fresh = abs(time.time() - fetched.stat().st_mtime) < FRESH_S
            except OSError:
                is_fresh = False
            if not is_fresh:
                try:
                    with self._progress(f"Fetching {name}", None):
                        copies.fetch_head(url, place, self._environ)
                except (NetworkError, copies.CopyTooLargeError) as error:
                    if not fetched.exists():
                        copies.remove(place)
                        raise
                    self._say(f"{error} The copy of {_days_ago(fetched)} is asked.")
                except BaseException:
                    if not fetched.exists():
                        copies.remove(place)
                    raise
                else:
                    fetched.touch()
            return self._indexed(name, place)

    def of_dependency(self, name: str, start: Path) -> Chosen:
        """Return a repository to ask: the files of an installed dependency, as they are now."""
        found = dependencies.find(name, start, self._environ)
        state = hashlib.sha256()
        for path in found.paths:
            with suppress(OSError):
                status = (found.root / path).stat()
                state.update(
                    f"{path}\0{status.st_size}\0{status.st_mtime_ns}\0".encode("utf-8", "surrogateescape")
                )
        place = self._place("dep", f"{found.root}\0{state.hexdigest()}", found.name.rpartition("/")[2])
        with self._writing(place):
            if not (place / "fetched").exists():
                try:
                    copies.commit_files(found.root, found.paths, place, self._environ)
                except BaseException:
                    copies.remove(place)
                    raise
                (place / "fetched").touch()
            label = f"{found.name}@{found.version}" if found.version else found.name
            if found.left_out:
                self._say(f"{label}: {count(found.left_out, 'file')} left out, too large or too many.")
            return self._indexed(label, place, found.root)

    def _indexed(self, name: str, place: Path, files: Path | None = None) -> Chosen:
        chosen = Chosen(name, place, place, is_ours=True, files=files)
        workspace = Workspace.open(place, environ=chosen.environment(self._environ), say=self._say)
        if not workspace.store.exists():
            with self._progress(f"Indexing {name}", None) as shown:
                workspace.update(advance=shown.update, register=False)
        os.utime(place)
        return chosen

    def _place(self, kind: str, key: str, name: str) -> Path:
        digest = hashlib.sha256(f"{kind}\0{key}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
        plain = "".join(each if each.isalnum() or each in "-_." else "-" for each in name)[:60].strip(".")
        return self._directory / f"{plain or 'copy'}-{digest}.git"

    @contextmanager
    def _writing(self, place: Path) -> Iterator[None]:
        """Hold the lock of a copy; afterwards remove those that were asked longest ago."""
        try:
            make_private(self._directory)
            lock = FileLock(place.with_suffix(".lock"))
            if not wait_for(lock.try_acquire, time.monotonic() + _LOCK_TIMEOUT_S, poll_s=_LOCK_POLL_S):
                raise BusyError(f"Another process has been making {place} for long.", "Try again.")
        except OSError as error:
            raise StoreError(
                f"Cannot write {self._directory}: {error.strerror}.", "Make it writable."
            ) from error
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"Cannot make a copy in {place}: {error}.", "Look at free space there."
            ) from error
        finally:
            lock.release()
        self._tidy(place)

    def _tidy(self, own: Path) -> None:
        with suppress(OSError):
            there = sorted(
                (each for each in self._directory.glob("*.git") if each != own),
                key=lambda each: each.stat().st_mtime,
                reverse=True,
            )
            for each in there[MOST - 1 :]:
                copies.remove(each)
                each.with_suffix(".lock").unlink(missing_ok=True)


def _days_ago(mark: Path) -> str:
    days = int((time.time() - mark.stat().st_mtime) // 86400)
    return "today" if days < 1 else "yesterday" if days == 1 else f"{days} days ago"
