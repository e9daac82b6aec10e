"""Read lines of tracebacks, as runtimes of a dozen languages print them. Pure."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from gitrag.late import late_re

_LONGEST_LINE = 500


class Frame(Struct, frozen=True):
    """A call in a traceback.

    Attributes:
        path: The file as it is written, with ``/``; empty where the traceback has none.
        line: 1-based; 0 for unknown.
        name: The function or method, without its class; empty for unknown and for top-level code.
    """

    path: str
    line: int = 0
    name: str = ""


_DEEPEST_LAST = (
    # Python
    late_re(r'^\W*File "(?P<path>[^"\n]+)", line (?P<line>\d{1,9})(?:, in (?P<name>[\w.<>]+))?'),
    # IPython: a path, in version 8 with a line, then "in" and a call
    late_re(
        r"^\s*(?:File\s+)?(?P<path>(?:~|[A-Za-z]:)?[\w./\\<>@+~ -]*[\w-]\.pyx?)(?::(?P<line>\d+))?,?"
        r"\s+in\s+(?P<name>[\w.<>]+)\s*\("
    ),
)
_DEEPEST_FIRST = (
    # Java, Kotlin, Scala
    late_re(
        r"^\s*at\s+(?:[\w.]+/+)?(?P<name>(?P<package>(?:[a-z_]\w*\.)+)[\w.$]+\.[\w$<>]+)"
        r"\((?P<path>[\w$]+\.\w+)(?::(?P<line>\d+))?\)"
    ),
    # JavaScript: with a function, or the place alone
    late_re(
        r"^\s*at\s+(?:(?:async |new )?(?P<name>[\w.$<>\[\] ]+?) \()?(?:file://|webpack://)?"
        r"(?P<path>[^\s():]*[\w/\\-]\.\w+):(?P<line>\d+):\d+\)?"
    ),
    # C#
    late_re(r"^\s*at\s+(?P<name>[\w.`+<>\[\]]+)\([^)]*\)\s+in\s+(?P<path>.+?):line (?P<line>\d+)\s*$"),
    # Ruby
    late_re(r"^\s*(?:from\s+)?(?P<path>\S+\.rb):(?P<line>\d+):in [`'](?P<name>[^'`]+)'"),
    # PHP
    late_re(r"^\s*#\d+\s+(?P<path>\S+\.php)\((?P<line>\d+)\):\s*(?P<name>[\w\\:>-]+)\("),
    # Firefox
    late_re(r"^\s*(?P<name>[\w.$/<]*)@(?P<path>\S+?\.\w+):(?P<line>\d+):\d+\s*$"),
)
_BELOW_ITS_CALL = (
    # Go
    (
        late_re(r"^\s+(?P<path>\S+\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+)?\s*$"),
        late_re(r"^(?:created by )?(?P<name>[\w./*()$-]+?)(?:\([^()]*\))?\s*$"),
    ),
    # Rust
    (
        late_re(r"^\s+at (?P<path>\S+\.rs):(?P<line>\d+)(?::\d+)?\s*$"),
        late_re(r"^\s*\d+:\s+(?:0x[0-9a-f]+ - )?(?P<name>[\w:<>{}# ]+?)(?:::h[0-9a-f]{16})?\s*$"),
    ),
)
_PANIC = late_re(r"panicked at (?:'.*', )?(?P<path>\S+\.rs):(?P<line>\d+)(?::\d+)?:?")

_NO_NAME = late_re(r"\{\{?[^{}]*\}?\}|<[^<>]*>|\[[^\[\]]*\]|[*()]")
"""Closures, ``<module>``, ``[as door]``, type parameters."""

_ARROW = late_re(r"^-+>\s*(?P<line>\d+)\b")
"""The line that IPython marks in the source that it quotes."""

_QUOTED_SOURCE = late_re(r"^\s*(?:-+>\s*)?\d+\s+|^\s{4,}|^\s*[\^~]+\s*$")

_HEAD = late_re(r"Traceback \(most recent call last\)", re.IGNORECASE)


Traced = tuple[Frame, bool]
"""A frame, and whether its kind of traceback has the deepest call last."""


def is_head(line: str) -> bool:
    return bool(_HEAD.search(line))


def announces_message(line: str) -> bool:
    """Tell whether the line below says why, as of a panic since Rust 1.73."""
    found = _PANIC.search(line[:_LONGEST_LINE])
    return bool(found) and line.rstrip().endswith(":")


def read_line(line: str, before: str = "") -> Traced | None:
    """Read a line of a traceback; None for any other line.

    Args:
        before: The line before it, where some runtimes name the function.
    """
    if len(line) > _LONGEST_LINE:
        return None
    for pattern in _DEEPEST_LAST:
        if found := pattern.match(line):
            return _frame(found), True
    for pattern, call in _BELOW_ITS_CALL:
        if found := pattern.match(line):
            called = call.match(before.strip())
            return _frame(found, called["name"] if called else ""), False
    for pattern in _DEEPEST_FIRST:
        if found := pattern.match(line):
            return _frame(found), False
    panic = _PANIC.search(line)
    return (_frame(panic), False) if panic else None


def with_line(frame: Frame, line: str) -> Frame:
    """Add the line's number that IPython marks below a frame without one."""
    marked = _ARROW.match(line)
    return frame if marked is None or frame.line else replace(frame, line=int(marked["line"]))


def quotes_source(line: str) -> bool:
    """Tell whether a line below a frame may be the source that it quotes."""
    return bool(_QUOTED_SOURCE.match(line))


def _frame(found: re.Match[str], name: str | None = None) -> Frame:
    groups = found.groupdict()
    path = groups["path"].replace("\\", "/").strip()
    if groups.get("package"):
        path = f"{groups['package'].replace('.', '/')}{path}"
    written = _NO_NAME.sub("", (groups.get("name") or "") if name is None else name)
    parts = [part for part in re.split(r"[.:>\\/#$-]+", written) if part.strip()]
    return Frame(path, int(groups["line"] or 0), parts[-1].strip() if parts else "")
