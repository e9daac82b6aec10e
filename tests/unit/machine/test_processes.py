"""A pool whose processes fail, die, or lose their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import closing

import pytest

from gitrag.machine.processes import Pool, ProcessDiedError

TOLD_TO_END = """
import os, signal, time
from contextlib import closing
from gitrag.indexing.worker import end_on_request
from gitrag.machine.processes import Pool

end_on_request()
with closing(Pool(2)) as pool:
    pids = [pool.submit(os.getpid).result()]
    print(*pids, flush=True)
    waiting = [pool.submit(time.sleep, 600) for _ in range(4)]
    os.kill(os.getpid(), signal.{signal})
    time.sleep(600)
"""
WITHOUT_GUARD = """
from contextlib import closing
from gitrag.machine.processes import Pool

print("once")
with closing(Pool(2)) as pool:
    print(sum(pool.submit(abs, -number).result() for number in range(8)))
"""
PATIENCE_S = 60


def run(script, tmp_path):
    path = tmp_path / "script.py"
    path.write_text(script)
    return subprocess.run(
        [sys.executable, path], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_its_processes_end_with_the_one_that_started_them(name, tmp_path):
    ended = run(TOLD_TO_END.format(signal=name), tmp_path)

    told = 128 + signal.SIGTERM if name == "SIGTERM" else -signal.SIGKILL
    assert (ended.returncode, ended.stderr) == (told, "")
    end = time.monotonic() + PATIENCE_S
    while is_alive(int(ended.stdout)):
        assert time.monotonic() < end, "it is left alone"
        time.sleep(0.05)


def test_a_script_needs_no_guard(tmp_path):
    ended = run(WITHOUT_GUARD, tmp_path)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "once\n28\n", "")


def test_a_process_that_dies_takes_its_own_call_along_and_no_other():
    with closing(Pool(2)) as pool:
        died = pool.submit(os._exit, 3)
        others = [pool.submit(abs, -number) for number in range(20)]

        with pytest.raises(ProcessDiedError, match=r"It ended with status 3\."):
            died.result()
        assert [future.result() for future in others] == list(range(20))


def test_an_error_is_raised_where_the_call_was_made():
    with closing(Pool(2)) as pool:
        with pytest.raises(ValueError, match="invalid literal") as caught:
            pool.submit(int, "x").result()
        assert "In a process of the pool" in caught.value.__notes__[0]
        with pytest.raises(RuntimeError, match="No reply can be made"):
            pool.submit(open, os.devnull).result()  # a file cannot be sent
        assert pool.submit(abs, -1).result() == 1


def test_what_a_library_prints_is_no_reply():
    with closing(Pool(2)) as pool:
        assert pool.submit(print, "x" * 100_000).result() is None
        assert pool.submit(os.write, 1, b"x").result() == 1


def test_its_processes_import_nothing_from_where_they_are_started(tmp_path, monkeypatch):
    (tmp_path / "pickle.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", ":.")
    with closing(Pool(2)) as pool:
        assert pool.submit(abs, -1).result() == 1
