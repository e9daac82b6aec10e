"""``gitrag ui`` in a pseudo-terminal: type, see, preview, open in the editor."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace

import pyte
import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from gitrag.actions.search import search
from gitrag.cli.picker import Picker
from gitrag.workspace import Workspace
from tests.support.command import GITRAG, PATIENCE_S, Gitrag, program
from tests.support.indexes import open_app

UP, DOWN, ENTER, ESC = b"\x1b[A", b"\x1b[B", b"\r", b"\x1b"


class Screen:
    """A terminal that a command runs on."""

    def __init__(self, descriptor, process, columns):
        self._descriptor = descriptor
        self.process = process
        self._screen = pyte.Screen(columns, 30)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def text(self):
        """What is on the screen, without how it looks."""
        return "\n".join(self._screen.display)

    def row(self, text):
        """The characters of the line that has a text, by column."""
        return self._screen.buffer[next(at for at, own in enumerate(self._screen.display) if text in own)]

    def resize(self, columns):
        self._screen.resize(30, columns)
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))

    def press(self, keys):
        os.write(self._descriptor, keys)

    def read(self):
        while select.select([self._descriptor], [], [], 0.05)[0]:
            try:
                self._stream.feed(os.read(self._descriptor, 65536))
            except OSError:  # the command has ended, and with it the terminal
                return

    def wait_for(self, *words):
        end = time.monotonic() + PATIENCE_S
        while not all(word in self.text for word in words):
            assert time.monotonic() < end, self.text
            assert self.process.poll() is None, self.text
            self.read()

    def delete(self, typed):
        """Delete a question, once an editor has given the terminal back: until then keys are the editor's."""
        end = time.monotonic() + PATIENCE_S
        while f"> {typed}" in self.text:
            assert time.monotonic() < end, self.text
            self.press(b"\x15")
            self.read()

    def ended(self):
        end = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            assert time.monotonic() < end, self.text
            self.read()
        assert "Traceback" not in self.text
        return self.process.returncode


@contextmanager
def screen(project, *args, columns=120, quick=True, **more):
    """Run it; a quick one hears of no other size, and gets keys alone of a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    environment = {**project.gitrag.environment, "TERM": "xterm-256color", **more}
    opened = ["sh", "-c", 'exec "$@" <>"$0" >&0 2>&0', os.ttyname(theirs)]
    command = program(project.gitrag.environment) if quick else GITRAG
    with subprocess.Popen(
        [*opened, command, "ui", *args], cwd=project.path, env=environment, start_new_session=True
    ) as process:
        os.close(theirs)
        try:
            yield Screen(ours, process, columns)
        finally:
            if process.poll() is None:
                process.kill()
            os.close(ours)


@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("columns", [120, 70])
def test_type_see_preview_and_open(indexed, tmp_path, columns):
    opened = tmp_path / "opened"
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\nprintf "%s " "$@" >>{opened}\n')
    editor.chmod(0o700)
    with screen(indexed, columns=columns, EDITOR=str(editor), VISUAL="") as shown:
        shown.wait_for("Enter opens")
        shown.press(b"retry backoff")
        shown.wait_for("client.py:", "Call again after a failure")  # the list, and the preview
        shown.press(ENTER)
        end = time.monotonic() + PATIENCE_S
        while not opened.exists():
            assert time.monotonic() < end
            shown.read()
        shown.press(b"s")
        shown.wait_for("retry backoffs")  # the editor has given the terminal back
        shown.delete("retry backoffs")
        shown.press(b"README.md")  # another question
        shown.wait_for("README.md:", "Invoices are sent")
        shown.press(ESC)
        assert shown.ended() == 0
    line, path = opened.read_text().split()
    assert re.fullmatch(r"\+\d+", line)
    assert path == str(indexed.path / "client.py")


def test_nothing_found_no_editor_and_an_interruption(indexed):
    with screen(indexed, "zeppelin", "quasar", columns=200, quick=False, EDITOR="", VISUAL="") as shown:
        shown.wait_for("No relevant ADRs, specs, or code found for 'zeppelin quasar'.")
        shown.press(b"\x15retry")
        shown.wait_for("client.py:")
        shown.press(ENTER)
        shown.wait_for("VISUAL and EDITOR are not set.")
        shown.press(b"\x03")
        assert shown.ended() == 130


def test_lines_are_searched_for_exactly_filters_narrow_and_the_preview_scrolls(make_repository):
    long = "\n".join(f"# line {number}" for number in range(1, 80))
    files = {"a.py": f"def total(): pass\n{long}\nEND = total()\n", "b.js": "function total() {}\n"}
    repository = make_repository(files)
    open_app(repository).update()
    project = SimpleNamespace(path=repository.path, gitrag=Gitrag(repository.path, repository.environment))
    with screen(project, columns=200) as shown:
        shown.wait_for("Enter opens")
        shown.press(rb"/total\(\)/")
        shown.wait_for("3 lines", "a.py:1", "a.py:81", "b.js:1", "# line 9")
        assert "# line 60" not in shown.text
        colours = {cell.fg for cell in shown.row("def total(): pass").values()}
        assert len(colours) > 2  # a keyword, a name that matches, the rest
        for _ in range(20):
            shown.press(b"\x1b[1;2B")  # Shift and down
        shown.wait_for("# line 60")
        shown.press(b"\x15total lang:javascript")
        shown.wait_for("b.js:1", "1 file")
        assert "a.py" not in shown.text
        shown.press(b"\x15total kind:fun")
        shown.wait_for('There is no kind "fun".')
        shown.press(b'\x15"zeppelin"')
        shown.wait_for("No line has the word 'zeppelin'")
        shown.press(ESC)
        assert shown.ended() == 0


def test_it_needs_a_terminal(indexed):
    done = indexed.gitrag("ui")
    assert (done.status, done.out) == (2, "")
    assert done.said[0] == "gitrag ui needs a whole terminal."


def test_a_narrow_terminal_shows_names_and_another_size_is_taken(make_repository):
    """Of a long path the end is shown; what is wide or not ASCII stays in its column."""
    folder = "packages/services/billing/internal"
    repository = make_repository({f"{folder}/größe_der_rechnung.py": "def groesse():\n    return '大きさ'\n"})
    open_app(repository).update()
    project = SimpleNamespace(path=repository.path, gitrag=Gitrag(repository.path, repository.environment))
    with screen(project, columns=40, quick=False) as shown:
        shown.wait_for("Enter opens")
        shown.press("größe der rechnung".encode())
        shown.wait_for("…/internal/größe_der_rechnung.py:1", "…/billing/internal/größe_der_rechnung.py")
        shown.resize(200)
        shown.wait_for(f"{folder}/größe_der_rechnung.py:1", "│")
        shown.press(b"\x03")
        assert shown.ended() == 130


def test_several_repositories_are_asked_and_the_right_file_opens(make_repository, tmp_path):
    opened = tmp_path / "opened"
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\nprintf "%s " "$@" >>{opened}\n')
    editor.chmod(0o700)
    rounding = 'def rounding(amount):\n    """Round an amount of money."""\n    return round(amount, 2)\n'
    near = make_repository({"near.py": "def near():\n    return 1\n"}, name="near")
    far = make_repository({"src/rates.py": rounding}, name="far")
    missing = make_repository({"lost.py": "def lost():\n    return 1\n"}, name="missing")
    for each in (near, far):
        open_app(each).update()
    project = SimpleNamespace(path=near.path, gitrag=Gitrag(near.path, near.environment))
    places = [f"--repo={each.path}" for each in (near, far, missing)]
    with screen(project, *places, columns=160, EDITOR=str(editor), VISUAL="") as shown:
        shown.wait_for("Enter opens")
        shown.press(b"rounding of amounts")
        shown.wait_for(f"{far.path.name}:src/rates.py:1", "Round an amount", "not indexed")
        shown.press(ENTER)
        end = time.monotonic() + PATIENCE_S
        while not opened.exists():
            assert time.monotonic() < end
            shown.read()
        shown.delete("rounding of amounts")
        shown.press(b"\x03")
        assert shown.ended() == 130
    assert opened.read_text().split()[1] == str(far.path / "src/rates.py")


def test_a_repository_that_nobody_knows_is_refused_before_the_screen_opens(indexed):
    with screen(indexed, "--repo", "nowhere") as shown:
        while shown.process.poll() is None:
            shown.read()
        shown.read()
        assert shown.process.returncode == 2
        assert "nowhere" in shown.text
        assert "Esc ends" not in shown.text


def test_an_answer_of_fewer_files_may_come_while_a_later_one_is_shown(indexed):
    """Whoever draws and whoever answers are two threads."""
    environment = indexed.gitrag.environment
    own = Workspace.open(indexed.path, environ=environment)
    with create_pipe_input() as keys, create_app_session(keys, DummyOutput()):
        screen = Picker(partial(search, own), lambda _: own, [], indexed.path, environment, "", color=False)
    screen._shown = screen._answered("retry with backoff")
    screen._row = len(screen._shown.hits)
    assert screen._preview()
