"""The log: records errors of background work, and unexpected ones."""

from __future__ import annotations

import logging
import logging.handlers
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import cast

from gitrag.machine import files

NAME = "log"
"""Its name in the store's directory (``<git-common-dir>/gitrag``) or the user's state directory."""
LARGEST_BYTES = 512 * 1024
"""A thousand tracebacks; one older file of the same size is kept."""
_TAIL_BYTES = 16 * 1024
"""Enough for the longest traceback that follows an entry."""


def open_log(directory: Path) -> logging.Logger:
    """Return the logger ``gitrag``, writing to the directory's log from now on."""
    files.make_private(directory)
    logger = logging.getLogger("gitrag")
    close_log()
    handler = _PrivateHandler(
        directory / NAME, maxBytes=LARGEST_BYTES, backupCount=1, encoding="utf-8", errors="backslashreplace"
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False  # never to the terminal
    return logger


class _PrivateHandler(logging.handlers.RotatingFileHandler):
    """Writes a log that only its user can read, since it quotes what failed."""

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        return cast(
            "TextIOWrapper", files.open_private(path, self.mode, encoding=self.encoding, errors=self.errors)
        )

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """Say nothing of a line that cannot be written: the terminal is not the place for it."""


@contextmanager
def logged(directory: Path) -> Iterator[logging.Logger]:
    """Provide the logger ``gitrag``, writing to a directory's log if it does not write to one already."""
    logger = logging.getLogger("gitrag")
    if logger.handlers:
        yield logger
        return
    try:
        open_log(directory)
    except OSError:  # the log cannot be written; the terminal is not the place for it
        logger.addHandler(logging.NullHandler())
    try:
        yield logger
    finally:
        close_log()


def last_trouble(directory: Path) -> str:
    """Return the failure that the last entry of a directory's log reports; empty when it reports none."""
    try:
        with (directory / NAME).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    entries = re.findall(r"(?m)^\d{4}-\S+ \S+ \d+ (\w+) (.*)$", text)
    level, message = entries[-1] if entries else ("", "")
    return message if level in {"WARNING", "ERROR"} else ""


def close_log() -> None:
    logger = logging.getLogger("gitrag")
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        with suppress(OSError):  # a full disk had no room for the last line
            handler.close()
