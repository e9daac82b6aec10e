"""Processes that want the same file take turns, and nobody waits for longer than it was told to."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitrag.machine.locks import FileLock, try_lock, unlock, wait_for

HOLD = """
import sys
from gitrag.machine.locks import try_lock
file = open(sys.argv[1], "a+")
print(try_lock(file, shared=sys.argv[2] == "shared"), flush=True)
sys.stdin.read()
"""


@contextmanager
def held(path: Path, how: str = "alone") -> Iterator[subprocess.Popen[str]]:
    """Have another process hold a lock until its input is closed."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "True\n"
        yield other


@pytest.mark.parametrize(
    ("theirs", "shared", "taken"),
    [("alone", False, False), ("alone", True, False), ("shared", False, False), ("shared", True, True)],
)
def test_only_readers_share(tmp_path, theirs: str, shared: bool, taken: bool):
    path = tmp_path / "lock"
    with held(path, theirs), path.open("a+") as file:
        assert try_lock(file, shared=shared) is taken


def test_a_lock_that_is_released_is_free(tmp_path):
    path = tmp_path / "lock"
    with path.open("a+") as mine, path.open("a+") as other:
        assert (try_lock(mine), try_lock(other)) == (True, False)
        unlock(mine)
        assert try_lock(other)


def test_who_waits_takes_the_lock_when_it_is_free(tmp_path):
    lock = FileLock(tmp_path / "lock")
    waits: list[None] = []
    with held(lock.path) as other:

        def waiting() -> None:
            waits.append(None)
            if len(waits) == 3:
                other.stdin.close()

        assert wait_for(lock.try_acquire, math.inf, poll_s=0.01, waiting=waiting)
    assert len(waits) >= 3
    assert not FileLock(lock.path).try_acquire()
    lock.release()


def test_who_waits_gives_up_at_the_deadline(tmp_path):
    lock = FileLock(tmp_path / "lock")
    waits: list[None] = []
    with held(lock.path):
        deadline = time.monotonic() + 0.1
        assert not wait_for(lock.try_acquire, deadline, poll_s=0.01, waiting=lambda: waits.append(None))
        assert time.monotonic() > deadline
    assert waits


def test_a_free_lock_is_taken_even_after_the_deadline(tmp_path):
    lock = FileLock(tmp_path / "lock")
    assert wait_for(lock.try_acquire, -math.inf, poll_s=0.01)
    lock.release()
