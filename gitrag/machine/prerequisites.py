"""What gitrag needs from the machine, each with the command that mends it.

``gitrag init`` looks here before it writes anything; ``gitrag doctor`` shows it line by line.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path

from gitrag.errors import NotSetUpError
from gitrag.machine.environment import safe_environment

OLDEST_GIT = (2, 31)

_GIT_S = 30.0
"""For `git --version`, on a disk that is far away."""
"""``git hash-object --stdin-paths``, ``status --porcelain=v2`` and ``-z`` everywhere; the oldest git of a
distribution still supported."""

PACKAGES = (
    "duckdb",
    "httpx2",
    "mcp",
    "msgspec",
    "numpy",
    "onnx",
    "onnxruntime",
    "platformdirs",
    "portalocker",
    "pygit2",
    "re2",
    "rich",
    "tenacity",
    "tokenizers",
    "tree_sitter",
    "tree_sitter_language_pack",
    "yaml",
)
"""Import names of what gitrag is made with, but for click, without which there is no command line."""

REINSTALL = "python -m pip install --force-reinstall gitrag"
"""Mends an installation that lacks a package, or has one for another machine."""

LEAST_FREE_BYTES = 200_000_000
"""Below this an index of a middling repository may not fit."""


class CheckState(StrEnum):
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
    state: CheckState
    message: str
    mend: str = ""


def check_git(environ: Mapping[str, str] | None = None) -> Check:
    """Look for git, and whether it is new enough."""
    try:
        done = subprocess.run(
            ["git", "--version"],
            capture_output=True,
            text=True,
            env=safe_environment(os.environ if environ is None else environ),
            check=True,
            stdin=subprocess.DEVNULL,
            timeout=_GIT_S,
        )
    except (OSError, subprocess.SubprocessError):
        return Check(
            "git", CheckState.FAIL, "git is not installed", "Install git: https://git-scm.com/downloads"
        )
    text = done.stdout.strip().removeprefix("git version ")
    if version_of(text) < OLDEST_GIT:
        wanted = ".".join(map(str, OLDEST_GIT))
        return Check("git", CheckState.FAIL, f"git {text} is older than {wanted}", "Upgrade git.")
    return Check("git", CheckState.OK, text)


def version_of(text: str) -> tuple[int, ...]:
    """Return the first two numbers of what ``git version`` says."""
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])


def check_packages() -> Check:
    """Look for the packages, without importing them."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        return Check(
            "packages",
            CheckState.FAIL,
            f"not installed: {', '.join(missing)}",
            REINSTALL,
        )
    return Check(
        "packages",
        CheckState.OK,
        ", ".join(f"{name} {metadata.version(name)}" for name in ("duckdb", "pygit2", "onnxruntime")),
    )


def check_writable(directory: Path) -> Check:
    """Look whether the index's directory and what lies in it, or where it will be made, can be written."""

    def fail(message: str, mend: str) -> Check:
        return Check("git directory", CheckState.FAIL, message, mend)

    place = _existing(directory)
    if not place.is_dir():
        return fail(f"{place} is not a directory", f"mv {_quoted(place)} {_quoted(place)}.old")
    if os.statvfs(place).f_flag & os.ST_RDONLY:
        return fail(f"{place} is on a read-only file system", "Mount it writable.")
    paths = [place, *(place.iterdir() if place == directory and os.access(place, os.R_OK | os.X_OK) else ())]
    for path in paths:
        if not os.access(path, os.W_OK | (os.X_OK if path == place else 0)):
            try:
                ours = path.lstat().st_uid == os.geteuid()
            except FileNotFoundError:  # another process's note of what it does, for one, goes at any moment
                continue
            mend = f"chmod -R u+rwX {_quoted(place)}" if ours else f'sudo chown -R "$USER" {_quoted(place)}'
            return fail(f"{path} is not writable", mend)
    return Check("git directory", CheckState.OK, f"{place} is writable")


def check_space(directory: Path) -> Check:
    """Look how much space is left where the index lies."""
    free = shutil.disk_usage(_existing(directory)).free
    shown = f"{free / 1e9:.1f} GB free" if free >= LEAST_FREE_BYTES else f"{free / 1e6:.0f} MB free"
    if free < LEAST_FREE_BYTES:
        return Check(
            "disk space", CheckState.WARN, shown, "Free some space; an index takes about 1.5 kB a chunk."
        )
    return Check("disk space", CheckState.OK, shown)


def _existing(path: Path) -> Path:
    """Return the path, or the nearest one above it that is there; a link to nothing is there."""
    while not path.exists() and not path.is_symlink() and path != path.parent:
        path = path.parent
    return path


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def require(checks: list[Check]) -> None:
    """Raise when a check failed.

    Raises:
        NotSetUpError: The first that failed, with the command that mends it.
    """
    for check in checks:
        if check.state is CheckState.FAIL:
            raise NotSetUpError(f"Prerequisite missing ({check.name}): {check.message}.", check.mend)
