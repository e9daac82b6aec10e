"""Processes that share work, started by a process that is told to end meanwhile."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

STARTED_AND_TOLD_TO_END = """
import os, signal
from multiprocessing.process import BaseProcess

from gitrag.indexing.worker import end_on_request
from gitrag.processes import pool_of, without_interrupts

started = []
start = BaseProcess.start


def start_and_be_told(process):
    start(process)
    started.append(process)
    if len(started) == {nth}:
        os.kill(os.getpid(), signal.SIGTERM)  # before the pool knows of the process


if __name__ == "__main__":
    BaseProcess.start = start_and_be_told
    end_on_request()
    with pool_of(2) as pool, without_interrupts():
        done = [pool.submit(abs, number) for number in range(8)]
"""


@pytest.mark.parametrize("nth", [1, 2])
def test_who_is_told_to_end_while_it_starts_processes_ends(nth, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(STARTED_AND_TOLD_TO_END.format(nth=nth))
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (128 + signal.SIGTERM, "", "")
