"""Open an address with a secret in the user's browser."""

from __future__ import annotations

import atexit
import html
import os
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path

_PAGE = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={address}">\n'


def open_in_browser(address: str, directory: Path) -> bool:
    """Open an address in the user's browser; return whether there is one.

    The browser gets a file that leads to the address, since the token is in the address, and others on the
    machine can see the arguments of programs. A browser in the terminal is none: it would take the terminal.

    Args:
        directory: A directory that only the user can read; the file is removed when this process ends.
    """
    if sys.platform.startswith("linux") and not any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    ):
        return False
    file = directory / f"web-{os.getpid()}.html"
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(_PAGE.format(address=html.escape(address)))
    except OSError:
        return False
    atexit.register(_remove, file)
    try:
        return webbrowser.open(file.absolute().as_uri())
    except (webbrowser.Error, OSError):
        return False


def _remove(file: Path) -> None:
    with suppress(OSError):
        file.unlink()
