"""What Windows' Python lacks is not needed: the names are taken away here, where the rest can be run.

Not tried so is what Windows does otherwise: files that are open cannot be replaced, paths have drives, hooks
are run by Git's own sh. `.github/workflows/windows.yml` runs there.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import Project

WITHOUT = """
import os, select, signal, socket, sys
import asyncio, logging.handlers, multiprocessing.util, shutil, subprocess, tempfile  # Python's own need them
for name in (
    "O_NOFOLLOW O_NONBLOCK O_CLOEXEC O_DIRECTORY fchmod fork setsid geteuid getloadavg statvfs ST_RDONLY"
    " setpriority getpriority sched_getaffinity mkfifo chown lchown"
).split():
    delattr(os, name)
del select.PIPE_BUF, select.poll, socket.AF_UNIX, signal.SIGVTALRM, signal.SIGQUIT, signal.setitimer
import builtins
importing, missing = builtins.__import__, "resource fcntl pwd grp termios tty pty syslog".split()
def imported(name, globals=None, *rest, **named):  # others' libraries know which system they are on
    if name in missing and (globals or {}).get("__name__", "").startswith("gitrag"):
        raise ImportError(name)
    return importing(name, globals, *rest, **named)
builtins.__import__ = imported
opening, starting = os.open, subprocess.Popen.__init__
def opened(path, flags, *rest, **others):
    own = sys._getframe(1).f_globals["__name__"].startswith("gitrag")
    if own and not isinstance(path, int) and os.path.isdir(path):
        raise PermissionError(13, "Permission denied", path)
    return opening(path, flags, *rest, **others)
def started(*given, preexec_fn=None, pass_fds=(), **others):
    if preexec_fn is not None or pass_fds:
        raise ValueError("preexec_fn is not supported on Windows platforms")
    starting(*given, **others)
os.open, subprocess.Popen.__init__ = opened, started
""" + (
    MAIN := """
from gitrag.cli import main
sys.argv[0] = "gitrag"
sys.exit(main())
"""
)

WHOLE = """
import importlib, pkgutil, gitrag
names = [each.name for each in pkgutil.walk_packages(gitrag.__path__, "gitrag.")]
for name in names:
    if name not in LINUX:
        importlib.import_module(name)
print(len(names))
"""
LINUX = ("gitrag.__main__", "gitrag.cli.resident_helper")
"""Modules that are programs; the second is started on Linux alone."""


@pytest.mark.sweep(keep=2)
@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (["search", "call again after a failure", "-o", "paths"], "client.py"),
        (["graph", "client.py"], "retry_with_backoff"),
        (["why", "client.py:4"], "client.py:4"),
        (["check", "client.py"], "client.py"),
        (["status"], "4 of 4 texts"),
        (["hooks", "status"], "post-commit"),
        (["index", "update", "--no-embed"], ""),
        (["hook", "run", "post-commit"], ""),
        (["config"], "auto_index"),
        (["core", "mark", "client.py"], "client.py"),
        (["agents", "install", "zed"], "written"),
        (["prime"], "Overview of"),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_commands_need_nothing_that_windows_lacks(
    ready: Project, asked: list[str], expected: str, tmp_path: Path
):
    (ready.path / "new.py").write_text("def new():\n    return 1\n")
    script = tmp_path / "without.py"
    script.write_text(WITHOUT)
    done = subprocess.run(
        [sys.executable, "-P", script, *asked],
        cwd=ready.path,
        env={**ready.gitrag.environment, "GITRAG_RESIDENT": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stdout + done.stderr  # 1: a check found something
    assert "cannot be loaded" not in done.stderr
    assert expected in done.stdout + done.stderr


def test_each_module_loads_without_what_windows_lacks(ready: Project, tmp_path: Path):
    script = tmp_path / "whole.py"
    script.write_text(WITHOUT.removesuffix(MAIN) + f"LINUX = {LINUX!r}\n" + WHOLE)
    done = subprocess.run(
        [sys.executable, "-P", script],
        env=ready.gitrag.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 400
