"""Whatever file of the index fails to open, and how: one line with the remedy, 75 or 78, never a bug."""

from __future__ import annotations

import errno
import io
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitrag.cli import boundary
from gitrag.workspace import Workspace
from tests.support.refusing import Refuse, refusing
from tests.support.repository import GitRepository, create_repository, isolated_environment

ERRNOS = ["EACCES", "EROFS", "ENOSPC", "EDQUOT", "EIO"]
OF_WRITES = {errno.EROFS, errno.ENOSPC, errno.EDQUOT}
"""What happens to writes alone."""

COMMANDS = [
    "search open_door",
    "search --word open_door",
    "search --ref HEAD~1 open_door",
    "graph open_door",
    "impact HEAD~1",
    "status",
    "doctor",
    "prime",
    "related door.py",
    "similar door.py:1",
    "history door",
    "index update --no-embed",
    "index remove",
    "init --no-hooks --skip-embed",
    "gc",
    "check --push",
    "hook run worker",
    "uninstall --yes",
]
TOLD = {0, 1, 3, 75, 78}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory) -> GitRepository:
    """A repository with an index one commit behind, to be copied."""
    place = tmp_path_factory.mktemp("prepared")
    environment = isolated_environment(place)
    repo = create_repository(place / "project", environment, {"door.py": "def open_door(): pass\n"})
    Workspace.open(repo.path, environ=environment).update()
    repo.commit({"window.py": "def close_window(): pass\n"})
    return repo


@pytest.fixture
def run(prepared, tmp_path, git_environment, monkeypatch, capfd) -> Callable[..., tuple[int, str, str]]:
    """Run a command of this process on a fresh copy: status, stderr, and what the log says.

    No process is started in the background, and this one keeps its session.
    """
    monkeypatch.setattr("gitrag.actions.run_hook.detach", lambda keep=None: None)
    monkeypatch.setattr("gitrag.actions.catch_up.start_worker", lambda workspace: None)
    place = tmp_path / "project"
    environment = git_environment | {"GITRAG_MODEL_DIR": str(tmp_path / "no-model"), "GITRAG_RESIDENT": "off"}
    pushed = f"refs/heads/main {prepared.git('rev-parse', 'HEAD').strip()} refs/heads/main {'0' * 40}\n"

    def run(command: str, refuse: Refuse) -> tuple[int, str, str]:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(prepared.path, place)
        monkeypatch.setattr("sys.stdin", io.StringIO(pushed))
        with refusing(refuse):
            status = boundary.run(["-C", str(place), *command.split()], environment)
        log = place / ".git" / "gitrag" / "log"
        return status, capfd.readouterr().err, log.read_text() if log.exists() else ""

    return run


def of_index(path: Path) -> str:
    """Return a file's name in the index's directory, without what is drawn by chance; empty for another's."""
    _, found, name = str(path).partition("/project/.git/gitrag")
    return re.sub(r"\.gitrag\.[0-9a-f]+|[0-9]{3,}", "*", name or "/") if found else ""


def opened(run) -> Iterator[tuple[str, list[str]]]:
    """Yield each file of the index that is opened or changed, with the commands that do."""
    found: dict[str, list[str]] = {}
    for command in COMMANDS:
        names: set[str] = set()

        def note(path: Path, writes: bool, names: set[str] = names) -> None:
            names.add(of_index(path))

        run(command, note)
        for name in names - {""}:
            found.setdefault(name, []).append(command)
    yield from found.items()


def test_each_error_at_each_open_is_told(run):
    wrong = []
    every = dict(opened(run))
    assert {
        "/index.duckdb",
        "/lock",
        "/lock.gate",
        "/lock.holder",
        "/worker.lock",
        "/log",
        "/",
    } <= every.keys()
    for name, commands in every.items():
        for turn, error in enumerate(ERRNOS):
            number = getattr(errno, error)

            def refuse(path: Path, writes: bool, name: str = name, number: int = number) -> int | None:
                fails = of_index(path) == name and (writes or number not in OF_WRITES)
                return number if fails else None

            command = commands[turn % len(commands)]
            status, told, log = run(command, refuse)
            is_bug = "bug" in told or "Traceback" in told + log
            is_short = status not in {75, 78} or len(told.splitlines()) <= 2
            if status not in TOLD or is_bug or not is_short:
                wrong.append((command, name, error, status, told, log[-400:]))
    assert not wrong
