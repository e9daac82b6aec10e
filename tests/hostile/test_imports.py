"""No process of gitrag's imports what lies in the repository, whatever modules it uses."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from gitrag.indexing.worker import running
from tests.support.command import GITRAG, Gitrag, Project, user_environment
from tests.support.repository import GitRepository, create_repository
from tests.support.traces import A_FEW, Traces, idle, run_everything

EMPTY = " " * 99 + "\n"
MUCH = {f"much_{number}.py": f"def step_{number}(x):\n    return x\n{EMPTY * 9_000}" for number in range(4)}
"""More than 3 MiB, shared among processes, and few chunks, of few lines."""

HONEST = {
    "client.py": "def retry_with_backoff():\n    '''Retry.'''\n",
    "docs/adrs/ADR-0001-retry.md": "# ADR-0001: Retry with backoff\n\n## Decision\n\nCalls are retried.\n",
    ".sdd/issues/1.md": "---\nid: 1\ntitle: Retry\nstatus: open\n---\nRetry.\n",
    **MUCH,
}


def importable() -> set[str]:
    """Every module that a process of gitrag's can import: Python's own, and what is installed beside it."""
    return (
        set(sys.stdlib_module_names)
        | {name for name in packages_distributions() if name.isidentifier() and name != "tests"}
        | {"gitrag", "sitecustomize", "usercustomize"}
    )


def launchers() -> set[str]:
    """What Python itself, and the script that pip makes, import before the first line of gitrag."""
    code = "import re, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def planted(traces: Traces, names: set[str]) -> dict[str, str]:
    return {f"{name}.py": traces.module(f"import {name}") for name in names - {"client"}}


def lay(git: GitRepository, modules: dict[str, str]) -> None:
    """Put modules where they lie in a clone, but for git to ignore: what is in an index is not imported."""
    (git.path / ".git" / "info").mkdir(exist_ok=True)
    (git.path / ".git" / "info" / "exclude").write_text("*\n")
    git.write(modules)


@pytest.mark.timeout(900)
def test_no_module_of_the_repository_is_imported(tmp_path, model_dir, traces):
    """Each kind of process is started: a command, the pool's, the worker, the server, who embeds."""
    environment = user_environment(tmp_path / "home", model_dir)
    git = create_repository(tmp_path / "project", environment, HONEST)
    lay(git, planted(traces, importable()))

    def seen(what: str) -> None:
        assert traces.found() == [], what

    project = Project(git, Gitrag(git.path, environment, forks=False))
    run_everything(project, seen, commands=[A_FEW[0], A_FEW[2], *A_FEW[-2:]])


FOUND = """
import sys
from gitrag.cli import main
names, sys.argv[1:] = sys.argv[1:], ["--version"]
try:
    main()
except SystemExit:
    import importlib.util
for name in names:
    try:
        print(name, getattr(importlib.util.find_spec(name), "origin", None), sep="=")
    except ValueError:
        pass  # it is loaded, and says nothing of where it was
"""
"""Says where each module would be found once gitrag has been started."""


@pytest.mark.timeout(900)
def test_nor_by_any_command_where_python_is_told_to_look_there(tmp_path, model_dir, traces):
    environment = user_environment(tmp_path / "home", model_dir) | {"PYTHONPATH": "x:.::x/.."}
    names = importable() - launchers() - {"sitecustomize", "usercustomize", "gitrag"}
    modules = planted(traces, names)
    git = create_repository(tmp_path / "project", environment, HONEST)
    lay(git, modules | {f"x/{path}": content for path, content in modules.items()})

    def seen(what: str) -> None:
        assert traces.found() == [], what

    project = Project(git, Gitrag(git.path, environment, forks=False))
    run_everything(project, seen, commands=[A_FEW[0], A_FEW[2], A_FEW[-1]])
    # whatever other commands import later, they do after the same start
    script = tmp_path / "found.py"
    script.write_text(FOUND)
    done = subprocess.run(
        [sys.executable, script, *names],
        cwd=git.path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    found = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert found.keys() > {"duckdb", "onnxruntime", "psycopg", "rich", "sqlite3"}
    assert [where for where in found.values() if str(git.path) in where] == []


@pytest.mark.sweep(keep=0)
@pytest.mark.timeout(900)
def test_an_honest_clone_of_the_standard_library_is_indexed(tmp_path, model_dir):
    """Its modules are called what gitrag's processes import; half of them would break those."""
    environment = user_environment(tmp_path / "home", model_dir)
    git = create_repository(tmp_path / "cpython", environment)
    for path in Path(os.__file__).parent.iterdir():
        if path.suffix == ".py" and path.stem in sys.modules and path.stat().st_size < 12_000:
            shutil.copy(path, git.path / path.name)
        elif path.name in {"concurrent", "json", "multiprocessing"}:
            shutil.copytree(path, git.path / path.name, ignore=shutil.ignore_patterns("__pycache__"))
    git.write(MUCH)
    git.commit()
    project = Project(git, Gitrag(git.path, environment, forks=False))

    assert project.gitrag("init").status == 0
    found = project.gitrag("search", "run a pool of processes", "--output", "json")
    assert found.status == 0
    assert project.gitrag("graph", "ProcessPoolExecutor.submit", "--callees").status == 0
    worker = running(project.store)
    if worker is not None:
        os.kill(worker.pid, signal.SIGTERM)  # it would embed for minutes
    idle(project)


def test_python_m_gitrag_imports_nothing_from_where_it_is_called(tmp_path, model_dir, traces):
    """But for the package itself, which whoever calls it so asks for by that name."""
    environment = user_environment(tmp_path / "home", model_dir)
    planted = {f"{name}.py": traces.module(name) for name in ("click", "rich", "_duckdb", "yaml", "string")}
    git = create_repository(tmp_path / "project", environment, {**planted, "a.py": "x = 1\n"})

    done = subprocess.run(
        [sys.executable, "-m", "gitrag", "status"],
        cwd=git.path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, traces.found()) == (0, []), done.stderr
    assert GITRAG.exists()
