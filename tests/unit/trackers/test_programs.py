"""Programs that do not end, or print without end, are left."""

from __future__ import annotations

import os

import pytest

from gitrag.trackers.programs import Printed, ProgramError, ask


def run(script: str, **options):
    return ask(["sh", "-c", script], os.environ, **{"limit_s": 30.0, "most_bytes": 1000, **options})


def test_what_a_program_prints_and_complains_of_is_told():
    assert run("cat; echo no >&2; exit 3", stdin=b"asked") == Printed(3, b"asked", b"no\n")
    assert run("exec <&-; sleep 0.2; echo x", stdin=b"unread").out == b"x\n"


@pytest.mark.parametrize(
    "script", ["sleep 600", "exec >&- 2>&-; sleep 600", "while :; do echo x >&2; sleep 0.01; done"]
)
def test_one_that_does_not_end_is_killed(script):
    with pytest.raises(ProgramError, match=r"took longer than 0\.5 s"):
        run(script, limit_s=0.5)


def test_one_that_prints_without_end_is_killed():
    with pytest.raises(ProgramError, match="printed more than 1000 bytes"):
        run("yes", limit_s=60.0)


def test_complaints_without_end_are_cut():
    said = run("head -c 3000000 /dev/zero >&2; echo last >&2").said
    assert (len(said) <= 1 << 16, said[-5:]) == (True, b"last\n")
