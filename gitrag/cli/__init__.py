"""The command line: it parses arguments and prints results; it contains no logic."""

import os
import sys

from gitrag.cli.exit_codes import INTERRUPTED, TRY_AGAIN
from gitrag.machine.environment import UNAWAITED, forget_relative_paths, multiply_in_one_thread

TYPE_CHECKING = False  # typing takes as long to load as the rest of this
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> "NoReturn":
    """Run the command line, and exit."""
    forget_relative_paths()
    multiply_in_one_thread()
    _read_names_as_utf8()
    try:
        from gitrag.cli import resident

        status = resident.ask(sys.argv[1:])
    except KeyboardInterrupt:
        status = INTERRUPTED
    if status is None:
        status = run_here()
        resident.leave_behind()
    if _is_worked_on():
        _end_at_once(status)
    sys.exit(status)


def run_here() -> int:
    """Run the command line in this process, and return its exit status."""
    try:
        from gitrag.cli.boundary import run

        return run(sys.argv[1:], os.environ)
    except (MemoryError, ImportError) as error:
        return _tell_memory(error)
    except KeyboardInterrupt:  # while modules are loaded, before the boundary handles errors
        return INTERRUPTED


def _is_worked_on() -> bool:
    """Tell whether a thread is still at work on an answer that came too late."""
    threading = sys.modules.get("threading")
    return threading is not None and any(each.name == UNAWAITED for each in threading.enumerate())


def _end_at_once(status: int) -> "NoReturn":
    """Exit without Python's end: a thread that comes back from DuckDB during it would abort the process."""
    import atexit
    from contextlib import suppress

    with suppress(BaseException):
        atexit._run_exitfuncs()  # noqa: SLF001
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(OSError, ValueError):  # told of already
            stream.flush()
    os._exit(status & 0xFF)


def _tell_memory(error: Exception) -> int:
    """Report an allocation failure outside of the boundary or in it, using as little memory as possible."""
    text = str(error)
    if isinstance(error, ImportError) and "map segment" not in text and "allocate memory" not in text:
        raise error
    os.write(2, b"The system refuses memory.\nhint: raise the limit (`ulimit -v unlimited`), and try again\n")
    return TRY_AGAIN


def _read_names_as_utf8() -> None:
    """Restart Python in UTF-8 mode if it decodes file names in another encoding than git's, UTF-8.

    Python 3.15 uses that mode by default. Output stays in the terminal's encoding.
    """
    if sys.getfilesystemencoding() == "utf-8" or "utf8" in sys._xoptions or not sys.executable:  # noqa: SLF001
        return
    written_in = {"PYTHONIOENCODING": sys.stdout.encoding} if sys.stdout else {}
    arguments = [sys.executable, "-X", "utf8", *sys.orig_argv[1:]]
    os.execve(sys.executable, arguments, written_in | dict(os.environ))  # noqa: S606  # no shell
