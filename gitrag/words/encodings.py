"""Tell what encoding a file is in, and decode it: every reader of a file's text asks here."""

from __future__ import annotations

import codecs
import re
from encodings import cp1252

_PREFIX_BYTES = 8000
"""What is looked at for NULs: git's own test for binary content (buffer_is_binary)."""

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",  # begins with UTF-16's mark, so it is tried first
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_CONTROL = "[\0-\b\x0e-\x1a\x1c-\x1f]"
_SPOILT = 100
"""Of so many characters one, and one more, may be none where there is a mark: a file may be cut off."""

_ASCII = bytes(range(0x80))
_SAMPLED_BYTES = 1 << 18

_HABITS = (
    ("koi8_r", rb"[\xe0-\xff\xb3]?[\xa3\xc0-\xdf]{2,}", rb"[\xc0-\xdf]{3,}", 0.3),
    ("cp1251", rb"[\xc0-\xdf\xa8]?[\xb8\xe0-\xff]{2,}", rb"[\xe0-\xff]{3,}", 0.3),
    ("cp949", rb"[\xb0-\xc8][\xa1-\xfe]", rb"", 0.0),
    ("euc_jp", rb"[\xa1\xa3-\xa5\xb0-\xcf][\xa1-\xfe]", rb"[\xa4\xa5][\xa1-\xfe]", 0.3),
    ("gb18030", rb"[\xa1\xa3\xb0-\xd7][\xa1-\xfe]", rb"", 0.0),
    ("cp932", rb"[\x81-\x83\x88-\x97][\x40-\x7e\x80-\xfc]", rb"[\x82\x83][\x40-\x7e\x80-\xfc]", 0.3),
    ("big5", rb"[\xa1\xa4-\xc6][\x40-\x7e\xa1-\xfe]", rb"[\xa1\xa4-\xc6][\xa1-\xfe]", 0.3),
)
"""What texts in an encoding are made of: lower-case Cyrillic words, Hangul, the commonest of the Chinese and
Japanese characters; and what there must be of it that others do not have: words of three letters, kana. The
first that fits is taken. Of 100 files with five comments each (messages of GNU programs in six languages) 99
to 100 are read right in each encoding, charset-normalizer reads 97 to 100; with two comments 93 to 100 and 83
to 100; of 100 single German lines 100 and 75."""
_USUAL = 0.85
"""Share of a text's bytes above ASCII that must be of that kind."""


_WINDOWS = "".join(chr(i) if each == "\ufffe" else each for i, each in enumerate(cp1252.decoding_table))
"""Windows-1252, what it leaves undefined as in Latin-1."""


def decode(data: bytes) -> str:
    r"""Return the text of a file, whatever it is in; accepts any bytes.

    UTF-8, UTF-16 or UTF-32, a mark left away; else one of the encodings above if the text looks like it, save
    for lines that are not; else line by line UTF-8 or Windows-1252.

    Every ``\r\n`` becomes ``\n``, so that line numbers and chunk texts do not depend on ``core.autocrlf``.
    Lines end at ``\n`` only; a lone ``\r`` is a character within its line.
    """
    text = wide_text(data)
    if text is None:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = _by_line(data.removeprefix(codecs.BOM_UTF8))
    return text.replace("\r\n", "\n") if "\r" in text else text


def is_binary(data: bytes) -> bool:
    """Tell whether a file is no text: a mark or, near its beginning, a NUL, and not UTF-16 or UTF-32."""
    return (b"\0" in data[:_PREFIX_BYTES] or data.startswith(tuple(_MARKS))) and wide_text(data) is None


def wide_text(data: bytes) -> str | None:
    """Return the text of UTF-16 or UTF-32; None if it is neither.

    Without a mark it is UTF-16 where every second byte is a NUL in most places, and no other byte is.
    """
    mark = next((each for each in _MARKS if data.startswith(each)), b"")
    head = data[:_PREFIX_BYTES]
    if not mark and b"\0" not in head:
        return None
    name = _MARKS.get(mark)
    for order, low, high in (("utf-16-le", head[::2], head[1::2]), ("utf-16-be", head[1::2], head[::2])):
        if name is None and 0 not in low and 2 * high.count(0) > len(high):
            name = order
    if name is None:
        return None
    text = data[len(mark) :].decode(name, "replace")
    spoilt = text.count("\ufffd") + len(re.findall(_CONTROL, text))
    return text if spoilt <= (len(text) // _SPOILT + 1 if mark else 0) and "\0" not in text else None


def _by_line(data: bytes) -> str:
    lines = data.split(b"\n")
    high = [line for line in lines if not line.isascii()]
    odd = [line for line in high if not _is_utf8(line)]
    legacy = _legacy(b"\n".join(high)[:_SAMPLED_BYTES]) if 2 * len(odd) > len(high) else ""
    return "\n".join(_line(line, legacy) for line in lines)


def _line(line: bytes, legacy: str) -> str:
    for name in (legacy, "utf-8"):
        try:
            if name:
                return line.decode(name)
        except UnicodeDecodeError:
            continue
    return codecs.charmap_decode(line, "strict", _WINDOWS)[0]


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _legacy(text: bytes) -> str:
    """Return the encoding whose habits a text has; empty for none: Windows-1252, or too little to tell."""
    high = _count(text)
    for name, usual, needed, share in _HABITS:
        found = re.findall(usual, text)
        covered = b" ".join(found)
        enough = len(found) > 1 and _count(covered) >= _USUAL * high
        if enough and _count(b"".join(re.findall(needed, covered))) >= share * high:
            return name
    return ""


def _count(text: bytes) -> int:
    """Count the bytes above ASCII."""
    return len(text.translate(None, _ASCII))
