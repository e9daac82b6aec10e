"""The process that tells the words of source apart is ended where a text takes too long."""

from __future__ import annotations

from gitrag.web.colouring import Colouring, Source

HOSTILE = Source("Bad.java", ("a " * 900,) * 200)
"""Pygments tries every way to read it as a method; that takes an hour."""

PLAIN = Source("a.py", ("def f(): # one", "", "    return 'x'"))


def test_a_text_that_takes_too_long_is_left_and_the_others_are_not():
    colouring = Colouring()
    try:
        for _ in range(2):  # the second time it is known
            first, bad, last = colouring.read([PLAIN, HOSTILE, Source("b.js", ("let a = 1;",))])
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
    finally:
        colouring.close()


def test_what_is_too_large_or_of_no_language_has_no_colours():
    colouring = Colouring()
    try:
        assert colouring.read([Source("a.py", ("x" * 2_001,)), Source("a.nothing", ("x",))]) == [None, None]
        assert colouring.read([Source("a.py", ("x = 1",) * 100_000)]) == [None]
        assert colouring.read([]) == []
    finally:
        colouring.close()
