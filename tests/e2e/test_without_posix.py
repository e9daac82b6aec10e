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
sys.modules["resource"] = None
from gitrag.cli import main
sys.argv[0] = "gitrag"
sys.exit(main())
"""


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
