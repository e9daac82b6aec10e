"""Packs in a bucket of S3, Google Cloud Storage or Azure, through obstore (the extra ``gitrag[share]``)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from gitrag.errors import GitragError, NetworkError, NotSetUpError
from gitrag.sharing.directory import is_of_a_pack
from gitrag.sharing.place import MOST_FILES, GoneError, NoPlaceError, SharingError, TooLargeError

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_CONNECT_TIMEOUT: Final = timedelta(seconds=5)
_TIMEOUT: Final = timedelta(seconds=120)
_RETRY: Final = timedelta(seconds=30)
_RETRIES: Final = 3
_SAID_CHARACTERS: Final = 200
_NO_RIGHTS = (
    "The credentials are those of the environment (AWS_ACCESS_KEY_ID and the like), or the machine's own."
)


class Bucket:
    """A `gitrag.sharing.place.Place`.

    Args:
        address: ``s3://bucket/prefix``, ``gs://…`` or ``az://…``. Credentials, region and endpoint are those
            of the environment, as obstore reads it.
        allow_http: Whether an endpoint may be unencrypted.
    """

    has_ranges = True
    is_writable = True

    def __init__(self, address: str, *, allow_http: bool = False) -> None:
        self.address = address
        self._allow_http = allow_http
        self.received = 0
        self._made: ObjectStore | None = None

    def list(self) -> Mapping[str, int]:
        """List the packs' files; see `gitrag.sharing.place.Place`."""
        found: dict[str, int] = {}
        with self._told():
            for some in self._store().list():
                for each in some:
                    if is_of_a_pack(each["path"]):
                        found[each["path"]] = each["size"]
                if len(found) > MOST_FILES:
                    raise SharingError(f"{self.address} has more than {MOST_FILES} packs' files.")
        return found

    def prefetch(self, most_bytes: Mapping[str, int]) -> None:
        """Do nothing: files are fetched one after the other."""

    def get(self, name: str, most_bytes: int) -> bytes:
        """Get a file; see `gitrag.sharing.place.Place`."""
        with self._told(name):
            found = self._store().get(name)
            if found.meta["size"] > most_bytes:
                raise TooLargeError(f"{name} at {self.address} is larger than {most_bytes} bytes.")
            return self._counted(bytes(found.bytes()))

    def read(self, name: str, start: int, length: int) -> bytes:
        """Get a range of a file; see `gitrag.sharing.place.Place`."""
        with self._told(name):
            return self._counted(bytes(self._store().get_range(name, start=start, length=length)))

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

    def _counted(self, data: bytes) -> bytes:
        self.received += len(data)
        return data

    def _store(self) -> ObjectStore:
        if self._made is None:
            try:
                from obstore.store import from_url
            except ImportError as error:
                raise NotSetUpError(
                    f"Sharing at {self.address} needs a package that is not here.",
                    'Install it with: pip install "gitrag[share]"',
                ) from error
            self._made = from_url(
                self.address,
                client_options={
                    "timeout": _TIMEOUT,
                    "connect_timeout": _CONNECT_TIMEOUT,
                    "allow_http": self._allow_http,
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
            raise NoPlaceError(f"{self.address} cannot be used: {_first_line(error)}.", _NO_RIGHTS) from error
        except Exception as error:
            from obstore import exceptions

            problem = f"{self.address} cannot be used: {_first_line(error)}."
            if isinstance(error, exceptions.PermissionDeniedError | exceptions.UnauthenticatedError):
                raise NoPlaceError(problem, _NO_RIGHTS) from error
            if isinstance(error, exceptions.BaseError):
                raise NetworkError(problem, "Try again later; is the endpoint right?") from error
            raise


def _first_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= _SAID_CHARACTERS else text[:_SAID_CHARACTERS] + "…"
