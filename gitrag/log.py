"""The log: where what went wrong in the background, or unexpectedly, is written down."""

from __future__ import annotations

import logging
import logging.handlers
from pathlib import Path

NAME = "log"
"""Its name in the store's directory (``<git-common-dir>/gitrag``) or the user's state directory."""
LARGEST_BYTES = 512 * 1024
"""A thousand tracebacks; one older file of the same size is kept beside it."""


def open_log(directory: Path) -> logging.Logger:
    """Return the logger ``gitrag``, writing to the directory's log from now on.

    Raises:
        OSError: The directory or the file cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    logger = logging.getLogger("gitrag")
    close_log()
    handler = logging.handlers.RotatingFileHandler(
        directory / NAME, maxBytes=LARGEST_BYTES, backupCount=1, encoding="utf-8", errors="backslashreplace"
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False  # never to the terminal
    return logger


def close_log() -> None:
    """Let go of the file."""
    logger = logging.getLogger("gitrag")
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
