"""Rules that parse a setting's text into its value; the table of keys is made of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Generic, TypeVar
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

from gitrag.late import late_re

MEBIBYTE = 1024 * 1024

LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
"""This machine: unencrypted traffic to it cannot be overheard."""

T = TypeVar("T", int, float, timedelta)
Value_co = TypeVar("Value_co", covariant=True)


class Rule(Struct, Generic[Value_co], frozen=True):
    """Parses a key's text into its value.

    Attributes:
        allowed: Which values are allowed, as the end of the sentence "it must be …".
        parse: Returns the value, or raises ValueError.
        is_list: Whether the value is a list of texts, separated by commas where only text can be given.
    """

    allowed: str
    parse: Callable[[str], Value_co]
    is_list: bool = False


def whole(low: int, high: int, *, size: bool = False) -> Rule[int]:
    """Allow an integer in a closed range; with ``size``, also ``512k``, ``2m``, ``1GiB``."""

    def parse(text: str) -> int:
        found = re.fullmatch(r"(-?[0-9]{1,18}) ?(?:([kmg])(?:i?b)?|b)?", text.strip(), re.IGNORECASE)
        if not found or (not size and not text.strip().lstrip("-").isdigit()):
            raise ValueError(text)
        factor = {"": 1, "k": 1024, "m": MEBIBYTE, "g": 1024 * MEBIBYTE}[(found[2] or "").lower()]
        return _in_range(int(found[1]) * factor, low, high)

    if size:
        return Rule(f"a size from {_size(low)} to {_size(high)}, such as 524288, 512k or 2m", parse)
    return Rule(f"a whole number from {low} to {high}", parse)


def number(low: float, high: float) -> Rule[float]:
    """Allow a number in a closed range."""
    return Rule(f"a number from {low:g} to {high:g}", lambda text: _in_range(float(text), low, high))


def choice(*words: str) -> Rule[str]:
    """Allow one of a few words."""

    def parse(text: str) -> str:
        if (word := text.strip().lower()) not in words:
            raise ValueError(text)
        return word

    return Rule("one of " + ", ".join(words), parse)


def duration(longest: timedelta) -> Rule[timedelta]:
    """Allow a duration with its unit."""

    def parse(text: str) -> timedelta:
        found = re.fullmatch(
            r"(?:([0-9]{1,9})d)?(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?", text.strip().lower()
        )
        if not found or not found[0]:
            raise ValueError(text)
        days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
        value = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return _in_range(value, timedelta(), longest)

    allowed = f"a length of time up to {show_duration(longest)}, such as 45s, 30m, 4h, 1h30m or 2d"
    return Rule(allowed, parse)


def globs(allowed: str = "a list of globs, such as [docs/generated/**, '*.min.js']") -> Rule[tuple[str, ...]]:
    """Allow a list of globs or similar strings."""

    def parse(text: str) -> tuple[str, ...]:
        return as_list([item for item in (part.strip() for part in text.split(",")) if item])

    return Rule(allowed, parse, is_list=True)


def as_list(items: Sequence[str]) -> tuple[str, ...]:
    """Return the value of a rule for lists, or raise ValueError."""
    if any(not item.strip() for item in items):
        raise ValueError("an empty glob")
    return tuple(items)


def matching(pattern: str, allowed: str) -> Rule[str]:
    """Allow a text that matches a pattern."""

    def parse(text: str) -> str:
        if not re.fullmatch(pattern, text.strip(), re.ASCII):
            raise ValueError(text)
        return text.strip()

    return Rule(allowed, parse)


def _folder(text: str) -> Path:
    path = Path(text)
    if not path.is_absolute() or "\0" in text:
        raise ValueError(text)
    return path


FOLDER = Rule("an absolute path (~ is your home)", _folder)


def _address(text: str) -> str:
    parts = urlsplit(text.strip())
    host, port = parts.hostname or "", parts.port
    safe = parts.scheme == "https" or (parts.scheme == "http" and host in LOCAL_HOSTS)
    malformed = "@" in parts.netloc or parts.query or parts.fragment or not text.isprintable() or port == 0
    if not host or not safe or malformed:
        raise ValueError(text)
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


ADDRESS = Rule("https://host, or http://localhost, without user or password", _address)
"""The URL of a server. Tokens are sent to it, so it must be https, except on this machine."""


def _model(text: str) -> str:
    if "://" not in text:
        return str(_folder(text))
    address, _, name = text.partition("#")
    if not name.strip() or not name.isprintable():
        raise ValueError(text)
    return f"{_address(address)}#{name.strip()}"


MODEL = Rule("an absolute path (~ is your home), or https://host/v1#model (http://localhost)", _model)
"""A directory with a model, or the address of a server that has one, and its name there."""

_HOSTS = late_re(r"([^:,\[\]]*|\[[^\[\]]*\])(:[0-9]*)?(,([^:,\[\]]*|\[[^\[\]]*\])(:[0-9]*)?)*")
"""Of an address, with their ports."""


def without_password(address: str) -> str:
    """Return an address for messages: without what may be a password, also where it is no right address."""
    before, at, rest = address.rpartition("@")
    scheme, separator, user = before.partition("://") if "://" in before else ("", "", before)
    if at and (":" in user or scheme.lower() in {"http", "https"}):  # there a user may be a token
        address = f"{scheme}{separator}***{at}{rest}"
    return re.sub(r"=\s*('[^']*'?|[^&\s]*)", "=***", address)


def _hub(text: str) -> str:
    text = text.strip()
    if text == "off":
        return text
    parts = urlsplit(text)
    known = parts.scheme in {"postgresql", "postgres"} and text.isprintable() and not parts.fragment
    names = [name.lower() for name, _value in parse_qsl(parts.query, keep_blank_values=True)]
    # Up to the last @ before the parameters: a password may have a slash.
    role, _at, hosts = text.partition("?")[0].partition("://")[2].rpartition("@")
    if not known or ":" in role or "password" in names or not _HOSTS.fullmatch(hosts.partition("/")[0]):
        raise ValueError(text)
    return text


HUB = Rule("off, or postgresql://role@host/database without a password (that goes into ~/.pgpass)", _hub)
"""Where an organisation's search is."""


def _shared(text: str) -> str:
    text = text.strip()
    if text == "off" or re.fullmatch(r"git(:[A-Za-z0-9_][A-Za-z0-9_./-]*)?", text):
        return text
    if re.fullmatch(r"(s3|gs|az)://[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*/?", text):
        return text.rstrip("/")
    if text.startswith("file:///") and text.isprintable() and len(text) > len("file:///"):
        return text
    return _address(text)


SHARED = Rule(
    "off, git, git:REMOTE, file:///directory, https://host/path or s3://bucket/prefix (gs://, az://)", _shared
)
"""Where a team shares vectors: a git remote, a directory, or a server that has one."""


def _in_range(value: T, low: T, high: T) -> T:
    if not low <= value <= high:
        raise ValueError(str(value))
    return value


def show_duration(value: timedelta) -> str:
    """Return a duration as it is written in settings: ``1h30m``."""
    left = int(value.total_seconds())
    text = ""
    for unit, seconds in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, left = divmod(left, seconds)
        text += f"{count}{unit}" if count else ""
    return text or "0s"


def _size(count: int) -> str:
    for unit, factor in (("GiB", 1024 * MEBIBYTE), ("MiB", MEBIBYTE), ("KiB", 1024)):
        if count >= factor and count % factor == 0:
            return f"{count // factor} {unit}"
    return str(count)
