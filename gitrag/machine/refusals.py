"""What the operating system refuses: room, permission, a disk that works, memory; told with its remedy."""

from __future__ import annotations

import errno
import os
import shlex
from pathlib import Path

from gitrag.errors import DiskError, DiskFullError, GitragError, OutOfMemoryError
from gitrag.machine.files import is_own

_LEAST_BYTES = 1 << 30
"""Of address space. On two cores `gitrag index` of 40 files ends in DuckDB or OpenBLAS, by a signal or in
another way that cannot be caught, under a limit (`ulimit -v`) of 800 MB."""

HINT = "Free some, or raise the limit (`ulimit -v unlimited`), and try again."
_SIGNS = ("failed to map segment", "cannot allocate memory", "can't start new thread")
_NAMES = frozenset({"MemoryError", "OutOfMemoryException"})
"""Python's and DuckDB's exception names."""


def require_memory() -> None:
    """Raise if the limit on the address space is too low for the libraries that are loaded next."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < _LEAST_BYTES:
        raise OutOfMemoryError(
            f"The address space of a process is limited to {limit / 1e6:.0f} MB; gitrag needs"
            f" {_LEAST_BYTES / 1e6:.0f} MB.",
            "Raise the limit: ulimit -v unlimited",
        )


def is_want_of_memory(error: BaseException) -> bool:
    """Tell whether an error is due to refused memory, even if a library has wrapped it."""
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        text = str(each).lower()
        if type(each).__name__ in _NAMES or any(sign in text for sign in _SIGNS):
            return True
        each = each.__cause__ or each.__context__
    return False


_READ_ONLY = "Mount it writable, or have the index in your cache: GITRAG_INDEX_PLACE=cache"


def refusal(error: BaseException) -> GitragError | None:
    """Return the error to tell the user: ours, or what the system has refused; None for any other."""
    if isinstance(error, GitragError):
        return error
    if is_want_of_memory(error):
        text = str(error).strip().partition("\n")[0].rstrip(".")
        return OutOfMemoryError(f"The system refuses memory{f': {text}' if text else ''}.", HINT)
    return disk_error(error)


def disk_error(error: BaseException, path: Path | None = None) -> DiskError | None:
    """Return the error to tell the user where a disk or its permissions are at fault; None for any other."""
    if not isinstance(error, OSError):
        return None
    if isinstance(error.filename, str | bytes):
        path = Path(os.fsdecode(error.filename))
    what, why = path or "a file", error.strerror
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        said = f"No space left on the disk that holds {path}" if path else f"Cannot write: {why}"
        return DiskFullError(f"{said}.", "Free some space and try again.")
    if error.errno == errno.EROFS:
        return DiskError(f"Cannot write {what}: {why}.", _READ_ONLY)
    if error.errno == errno.EIO:
        return DiskError(f"The disk fails with {what}: {why}.", "Look at the disk's health.")
    if error.errno in {errno.EACCES, errno.EPERM}:
        fix = permission_fix(path) if path else "Check the permissions of the git directory."
        return DiskError(f"Cannot open {what}: {why}.", fix)
    return None


def permission_fix(path: Path, inside: Path | None = None) -> str:
    """Return what lets this user read and write a path, or the directory that hides or lacks it.

    It is a command, except for such a directory that is neither git's nor ours, like `/` or a home directory:
    a command that takes it over with all that is in it would do harm.

    Args:
        path: It need not exist.
    """
    there = path
    while not os.path.lexists(there) and there != there.parent:
        there = there.parent
    if there != path and not any(part.endswith((".git", "gitrag")) for part in there.parts):
        return f"Let your user read and write {shlex.quote(str(there))}."
    ours = is_own((inside or there).lstat())
    command = "chmod -R u+rwX" if ours else 'sudo chown -R "$USER"'
    return f"{command} {shlex.quote(str(there))}"
