"""What gitrag needs from the machine, each with the command that fixes it.

``gitrag init`` checks it before it writes anything; ``gitrag doctor`` prints it line by line.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from gitrag.errors import NotSetUpError
from gitrag.machine.environment import safe_environment
from gitrag.machine.files import is_read_only
from gitrag.machine.refusals import permission_fix

OLDEST_GIT = (2, 31)
"""For ``git hash-object --stdin-paths``, ``status --porcelain=v2`` and ``-z`` everywhere; the oldest git of a
distribution still supported."""

_GIT_S = 30.0
"""Timeout of `git --version`, generous for slow network disks."""

PACKAGES = (
    "duckdb",
    "httpx2",
    "jinja2",
    "mcp",
    "msgspec",
    "numpy",
    "onnxruntime",
    "platformdirs",
    "portalocker",
    "prompt_toolkit",
    "pygit2",
    "pygments",
    "re2",
    "rich",
    "starlette",
    "tenacity",
    "tokenizers",
    "tree_sitter",
    "tree_sitter_language_pack",
    "uvicorn",
    "yaml",
)
"""Import names of gitrag's dependencies, except click, without which there is no command line."""

REINSTALL = "python -m pip install --force-reinstall gitrag"
"""Fixes an installation that lacks a package, or has one for another machine."""

LEAST_FREE_BYTES = 200_000_000
"""With less, the index of a medium-sized repository may not fit."""


class CheckState(StrEnum):
    """The result of a check."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Check(Struct, frozen=True):
    """One check and its result.

    Attributes:
        name: What was checked.
        state: The result.
        message: What was found.
        fix: The command or step that fixes it; empty when nothing is wrong.
    """

    name: str
    state: CheckState
    message: str
    fix: str = ""


def check_git(environ: Mapping[str, str] | None = None) -> Check:
    """Check that git is installed and new enough."""
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
    """Return the first two numbers in the output of ``git version``."""
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])


def check_packages() -> Check:
    """Check that the packages are installed, without importing them."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        return Check(
            "packages",
            CheckState.FAIL,
            f"not installed: {', '.join(missing)}",
            REINSTALL,
        )
    from importlib import metadata  # with parsers of e-mail, half a hundredth of a second

    return Check(
        "packages",
        CheckState.OK,
        ", ".join(f"{name} {metadata.version(name)}" for name in ("duckdb", "pygit2", "onnxruntime")),
    )


def check_manual(environ: Mapping[str, str], place: Path | None = None) -> Check:
    """Check whether ``git gitrag --help`` finds its man page, which is no more than a convenience.

    Args:
        place: Where installed pages are; by default those of this Python's environment.
    """
    place = place or Path(sys.prefix) / "share" / "man"
    if not (place / "man1" / "gitrag.1").is_file():
        return Check("manual", CheckState.OK, "no man page is installed; `git gitrag -h` prints the help")
    try:
        done = subprocess.run(
            ["man", "-w", "gitrag"],
            capture_output=True,
            env=safe_environment(environ),
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=_GIT_S,
        )
    except (OSError, subprocess.SubprocessError):
        return Check("manual", CheckState.OK, "man is not installed; `git gitrag -h` prints the help")
    if done.returncode == 0:
        return Check("manual", CheckState.OK, "git gitrag --help")
    return Check(
        "manual",
        CheckState.OK,
        f"`git gitrag -h` prints the help; the man page is in {place}, where man does not look",
    )


def check_writable(directory: Path) -> Check:
    """Check that the index's directory and its contents are writable, or can be created."""

    def fail(message: str, fix: str) -> Check:
        return Check("git directory", CheckState.FAIL, message, fix)

    place = _existing(directory)
    if not place.is_dir():
        return fail(f"{place} is not a directory", f"mv {_quoted(place)} {_quoted(place)}.old")
    if is_read_only(place):
        return fail(f"{place} is on a read-only file system", "Mount it writable.")
    paths = [place, *(place.iterdir() if place == directory and os.access(place, os.R_OK | os.X_OK) else ())]
    for path in paths:
        if not os.access(path, os.W_OK | (os.X_OK if path == place else 0)):
            try:
                fix = permission_fix(directory if path == place else place, path)
            except FileNotFoundError:  # e.g. another process's lock record, which may disappear at any moment
                continue
            return fail(f"{path} is not writable", fix)
    return Check("git directory", CheckState.OK, f"{place} is writable")


def check_space(directory: Path) -> Check:
    """Check the free disk space for the index."""
    free = shutil.disk_usage(_existing(directory)).free
    shown = f"{free / 1e9:.1f} GB free" if free >= LEAST_FREE_BYTES else f"{free / 1e6:.0f} MB free"
    if free < LEAST_FREE_BYTES:
        return Check(
            "disk space", CheckState.WARN, shown, "Free some space; an index takes about 1.5 kB a chunk."
        )
    return Check("disk space", CheckState.OK, shown)


def _existing(path: Path) -> Path:
    """Return the path, or its nearest existing parent; a broken link exists."""
    while not path.exists() and not path.is_symlink() and path != path.parent:
        path = path.parent
    return path


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def require(checks: list[Check]) -> None:
    """Raise if a check failed."""
    for check in checks:
        if check.state is CheckState.FAIL:
            raise NotSetUpError(f"Prerequisite missing ({check.name}): {check.message}.", check.fix)
