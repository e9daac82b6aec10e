"""Files: atomic writes, permissions, and where paths lead."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

OURS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0) | getattr(os, "O_BINARY", 0)
"""To open a file for this process alone, and its bytes as they are: the first POSIX', the others Windows'."""

NO_LINK = getattr(os, "O_NOFOLLOW", 0)
"""To open no link; Windows, where making one takes a right of its own, opens it."""

NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""Not to wait for a FIFO to be written to; Windows has none in directories."""

PRIVATE = 0o600
"""Mode of a file that may contain data for its user only."""

_PRIVATE_DIRECTORY = 0o700
_OTHERS = 0o066
_SPECIAL = 0o7000
_TEMPORARY = ".gitrag."


def replace(path: Path, content: bytes, mode: int, *, durable: bool = True) -> None:
    """Write a file atomically: readers see the old content or the new, never a part.

    Args:
        path: The file; its directory must exist. A link is replaced, not followed: see `target`.
        durable: Whether to flush it to disk before returning, to survive a power failure; this takes a
            millisecond or more, too long for data that can be recomputed.

    Raises:
        OSError: It cannot be written; the old file is unchanged.
    """
    written = path.parent / f"{_TEMPORARY}{os.urandom(8).hex()}"
    try:  # the name is known before the file exists, so that an interrupt at any moment removes it
        descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL | OURS, PRIVATE)
        with os.fdopen(descriptor, "wb") as file:
            _set_own_mode(descriptor, mode)
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
    """Return the real path to write for a file of the user's, which may be a link.

    Raises:
        OSError: The links lead nowhere, or the file is not writable.
    """
    try:
        real = path.resolve()
    except RuntimeError as error:  # before Python 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error
    if real.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    if real.exists() and not os.access(real, os.W_OK):  # replacing it would ignore the permission
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return real


def _sync_directory(directory: Path) -> None:
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except PermissionError:  # Windows opens none, others none that may not be read: the file is in place
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:  # the file system does not support it
            raise
    finally:
        os.close(descriptor)


def make_private(directory: Path) -> None:
    """Create a directory that only its user can enter, if missing; its parents get the usual permissions.

    Raises:
        OSError: It cannot be created, or is a link: what is written there would be written elsewhere.
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
    """Open a file like `open`; whatever the umask, only those who share its directory can read it."""
    return open(path, mode, opener=_opened, **options)


def write_private(path: Path, text: str) -> None:
    """Write a text to a file that `open_private` opens."""
    with open_private(path, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)


def private_mode(directory: Path) -> int:
    """Return the permissions for a file in a directory: those of the directory, if `settle` has shared it."""
    with suppress(OSError):
        status = directory.stat()
        if status.st_mode & stat.S_ISGID:
            return PRIVATE | (status.st_mode & _OTHERS)
    return PRIVATE


def settle(directory: Path, mode: int) -> None:
    """Set the permissions of a directory and its contents; links, and what other users own, are skipped.

    Args:
        mode: For files. Directories can be entered by whoever may read the files, and new entries inherit the
            group if it has access; as git's adjust_shared_perm does (path.c).
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
        with suppress(OSError):  # deleted meanwhile, or not ours
            os.chmod(path, wanted)  # noqa: PTH101 - a directory entry's path


def _opened(path: str, flags: int) -> int:
    mode = private_mode(Path(path).parent)
    descriptor = os.open(path, flags | NO_LINK, mode)  # a link may have come with an archive
    if flags & os.O_CREAT:  # it may exist from an earlier version; the umask may have removed more
        found = stat.S_IMODE(os.fstat(descriptor).st_mode)
        if found != mode:
            with suppress(OSError):  # another user's
                _set_own_mode(descriptor, mode)
    return descriptor


def _set_own_mode(descriptor: int, mode: int) -> None:
    if hasattr(os, "fchmod"):  # Windows, before Python 3.13: who may read is inherited from the directory
        os.fchmod(descriptor, mode)


def is_own(status: os.stat_result) -> bool:
    """Tell whether a file is this user's; on Windows nobody says whose it is, and it counts as his."""
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def is_read_only(place: Path) -> bool:
    """Tell whether a disk is mounted to be read only; on Windows nobody says so.

    Raises:
        OSError: It cannot be asked.
    """
    return hasattr(os, "statvfs") and bool(os.statvfs(place).f_flag & os.ST_RDONLY)


def read_regular(path: Path, most_bytes: int | None = None) -> bytes:
    """Read a file from an untrusted source: a FIFO would block for ever, a device might not end.

    Args:
        path: The file; links are followed.

    Raises:
        OSError: It is not a regular file, or cannot be read.
    """
    with open_at_once(path) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "Not a regular file", str(path))
        return file.read() if most_bytes is None else file.read(most_bytes)


def open_at_once(path: Path, more: int = 0) -> IO[bytes]:
    """Open a file to be read: no FIFO blocks, and a directory is closed again, as not by `os.fdopen`."""
    return open(path, "rb", opener=lambda name, flags: os.open(name, flags | more | NO_WAIT | OURS))


def existing(path: Path) -> Path | None:
    """Follow a path's links to an existing file; None if there is none or the path cannot be checked.

    The name may be too long, the links circular, or a NUL in it.
    """
    try:
        real = path.resolve()
        return real if real.exists() else None
    except (OSError, RuntimeError, ValueError):
        return None


def within(root: Path, path: Path) -> str | None:
    """Return a path relative to a directory, with ``/``; None when it, or a link's target, lies outside.

    Args:
        path: The path, absolute; it need not exist.
    """
    plain = Path(os.path.normpath(path))
    try:
        real_root = root.resolve()
        inside = plain.parent.resolve() / plain.name  # the last part may itself be a link: not followed here
        relative = inside.relative_to(real_root)
        plain.resolve().relative_to(real_root)
    except (ValueError, OSError, RuntimeError):
        return None
    return relative.as_posix() if relative.parts else None
