"""Bytes and JSON made worse: every change is drawn from a seeded source of chance. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from random import Random
from typing import Any

MOST_BYTES = 300_000
"""Of an input: what takes long at this size takes for ever at the largest that is read."""

TOKENS: tuple[bytes, ...] = (
    *b"( ) [ ] { } < > \" ' ` ''' \"\"\" /* */ // # -- ; : , . = == => -> :: @ $ ${ #{ % & |".split(),
    *b"\\ ~ ^ ! begin end if else then do done fi case esac def class fn func function let in".split(),
    *b"null true false NaN -0 0x 1e999 99999999999999999999 -1 \xc2\xb2 \xd9\xa3 --- ... &a *a".split(),
    *b"<<<<<<< ======= >>>>>>> <?xml <![CDATA[ ]]> <!-- --> {% %} {{ }} !!python/name:os".split(),
    *b"\0 \r \n \r\n \t \x0b \x0c \x1b[2J \x1b]0; \x7f \x85 \xff \xfe\xff \xff\xfe".split(b" "),
    *b"\xef\xbb\xbf \xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x80\xa8 \xe2\x80\xae \xcc\x81".split(b" "),
)
"""What parsers stumble over: brackets, quotes, marks of many formats, bytes that are no UTF-8."""

ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "shift_jis", "utf-7", "utf-8-sig")


def size(dice: Random, most: int) -> int:
    """Draw a number up to ``most``: small ones often, each order of magnitude sometimes."""
    return max(1, int(most ** dice.random()))


def span(dice: Random, data: bytes) -> tuple[int, int]:
    """Draw where something begins and ends."""
    start = dice.randrange(len(data) + 1)
    return start, min(len(data), start + size(dice, max(1, len(data))))


def _flip(dice: Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(size(dice, 64)):
        changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def _cut(dice: Random, data: bytes) -> bytes:
    return data[: dice.randrange(len(data))]


def _drop(dice: Random, data: bytes) -> bytes:
    start, end = span(dice, data)
    return data[:start] + data[end:]


def _repeat(dice: Random, data: bytes) -> bytes:
    start, end = span(dice, data)
    return data[:start] + data[start:end] * size(dice, 1 + 100_000 // (end - start + 1)) + data[end:]


def _put(dice: Random, data: bytes) -> bytes:
    at = dice.randrange(len(data) + 1)
    return data[:at] + dice.choice(TOKENS) * size(dice, 20_000) + data[at:]


def _noise(dice: Random, data: bytes) -> bytes:
    start, end = span(dice, data)
    return data[:start] + dice.randbytes(end - start) + data[end:]


def _zero(dice: Random, data: bytes) -> bytes:
    start, end = span(dice, data)
    return data[:start] + bytes(end - start) + data[end:]


def _move(dice: Random, data: bytes) -> bytes:
    (start, end), at = span(dice, data), dice.randrange(len(data) + 1)
    return data[:at] + data[start:end] + data[at:]


def _recode(dice: Random, data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode(dice.choice(ENCODINGS), "replace")


def _lines(dice: Random, data: bytes) -> bytes:
    return data.replace(b"\n", dice.choice((b"\r\n", b"\r", b"", b" ", b"\n\n", b"\x0b", b"\xe2\x80\xa8")))


def _shuffle(dice: Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    dice.shuffle(lines)
    return b"\n".join(lines)


CHANGES: tuple[Callable[[Random, bytes], bytes], ...] = (
    _flip, _cut, _drop, _repeat, _put, _noise, _zero, _move, _recode, _lines, _shuffle,
)  # fmt: skip


def worsen(dice: Random, data: bytes, *, others: Sequence[bytes] = ()) -> bytes:
    """Change bytes in a few ways.

    Args:
        dice: The source of chance.
        data: The bytes.
        others: More of the kind, to be joined in the middle with it.
    """
    for _ in range(dice.choice((1, 1, 1, 2, 3, 6))):
        if others and dice.random() < 0.1:
            other = dice.choice(others)
            data = data[: dice.randrange(len(data) + 1)] + other[dice.randrange(len(other) + 1) :]
        data = dice.choice(CHANGES)(dice, data)[:MOST_BYTES] if data else dice.randbytes(size(dice, 2000))
    return data


ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1 << 31, 1 << 63, 1 << 200, -(1 << 63), 0.5, 1e308, -0.0, float("nan"),
    float("inf"),
    "", " ", "\0", "\n", "\x1b[2J", "\u202e", "\ud800", "\u00b2", "x" * 5000, "../../outside/x",
    "/etc/passwd",
    "-1", "1e9", "null", "0" * 5000, "9" * 5000, "1970-01-01T00:00:00Z", "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59", "2026-02-30", "$(touch ../traces/ran)", "`touch ../traces/ran`",
    "; touch ../traces/ran",
    "con", ".git/config", "a/b", "%00", "file:///etc/passwd", "http://127.0.0.1:9", "(a+)+$", "[", "*" * 300,
    "{a,b}" * 50,
    [], {}, [[]], [None], {"": ""},
)  # fmt: skip
"""Values of the wrong kind, at the edge of the right one, or with a trick in them."""


def deep(dice: Random) -> Any:
    """Nest lists or objects; deeper than any document, not as deep as to stop who writes it."""
    value: Any = deepcopy(dice.choice(ODD))
    for _ in range(size(dice, 200)):
        value = [value] if dice.random() < 0.5 else {"a": value}
    return value


def odd(dice: Random) -> Any:
    """Draw a value that nobody expects."""
    return deep(dice) if dice.random() < 0.1 else deepcopy(dice.choice(ODD))  # it may be changed in place


def worsen_json(dice: Random, value: Any) -> Any:
    """Change a JSON value in one place: another value, nothing, the same many times, another key."""
    place = value
    while isinstance(place, dict | list) and place:
        key = dice.choice(list(place)) if isinstance(place, dict) else dice.randrange(len(place))
        inner = place[key]
        if isinstance(inner, dict | list) and inner and dice.random() < 0.8:
            place = inner
            continue
        kind = dice.randrange(6)
        if kind == 0:
            del place[key]
        elif kind == 1 and isinstance(place, dict):
            place[str(dice.choice(ODD))[:200]] = place.pop(key)
        elif kind == 2 and isinstance(place, list):
            place += [inner] * size(dice, 300)
        elif kind == 3 and isinstance(inner, str):
            place[key] = worsen(dice, inner.encode("utf-8", "replace")).decode("utf-8", "replace")
        else:
            place[key] = odd(dice)
        return value
    return odd(dice)


def as_json(dice: Random, value: Any) -> bytes:
    """Write JSON: with lone surrogates, NaN, keys that come twice; sometimes damaged."""
    try:
        text = json.dumps(value, ensure_ascii=dice.random() < 0.5)
    except RecursionError:
        text = "[" * 3_000
    if dice.random() < 0.05 and text.startswith("{"):
        text = "{" + text[1:-1] + (", " if len(text) > 2 else "") + text[1:]
    data = text.encode("utf-8", dice.choice(("replace", "surrogatepass")))
    return worsen(dice, data) if dice.random() < 0.1 else data
