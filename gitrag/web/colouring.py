"""Tell the words of source apart, by their language, in a process that can be ended.

Pygments reads source with regular expressions; some take hours for a text made for that, and nothing else in
the process runs meanwhile. So each text has a limit of processor time, after which the system ends the
process, and each answer one of time on the clock: what is not coloured by then is shown without colours.
"""

from __future__ import annotations

import signal
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.machine.processes import Pool, ProcessDiedError

if TYPE_CHECKING:
    from pygments.lexer import Lexer

LIMIT_S = 1.0
"""Seconds of processor time for a text; 400,000 characters of Python take half of that."""

NAME = "w"
"""The class of a name that has no colour: it may lead to a definition."""

PATIENCE_S = 10.0
"""Seconds in which the texts of an answer are coloured: for a busy machine; twenty take a tenth of one."""

_OVER = getattr(signal, "SIGVTALRM", 0)
"""What ends a process whose time is over; Windows has nothing like it."""

_MOST_DEATHS = 2
"""After so many deaths of the process the rest of an answer has no colours."""

_MOST_CHARACTERS = 400_000
_LONGEST_LINE = 2_000
_MOST_REMEMBERED = 1_000

_CLASSES = {
    "Comment": "c",
    "Keyword": "k",
    "Literal.String": "s",
    "Literal.Number": "n",
    "Name.Function": "f",
    "Name.Class": "f",
    "Name.Decorator": "d",
    "Name.Builtin": "b",
    "Name.Tag": "k",
    "Name.Attribute": "d",
    "Name": NAME,
    "Generic.Heading": "h",
    "Generic.Subheading": "h",
}
"""What is told apart; a kind of token takes the class of the nearest of its ancestors."""

Line = tuple[tuple[str, str], ...]
"""A line in parts: the class of each, empty for none, and its text."""


class ShownSource(Struct, frozen=True):
    """Lines of a file, without control characters, and its path, whose name says the language."""

    path: str
    lines: tuple[str, ...]

    @property
    def is_readable(self) -> bool:
        """Whether it is small enough, and no line is very long."""
        return sum(map(len, self.lines)) <= _MOST_CHARACTERS and all(
            len(line) <= _LONGEST_LINE for line in self.lines
        )


class Colouring:
    """A process that tells words apart, started when it is first needed; for several threads.

    Args:
        patience_s: Seconds in which the texts of an answer are coloured.
    """

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._pool = Pool(1)
        self._lock = threading.Lock()
        self._hopeless: set[int] = set()
        self._is_closed = False

    def read(self, sources: Sequence[ShownSource]) -> list[tuple[Line, ...] | None]:
        """Return the lines of each source in parts; None where that takes too long, or nobody knows how."""
        deadline = time.monotonic() + self._patience_s
        asked = [each for each in sources if each.is_readable and hash(each) not in self._hopeless]
        found: dict[ShownSource, tuple[Line, ...] | None] = {}
        if asked and self._lock.acquire(timeout=self._patience_s):
            try:
                found.update(self._answers(asked, deadline))
            finally:
                self._lock.release()
        return [found.get(each) for each in sources]

    def close(self) -> None:
        """End the process."""
        self._is_closed = True
        self._pool.close()

    def _answers(
        self, sources: Iterable[ShownSource], deadline: float
    ) -> Iterator[tuple[ShownSource, tuple[Line, ...] | None]]:
        """Yield what the process says of each source, until it has died too often or time is over."""
        waiting = deque(dict.fromkeys(sources))
        deaths = 0
        while waiting and deaths < _MOST_DEATHS and not self._is_closed:
            future = self._pool.submit(parts_of, waiting[0])
            try:
                yield waiting[0], future.result(max(0.0, deadline - time.monotonic()))
            except TimeoutError:  # it waits for something, or the machine is busy: no text is to blame
                if not future.cancel():
                    self._pool.kill()
                return
            except ProcessDiedError as error:
                deaths += 1
                if error.status != -_OVER:  # killed from outside: the text is tried once more
                    continue
                self._remember(waiting[0])
            waiting.popleft()

    def _remember(self, hopeless: ShownSource) -> None:
        if len(self._hopeless) >= _MOST_REMEMBERED:
            self._hopeless.clear()
        self._hopeless.add(hash(hopeless))


def parts_of(source: ShownSource, limit_s: float = LIMIT_S) -> tuple[Line, ...] | None:
    """Return the lines of a source in parts; the process ends where that takes longer than the limit.

    No handler: Python would run it once the regular expression is done, and what the system does by itself is
    to end the process.
    """
    if hasattr(signal, "setitimer"):  # on Windows only the whole answer has a limit
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_VIRTUAL, limit_s)
    try:
        return _parts(source)
    except Exception:  # noqa: BLE001 - a lexer's bug: the text is shown without colours
        return None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _parts(source: ShownSource) -> tuple[Line, ...] | None:
    lexer = _lexer(source.path.rpartition("/")[2])
    if lexer is None:
        return None
    lines = tuple(_lines(lexer.get_tokens("\n".join(source.lines))))[: len(source.lines)]
    return lines + ((),) * (len(source.lines) - len(lines))


def _lines(tokens: Iterable[tuple[object, str]]) -> Iterator[Line]:
    line: list[tuple[str, str]] = []
    for kind, text in tokens:
        own = _class(str(kind))
        for number, part in enumerate(text.split("\n")):
            if number:
                yield tuple(line)
                line = []
            if part:
                line.append((own, part))
    if line:
        yield tuple(line)


@cache
def _class(kind: str) -> str:
    name = kind.removeprefix("Token.")
    while name:
        if name in _CLASSES:
            return _CLASSES[name]
        name = name.rpartition(".")[0]
    return ""


@cache
def _lexer(name: str) -> Lexer | None:
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    if name.endswith(".ipynb"):  # it is shown as its cells, not as JSON
        name = "notebook.py"
    try:
        return get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
