"""How a client starts the server: with a command that is there whenever the client runs."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from gitrag.machine.environment import safe_environment

PLAIN = ("gitrag", "mcp")
BY_UVX = ("uvx", "gitrag", "mcp")

_CACHED = ("archive-v", "environments-v", "builds-v")
"""Beginnings of the folders in uv's cache that hold the environments of `uvx`: they may go at any time."""


def command_for(environ: Mapping[str, str], *, shared: bool) -> tuple[str, ...]:
    """Return the command for a client's file.

    Args:
        shared: Whether others read the file, who have gitrag elsewhere: then no path of this machine is in
            it, unless nothing else starts here. A file of the user's own gets absolute paths: programs with
            a window often have another PATH than terminals.
    """
    path = safe_environment(environ)["PATH"]
    on_path = _lasting(shutil.which("gitrag", path=path))
    own = _lasting(str(Path(sys.executable).with_name("gitrag")))
    uvx = shutil.which("uvx", path=path)
    if shared and on_path:
        return PLAIN
    if shared and uvx:
        return BY_UVX
    if place := on_path or own:
        return (place, *PLAIN[1:])
    return (uvx, *BY_UVX[1:]) if uvx else BY_UVX


def is_ours(command: tuple[str, ...]) -> bool:
    """Return whether a command is one that `command_for` returns here or elsewhere."""
    if command in {PLAIN, BY_UVX}:
        return True
    program = Path(command[0]) if command else Path()
    return program.is_absolute() and (program.name, *command[1:]) in {PLAIN, BY_UVX}


def _lasting(program: str | None) -> str | None:
    """Return a program unless it is missing, or in an environment that uv made for one run."""
    if program is None or not os.access(program, os.X_OK):
        return None
    folders = Path(program).absolute().parts
    return None if any(each.startswith(_CACHED) for each in folders) else program
