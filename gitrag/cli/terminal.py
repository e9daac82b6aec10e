"""The terminal: results on stdout, everything else on stderr, colour by the usual rules."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import TextIO

from gitrag.cli.progress import Bar, PlainLines, Progress
from gitrag.words.control_characters import Safe, Text, joined, sanitise, sanitise_json

_WIDTH = 80
"""Columns when the width is not known: in a pipe, a file."""

_HEIGHT = 24
"""Lines of a terminal that does not say how many it has."""

_STYLES = {
    "bold": "1",
    "dim": "2",
    "underline": "4",
    "red": "31",
    "green": "32",
    "magenta": "35",
}
"""Colours that can be read on a dark and on a light background: not yellow and cyan, nor blue."""

_ROLES = {
    "section": ("bold", "underline"),
    "title": ("bold",),
    "path": ("bold", "magenta"),
    "number": ("dim",),
    "name": ("bold",),
    "score": ("green",),
    "word": ("bold", "red"),  # as grep's: readable on dark and on light
    "likely": ("dim",),
    "dim": ("dim",),
}
"""The styles of the roles that an answer's parts have; of others none."""

_OURS = f"\x1b{os.urandom(8).hex()}"
"""Begins a style until it is written: nobody else's text can, for nobody else knows it."""

_OUR_CODE = re.compile(rf"{_OURS}(\[[0-9;]*m)")
_CODE = re.compile("\x1b\\[[0-9;]*m")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


class ColorMode(StrEnum):
    """The values of ``--color``."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


def wants_color(mode: ColorMode, environ: Mapping[str, str], *, is_terminal: bool) -> bool:
    """Return whether to use colour: by ``--color``, else NO_COLOR, else FORCE_COLOR, else on a terminal."""
    if mode is not ColorMode.AUTO:
        return mode is ColorMode.ALWAYS
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "0") not in {"", "0"}:
        return True
    return is_terminal and environ.get("TERM") != "dumb"


class Terminal:
    """The output streams of a command.

    Args:
        err: For notes, warnings, hints and progress.
    """

    def __init__(self, out: TextIO, err: TextIO, *, out_color: bool, err_color: bool) -> None:
        self.out = out
        self.err = err
        self.color = out_color
        self._err_color = err_color
        self._progress: Progress | None = None
        self._noted = ""
        self.is_json = False

    @classmethod
    def standard(cls, mode: ColorMode, environ: Mapping[str, str]) -> Terminal:
        """Return the process's own terminal."""
        return cls(
            sys.stdout,
            sys.stderr,
            out_color=wants_color(mode, environ, is_terminal=sys.stdout.isatty()),
            err_color=wants_color(mode, environ, is_terminal=sys.stderr.isatty()),
        )

    @property
    def is_interactive(self) -> bool:
        """Whether the result goes to a terminal."""
        return self.out.isatty()

    @property
    def can_ask(self) -> bool:
        """Whether somebody can read a question and answer it."""
        return self.err.isatty() and sys.stdin is not None and sys.stdin.isatty()

    def ask(self, question: str) -> str | None:
        """Return the line that is typed for an answer, in lower case; None at the end of input."""
        self.err.write(sanitise(f"{question} "))
        self.err.flush()
        line = sys.stdin.readline()
        return line.strip().lower() if line else None

    @property
    def width(self) -> int:
        """Columns of the terminal that the result goes to; 80 where there is none."""
        try:
            return os.get_terminal_size(self.out.fileno()).columns or _WIDTH
        except (OSError, ValueError):
            return _WIDTH

    @property
    def height(self) -> int:
        """Lines of the terminal that the result goes to; 24 where there is none."""
        try:
            return os.get_terminal_size(self.out.fileno()).lines or _HEIGHT
        except (OSError, ValueError):
            return _HEIGHT

    def without_result(self) -> Terminal:
        """Return this terminal for a command whose result is JSON: what it else prints is dropped."""
        return Terminal(io.StringIO(), self.err, out_color=False, err_color=self._err_color)

    def for_json(self) -> Terminal:
        """Return this terminal for a command that is to print JSON."""
        terminal = Terminal(self.out, self.err, out_color=self.color, err_color=self._err_color)
        terminal.is_json = True
        return terminal

    def answered(self, document: object, form: str = "") -> bool:
        """Write an answer as JSON, if that is what it is for; tell whether it is."""
        if self.is_json:
            self.print_document(document, form)
        return self.is_json

    def style(self, text: str, *styles: str) -> str:
        """Return text for stdout in these styles (`bold`, `dim`, `red` …), plain where there is no colour."""
        return _styled(text, styles) if self.color else text

    def role(self, text: str, role: str) -> str:
        """Return a part of an answer in the style of its role, such as path."""
        return self.style(text, *_ROLES.get(role, ()))

    def print(self, text: str = "") -> None:
        """Write a line of the result, or several of a `Text`; nothing in it steers the terminal."""
        self.write(safe(text))

    def write(self, text: Safe) -> None:
        """Write a line of the result as it is."""
        self.out.write(text + "\n")

    def print_document(self, document: object, form: str = "") -> None:
        """Write an answer, or a list of them, as JSON, for programs; `gitrag schema` prints its schema."""
        from gitrag.report.told import json_text

        self.print_json_text(json_text(document, form))

    def print_folded(self, text: str) -> None:
        """Write lines of the result, on a terminal folded at spaces where they are longer than its width."""
        shown = safe(text)
        self.write(folded(shown, self.width) if self.is_interactive else shown)

    def print_json_text(self, text: str) -> None:
        """Write serialised JSON; escape control characters, and those that the stream cannot encode."""
        shown = sanitise_json(text)
        if self.out.encoding.lower() != "utf-8":
            shown = Safe(_NOT_ASCII.sub(lambda found: json.dumps(found.group())[1:-1], shown))
        self.write(shown)

    def note(self, text: str) -> None:
        """Write a note to stderr, unless it is the one before again: two steps may fail of one cause."""
        if text != self._noted:
            self._say(safe(text))
        self._noted = text

    def warn(self, text: str) -> None:
        """Write a warning to stderr."""
        self._say(safe(f"{self._err_style('warning:', 'magenta')} {text}"))

    def hint(self, text: str) -> None:
        """Write a hint to stderr: what the user can do."""
        self._say(safe(f"{self._err_style('hint:', 'bold')} {text}"))

    def error(self, text: str) -> None:
        self._say(safe(self._err_style(text, "red")))

    @contextmanager
    def progress(self, label: str, total: int | None = None) -> Iterator[Progress]:
        """Show the progress of a task once it has taken a second."""
        terminal = self.err.isatty()
        with (Bar if terminal else PlainLines)(label, total, self.err, color=self._err_color) as progress:
            self._progress = progress
            try:
                yield progress
            finally:
                self._progress = None

    def _say(self, line: Safe) -> None:
        with suppress(OSError):  # keeps the order if both go to one place; a failure is reported at the end
            self.out.flush()
        try:
            if self._progress is not None:
                self._progress.print_above(line)
            else:
                self.err.write(line + "\n")
                self.err.flush()
        except OSError:  # a closed pipe or a full disk; the result must not suffer
            discard(self.err)

    def _err_style(self, text: str, *styles: str) -> str:
        return _styled(text, styles) if self._err_color else text


def safe(text: str) -> Safe:
    """Return text as it may be written: as `printable`, but for what `Terminal.style` has put into it."""
    parts = _OUR_CODE.split(text if isinstance(text, Text) else joined([text]))
    return Safe("".join(f"\x1b{part}" if place % 2 else sanitise(part) for place, part in enumerate(parts)))


def folded(text: Safe, columns: int) -> Safe:
    """Fold lines at spaces, so that they fit; what follows is indented by two more than the line.

    Args:
        text: Lines, perhaps coloured; a word that is too long stays whole.
    """
    lines = []
    for line in text.split("\n"):
        if len(_CODE.sub("", line)) <= columns:
            lines.append(line)
            continue
        plain = _CODE.sub("", line)
        indent = " " * (len(plain) - len(plain.lstrip()) + 2)
        start, *words = line.lstrip(" ").split(" ")
        held = indent[2:] + start
        for word in words:
            if len(_CODE.sub("", f"{held} {word}")) > columns and held.strip():
                lines.append(held)
                held = indent + word
            else:
                held += f" {word}"
        lines.append(held)
    return Safe("\n".join(lines))


def discard(stream: TextIO) -> None:
    """Discard whatever is buffered in a stream or written to it from now on."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def _styled(text: str, styles: tuple[str, ...]) -> str:
    codes = ";".join(_STYLES[style] for style in styles)
    return f"{_OURS}[{codes}m{text}{_OURS}[0m" if styles and text else text
