"""Show a result that is longer than the screen in a pager, chosen as git chooses its own.

Only the user's own settings name a program to run: a repository's may have come with an archive.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from gitrag.cli import resident
from gitrag.cli.terminal import Terminal, safe
from gitrag.words.control_characters import Safe, Text

if TYPE_CHECKING:
    from gitrag.git.configuration import Entry

_USUAL = "less"
_OPTIONS = {"LESS": "FRX", "LV": "-c"}
"""What git sets for a pager where the user does not: less shows colours, and ends at once if all fits."""

_NOT_FOUND = frozenset({126, 127})
"""A shell's exit codes for a command that cannot be run."""

_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def pager_of(environ: Mapping[str, str], entries: Iterable[Entry]) -> str:
    """Return the pager's command line by git's order; empty for none.

    Args:
        environ: The user's environment: GIT_PAGER before core.pager before PAGER.
        entries: git's configuration; what the repository's own says is ignored.
    """
    configured = [each.value for each in entries if each.key == "core.pager" and not each.is_the_repositorys]
    chosen = [environ.get("GIT_PAGER"), *configured[-1:], environ.get("PAGER"), _USUAL]
    pager = next(each for each in chosen if each is not None)
    return "" if pager in {"", "cat"} or environ.get("TERM", "dumb") == "dumb" else pager


def print_paged(terminal: Terminal, text: Text, pager: str, environ: Mapping[str, str]) -> None:
    """Write a result, through the pager if the terminal cannot show all of it at once.

    Args:
        pager: Its command line, for the shell; empty for none.
    """
    shown = safe(text)
    if (
        not pager
        or _rows(shown, terminal.width) < terminal.height
        or not _ran(shown, pager, environ, terminal)
    ):
        terminal.write(shown)


def _rows(text: Safe, columns: int) -> int:
    return sum(max(len(_ESCAPE.sub("", line)) - 1, 0) // columns + 1 for line in text.split("\n"))


def _ran(text: Safe, pager: str, environ: Mapping[str, str], terminal: Terminal) -> bool:
    """Run the pager to its end; return whether there is such a program."""
    resident.require_terminal()
    terminal.out.flush()
    interrupts = signal.signal(signal.SIGINT, signal.SIG_IGN)  # ^C is the pager's, as with git
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", pager],
            stdin=subprocess.PIPE,
            env={**_OPTIONS, **environ},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - one thread
        )
        with suppress(BrokenPipeError):  # left before the end
            process.communicate(os.fsencode(text + "\n"))
        return process.wait() not in _NOT_FOUND
    except OSError:
        return False
    finally:
        signal.signal(signal.SIGINT, interrupts)
