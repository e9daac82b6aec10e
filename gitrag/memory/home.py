"""Where the user's memory is stored, and which project an entry belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gitrag.git import Repository

DEFAULT_HOME = ".gitrag"
"""GITRAG_HOME's default, in the home directory."""


def home_directory(environ: Mapping[str, str]) -> Path:
    """Return GITRAG_HOME, or ``~/.gitrag``."""
    given = environ.get("GITRAG_HOME", "")
    if given == "~" or given.startswith("~/"):
        return Path(environ.get("HOME") or Path.home()) / given[2:]
    return Path(given).absolute() if given else Path(environ.get("HOME") or Path.home()) / DEFAULT_HOME


def project_name(given: str | None, repo: Repository | None, start: Path) -> str:
    """Return a project's name: as given, else after origin, else after the directory."""
    if given and given.strip():
        return given.strip()
    if repo is None:
        return start.resolve().name
    return repo.remote_name() or repo.default_directory_name
