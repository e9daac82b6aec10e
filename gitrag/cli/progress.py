"""Progress of tasks that take over a second: a bar on a terminal, else a plain line now and then."""

from __future__ import annotations

import time
from threading import Event, Lock, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from gitrag.words.control_characters import Safe, sanitise_line

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

FIRST_S = 1.0
"""Shorter tasks show no bar: it would only flicker."""
LINE_EVERY_S = 10.0
"""Interval of plain lines: the log of an hour's work stays readable."""


class Progress:
    """The progress of a task."""

    def __init__(self, label: str, total: int | None, stream: TextIO, *, color: bool) -> None:
        self.label = sanitise_line(label)
        self.total = total
        self.done = 0
        self.text = ""
        self.begin = time.monotonic()
        self._stream = stream
        self._color = color
        self._over = Event()
        self._lock = Lock()
        self._thread = Thread(target=self._watch, daemon=True, name="progress")

    def advance(self, count: int = 1) -> None:
        """Add to the number of items done."""
        self.update(self.done + count)

    def update(self, done: int, total: int | None = None) -> None:
        """Set the number of items done and, if given, the total."""
        self.done = done
        self.total = self.total if total is None else total
        self._changed()

    def status(self, text: str) -> None:
        """Set the text that says what is being done now."""
        self.text = sanitise_line(text)
        self._changed()

    def print_above(self, line: Safe) -> None:
        """Write a line of text without disturbing the progress shown."""
        self._stream.write(line + "\n")
        self._stream.flush()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._close()

    def _watch(self) -> None:
        raise NotImplementedError

    def _changed(self) -> None:
        pass

    def _close(self) -> None:
        pass


class PlainLines(Progress):
    """A plain line every ten seconds."""

    def _watch(self) -> None:
        while not self._over.wait(LINE_EVERY_S):
            self.print_above(Safe(self.line()))

    def line(self) -> str:
        """Return the progress as one line: ``Embedding: 120 of 400, 30/s, 9 s left``."""
        seconds = time.monotonic() - self.begin
        rate = self.done / seconds if seconds > 0 else 0.0
        if not self.done and self.total is None:
            return f"{self.label}: {self.text or 'begun'}"
        parts = [f"{self.done} of {self.total}" if self.total is not None else f"{self.done}"]
        if self.done:
            parts.append(f"{rate:.0f}/s" if rate >= 1 else f"{1 / rate:.0f} s each")
            if self.total is not None:
                parts.append(f"{max(0, self.total - self.done) / rate:.0f} s left")
        return f"{self.label}: {', '.join(parts)}" + (f" ({self.text})" if self.text else "")


class Bar(Progress):
    """A bar with rate and time left, removed at the end."""

    def __init__(self, label: str, total: int | None, stream: TextIO, *, color: bool) -> None:
        super().__init__(label, total, stream, color=color)
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None

    def print_above(self, line: Safe) -> None:
        with self._lock:
            if self._bar is None:
                super().print_above(line)
            else:
                from rich.text import Text

                self._bar.console.print(Text.from_ansi(line), soft_wrap=True)

    def _watch(self) -> None:
        if self._over.wait(FIRST_S):
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        console = Console(file=self._stream, force_terminal=True, no_color=not self._color)
        bar = RichProgress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}", markup=False),
            TimeRemainingColumn(),
            TextColumn("{task.fields[status]}", markup=False),
            console=console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        with self._lock:
            if self._over.is_set():
                return
            self._task = bar.add_task(self.label, total=self.total, completed=self.done, rate="", status="")
            bar.start()
            self._bar = bar
        self._changed()

    def _changed(self) -> None:
        if self._bar is None or self._task is None:
            return
        rate = self.done / (time.monotonic() - self.begin)
        self._bar.update(
            self._task, completed=self.done, total=self.total, rate=f"{rate:.0f}/s", status=self.text
        )

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
