"""What a place of shared vectors offers, whatever it is: a directory, a git remote, a server."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from gitrag.errors import GitragError, NotSetUpError

MOST_FILES = 20_000
"""Most packs' files that are read of a listing: ten thousand packs, hundreds of times what merging leaves."""


class SharingError(GitragError):
    """A place of shared vectors answered with something that cannot be used."""


class TooLargeError(SharingError):
    """A file is larger than it may be."""


class NoPlaceError(NotSetUpError):
    """There is no such place, or the user may not read or write it."""


class GoneError(Exception):
    """A file that was listed is not there, mostly since its pack was merged; the text is its name."""


class Place(Protocol):
    """Where packs are kept: files that never change once they are there.

    Attributes:
        address: The place as the user knows it, without secrets.
        has_ranges: Whether a part of a file can be read without the rest.
        is_writable: Whether `change` can work at all.
        received: Bytes of files received so far.
    """

    address: str
    has_ranges: bool
    is_writable: bool
    received: int

    def list(self) -> Mapping[str, int]:
        """Return the names of the packs' files with their sizes, where known without reading; else 0.

        Raises:
            NoPlaceError: There is no such place.
            NetworkError: It cannot be reached.
            SharingError: It answers with something else.
        """

    def prefetch(self, most_bytes: Mapping[str, int]) -> None:
        """Get several files at once, if that is faster than one after the other; errors as in `get`.

        Args:
            most_bytes: How large each may be, by name.
        """

    def get(self, name: str, most_bytes: int) -> bytes:
        """Return a file; errors also as in `list`.

        Raises:
            GoneError: It is not there.
            TooLargeError: It is larger than ``most_bytes``.
        """

    def read(self, name: str, start: int, length: int) -> bytes:
        """Return a part of a file, where ``has_ranges``; errors as in `get`."""

    def change(self, add: Mapping[str, bytes], drop: Collection[str]) -> None:
        """Add files, in order, then remove others; what is there already, or not there, is left as it is.

        A file to add and to remove is written anew: what lies there is damaged.

        Nothing that is added is seen half, and whoever does the same at the same time loses nothing.

        Raises:
            NoPlaceError: The user may not write there.
            NetworkError: It cannot be reached.
            DiskFullError: There is no space left.
            BusyError: Others change it all the time.
        """
