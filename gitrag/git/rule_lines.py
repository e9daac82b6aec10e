"""Parse the lines of .gitattributes and .gitragignore files that concern gitrag."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

ATTRIBUTES_FILE = ".gitattributes"
IGNORE_FILE = ".gitragignore"

INDEXED, GENERATED, VENDORED = "gitrag", "linguist-generated", "linguist-vendored"
LANGUAGE = "linguist-language"
_ATTRIBUTES = (INDEXED, GENERATED, VENDORED, LANGUAGE)

# Limits; the excess is not read.
MAX_RULE_FILE_BYTES = 1 << 20
MAX_LINE_BYTES = 2048  # git's own limit for .gitattributes

_FALSE = ("false", "0", "no", "off")  # of `linguist-generated=false`
_TRAILING_SPACES = re.compile(r"(\\ )? *$")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(?:([0-3][0-7]{2})|(.))")
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class PathAttribute(Struct, frozen=True):
    """A line's value for one attribute: True (set), False (unset), None (`!attribute`), or a language."""

    name: str
    pattern: str
    state: bool | str | None


class Ignore(Struct, frozen=True):
    """A line of a .gitragignore; ``ignored`` is False if it began with `!`."""

    pattern: str
    ignored: bool
    directories_only: bool


def read_lines(content: bytes) -> list[str]:
    if len(content) > MAX_RULE_FILE_BYTES:
        content = content[:MAX_RULE_FILE_BYTES].rpartition(b"\n")[0]
    lines = [line.removesuffix(b"\r") for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    return [line.decode("utf-8", "surrogateescape") for line in lines if len(line) <= MAX_LINE_BYTES]


def parse_ignore(lines: Iterable[str]) -> Iterator[Ignore]:
    for line in lines:
        if not line or line.startswith("#"):
            continue
        pattern = _TRAILING_SPACES.sub(r"\1", line)
        ignored = not pattern.startswith("!")
        pattern = pattern.removeprefix("!")
        directories_only = pattern.endswith("/")
        pattern = pattern.removesuffix("/")
        if pattern:
            yield Ignore(pattern, ignored, directories_only)


def parse_attributes(lines: Iterable[str], *, top: bool) -> Iterator[PathAttribute]:
    macros: dict[str, list[str]] = {}  # as in git, only at the top level
    for line in lines:
        pattern, words = _split(line.lstrip(" \t"))
        if pattern.startswith("[attr]"):
            if top:
                macros[pattern.removeprefix("[attr]")] = words
            continue
        if not pattern or pattern.startswith(("#", "!")) or pattern.endswith("/"):
            continue  # git forbids negative patterns here, and one that ends in `/` matches no file
        states: dict[str, bool | str | None] = {}
        for word in words:
            for expanded in [word, *macros.get(word, [])]:
                name, state = _state(expanded)
                if name in _ATTRIBUTES:
                    states[name] = state
        for name, state in states.items():
            yield PathAttribute(name, pattern, state)


def _split(line: str) -> tuple[str, list[str]]:
    """Split a line into its pattern, which may be a quoted C string, and its attributes."""
    if line.startswith('"'):
        quoted = _QUOTED.match(line)
        if quoted is not None:
            return _unquoted(quoted[1]), line[quoted.end() :].split()
    pattern, *words = line.split() or [""]
    return pattern, words


def _unquoted(text: str) -> str:
    def character(escape: re.Match[str]) -> str:
        if escape[1]:
            return bytes([int(escape[1], 8) & 0xFF]).decode("latin-1")
        return _ESCAPES.get(escape[2], escape[2])

    if "\\" not in text:
        return text
    # octal escapes are bytes: join them before decoding
    raw = text.encode("utf-8", "surrogateescape").decode("latin-1")
    return _ESCAPE.sub(character, raw).encode("latin-1").decode("utf-8", "surrogateescape")


def _state(word: str) -> tuple[str, bool | str | None]:
    if word.startswith("-"):
        return word[1:], False
    if word.startswith("!"):
        return word[1:], None
    name, _, value = word.partition("=")
    return name, value if name == LANGUAGE else value.lower() not in _FALSE
