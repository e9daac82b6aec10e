"""Many commits in a row: one process is started, and is told of the rest."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gitrag.actions import run_hook
from gitrag.machine.locks import FileLock

pytestmark = pytest.mark.skipif(shutil.which("flock") is None, reason="no flock to ask with")

PATIENCE_S = 60.0


@pytest.fixture
def live(hooked):
    """A repository with hooks and the directory of an index."""
    hooked.install()
    store = hooked.git.path / ".git" / "gitrag"
    store.mkdir()
    (store / "worker.lock").touch()
    return hooked


def marks(live) -> list[bytes]:
    path = live.git.path / ".git" / "gitrag" / "worker.marks"
    return path.read_bytes().split(b"\0")[:-1] if path.exists() else []


def wait_for_marks(live, count: int) -> list[bytes]:
    end = time.monotonic() + PATIENCE_S
    while len(marks(live)) < count:
        assert time.monotonic() < end, marks(live)
        time.sleep(0.02)
    return marks(live)


def test_a_worker_at_work_is_left_a_mark(live, tmp_path):
    linked = live.git.worktree(tmp_path / "linked", "--detach")  # post-checkout fires
    live.stand_in.wait_for(1)
    live.stand_in.forget()
    before = len(marks(live))
    lock = FileLock(live.git.path / ".git" / "gitrag" / "worker.lock")
    assert lock.try_acquire()
    live.git.commit({"a.py": "a = 2\n"})
    linked.commit({"b.py": "b = 2\n"})
    assert set(wait_for_marks(live, before + 2)[before:]) == {
        os.fsencode(live.git.path),
        os.fsencode(linked.path),
    }
    lock.release()
    live.git.commit({"a.py": "a = 3\n"})
    live.stand_in.wait_for(1)
    assert live.stand_in.calls() == ["hook run post-commit"]


def test_one_that_is_being_started_is_waited_for(live):
    """Its start takes longer than a commit; the others ask who the worker is once it has begun."""
    live.stand_in.hold()
    for number in range(5):
        live.git.commit({"a.py": f"a = {number}\n"})
    wait_for_marks(live, 5)
    live.stand_in.wait_for_calls(["hook run post-commit"])
    assert live.stand_in.calls() == ["hook run post-commit"]
    lock = FileLock(live.git.path / ".git" / "gitrag" / "worker.lock")
    assert lock.try_acquire()  # it has become the worker
    live.stand_in.let_go()
    live.stand_in.wait_for(1)
    start = FileLock(live.git.path / ".git" / "gitrag" / "worker.start")
    end = time.monotonic() + PATIENCE_S
    quiet = 0
    while quiet < 10:  # those that waited have looked, one after the other
        quiet = quiet + 1 if start.try_acquire() else 0
        start.release()
        time.sleep(0.02)
        assert time.monotonic() < end
    assert live.stand_in.calls() == ["hook run post-commit"]
    lock.release()


SETTLE = """
import os, sys
from pathlib import Path
from gitrag.actions import catch_up as background
from gitrag.actions import run_hook as run
from gitrag.machine.locks import is_held
store = Path(sys.argv[1])
held = lambda: [is_held(store / name) for name in ("worker.lock", "worker.start")]
background.catch_up = lambda *_, **__: print(*held(), flush=True)
run.run("post-commit", [], start=store.parent.parent, environ=os.environ)
"""


def test_the_start_is_over_when_the_worker_has_its_lock(make_repository):
    repo = make_repository({"a.py": "a = 1\n"})
    store = repo.path / ".git" / "gitrag"
    store.mkdir()
    script = f'exec 8>"$1/worker.start"; flock -n 8; export {run_hook._STARTING}=8; exec "$2" -c "$3" "$1"'
    done = subprocess.run(
        ["sh", "-c", script, "sh", str(store), sys.executable, SETTLE],
        env=repo.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("True False\n", "")


def test_where_git_dir_names_another_repository_no_mark_is_left(live, make_repository):
    """Dotfiles kept with ``git --git-dir=… --work-tree=…``: the directory does not lead to the index."""
    bare = make_repository(name="dotfiles", bare=True)
    shutil.copytree(live.hooks, bare.path / "hooks", dirs_exist_ok=True)
    (bare.path / "gitrag").mkdir()
    (bare.path / "gitrag" / "worker.lock").touch()
    git = ["--git-dir", bare.path, "--work-tree", live.git.path]
    live.git.git(*git, "commit", "--allow-empty", "-m", "dot")
    live.stand_in.wait_for(1)
    assert not (bare.path / "gitrag" / "worker.marks").exists()


def test_a_mark_names_a_path_of_any_bytes(live, tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9\n'\""))
    linked = live.git.worktree(path, "--detach")
    live.stand_in.wait_for(1)
    lock = FileLock(live.git.path / ".git" / "gitrag" / "worker.lock")
    assert lock.try_acquire()
    before = len(marks(live))
    linked.commit({"b.py": "b = 2\n"})
    assert wait_for_marks(live, before + 1)[before:] == [os.fsencode(path)]
    lock.release()
