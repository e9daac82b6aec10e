"""Files of the user's: writing them whole, and where their paths lead."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from pathlib import Path


def replace(path: Path, content: bytes, mode: int) -> None:
    """Write a file whole or not at all, in one step: nobody reads, or runs, half of it.

    Args:
        path: The file; its directory is there.
        content: What it shall hold.
        mode: Its permissions.

    Raises:
        OSError: It cannot be written; it is as it was.
    """
    descriptor, name = tempfile.mkstemp(prefix=".gitrag.", dir=path.parent)
    written = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        written.chmod(mode)
        written.replace(path)
    except BaseException:
        written.unlink(missing_ok=True)
        raise


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
