"""The process that tells the words of source apart is ended where a text takes too long."""

from __future__ import annotations

import os
import signal
from contextlib import closing

import pytest

from gitrag.web.colouring import Colouring, ShownSource
from tests.support.command import PATIENCE_S

HOSTILE = ShownSource("Bad.java", ("a " * 900,) * 200)
"""Pygments tries every way to read it as a method; that takes an hour."""

PLAIN = ShownSource("a.py", ("def f(): # one", "", "    return 'x'"))
SCRIPT = ShownSource("b.js", ("let a = 1;",))


@pytest.fixture
def colouring():
    with closing(Colouring(PATIENCE_S)) as made:
        yield made


def pid(colouring: Colouring) -> int:
    """Return the id of the process."""
    return next(iter(colouring._pool._started)).pid


def test_a_text_that_takes_too_long_is_left_and_the_others_are_not(colouring):
    first, bad, last = colouring.read([PLAIN, HOSTILE, SCRIPT])
    assert first == (
        (
            ("k", "def"),
            ("", " "),
            ("f", "f"),
            ("", "("),
            ("", ")"),
            ("", ":"),
            ("", " "),
            ("c", "# one"),
        ),
        (),
        (("", "    "), ("k", "return"), ("", " "), ("s", "'"), ("s", "x"), ("s", "'")),
    )
    assert bad is None
    assert last is not None
    before = pid(colouring)
    assert colouring.read([PLAIN, HOSTILE, SCRIPT]) == [first, None, last]
    assert pid(colouring) == before  # it was not asked again


def test_many_texts_that_take_too_long_hold_up_an_answer_as_long_as_two(colouring):
    bad = [ShownSource(f"Bad{number}.java", HOSTILE.lines) for number in range(6)]
    assert colouring.read([PLAIN, *bad, SCRIPT])[1:] == [None] * 7
    assert len(colouring._hopeless) == 2


def test_a_process_that_is_killed_blames_no_text(colouring):
    assert colouring.read([PLAIN])[0] is not None
    os.kill(pid(colouring), signal.SIGKILL)
    assert colouring.read([SCRIPT])[0] is not None
    assert not colouring._hopeless


def test_a_process_that_cannot_be_started_blames_no_text(colouring, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("sys.executable", "/nonexistent/python")
        assert colouring.read([PLAIN]) == [None]
    assert colouring.read([PLAIN])[0] is not None


def test_a_process_that_waits_is_not_waited_for():
    with closing(Colouring(PATIENCE_S)) as colouring:
        assert colouring.read([PLAIN])[0] is not None
        stopped = pid(colouring)
        os.kill(stopped, signal.SIGSTOP)
        colouring._patience_s = 0.2
        assert colouring.read([SCRIPT]) == [None]
        colouring._patience_s = PATIENCE_S
        assert colouring.read([SCRIPT])[0] is not None
        assert pid(colouring) != stopped


def test_what_is_too_large_or_of_no_language_has_no_colours(colouring):
    assert colouring.read([ShownSource("a.py", ("x" * 2_001,)), ShownSource("a.nothing", ("x",))]) == [
        None,
        None,
    ]
    assert colouring.read([ShownSource("a.py", ("x = 1",) * 100_000)]) == [None]
    assert colouring.read([]) == []
