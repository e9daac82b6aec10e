"""Make control characters visible in text by others before a terminal, a browser or an agent reads it.

What writes does it: `cli.terminal` for all that is printed, `web.application` for pages, `mcp_server.binding`
for answers to agents. A plain string is one line there; text of several is `Text`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NewType

from gitrag.late import late_re

# What a terminal obeys (C0 except tab and line feed, DEL, C1), what changes the visual order of text
# (bidirectional controls, CVE-2021-42574), line ends that few take for one, and lone surrogates, which stand
# for bytes that are not UTF-8.
_UNSAFE = late_re("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_SURROGATE = late_re("[\ud800-\udfff]")

Safe = NewType("Safe", str)
"""Text that may be written as it is: nothing else is taken by what writes."""


class Text(str):
    """Text for people whose line ends are meant: no name, path or title in it begins a line."""

    __slots__ = ()

    def followed_by(self, *lines: str) -> Text:
        """Return this text with more lines at its end."""
        return joined([*self.split("\n"), *lines])


def joined(lines: Iterable[str]) -> Text:
    """Return lines as a text, without blank ones at its ends; a line end in one of them is escaped."""
    return Text("\n".join(line.replace("\n", "\\n") for line in lines).strip("\n"))


def printable(text: str) -> Safe:
    """Return text as it may be written: `Text` as several, other text as one."""
    return Safe(sanitise(text if isinstance(text, Text) else joined([text])))


def in_whole_characters(text: str) -> str:
    """Return text in which lone surrogates are replaced, which UTF-8 cannot have, nor DuckDB or RE2."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def sanitise(text: str) -> str:
    """Return text without control characters, which are escaped; line feeds and tabs are kept."""
    return _UNSAFE.sub(_escape, text.replace("\r\n", "\n"))


def sanitise_line(text: str) -> str:
    """Return text on one line: as `sanitise`, with line ends and tabs escaped too."""
    return _UNSAFE.sub(_escape, text).replace("\n", "\\n").replace("\t", "\\t")


def sanitise_json(text: str) -> Safe:
    """Return JSON that is safe to print; its meaning is unchanged."""
    return Safe(_UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text))


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    if 0xDC80 <= code <= 0xDCFF:  # from surrogateescape: a byte
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
