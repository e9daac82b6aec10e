"""The errors a user can meet: what failed, the value, what to do, and the exit code.

Exit codes: 0 done; 1 nothing found, or a check failed; 2 usage; 3 stale (``check --push`` under ``block``);
70 a bug; 75 busy or no network, try again; 78 not set up.
"""

from __future__ import annotations

OK = 0
NOTHING = 1
USAGE = 2
STALE = 3
BUG = 70
TRY_AGAIN = 75
NOT_SET_UP = 78


class GitragError(Exception):
    """An error with a message for the user, a hint that says what to do, and an exit code.

    Args:
        message: One sentence: what failed, with the value.
        hint: What to do about it; printed on a line of its own, also beneath a traceback.
    """

    exit_code = NOTHING

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint
        if hint:
            self.add_note(f"hint: {hint}")


class UsageError(GitragError):
    """The command line or a value in it makes no sense."""

    exit_code = USAGE


class NotSetUpError(GitragError):
    """Something gitrag needs is missing: a repository, an index, a prerequisite."""

    exit_code = NOT_SET_UP


class RepositoryError(NotSetUpError):
    """There is no git repository, or git or libgit2 cannot or will not read it."""


class NoRepositoryError(RepositoryError):
    """There is no git repository at all, not even an unreadable one."""


class ConfigError(UsageError):
    """A configuration key or value is not valid."""


class ModelError(GitragError):
    """The model is missing, or its files are not the expected ones.

    Args:
        of_text: Whether it may embed other texts than the one at hand.
    """

    exit_code = TRY_AGAIN

    def __init__(self, message: str, hint: str = "", *, of_text: bool = False) -> None:
        super().__init__(message, hint)
        self.of_text = of_text


class NetworkError(GitragError):
    """A download failed because the network could not be reached."""

    exit_code = TRY_AGAIN


class BusyError(GitragError):
    """Another process has held the store for too long."""

    exit_code = TRY_AGAIN


class OutOfMemoryError(GitragError):
    """The operating system refused to allocate memory."""

    exit_code = TRY_AGAIN


class StoreError(GitragError):
    """The store cannot be read or written: no space, no permission, a newer version."""

    exit_code = NOT_SET_UP


class DiskError(StoreError):
    """A file cannot be opened, read or written: no permission, a read-only or failing disk."""


class DiskFullError(DiskError):
    """There is no space left for a file."""

    exit_code = TRY_AGAIN
