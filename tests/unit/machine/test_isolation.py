"""Files that end the process that reads them: real processes that die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from gitrag.machine.isolation import ENDED, Journal, Reading, read_apart

CRASHES = -1
FAILS = -2


def read(jobs: Sequence[int]) -> list[tuple[int, str]]:
    if CRASHES in jobs:
        os.kill(os.getpid(), signal.SIGSEGV)
    if FAILS in jobs:
        raise ValueError(FAILS)
    return [(job, "read") for job in jobs]


def named(jobs: Sequence[int]) -> list[tuple[str, int]]:
    return [(f"n{job}", job) for job in jobs]


def failed(job: int, reason: str) -> tuple[int, str]:
    return job, reason


ALL = [*range(20), CRASHES, *range(20, 40)]


def test_a_file_that_ends_its_process_costs_itself_only():
    with Reading(None, 2) as reading:
        first = reading.start(read, named(ALL), failed, shared=True)()
        second = reading.start(read, named(range(3)), failed, shared=True)()
    assert sorted(first) == [(CRASHES, ENDED), *((job, "read") for job in range(40))]
    assert sorted(second) == [(job, "read") for job in range(3)], "the next files have processes again"


def where(jobs: Sequence[int]) -> list[int]:
    return [os.getpid() for _ in jobs]


def test_this_process_helps_with_what_is_shared():
    with Reading(None, 2, helps=True) as reading:
        found = reading.start(where, named(range(80)), failed, shared=True)()
    assert len(found) == 80
    assert os.getpid() in found


@pytest.mark.parametrize("helps", [False, True])
def test_after_the_deadline_nothing_begins(helps):
    with Reading(None, 2, helps=helps, deadline=0.0) as reading:
        found = reading.start(read, named(range(800)), failed, shared=True)()
    assert len(found) < 400


def test_what_is_raised_is_no_end():
    with pytest.raises(ValueError, match=str(FAILS)), Reading(None, 2) as reading:
        reading.start(read, named([FAILS]), failed, shared=True)()


def test_several_that_end_their_process_are_all_found():
    assert sorted(read_apart(read, [CRASHES, 1, CRASHES, 2], failed)) == [
        (CRASHES, ENDED),
        (CRASHES, ENDED),
        (1, "read"),
        (2, "read"),
    ]


READS_ITSELF = """
import sys
from pathlib import Path
from gitrag.machine.isolation import Reading
from tests.unit.machine.test_isolation import failed, named, read

if __name__ == "__main__":
    with Reading(Path(sys.argv[1]), 1) as reading:
        found = reading.start(read, named(map(int, sys.argv[2:])), failed, shared=False)()
    print(sorted(found))
"""


def test_what_ended_the_process_itself_is_read_apart_by_the_next(tmp_path):
    def run(*jobs: int) -> subprocess.CompletedProcess[str]:
        script = tmp_path / "reads.py"
        script.write_text(READS_ITSELF)
        arguments = [sys.executable, script, tmp_path, *map(str, jobs)]
        return subprocess.run(
            arguments,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env={"PYTHONPATH": str(Path.cwd())},
        )

    assert run(1, CRASHES, 2).returncode == -signal.SIGSEGV
    for other in (7, 1):  # another change; a deadline before it is reached
        assert run(other).returncode == 0
    again = run(1, CRASHES, 2)
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.strip() == str([(CRASHES, ENDED), (1, "read"), (2, "read")])
    assert not list(tmp_path.glob("reading.*")), "told until it is read"


def test_a_record_of_files_that_nobody_reads_again_goes(tmp_path):
    record = tmp_path / "reading.1.1"
    record.write_text("gone")
    os.utime(record, (0, 0))
    with Reading(tmp_path, 1) as reading:
        reading.start(read, named([7]), failed, shared=False)()
    assert not record.exists()


def test_what_a_living_process_reads_is_not_suspected(tmp_path):
    mine, others = Journal(tmp_path), Journal(tmp_path)
    with mine.reading(["a", "b"]):
        assert others.suspects() == frozenset()
    assert others.suspects() == frozenset()
    assert not list(tmp_path.glob("reading.*"))


def test_without_a_place_for_notes_files_are_read(tmp_path):
    with Reading(tmp_path / "gone", 1) as reading:
        assert reading.start(read, named([1]), failed, shared=False)() == [(1, "read")]
