"""Packs at a git remote: whoever may read the code may read them, whoever may push may add some."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from gitrag.errors import BusyError, NetworkError
from gitrag.git import Repository
from gitrag.git.remote_files import (
    REF,
    FilesTooLargeError,
    MovedError,
    RemoteError,
    RemoteFiles,
    RemoteRef,
    absolute,
)
from gitrag.sharing.packs import is_of_a_pack
from gitrag.sharing.place import MOST_FILES, GoneError, NoPlaceError, SharingError, TooLargeError

FOLDER = "share.git"
_ATTEMPTS = 12
"""Times to push while others do: each try of ours fails only where one of theirs succeeded."""

_PAUSE_S = 0.2
_KEPT_FACTOR, _KEPT_BYTES = 2, 64 << 20
"""More is not kept of a remote, next to what those of its packs take that are here: it is fetched anew."""

_NO_WAY = (
    *(
        "could not resolve",
        "connection",
        "timed out",
        "too slow",
        "disconnect",
        "unable to access",
        "network",
    ),
)
_NO_RIGHTS = (
    *(
        "permission",
        "denied",
        "forbidden",
        "error: 403",
        "error: 401",
        "not authorized",
        "authentication",
        "declined",
    ),
    *("could not read username", "could not read password", "terminal prompts disabled", "read-only"),
    *("insufficient", "host key verification", "protected", "not allowed"),
)
_NONE_THERE = ("not found", "does not exist", "does not appear to be", "no such")


class GitRemote:
    """A `gitrag.sharing.place.Place`."""

    has_ranges = False
    is_writable = True

    def __init__(self, name: str, files: RemoteFiles, url: str) -> None:
        self.address = f"{name} ({_without_secrets(url)})"
        self.received = 0
        self._files = files
        self._seen: RemoteRef | None = None

    def list(self) -> Mapping[str, int]:
        listed = self._list()
        if self._files.size_bytes() > _KEPT_FACTOR * sum(listed.values()) + _KEPT_BYTES:
            self._files.forget()  # mostly packs that were merged since
            listed = self._list()
        return listed

    def _list(self) -> dict[str, int]:
        before = self._files.size_bytes()
        try:
            self._seen = self._files.look()
            self.received += self._files.size_bytes() - before
            _, files = self._seen
            names = [name for name in files if is_of_a_pack(name)]
            if len(names) > MOST_FILES:
                raise SharingError(f"{REF} of {self.address} has more than {MOST_FILES} packs' files.")
            here = self._files.sizes([files[name] for name in names]) if names else {}
        except RemoteError as error:
            raise self._unusable(error) from error
        return {name: here.get(files[name], 0) for name in names}

    def prefetch(self, most_bytes: Mapping[str, int]) -> None:
        with suppress(TooLargeError):  # which of them it is shows when they are fetched one by one
            self._fetch({name: most for name, most in most_bytes.items() if name in self._ref()[1]})

    def get(self, name: str, most_bytes: int) -> bytes:
        blob = self._ref()[1].get(name)
        if blob is None:
            raise GoneError(name)
        self._fetch({name: most_bytes})
        try:
            data = self._files.read(blob, most_bytes)
        except RemoteError as error:
            raise self._unusable(error) from error
        if data is None:
            raise TooLargeError(f"{name} of {self.address} is larger than {most_bytes} bytes.")
        return data

    def read(self, name: str, start: int, length: int) -> bytes:
        """Return a part of a file, which is fetched whole."""
        return self.get(name, start + length)[start : start + length]

    def change(self, add: Mapping[str, bytes], drop: Collection[str]) -> None:
        for attempt in range(_ATTEMPTS):
            try:
                self._files.change(self._ref(), add, drop)
            except MovedError:
                time.sleep(random.uniform(0, _PAUSE_S * (1 + attempt)))  # noqa: S311 - to get out of step
                self.list()
            except RemoteError as error:
                raise self._unusable(error) from error
            else:
                self._seen = None
                return
        raise BusyError(f"Others push vectors to {self.address} all the time.", "Try again.")

    def _fetch(self, most_bytes: Mapping[str, int]) -> None:
        before = self._files.size_bytes()
        names = {self._ref()[1][name]: name for name in most_bytes}
        try:
            self._files.fetch({blob: most_bytes[name] for blob, name in names.items()})
        except RemoteError as error:
            if "not our ref" in str(error):  # merged meanwhile, and collected
                name = next((name for blob, name in names.items() if blob in str(error)), "")
                raise GoneError(name) from error
            raise self._unusable(error) from error
        self.received += self._files.size_bytes() - before

    def _ref(self) -> RemoteRef:
        if self._seen is None:
            self.list()
        assert self._seen is not None  # noqa: S101 - for the type checker
        return self._seen

    def _unusable(self, error: RemoteError) -> NoPlaceError | NetworkError | SharingError:
        said = re.sub(r"//[^/@\s]*@", "//", str(error)).strip().rstrip(".")
        lower = said.lower()
        problem = f"git cannot use {self.address}: {said[:300]}."
        if isinstance(error, FilesTooLargeError):
            return TooLargeError(problem)
        if "transport" in lower and "not allowed" in lower:
            return NoPlaceError(problem, "Vectors are shared over ssh, https or a path.")
        if any(sign in lower for sign in _NO_RIGHTS):
            return NoPlaceError(
                problem,
                "Sharing needs the rights to fetch, and to push; git asks nobody for a password here.",
            )
        if any(sign in lower for sign in _NONE_THERE):
            return NoPlaceError(problem, "Is the remote's URL right? git remote -v")
        if any(sign in lower for sign in _NO_WAY):
            return NetworkError(problem, "Try again with a network.")
        return SharingError(problem)


def open_remote(name: str, repo: Repository, directory: Path, environ: Mapping[str, str]) -> GitRemote:
    """Return the place at a remote of a repository; nothing is asked yet."""
    entries = repo.configuration.entries()
    key = f"remote.{name}."
    urls = [entry.value for entry in entries if entry.key == f"{key}url"]
    push_urls = [entry.value for entry in entries if entry.key == f"{key}pushurl"]
    if not urls:
        raise NoPlaceError(
            f"The repository has no remote {name}, with which its vectors would be shared.",
            "git remote add, or another value of the setting share: `gitrag config share` shows it",
        )
    base = repo.root or repo.git_dir
    for given in (urls[0], (push_urls or urls)[0]):
        if _is_relative(given, base):
            raise NoPlaceError(
                f"The remote {name} is a path from this repository, {given[:80]!r}: its hooks would run.",
                f"git remote set-url {name} /the/whole/path",
            )
    url, push_url = absolute(urls[0], base), absolute((push_urls or urls)[0], base)
    return GitRemote(name, RemoteFiles(url, push_url, directory / FOLDER, environ), url)


def _is_relative(url: str, base: Path) -> bool:
    """Tell whether a URL is a path that depends on where the repository lies, or lies in it.

    An archive may bring both the repository and what its remote names, with hooks in it.
    """
    whole = absolute(url, base)
    if whole == url and not url.startswith("/"):
        return url.startswith("file://") and _is_within(url.removeprefix("file://"), base)
    return not url.startswith(("/", "~")) or _is_within(whole, base)


def _is_within(path: str, base: Path) -> bool:
    return Path(path).resolve().is_relative_to(base.resolve())


def _without_secrets(url: str) -> str:
    return re.sub(r"//[^/@]*@", "//", url)
