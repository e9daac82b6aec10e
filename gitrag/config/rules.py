"""Rules that parse a setting's text into its value; the table of keys is made of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

MEBIBYTE = 1024 * 1024

LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
"""This machine: unencrypted traffic to it cannot be overheard."""

T = TypeVar("T", int, float, timedelta)
Value_co = TypeVar("Value_co", covariant=True)


class Rule(Protocol[Value_co]):
    """Parses a key's text into its value."""

    @property
    def allowed(self) -> str:
        """Which values are allowed, as the end of the sentence "it must be …"."""

    def parse(self, text: str) -> Value_co:
        """Return the value, or raise ValueError."""


class Whole(Struct, frozen=True):
    """An integer in a closed range; with ``size``, also ``512k``, ``2m``, ``1GiB``."""

    low: int
    high: int
    size: bool = False

    @property
    def allowed(self) -> str:
        if self.size:
            return f"a size from {_size(self.low)} to {_size(self.high)}, such as 524288, 512k or 2m"
        return f"a whole number from {self.low} to {self.high}"

    def parse(self, text: str) -> int:
        found = re.fullmatch(r"(-?[0-9]{1,18}) ?(?:([kmg])(?:i?b)?|b)?", text.strip(), re.IGNORECASE)
        if not found or (not self.size and not text.strip().lstrip("-").isdigit()):
            raise ValueError(text)
        value = (
            int(found[1]) * {"": 1, "k": 1024, "m": MEBIBYTE, "g": 1024 * MEBIBYTE}[(found[2] or "").lower()]
        )
        return _in_range(value, self.low, self.high)


class Number(Struct, frozen=True):
    """A number in a closed range."""

    low: float
    high: float

    @property
    def allowed(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}"

    def parse(self, text: str) -> float:
        return _in_range(float(text), self.low, self.high)


class Choice(Struct, frozen=True):
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def allowed(self) -> str:
        return "one of " + ", ".join(self.words)

    def parse(self, text: str) -> str:
        word = text.strip().lower()
        if word not in self.words:
            raise ValueError(text)
        return word


class Duration(Struct, frozen=True):
    """A duration with its unit."""

    longest: timedelta

    @property
    def allowed(self) -> str:
        return f"a length of time up to {show_duration(self.longest)}, such as 45s, 30m, 4h, 1h30m or 2d"

    def parse(self, text: str) -> timedelta:
        found = re.fullmatch(
            r"(?:([0-9]{1,9})d)?(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?", text.strip().lower()
        )
        if not found or not found[0]:
            raise ValueError(text)
        days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
        value = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return _in_range(value, timedelta(), self.longest)


class Globs(Struct, frozen=True):
    """A list of globs or similar strings; separated by commas where only text can be given."""

    allowed: str = "a list of globs, such as [docs/generated/**, '*.min.js']"

    def parse(self, text: str) -> tuple[str, ...]:
        return self.parse_list([item for item in (part.strip() for part in text.split(",")) if item])

    def parse_list(self, items: Sequence[str]) -> tuple[str, ...]:
        if any(not item.strip() for item in items):
            raise ValueError("an empty glob")
        return tuple(items)


class Folder(Struct, frozen=True):
    """An absolute path; ``~`` is the user's home."""

    @property
    def allowed(self) -> str:
        return "an absolute path (~ is your home)"

    def parse(self, text: str) -> Path:
        path = Path(text)
        if not path.is_absolute() or "\0" in text:
            raise ValueError(text)
        return path


class Address(Struct, frozen=True):
    """The URL of a server. Tokens are sent to it, so it must be https, except on this machine."""

    @property
    def allowed(self) -> str:
        return "https://host, or http://localhost, without user or password"

    def parse(self, text: str) -> str:
        parts = urlsplit(text.strip())
        host, port = parts.hostname or "", parts.port
        safe = parts.scheme == "https" or (parts.scheme == "http" and host in LOCAL_HOSTS)
        malformed = (
            "@" in parts.netloc or parts.query or parts.fragment or not text.isprintable() or port == 0
        )
        if not host or not safe or malformed:
            raise ValueError(text)
        return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


class ModelAt(Struct, frozen=True):
    """A directory with a model, or the address of a server that has one, and its name there."""

    @property
    def allowed(self) -> str:
        return "an absolute path (~ is your home), or https://host/v1#model (http://localhost)"

    def parse(self, text: str) -> str:
        if "://" not in text:
            return str(Folder().parse(text))
        address, _, name = text.partition("#")
        if not name.strip() or not name.isprintable():
            raise ValueError(text)
        return f"{Address().parse(address)}#{name.strip()}"


_HOSTS = re.compile(r"([^:,\[\]]*|\[[^\[\]]*\])(:[0-9]*)?(,([^:,\[\]]*|\[[^\[\]]*\])(:[0-9]*)?)*")
"""Of an address, with their ports."""


def without_password(address: str) -> str:
    """Return an address for messages: without what may be a password, also where it is no right address."""
    before, at, rest = address.rpartition("@")
    scheme, separator, user = before.partition("://") if "://" in before else ("", "", before)
    if ":" in user:
        address = f"{scheme}{separator}***{at}{rest}"
    return re.sub(r"=\s*('[^']*'?|[^&\s]*)", "=***", address)


class HubAt(Struct, frozen=True):
    """Where an organisation's search is: ``off``, or a PostgreSQL server's address without a password."""

    @property
    def allowed(self) -> str:
        return "off, or postgresql://role@host/database without a password (that goes into ~/.pgpass)"

    def parse(self, text: str) -> str:
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


class SharedAt(Struct, frozen=True):
    """Where a team shares vectors: ``off``, a git remote, a directory, or a server that has one."""

    @property
    def allowed(self) -> str:
        return (
            "off, git, git:REMOTE, file:///directory, https://host/path or s3://bucket/prefix (gs://, az://)"
        )

    def parse(self, text: str) -> str:
        text = text.strip()
        if text == "off" or re.fullmatch(r"git(:[A-Za-z0-9_][A-Za-z0-9_./-]*)?", text):
            return text
        if re.fullmatch(r"(s3|gs|az)://[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*/?", text):
            return text.rstrip("/")
        if text.startswith("file:///") and text.isprintable() and len(text) > len("file:///"):
            return text
        return Address().parse(text)


class Matching(Struct, frozen=True):
    """A text that matches a pattern."""

    pattern: str
    allowed: str

    def parse(self, text: str) -> str:
        if not re.fullmatch(self.pattern, text.strip(), re.ASCII):
            raise ValueError(text)
        return text.strip()


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
