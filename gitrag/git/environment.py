"""Run git: in a cleaned environment, without locks, prompts or translation."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gitrag.errors import RepositoryError, UsageError
from gitrag.machine.environment import safe_environment
from gitrag.machine.programs import Limits, TookTooLongError, run_program

# Variables that git exports to its hooks, or a caller exported for another command, and why they must not
# reach our git. Kept are the user's configuration (GIT_CONFIG_GLOBAL, GIT_CONFIG_COUNT, and
# GIT_CONFIG_PARAMETERS, which carries `git -c`), GIT_CEILING_DIRECTORIES and GIT_EXEC_PATH.
LEAKING = {
    "GIT_ALTERNATE_OBJECT_DIRECTORIES": "a push in quarantine reads through it; objects would seem to exist",
    "GIT_ATTR_SOURCE": "attributes would come from a tree instead of the working tree",
    "GIT_COMMON_DIR": "belongs to the worktree git was called in",
    "GIT_CONFIG": "redirects `git config` to one file",
    "GIT_DIR": "set in linked worktrees' hooks; wins over discovery from the directory",
    "GIT_GLOB_PATHSPECS": "changes what a path argument means",
    "GIT_GRAFT_FILE": "another history",
    "GIT_ICASE_PATHSPECS": "changes what a path argument means",
    "GIT_IMPLICIT_WORK_TREE": "says that GIT_DIR has no working tree",
    "GIT_INDEX_FILE": "`git commit -a` and `git commit PATH` run hooks on a temporary index",
    "GIT_INTERNAL_SUPER_PREFIX": "set by a superproject's command; prefixes every path",
    "GIT_LITERAL_PATHSPECS": "changes what a path argument means",
    "GIT_NAMESPACE": "another set of references",
    "GIT_NOGLOB_PATHSPECS": "changes what a path argument means",
    "GIT_NO_REPLACE_OBJECTS": "set below",
    "GIT_OBJECT_DIRECTORY": "a push in quarantine writes to it",
    "GIT_OPTIONAL_LOCKS": "set below",
    "GIT_PREFIX": "the directory git was called from; relative paths would be resolved against it",
    "GIT_QUARANTINE_PATH": "a push in quarantine forbids updates of references",
    "GIT_REPLACE_REF_BASE": "another set of replaced objects",
    "GIT_SHALLOW_FILE": "a fetch in progress has its own shallow boundary",
    "GIT_WORK_TREE": "belongs to the GIT_DIR beside it",
}

_OURS = {
    "GIT_NO_REPLACE_OBJECTS": "1",  # libgit2 ignores refs/replace; both must see the same trees
    "GIT_OPTIONAL_LOCKS": "0",  # never take index.lock while the user's own command needs it
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",  # useless without a terminal, whatever is configured
    "GIT_EDITOR": ":",  # gitrag never edits
    "GIT_NO_LAZY_FETCH": "1",  # an object missing from a partial clone stays missing: no network
    "GIT_ALLOW_PROTOCOL": "none",  # the same for git before 2.44, which would fetch it
    "LC_ALL": "C",  # messages are compared
}

_NO_CONFIGURATION = """\
[core]
\trepositoryFormatVersion = 1
\tbare = true
[extensions]
\tobjectFormat = {}
"""


def scrubbed_environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for git subprocesses, without variables from hooks and relative paths.

    Args:
        environ: The environment to start from; the process's own by default.
    """
    source = os.environ if environ is None else environ
    kept = {key: value for key, value in source.items() if key not in LEAKING}
    return safe_environment(kept) | _OURS


def unconfigured(
    directory: Path, environ: Mapping[str, str], common_dir: Path, object_format: str
) -> dict[str, str]:
    """Make a repository of another's objects in an empty directory; return the environment for git there."""
    try:
        (directory / "refs").mkdir()
        (directory / "HEAD").write_text("ref: refs/heads/none\n")
        (directory / "config").write_text(_NO_CONFIGURATION.format(object_format))
    except OSError as error:
        raise RepositoryError(
            f"Cannot write to {directory}: {error.strerror}.", "Make room there."
        ) from error
    plain = scrubbed_environment(environ)
    kept = {key: value for key, value in plain.items() if not key.startswith("GIT_CONFIG")}
    return kept | {
        "GIT_DIR": str(directory),
        "GIT_OBJECT_DIRECTORY": str(common_dir / "objects"),
        "GIT_SHALLOW_FILE": str(common_dir / "shallow"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "HOME": str(directory),  # GIT_CONFIG_GLOBAL is as of git 2.32
        "XDG_CONFIG_HOME": str(directory),
    }


_IN_UTF8 = ("-c", "i18n.logOutputEncoding=UTF-8")
"""Whatever is configured, ids in UTF-16 included: on the command line, since it wins over the environment's
GIT_CONFIG_PARAMETERS, in which a hook has the user's `git -c`."""

TIMEOUT_S = 600.0
"""Limit for any git process: `git status` of the largest repositories takes minutes on a network disk."""

TIMEOUT_VARIABLE = "GITRAG_GIT_TIMEOUT_S"

TOO_LARGE = "File too large"
"""What git says where it may not write more (EFBIG)."""

_ULIMIT_BYTES = 512
_LIMITED = """trap '' XFSZ; ulimit -f "$0" 2>/dev/null; exec "$@\""""
"""git cannot limit what a server sends; the system limits what it writes. A write then fails."""

_QUOTES = " is not a valid attribute name: "
"""What git says of a line of whichever file ``core.attributesFile`` names, after a word of that line."""

PATIENCE_S = 5.0
"""Time after which we check whether git is blocked, for example by a named pipe."""


class GitTimeoutError(RepositoryError):
    """A git process took too long and was killed."""


def run_git(
    args: Sequence[str | bytes | Path],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    stdin: bytes | None = None,
    limits: Limits | None = None,
    file_bytes: int | None = None,
    look: Callable[[], None] | None = None,
    pass_fds: Sequence[int] = (),
) -> subprocess.CompletedProcess[bytes]:
    """Run git and return its output, whatever its exit status.

    Args:
        limits: None for `time_limit_s` alone.
        file_bytes: Size of the largest file that it, and what it starts, may write; None for any. It fails
            with `TOO_LARGE` then.
        look: Called when git has not answered for some seconds; if it raises, git is killed.

    Raises:
        RepositoryError: git is not installed, or the directory cannot be entered.
        GitTimeoutError: It took longer than the timeout.
        PrintedTooMuchError: It printed more than it may.
    """
    try:
        words = [os.fsencode(part) for part in args]
    except UnicodeEncodeError as error:
        raise UsageError(f"{error.object!r} has half of a character in it.", "Give it whole.") from error
    command: list[str | bytes] = ["git", *_IN_UTF8, *words]
    if file_bytes is not None:
        command = _writing_less(command, file_bytes)
    limits = limits or Limits(time_limit_s(environment))
    try:
        return run_program(
            command,
            environment,
            limits,
            cwd=cwd,
            stdin=stdin or b"",
            look_after_s=PATIENCE_S,
            look=look,
            pass_fds=pass_fds,
        )
    except TookTooLongError as error:
        name = next((word for word in words if word[:1] != b"-" and b"=" not in word), b"")
        raise GitTimeoutError(
            f"`git {os.fsdecode(name)}` in {cwd} took longer than {limits.seconds:,.0f} s and was ended.",
            "Patterns with many `*` in .gitattributes or .gitignore can hold it up; of a giant repository set"
            f" {TIMEOUT_VARIABLE} to more seconds.",
        ) from error
    except OSError as error:  # one that is too long to be passed on included
        raise not_run(error, cwd) from error


def _writing_less(command: Sequence[str | bytes], file_bytes: int) -> list[str | bytes]:
    """Return a command that runs another, and fails with `TOO_LARGE` if that writes a larger file."""
    if sys.platform == "win32":
        raise RepositoryError(
            "What a server sends cannot be limited on Windows, so nothing is fetched.",
            "Fetch it with git, and name the directory.",
        )
    return ["/bin/sh", "-c", _LIMITED, str(-(-file_bytes // _ULIMIT_BYTES)), *command]


def time_limit_s(environment: Mapping[str, str]) -> float:
    """Return the limit for a git process: GITRAG_GIT_TIMEOUT_S, or the default."""
    given = environment.get(TIMEOUT_VARIABLE, "")
    return float(given) if given.isascii() and given.isdigit() and 0 < int(given) < 10**6 else TIMEOUT_S


def not_run(error: OSError, cwd: Path) -> RepositoryError:
    """Return the error for git that could not be started in a directory."""
    if isinstance(error, FileNotFoundError):
        if not cwd.is_dir():
            return RepositoryError(f"The directory {cwd} does not exist.", "Was the worktree removed?")
        return RepositoryError("git was not found on PATH.", "Install git 2.31 or newer.")
    return RepositoryError(f"Cannot run git in {cwd}: {error.strerror}.")


def message_of(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return git's error message as one line, without ``fatal:``."""
    lines = [line.strip() for line in os.fsdecode(done.stderr).splitlines()]
    left_out = ("hint:", "warning:")
    said = " ".join(line for line in lines if line and not line.startswith(left_out) and _QUOTES not in line)
    return said.removeprefix("fatal: ").removeprefix("error: ") or f"git ended with status {done.returncode}"
