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

_USUAL = 0.85
"""Share of a text's bytes above ASCII that must be of that kind."""
_SPELT = 0.95
"""The same, of single letters among ASCII ones: other languages have most of them too."""
_PIECES = {_USUAL: 2, _SPELT: 4}
"""How many words, or letters, it takes."""


def _spelt_with(
    encoding: str, letters: str, telling: str, share: float
) -> tuple[str, bytes, bytes, float, float]:
    """Return a row of the habits of a language that is written in Latin letters.

    Args:
        letters: Its letters above ASCII, lower case.
        telling: Those whose bytes are hardly ever beside a letter in Windows-1252.
    """
    own, told = (
        re.escape((each + each.upper()).encode(encoding, "ignore").translate(None, _ASCII))
        for each in (letters, telling)
    )
    signs = re.escape("„“”‘’–—…«»§°·\xa0".encode(encoding, "ignore"))  # noqa: RUF001
    return (
        encoding,
        b"[A-Za-z]?[%b%b]+[a-z]?" % (own, signs),
        b"[a-z%b][%b]|[%b][a-z%b]" % (own, told, told, own),
        share,
        _SPELT,
    )


_POLISH = ("ąćęłńóśźż", "ąłżśź", 0.1)
_CZECH = ("áäčćďđéěíľňóôřšťúůýž", "šž", 0.02)
"""Slovak, Slovene and Croatian too."""
_HUNGARIAN = ("áéíóöőúüű", "őű", 0.01)
_ROMANIAN = ("ăâîşţ", "şţ", 0.05)
_TURKISH = ("âçğıîöşüûİ", "ı", 0.15)  # noqa: RUF001

_HABITS = (
    (
        "cp1253",
        rb"[\xa2\xb8-\xba\xbc\xbe\xbf\xc1-\xd9]?[\xc0\xdc-\xfe]{2,}",
        rb"[\xe1-\xfe][\xdc-\xdf]",
        0.05,
        _USUAL,
    ),
    (
        "cp1255",
        rb"(?<![\xc0-\xff])[\xe0-\xe9\xeb\xec\xee\xf0-\xf2\xf4\xf6-\xfa]+[\xea\xed\xef\xf3\xf5]?(?![\xc0-\xff])",
        rb"[\xe0-\xfa]{3,}",
        0.3,
        _USUAL,
    ),
    (
        "cp1256",
        rb"[\x81\x8d\x8e\x90\x98\xc1-\xd6\xd8-\xdf\xe1\xe3-\xe6\xec\xed]{2,}",
        rb"\xc7\xe1",
        0.05,
        _USUAL,
    ),
    (
        "koi8_u",
        rb"[\xe0-\xff\xb3\xb4\xb6\xb7\xbd]?[\xa3\xa4\xa6\xa7\xad\xc0-\xdf]{2,}",
        rb"[\xa6\xa7\xc0-\xdf]{3,}",
        0.3,
        _USUAL,
    ),
    (
        "cp1251",
        rb"[\x80\x81\x8a\x8c-\x8f\xa1\xa3\xa5\xa8\xaa\xaf\xb2\xbd\xc0-\xdf]?[\x83\x90\x9a\x9c-\x9f\xa2\xb3\xb4\xb8\xba\xbc\xbe\xbf\xe0-\xff]{2,}",
        rb"[\xb3\xbc\xbf\xe0-\xff]{3,}",
        0.3,
        _USUAL,
    ),
    ("cp949", rb"[\xb0-\xc8][\xa1-\xfe]", rb"", 0.0, _USUAL),
    ("euc_jp", rb"[\xa1\xa3-\xa5\xb0-\xcf][\xa1-\xfe]", rb"[\xa4\xa5][\xa1-\xfe]", 0.3, _USUAL),
    ("gb18030", rb"[\xa1\xa3\xb0-\xd7][\xa1-\xfe]", rb"", 0.0, _USUAL),
    ("cp932", rb"[\x81-\x83\x88-\x97][\x40-\x7e\x80-\xfc]", rb"[\x82\x83][\x40-\x7e\x80-\xfc]", 0.3, _USUAL),
    ("big5", rb"[\xa1\xa4-\xc6][\x40-\x7e\xa1-\xfe]", rb"[\xa1\xa4-\xc6][\xa1-\xfe]", 0.3, _USUAL),
    *(_spelt_with(encoding, *each) for each in (_POLISH, _CZECH) for encoding in ("cp1250", "iso8859_2")),
    *(_spelt_with("cp1250", *each) for each in (_HUNGARIAN, _ROMANIAN)),
    _spelt_with("cp1254", *_TURKISH),
)
"""What texts in an encoding are made of: Greek, Hebrew, Arabic and lower-case Cyrillic words, Hangul, the
commonest of the Chinese and Japanese characters, a language's letters; what there must be of it that others
do not have: accents in the middle of a word, words of three letters, kana; and the shares of both. The first
that fits is taken, of Latin letters the one that fits best. Of 100 files with five comments each (messages of
GNU programs, which the rules were made with) 91 to 100 are read right in each encoding, 83 of Hebrew, 83 to
99 where letters are Latin, and 99 to 100 of Windows-1252 in nineteen languages. Of single lines 21 to 93 are
where letters are Latin: too few tell, and what is not told is Windows-1252."""

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
    high, best, most = _count(text), "", 0
    for name, usual, needed, share, least in _HABITS:
        found = re.findall(usual, text)
        covered = b" ".join(found)
        reached = _count(covered)
        if (
            len(found) >= _PIECES[least]
            and reached >= max(least * high, most + 1)
            and _count(b"".join(re.findall(needed, covered))) >= share * high
        ):
            if least == _USUAL:
                return name
            best, most = name, reached
    return best


def _count(text: bytes) -> int:
    return len(text.translate(None, _ASCII))
