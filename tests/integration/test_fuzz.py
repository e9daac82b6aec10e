"""A few of the inputs that ``scripts/fuzz.py`` makes by the thousand: gitrag survives them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from gitrag.callgraph.extraction import LANGUAGES
from tests.fuzz import watch
from tests.fuzz.sources import sample
from tests.fuzz.targets import TARGETS
from tests.fuzz.watch import fuzz

SEED = 14
INPUTS = {"contents": 15, "streams": 4, "walks": 2, "kills": 1}
"""Of the others so many:"""
OTHERS = 2


@pytest.mark.sweep(keep=2)
@pytest.mark.parametrize("target", TARGETS)
def test_inputs_of_every_kind_are_survived(target, tmp_path):
    count = INPUTS.get(target, OTHERS)
    run = fuzz(target, SEED, tmp_path / "space", count=count)
    assert [each.wrong for each in run.findings] == []
    assert run.inputs == count


def test_an_input_that_ends_a_process_or_is_answered_wrongly_is_a_finding(tmp_path):
    """Else a fuzzer that sees nothing would pass for a program without faults."""
    given = tmp_path / "given"
    given.mkdir()
    (given / "no such language in the table of calls").write_bytes(b"x")
    (given / "two").write_bytes(b"parts")
    run = fuzz("contents", SEED, tmp_path / "space", count=1, given=given)
    assert (run.inputs, run.survived) == (1, 0)
    assert "ValueError" in run.findings[0].wrong


_WORKS = "import time\nwhile time.process_time() < {}: pass\nprint(1)"
_SLEEPS = "import time\ntime.sleep(1000)"


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize(
    ("code", "line", "wrong"),
    [
        (_WORKS.format(0.5), b"1\n", ""),  # however long it has to wait for a processor
        (_WORKS.format(1000), b"", "processor time"),
        (_SLEEPS, b"", "nothing has run"),
        (
            f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {_SLEEPS!r}])",
            b"",
            "nothing has run",
        ),
        ("raise SystemExit", b"", ""),
    ],
)
def test_only_what_burns_or_sleeps_is_not_waited_for(code, line, wrong, monkeypatch):
    """Seconds on a clock would end what only waits for its turn on a busy machine."""
    monkeypatch.setattr(watch, "_SAMPLED_S", 0.02)
    monkeypatch.setattr(watch, "PATIENCE_S", 0.3)
    monkeypatch.setattr(watch, "MOST_CPU_OF_ALL_S", 1.5)
    mark = f"FUZZED_BY=test{os.getpid()}"
    environment = os.environ | dict([mark.split("=")])
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment) as worker:
        try:
            said = watch._line(worker, mark)
        finally:
            watch._end(worker, mark)
    assert (said[0], wrong in said[1], bool(wrong)) == (line, True, bool(said[1]))


def test_every_language_whose_calls_are_read_has_a_file_to_stand_beside_a_bad_one():
    assert [language for language in LANGUAGES if not sample(language)] == []
