"""Files: writing them whole, who may read them, and where their paths lead."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

PRIVATE = 0o600
"""What a file has that holds, or may hold, what its user alone may read."""

_PRIVATE_DIRECTORY = 0o700
_OTHERS = 0o066
_SPECIAL = 0o7000


def replace(path: Path, content: bytes, mode: int, *, durable: bool = True) -> None:
    """Write a file whole or not at all, in one step: nobody reads, or runs, half of it.

    Args:
        path: The file; its directory is there. A link is replaced, not followed: see `target`.
        content: What it shall hold.
        mode: Its permissions.
        durable: Whether it is on the disk when this returns, whatever becomes of the power; a millisecond or
            more, too long for what can be had again.

    Raises:
        OSError: It cannot be written; it is as it was.
    """
    descriptor, name = tempfile.mkstemp(prefix=".gitrag.", dir=path.parent)
    written = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, mode)
            file.write(content)
            if durable:
                file.flush()
                os.fsync(descriptor)
        written.replace(path)
    except BaseException:
        written.unlink(missing_ok=True)
        raise
    if durable:
        _sync_directory(path.parent)


def target(path: Path) -> Path:
    """Return where a file is to be written that the user has, maybe as a link to elsewhere.

    Raises:
        OSError: The links lead nowhere, or what is there may not be written.
    """
    try:
        real = path.resolve()
    except RuntimeError as error:  # before Python 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error
    if real.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    if real.exists() and not os.access(real, os.W_OK):  # a new file in its place would not ask
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return real


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:  # a file system without that
            raise
    finally:
        os.close(descriptor)


def make_private(directory: Path) -> None:
    """Make a directory that nobody else looks into, where there is none; those above it are as usual.

    Raises:
        OSError: It cannot be made, or is a link: what is written there would be written elsewhere.
    """
    if directory.is_symlink():
        raise OSError(errno.ELOOP, "it is a symbolic link", str(directory))
    directory.parent.mkdir(parents=True, exist_ok=True)
    try:
        directory.mkdir(mode=_PRIVATE_DIRECTORY)
    except FileExistsError:
        if not directory.is_dir():
            raise


def open_private(path: Path, mode: str, **options: Any) -> IO[Any]:
    """Open a file as `open` does; whatever the umask, it is for nobody whom its directory is not shared with.

    Raises:
        OSError: It cannot be opened.
    """
    return open(path, mode, opener=_opened, **options)


def write_private(path: Path, text: str) -> None:
    """Write a text into a file as `open_private` opens it.

    Raises:
        OSError: It cannot be written.
    """
    with open_private(path, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)


def private_mode(directory: Path) -> int:
    """Return the permissions of a file in a directory: the directory's, where `settle` has shared it."""
    with suppress(OSError):
        status = directory.stat()
        if status.st_mode & stat.S_ISGID:
            return PRIVATE | (status.st_mode & _OTHERS)
    return PRIVATE


def settle(directory: Path, mode: int) -> None:
    """Set the permissions of a directory and of all in it; links, and what is another user's, are left.

    Args:
        directory: It is there.
        mode: Of files. Directories can be entered by whoever may read files, and hand down their group where
            that is one; as git's adjust_shared_perm does (path.c).
    """
    if directory.is_symlink():
        return
    of_directories = mode | (mode & 0o444) >> 2
    if mode & 0o060:
        of_directories |= stat.S_ISGID
    with suppress(OSError):
        _set_mode(directory, directory.stat().st_mode, of_directories)
    pending = [directory]
    while pending:
        with suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    _set_mode(entry, status.st_mode, of_directories)
                    pending.append(Path(entry.path))
                elif stat.S_ISREG(status.st_mode):
                    _set_mode(entry, status.st_mode, mode)


def _set_mode(path: os.PathLike[str], found: int, wanted: int) -> None:
    wanted |= found & _SPECIAL
    if stat.S_IMODE(found) != wanted:
        with suppress(OSError):  # gone meanwhile, or not ours
            os.chmod(path, wanted)  # noqa: PTH101 - of a directory's entry


def _opened(path: str, flags: int) -> int:
    mode = private_mode(Path(path).parent)
    descriptor = os.open(path, flags | os.O_NOFOLLOW, mode)  # a link may have come with an archive
    if flags & os.O_CREAT:  # it may be there, as an earlier version made it; the umask may have taken more
        found = stat.S_IMODE(os.fstat(descriptor).st_mode)
        if found != mode:
            with suppress(OSError):  # another user's
                os.fchmod(descriptor, mode)
    return descriptor


def read_regular(path: Path, most_bytes: int | None = None) -> bytes:
    """Read a file that a stranger may have put there: a FIFO would never end, a device not soon.

    Args:
        path: The file; links are followed.
        most_bytes: How much of it at most.

    Raises:
        OSError: It is no regular file, or cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Not a regular file", str(path))
        return file.read() if most_bytes is None else file.read(most_bytes)


def existing(path: Path) -> Path | None:
    """Follow a path's links to what is there; None when nothing is, or nobody can say.

    A name may be too long, links may go in a circle, a NUL may be in it.
    """
    try:
        real = path.resolve()
        return real if real.exists() else None
    except (OSError, RuntimeError, ValueError):
        return None


def within(root: Path, path: Path) -> str | None:
    """Give a path relative to a directory, with ``/``; None when it lies outside, or a link leads outside.

    Args:
        root: The directory.
        path: The path, absolute; what it names need not exist.
    """
    plain = Path(os.path.normpath(path))
    try:
        real_root = root.resolve()
        inside = (
            plain.parent.resolve() / plain.name
        )  # as it is called here, were the directory a link to ours
        relative = inside.relative_to(real_root)
        plain.resolve().relative_to(real_root)
    except (ValueError, OSError, RuntimeError):
        return None
    return relative.as_posix() if relative.parts else None
