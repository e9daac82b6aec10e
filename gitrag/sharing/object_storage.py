"""Packs in a bucket, or that a web server gives, through obstore (the extra ``gitrag[share]``, 15 MB).

A directory needs no extra: obstore's would follow links, wait for a pipe, and choose the files' mode itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from gitrag import __version__
from gitrag.errors import GitragError, NetworkError, NotSetUpError
from gitrag.sharing.packs import LISTING, MOST_ROWS_BYTES, is_of_a_pack
from gitrag.sharing.place import MOST_FILES, GoneError, NoPlaceError, SharingError, TooLargeError

if TYPE_CHECKING:
    from obstore import GetResult
    from obstore.store import ObjectStore

_CONNECT_TIMEOUT: Final = timedelta(seconds=5)
_SILENCE: Final = timedelta(seconds=10)
_TIMEOUT: Final = timedelta(seconds=120)
_RETRY: Final = timedelta(seconds=30)
_RETRIES: Final = 3
_SAID_CHARACTERS: Final = 200
_READ_CHARACTERS: Final = 20_000
_LISTING_BYTES: Final = MOST_FILES * 128


class Bucket:
    """A `gitrag.sharing.place.Place`.

    Args:
        address: ``s3://bucket/prefix``, ``gs://…`` or ``az://…``. Credentials, region and endpoint are those
            of the environment, as obstore reads it.
    """

    has_ranges = True
    is_writable = True
    _no_rights = (
        "The credentials are those of the environment (AWS_ACCESS_KEY_ID and the like), or the machine's own."
    )

    def __init__(self, address: str, *, allow_http: bool = False) -> None:
        self.address = address
        self._allow_http = allow_http
        self.received = 0
        self._made: ObjectStore | None = None

    def list(self) -> Mapping[str, int]:
        sizes: dict[str, int] = {}
        with self._told():
            for listed in self._store().list():
                sizes |= {file["path"]: file["size"] for file in listed if is_of_a_pack(file["path"])}
                if len(sizes) > MOST_FILES:
                    raise SharingError(f"{self.address} has more than {MOST_FILES} packs' files.")
        return sizes

    def prefetch(self, most_bytes: Mapping[str, int]) -> None:
        """Do nothing: files are fetched one after the other."""

    def get(self, name: str, most_bytes: int) -> bytes:
        with self._told(name):
            return self._received(name, self._store().get(name), most_bytes)

    def read(self, name: str, start: int, length: int) -> bytes:
        with self._told(name):
            store = self._store()
            from obstore.exceptions import NotSupportedError

            try:
                file = store.get(name, options={"range": (start, start + length)})
                return self._received(name, file, length)
            except NotSupportedError:  # a web server that knows no ranges
                return self.get(name, MOST_ROWS_BYTES)[start : start + length]

    def change(self, add: Mapping[str, bytes], drop: Collection[str]) -> None:
        """Add and remove files; see `gitrag.sharing.place.Place`.

        The service writes each file whole or not at all.
        """
        there = self.list()
        with self._told():
            for name, data in add.items():
                if name in drop or there.get(name) != len(data):
                    self._store().put(name, data)
            gone = sorted((set(drop) - add.keys()) & there.keys())  # .keys before .rows
            if gone:
                self._store().delete(gone)

    def _received(self, name: str, file: GetResult, most_bytes: int) -> bytes:
        """Return what comes, which may be more than the server says."""
        too_large = TooLargeError(f"{name} at {self.address} is larger than {most_bytes} bytes.")
        begin, end = file.range
        if end - begin > most_bytes:
            raise too_large
        data = bytearray()
        for part in file:
            self.received += len(part)
            data += part
            if len(data) > most_bytes:
                raise too_large
        return bytes(data)

    def _store(self) -> ObjectStore:
        if self._made is None:
            try:
                from obstore.store import HTTPStore, from_url
            except ImportError as error:
                raise NotSetUpError(
                    f"Sharing at {self.address} needs a package that is not here.",
                    'Install it with: pip install "gitrag[share]"',
                ) from error
            # from_url takes a cloud's web server for a bucket, and sends it credentials.
            made_from = HTTPStore.from_url if isinstance(self, ObjectServer) else from_url
            self._made = made_from(
                self.address,
                client_options={
                    "timeout": _TIMEOUT,
                    "connect_timeout": _CONNECT_TIMEOUT,
                    "read_timeout": _SILENCE,
                    "allow_http": self._allow_http,
                    "user_agent": f"gitrag/{__version__}",
                },
                retry_config={"max_retries": _RETRIES, "retry_timeout": _RETRY},
            )
        return self._made

    @contextmanager
    def _told(self, name: str = "") -> Iterator[None]:
        """Turn obstore's errors into ours."""
        try:
            yield
        except GitragError:
            raise
        except FileNotFoundError as error:
            if name:
                raise GoneError(name) from error
            raise NoPlaceError(
                f"There is no {self.address}: {_first_line(error)}.", "Make the bucket."
            ) from error
        except ValueError as error:
            raise NoPlaceError(
                f"{self.address} cannot be used: {_first_line(error)}.", self._no_rights
            ) from error
        except Exception as error:
            from obstore import exceptions

            problem = f"{self.address} cannot be used: {_first_line(error)}."
            if isinstance(error, exceptions.PermissionDeniedError | exceptions.UnauthenticatedError):
                raise NoPlaceError(problem, self._no_rights) from error
            if isinstance(error, exceptions.BaseError):
                raise NetworkError(problem, "Try again later; is the endpoint right?") from error
            raise


class ObjectServer(Bucket):
    """A directory that a web server gives to read: a `gitrag.sharing.place.Place`.

    Args:
        address: Its URL, without user or password: https, which no redirect leaves, or http on this
            machine.
    """

    is_writable = False
    _no_rights = "gitrag sends no password there; share over git, or by a directory."

    def __init__(self, address: str) -> None:
        super().__init__(address, allow_http=address.startswith("http:"))

    def list(self) -> Mapping[str, int]:
        try:
            data = self.get(LISTING, _LISTING_BYTES)
        except GoneError as error:
            raise NoPlaceError(
                f"{self.address} has no {LISTING}.", "Is it a directory that `gitrag share push` wrote to?"
            ) from error
        sizes: dict[str, int] = {}
        for line in data.decode("ascii", "replace").splitlines():
            name, _, size = line.partition(" ")
            if is_of_a_pack(name) and size.isascii() and size.isdigit():
                sizes[name] = int(size[:12])
        return sizes

    def change(self, add: Mapping[str, bytes], drop: Collection[str]) -> None:
        """Raise: a web server takes no files."""
        del add, drop
        raise NoPlaceError(f"{self.address} can only be read.", "Push to the directory that is served there.")


def _first_line(error: Exception) -> str:
    """Return what the server said, without what was tried; a certificate is named in the details alone."""
    text, _, details = " ".join(str(error)[:_READ_CHARACTERS].split()).partition(" Debug source:")
    cause = re.search(r"InvalidCertificate\( (\w+)", details)
    text = f"{cause[1]}: its certificate is not trusted" if cause else text.rpartition(" - ")[2].rstrip(":")
    return text if len(text) <= _SAID_CHARACTERS else text[:_SAID_CHARACTERS] + "…"
