"""Source as coloured text that is never markup."""

from __future__ import annotations

import re
from html import unescape

import pytest

from gitrag.search.question import read
from gitrag.web.colouring import parts_of
from gitrag.web.marking import lines_of, marked, marks_of, source_of

WORDS = marks_of(frozenset(read("session cookie").words))


def text_of(markup):
    return unescape(re.sub(r"</?(?:span|mark)(?: class=\"\w+\")?>", "", str(markup)))


def test_words_of_the_question_are_marked_within_names():
    text = "my_SessionCookies <b>"
    assert marked(text, WORDS(text)) == "my_<mark>Session</mark><mark>Cookies</mark> &lt;b&gt;"


@pytest.mark.parametrize("path", ["a.py", "a.js", "a.html", "a.svg", "a.md", "a.unknown", "Makefile"])
def test_lines_stay_lines_and_text_stays_text(path):
    lines = [
        "<script>alert('1')</script>",
        "",
        'x = """a',
        "b&amp; session",
        '"""',
        "",
        "\tend \x1b[31m\u202e",
    ]
    source = source_of(path, lines)
    found = lines_of(source, parts_of(source, limit_s=0), WORDS, names=True)
    assert len(found) == len(lines)
    shown = [text_of(each) for each in found]
    assert shown == [*lines[:-1], "    end \\x1b[31m\\u202e"]
    assert not any("<script" in each for each in found)


def test_words_of_lines_without_colours_are_marked_but_in_very_long_ones():
    long = "session " * 1000
    assert lines_of(source_of("a.py", [long, "session = 1"]), None, WORDS) == [
        long,
        "<mark>session</mark> = 1",
    ]
