"""The command line: it reads what the user typed and prints what gitrag answers; no logic lives here."""

import os
import sys

from gitrag.cli.exit_codes import INTERRUPTED, TRY_AGAIN
from gitrag.machine.environment import forget_relative_paths

TYPE_CHECKING = False  # typing takes as long to load as the rest of this
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> "NoReturn":
    """Run the command line, and exit."""
    forget_relative_paths()
    _read_names_as_utf8()
    try:
        from gitrag.cli.boundary import run

        status = run(sys.argv[1:], os.environ)
    except (MemoryError, ImportError) as error:
        status = _tell_memory(error)
    except KeyboardInterrupt:  # before the boundary stands: modules are being loaded
        status = INTERRUPTED
    sys.exit(status)


def _tell_memory(error: Exception) -> int:
    """Say that memory was refused before the boundary stands, or in it; with as little as possible."""
    text = str(error)
    if isinstance(error, ImportError) and "map segment" not in text and "allocate memory" not in text:
        raise error
    os.write(2, b"The system refuses memory.\nhint: raise the limit (`ulimit -v unlimited`), and try again\n")
    return TRY_AGAIN


def _read_names_as_utf8() -> None:
    """Begin again where Python takes file names for another encoding than git's, UTF-8.

    As Python 3.15 does by itself. What is printed stays in the terminal's encoding.
    """
    if sys.getfilesystemencoding() == "utf-8" or "utf8" in sys._xoptions or not sys.executable:  # noqa: SLF001
        return
    written_in = {"PYTHONIOENCODING": sys.stdout.encoding} if sys.stdout else {}
    arguments = [sys.executable, "-X", "utf8", *sys.orig_argv[1:]]
    os.execve(sys.executable, arguments, written_in | dict(os.environ))  # noqa: S606  # no shell
