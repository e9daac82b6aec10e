"""A file system that refuses: each open, and each change of a directory, of this process can be made to fail.

Python tells an audit hook before it opens, makes, renames or deletes a file, and fails with what that raises.
What libraries in C open is not seen (`tests/e2e/faults.c` does that for the index file).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

Refuse: TypeAlias = Callable[[Path, bool], int | None]
"""Given a path, and whether it is to be written: the errno to fail with, or None."""

_CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT

_refuse: Refuse | None = None
_is_installed = False


@contextmanager
def refusing(refuse: Refuse) -> Iterator[None]:
    """Ask about everything that is opened, listed or changed inside the block."""
    global _refuse, _is_installed  # noqa: PLW0603 - an audit hook is for the process, and stays
    if not _is_installed:
        sys.addaudithook(_hook)
        _is_installed = True
    _refuse = refuse
    try:
        yield
    finally:
        _refuse = None


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _refuse is None:
        return
    writes = event in _CHANGES or (event == "open" and bool((args[2] or 0) & _WRITING))
    if not (writes or event in {"open", "os.listdir", "os.scandir"}) or not isinstance(
        args[0], str | bytes | Path
    ):
        return
    path = os.fsdecode(args[0])
    number = _refuse(Path(path), writes)
    if number is not None:
        raise OSError(number, os.strerror(number), path)
