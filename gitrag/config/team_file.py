"""``.gitrag.yaml``, the settings a team commits: read within limits, since a stranger may have written it.

`gitrag.config.keys` says what each key may hold.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from gitrag.errors import ConfigError
from gitrag.machine.files import NO_LINK, NO_WAIT, OURS
from gitrag.machine.refusals import disk_error
from gitrag.words.bounded_yaml import YamlValue, parse_mapping

TEAM_FILE = ".gitrag.yaml"
TEAM_FILE_BYTES = 64 * 1024
"""Hundreds of globs fit; the slowest file to parse takes well under a second."""


def read_team(root: Path) -> bytes | None:
    """Return what ``.gitrag.yaml`` at a worktree's top holds, or None where there is none."""
    path = root / TEAM_FILE
    try:
        # Non-blocking, or a FIFO of that name would block every command.
        descriptor = os.open(path, os.O_RDONLY | NO_LINK | NO_WAIT | OURS)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise disk_error(error, path) or ConfigError(
            f"{TEAM_FILE} cannot be read: {error.strerror}.", "It must be a regular file."
        ) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ConfigError(f"{TEAM_FILE} is not a regular file.", "Put the settings in a file of that name.")
    with os.fdopen(descriptor, "rb") as file:
        return file.read(TEAM_FILE_BYTES + 1)


def parse_team(content: bytes) -> dict[str, YamlValue]:
    """Read the mapping that ``.gitrag.yaml`` holds; an empty file is an empty mapping.

    Raises:
        ConfigError: It is not YAML that gitrag reads (``parse_mapping``).
    """
    return parse_mapping(content, TEAM_FILE, TEAM_FILE_BYTES)
