"""Make control characters visible in text by others before a terminal or an agent reads it."""

from __future__ import annotations

import re

# What a terminal obeys (C0 except tab and line feed, DEL, C1), what changes the visual order of text
# (bidirectional controls, CVE-2021-42574), and lone surrogates, which stand for bytes that are not UTF-8.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def in_whole_characters(text: str) -> str:
    """Return text in which lone surrogates are replaced, which UTF-8 cannot have, nor DuckDB or RE2."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def sanitise(text: str) -> str:
    """Return text that is safe to print: control characters escaped, line feeds and tabs kept."""
    return _UNSAFE.sub(_escape, text.replace("\r\n", "\n"))


def sanitise_line(text: str) -> str:
    """Return text that is safe to print on one line: as `sanitise`, with line ends and tabs escaped too."""
    return _UNSAFE.sub(_escape, text).replace("\n", "\\n").replace("\t", "\\t")


def sanitise_json(text: str) -> str:
    """Return JSON that is safe to print; its meaning is unchanged."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    if 0xDC80 <= code <= 0xDCFF:  # from surrogateescape: a byte
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
