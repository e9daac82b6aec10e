"""Programs that do not end, or print without end, are left."""

from __future__ import annotations

import os
import threading

import pytest

from gitrag.machine import programs
from gitrag.machine.programs import Limits, PrintedTooMuchError, TookTooLongError, run_program

MANY = 4 << 20
"""More than any pipe's buffer."""


@pytest.fixture(autouse=True, params=["at once", "by threads, as on Windows"])
def followed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    if request.param != "at once":
        monkeypatch.setattr(programs, "_SEND_BYTES", 0)


def run(script: str, limit_s: float = 30.0, most_bytes: int | None = 1000, **options):
    return run_program(["sh", "-c", script], os.environ, Limits(limit_s, most_bytes), **options)


def test_what_a_program_prints_and_complains_of_is_told():
    done = run("cat; echo no >&2; exit 3", stdin=b"asked")
    assert (done.returncode, done.stdout, done.stderr) == (3, b"asked", b"no\n")


def test_input_that_is_not_read_does_not_matter():
    assert run("exec <&-; sleep 0.2; echo x", stdin=b"unread").stdout == b"x\n"
    assert run("head -c 1; exec <&-; sleep 0.2; echo x", stdin=b"y" * MANY).stdout == b"yx\n"


def test_a_program_may_print_while_it_is_still_being_written_to():
    assert run("cat", stdin=b"x" * MANY, most_bytes=None).stdout == b"x" * MANY


@pytest.mark.parametrize(
    "script",
    ["sleep 600", "exec >&- 2>&-; sleep 600", "while :; do echo x >&2; sleep 0.01; done", "yes >&2", "yes"],
)
def test_one_that_does_not_end_is_killed(script):
    with pytest.raises(TookTooLongError, match=r"took longer than 0\.5 s"):
        run(script, limit_s=0.5, most_bytes=None)


def test_nothing_more_is_read_of_what_goes_on_for_ever():
    """It took all of the machine's memory."""
    before = set(threading.enumerate())
    with pytest.raises(TookTooLongError):
        run("yes & yes", limit_s=0.5, most_bytes=None)
    for thread in set(threading.enumerate()) - before:
        thread.join(30.0)
        assert not thread.is_alive()


def test_one_that_does_not_read_its_input_is_killed():
    with pytest.raises(TookTooLongError, match=r"took longer than 0\.5 s"):
        run("exec sleep 600", limit_s=0.5, stdin=b"x" * MANY)


def test_what_was_printed_until_then_is_told():
    with pytest.raises(TookTooLongError) as error:
        run("echo x; exec sleep 600", limit_s=1.0)
    assert error.value.out == b"x\n"


def test_one_that_prints_without_end_is_killed():
    with pytest.raises(PrintedTooMuchError, match="printed more than 1000 bytes") as error:
        run("yes", limit_s=60.0)
    assert error.value.out.startswith(b"y\ny\n" * 250)


def test_complaints_without_end_are_cut():
    said = run("head -c 3000000 /dev/zero >&2; echo last >&2").stderr
    assert (len(said) <= 1 << 20, said[-5:]) == (True, b"last\n")


def test_one_that_is_found_to_be_blocked_is_killed():
    def look() -> None:
        raise LookupError("a named pipe")

    with pytest.raises(LookupError, match="a named pipe"):
        run("exec sleep 600", limit_s=60.0, look_after_s=0.1, look=look)


def test_one_that_is_not_blocked_goes_on_while_it_is_looked_at():
    """The output is read meanwhile: the program prints what the look waits for."""
    ended, looking = threading.Event(), threading.Event()

    def look() -> None:
        looking.set()
        ended.wait(30.0)

    script = f"sleep 0.3; head -c {MANY} /dev/zero"
    done = run(script, look_after_s=0.1, look=look, most_bytes=None)
    ended.set()
    assert looking.is_set()
    assert (done.returncode, len(done.stdout)) == (0, MANY)
