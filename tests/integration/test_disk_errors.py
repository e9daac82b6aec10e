"""Whatever file of the index fails to open, and how: one line with the remedy, 75 or 78, never a bug."""

from __future__ import annotations

import errno
import io
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from mcp import Client

from gitrag.cli import boundary
from gitrag.mcp_server.server import build
from gitrag.mcp_server.workbench import Workbench
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
    "prime",
    "related door.py",
    "similar door.py:1",
    "history door",
    "index update --no-embed",
    "index remove",
    "init --no-hooks --skip-embed",
    "gc",
    "why door.py:1",
    "core mark door.py",
    "check --push",
    "hook run worker",
    "uninstall --yes",
]
TOLD = {0, 1, 3, 75, 78}
TOOLS = {"search": {"query": "door"}, "status": {}, "call_graph": {"target": "x"}}
IN_INDEX = [
    "index.duckdb",
    "lock",
    "lock.gate",
    "lock.holder",
    "worker.lock",
    "worker.marks",
    "log",
    "coverage",
]


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
def run(
    prepared, model_dir, tmp_path, git_environment, monkeypatch, capfd
) -> Callable[..., tuple[int, str, str]]:
    """Run a command of this process on a fresh copy: status, stderr, and what the log says.

    No process is started in the background, and this one keeps its session.
    """
    monkeypatch.setattr("gitrag.actions.run_hook.detach", lambda keep=None: None)
    monkeypatch.setattr("gitrag.actions.catch_up.start_worker", lambda workspace: None)
    place = tmp_path / "project"
    environment = git_environment | {"GITRAG_MODEL_DIR": str(model_dir), "GITRAG_RESIDENT": "off"}
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


def named(path: Path) -> str:
    """Return a path from the repository or home, without what is drawn by chance; empty for any other."""
    for place in ("/project/", "/home/"):
        _, found, name = str(path).partition(place)
        if found:
            return re.sub(r"\.gitrag\.[0-9a-f]+|[0-9]{3,}|tmp\w+", "*", f"{place}{name}")
    return ""


def opened(run) -> tuple[dict[str, list[str]], set[str]]:
    """Return each file that is opened or changed, with the commands that do so; and which are written."""
    found: dict[str, list[str]] = {}
    written: set[str] = set()
    for command in COMMANDS:
        names: set[str] = set()

        def note(path: Path, writes: bool, names: set[str] = names) -> None:
            names.add(named(path))
            written.update([named(path)] * writes)

        run(command, note)
        for name in names - {""}:
            found.setdefault(name, []).append(command)
    return found, written


@pytest.mark.timeout(300)
def test_each_error_at_each_open_is_told(run, some):
    wrong = []
    every, written = opened(run)
    index = "/project/.git/gitrag"
    assert {index, *(f"{index}/{name}" for name in IN_INDEX), "/project/.gitrag.yaml"} <= every.keys()
    cases = [
        (name, error, commands[turn % len(commands)])
        for name, commands in sorted(every.items())
        for turn, error in enumerate(ERRNOS if name.startswith(index) else ["EACCES", "ENOSPC"])
        if name in written or getattr(errno, error) not in OF_WRITES
    ]
    for name, error, command in some(cases, keep=6):
        number = getattr(errno, error)

        def refuse(path: Path, writes: bool, name: str = name, number: int = number) -> int | None:
            return number if named(path) == name and (writes or number not in OF_WRITES) else None

        status, told, log = run(command, refuse)
        is_bug = "bug" in told or "Traceback" in told + log
        is_short = status not in {75, 78} or len(told.splitlines()) <= 2
        if status not in TOLD or is_bug or not is_short:
            wrong.append((command, name, error, status, told, log[-400:]))
    assert not wrong


def test_a_tool_for_agents_says_which_file_fails_and_what_helps(prepared, git_environment, tmp_path):
    store = prepared.path / ".git" / "gitrag"
    bench = Workbench(prepared.path, git_environment | {"GITRAG_HOME": str(tmp_path / "home")})

    async def run() -> None:
        async with Client(build(bench)) as client:
            with refusing(lambda path, _writes: errno.EACCES if path.parent == store else None):
                for tool, arguments in {
                    "search": {"query": "door"},
                    "status": {},
                    "call_graph": {"target": "x"},
                }.items():
                    answer = await client.call_tool(tool, arguments)
                    assert answer.is_error, tool
                    assert "Permission denied. chmod -R u+rwX" in answer.content[0].text, tool

    anyio.run(run)
