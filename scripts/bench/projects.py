"""Projects to measure on, each a repository made of a published archive, and questions to ask of any."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

GITRAG = Path(sys.executable).with_name("gitrag")

QUESTIONS = [
    "where are retries with backoff implemented",
    "how are templates rendered",
    "parse the configuration file",
    "session cookie signing",
    "register a route",
    "error handling of requests",
    "command line arguments",
    "stream a file to the client",
    "validate user input",
    "test client",
]

WARM_UP = 4
"""Questions after which an index that does not change is in memory: the second finds it unchanged."""


@dataclass(frozen=True, slots=True)
class Project:
    """A project to measure on.

    Attributes:
        name: Its name.
        fetch: Downloads its archive into a directory.
    """

    name: str
    fetch: Callable[[Path], None]


def pip(requirement: str) -> Callable[[Path], None]:
    """Fetch a source archive from the package index."""

    def fetch(into: Path) -> None:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*command, "--dest", into, requirement], check=True, capture_output=True)

    return fetch


def npm(package: str) -> Callable[[Path], None]:
    """Fetch a package's archive from the npm registry."""

    def fetch(into: Path) -> None:
        subprocess.run(["npm", "pack", "--silent", package], cwd=into, check=True, capture_output=True)

    return fetch


PROJECTS = (
    Project("flask", pip("flask==3.1.0")),
    Project("django", pip("django==5.2")),
    Project("effect", npm("effect@3.22.4")),
)


def make_repository(project: Project, archives: Path, folder: Path) -> Path:
    """Fetch a project, unpack it and commit it."""
    place = archives / project.name
    if not place.exists() or not list(place.iterdir()):
        place.mkdir(parents=True, exist_ok=True)
        project.fetch(place)
    repository = folder / project.name
    [archive] = place.iterdir()
    with tarfile.open(archive) as tar:
        tar.extractall(folder / "unpacked" / project.name, filter="data")
    [inner] = (folder / "unpacked" / project.name).iterdir()
    shutil.move(inner, repository)
    git(repository, "init", "--quiet", "--initial-branch=main")
    git(repository, "config", "user.name", "bench")
    git(repository, "config", "user.email", "bench@example.com")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "first")
    print(f"{len(git(repository, 'ls-files').splitlines())} files")
    return repository


def git(repository: Path, *arguments: str, env: dict[str, str] | None = None) -> str:
    """Run git, its output captured."""
    done = subprocess.run(
        ["git", *arguments], cwd=repository, check=True, capture_output=True, text=True, env=env
    )
    return done.stdout.strip()


def memory_mb() -> float:
    """Measure the resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
