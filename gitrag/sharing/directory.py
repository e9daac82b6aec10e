"""Packs in a directory, such as one on a network disk; a web server may serve it to readers."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from gitrag.errors import DiskFullError
from gitrag.machine.files import NO_LINK, open_at_once, replace
from gitrag.sharing.packs import LISTING, is_of_a_pack
from gitrag.sharing.place import MOST_FILES, GoneError, NoPlaceError, SharingError, TooLargeError

_FULL = {errno.ENOSPC, errno.EDQUOT}


class Directory:
    """A `gitrag.sharing.place.Place`.

    Args:
        path: The directory. It must exist: where a disk is not mounted, nothing is made in its place.
    """

    has_ranges = True
    is_writable = True

    def __init__(self, path: Path) -> None:
        self.address = str(path)
        self.received = 0
        self._path = path

    def list(self) -> Mapping[str, int]:
        sizes: dict[str, int] = {}
        try:
            with os.scandir(self._path) as entries:
                for entry in entries:
                    if is_of_a_pack(entry.name) and entry.is_file(follow_symlinks=False):
                        with suppress(FileNotFoundError):  # dropped meanwhile
                            sizes[entry.name] = entry.stat(follow_symlinks=False).st_size
                    if len(sizes) > MOST_FILES:
                        raise SharingError(f"{self.address} has more than {MOST_FILES} packs' files.")
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NoPlaceError(
                f"There is no directory {self.address}.", "Is its disk mounted? Else make it: mkdir."
            ) from error
        except OSError as error:
            raise self._unusable("read", error) from error
        return sizes

    def prefetch(self, most_bytes: Mapping[str, int]) -> None:
        """Do nothing: files are read where they are."""

    def get(self, name: str, most_bytes: int) -> bytes:
        data = self._read(name, 0, most_bytes + 1)
        if len(data) > most_bytes:
            raise TooLargeError(f"{name} at {self.address} is larger than {most_bytes} bytes.")
        return data

    def read(self, name: str, start: int, length: int) -> bytes:
        return self._read(name, start, length)

    def _read(self, name: str, start: int, length: int) -> bytes:
        try:
            with open_at_once(self._path / name, NO_LINK) as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise SharingError(f"{name} at {self.address} is not a file.")
                file.seek(start)
                data = file.read(length)
        except FileNotFoundError as error:
            raise GoneError(name) from error
        except OSError as error:
            raise self._unusable("read", error) from error
        self.received += len(data)
        return data

    def change(self, add: Mapping[str, bytes], drop: Collection[str]) -> None:
        """Add and remove files; see `gitrag.sharing.place.Place`.

        Each file is written under another name first. Whoever may read the directory may read it. Readers of
        the listing never find a name without its file, even if this process is killed in between.
        """
        there = self.list()
        going = set(drop) - add.keys()
        try:
            mode = 0o600 | (self._path.stat().st_mode & 0o044)
            for name, data in add.items():
                if name in drop or there.get(name) != len(data):
                    replace(self._path / name, data, mode)
            if going:
                self._write_listing(mode, going)
            for name in sorted(going):  # .keys before .rows: a pack is there as long as its keys are
                (self._path / name).unlink(missing_ok=True)
            self._write_listing(mode)
        except OSError as error:
            raise self._unusable("write to", error) from error

    def _write_listing(self, mode: int, without: Collection[str] = ()) -> None:
        """Write the listing, and again if somebody else has changed the directory meanwhile."""
        written = None
        while written != (sizes := self.list()):
            kept = sorted(name for name in sizes if name not in without)
            lines = "".join(f"{name} {sizes[name]}\n" for name in kept)
            replace(self._path / LISTING, lines.encode(), mode)
            written = sizes

    def _unusable(self, what: str, error: OSError) -> NoPlaceError | DiskFullError:
        if error.errno in _FULL:
            return DiskFullError(
                f"No space left on the disk that holds {self.address}.",
                "Free some space and try again; no pack is there in part.",
            )
        return NoPlaceError(f"Cannot {what} {self.address}: {error.strerror}.", "Look at its permissions.")
