"""What gitrag needs from the machine, each with the command that mends it.

``gitrag init`` looks here before it writes anything; ``gitrag doctor`` shows it line by line.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path

from gitrag.errors import NotSetUpError

OLDEST_GIT = (2, 31)
"""``git hash-object --stdin-paths``, ``status --porcelain=v2`` and ``-z`` everywhere; the oldest git of a
distribution still supported."""

PACKAGES = (
    "duckdb",
    "numpy",
    "onnxruntime",
    "pygit2",
    "tokenizers",
    "tree_sitter",
    "tree_sitter_language_pack",
    "yaml",
)
"""Import names of what the index is made with."""

LEAST_FREE_BYTES = 200 << 20
"""Below this an index of a middling repository may not fit."""


class State(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at.

    Attributes:
        name: What.
        state: How it ended.
        message: What was found.
        mend: The command or step that mends it; empty when nothing is wrong.
    """

    name: str
    state: State
    message: str
    mend: str = ""


def check_git(environ: Mapping[str, str] | None = None) -> Check:
    """Look for git, and whether it is new enough."""
    try:
        done = subprocess.run(
            ["git", "--version"],
            capture_output=True,
            text=True,
            env=environ,
            check=True,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.CalledProcessError):
        return Check("git", State.FAIL, "git is not installed", "Install git: https://git-scm.com/downloads")
    text = done.stdout.strip().removeprefix("git version ")
    numbers = tuple(int(part) for part in re.findall(r"\d+", text)[:2])
    if numbers < OLDEST_GIT:
        wanted = ".".join(map(str, OLDEST_GIT))
        return Check("git", State.FAIL, f"git {text} is older than {wanted}", "Upgrade git.")
    return Check("git", State.OK, text)


def check_packages() -> Check:
    """Look for the packages, without importing them."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        return Check(
            "packages",
            State.FAIL,
            f"not installed: {', '.join(missing)}",
            "python -m pip install --force-reinstall gitrag",
        )
    return Check(
        "packages",
        State.OK,
        ", ".join(f"{name} {metadata.version(name)}" for name in ("duckdb", "pygit2", "onnxruntime")),
    )


def check_writable(directory: Path) -> Check:
    """Look whether the index's directory, or the one that it will be made in, can be written."""
    place = directory
    while not place.exists() and place != place.parent:
        place = place.parent
    if not os.access(place, os.W_OK | os.X_OK):
        return Check(
            "git directory", State.FAIL, f"{place} is not writable", f"chmod u+w {place}, or change its owner"
        )
    return Check("git directory", State.OK, f"{place} is writable")


def check_space(directory: Path) -> Check:
    """Look how much space is left where the index lies."""
    place = directory
    while not place.exists() and place != place.parent:
        place = place.parent
    free = shutil.disk_usage(place).free
    shown = f"{free / (1 << 30):.1f} GiB free"
    if free < LEAST_FREE_BYTES:
        return Check("disk space", State.WARN, shown, "Free some space; an index takes about 1.5 kB a chunk.")
    return Check("disk space", State.OK, shown)


def require(checks: list[Check]) -> None:
    """Raise when a check failed.

    Raises:
        NotSetUpError: The first that failed, with the command that mends it.
    """
    for check in checks:
        if check.state is State.FAIL:
            raise NotSetUpError(f"Prerequisite missing ({check.name}): {check.message}.", check.mend)
