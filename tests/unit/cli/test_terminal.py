"""What a terminal is sent: nothing it would obey, colour by the usual rules, progress only when it helps."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitrag.cli import progress
from gitrag.cli.progress import Bar, PlainLines, Progress
from gitrag.cli.terminal import ColorMode, Terminal, wants_color
from gitrag.words.control_characters import joined, sanitise, sanitise_line


@given(st.text() | st.binary().map(lambda data: data.decode("utf-8", "surrogateescape")))
def test_nothing_a_terminal_obeys_gets_through(text):
    shown = sanitise(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    shown.encode()  # no half of a surrogate is left
    assert not re.search("[\n\t]", sanitise_line(text))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ünïcode 漢字 🎉\n\ttabbed", "plain ünïcode 漢字 🎉\n\ttabbed"),
        ("\x1b[31mred\x1b]0;title\x07", "\\x1b[31mred\\x1b]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        (b"caf\xe9".decode("utf-8", "surrogateescape"), "caf\\xe9"),
        ("a\r\nb\rc", "a\nb\\x0dc"),
        ("if \u202e evil", "if \\u202e evil"),
    ],
)
def test_control_characters_are_shown_as_escapes(text, shown):
    assert sanitise(text) == shown


def test_a_line_stays_one_line():
    assert sanitise_line("a\nb\tc\x1b") == "a\\nb\\tc\\x1b"


@pytest.mark.parametrize(
    ("mode", "environ", "is_terminal", "wanted"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, False, False),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colour_follows_the_usual_rules(mode, environ, is_terminal, wanted):
    assert wants_color(ColorMode(mode), environ, is_terminal=is_terminal) is wanted


def terminal(*, color=False) -> Terminal:
    return Terminal(io.StringIO(), io.StringIO(), out_color=color, err_color=color)


def test_results_go_to_stdout_and_everything_else_to_stderr():
    shown = terminal()
    shown.print("result")
    shown.note("note\x1b")
    shown.warn("odd")
    shown.hint("do this")
    shown.error("failed")
    assert shown.out.getvalue() == "result\n"
    assert shown.err.getvalue() == "note\\x1b\nwarning: odd\nhint: do this\nfailed\n"


def test_styles_are_written_only_in_colour():
    for shown, written in ((terminal(), "x y\n"), (terminal(color=True), "\x1b[1;31mx\x1b[0m y\n")):
        shown.print(f"{shown.style('x', 'bold', 'red')} {shown.style('y')}")
        assert shown.out.getvalue() == written


def test_what_is_printed_cannot_steer_the_terminal():
    """Only styles of our own come through, and only a Text has several lines."""
    shown = terminal(color=True)
    ours = shown.style("x\x1b[7m", "bold")
    shown.print(f"{ours}\r\n\x1b[1m\ty")
    shown.print(joined([ours, "a\nb", "c\r"]))
    shown.print_folded("\x9b31m")
    bold = "\x1b[1mx\\x1b[7m\x1b[0m"
    assert shown.out.getvalue() == f"{bold}\\x0d\\n\\x1b[1m\ty\n{bold}\na\\nb\nc\\x0d\n\\x9b31m\n"
    for say in (shown.note, shown.warn, shown.hint, shown.error):
        say("\x1b]52;c;x\x07\nhint: forged")
    assert "\x1b]" not in shown.err.getvalue()
    assert shown.err.getvalue().count("\n") == 4
    assert Progress(" \x1b", None, shown.err, color=False).label == " \\x1b"


def test_quick_work_shows_no_progress():
    shown = terminal()
    with shown.progress("Embedding", 3) as each:
        each.advance()
        each.status("a.py")
    assert shown.err.getvalue() == ""


def test_a_pipe_gets_plain_lines(monkeypatch):
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.01)
    shown = terminal()
    with shown.progress("Embedding", 400) as each:
        each.advance(120)
        each.status("a.py")
        while not re.search(r"120 of .*a\.py", shown.err.getvalue()):  # lines before that say less
            pass
    line = shown.err.getvalue().splitlines()[-1]
    assert re.fullmatch(r"Embedding: 120 of 400, \d+/s, \d+ s left \(a\.py\)", line)


def test_a_line_without_a_total_says_what_is_known():
    lines = PlainLines("Reading", None, io.StringIO(), color=False)
    assert lines.line() == "Reading: begun"
    lines.status("a.py")
    assert lines.line() == "Reading: a.py"
    lines.status("")
    lines.begin -= 100
    lines.update(10, 50)
    assert lines.line() == "Reading: 10 of 50, 10 s each, 400 s left"


def test_a_terminal_gets_a_bar_that_lets_lines_pass_and_is_gone_at_the_end(monkeypatch):
    monkeypatch.setattr(progress, "FIRST_S", 0.0)
    stream = io.StringIO()
    with Bar("Embedding [1]", 4, stream, color=False) as bar:
        bar.advance(2)
        while "Embedding [1]" not in stream.getvalue():
            pass
        bar.print_above("a note")
    written = stream.getvalue()
    assert "2/4" in written
    assert "a note\n" in written
    assert written.endswith("\x1b[2K")  # the bar's line, erased
    assert "\x1b[?25h" in written  # the cursor is back


def test_an_error_inside_takes_the_progress_down(monkeypatch):
    monkeypatch.setattr(progress, "FIRST_S", 0.0)
    stream = io.StringIO()
    with pytest.raises(ValueError, match="stop"), Bar("Embedding", None, stream, color=False):
        raise ValueError("stop")


def test_a_note_is_written_once_in_a_row():
    err = io.StringIO()
    shown = Terminal(io.StringIO(), err, out_color=False, err_color=False)
    for text in ("No space", "No space", "Other", "No space"):
        shown.note(text)
    assert err.getvalue() == "No space\nOther\nNo space\n"
