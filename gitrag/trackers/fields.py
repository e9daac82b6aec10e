"""Read JSON from servers: a missing value is empty, one of the wrong type is an error. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitrag.trackers.issue import moment

Json = Mapping[str, Any]

_DIGITS = 15
"""Most digits of a number: enough for counts, and for milliseconds since 1970."""


class MalformedError(ValueError):
    """The JSON does not have the documented form."""


def text(item: Json, key: str) -> str:
    """Return a string; empty if null or missing; a number as its digits."""
    value = item.get(key)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise MalformedError(f"{key} is no text")
    return str(value)


def required(item: Json, key: str) -> str:
    """Return a string that must be there."""
    found = text(item, key)
    if not found:
        raise MalformedError(f"{key} is missing")
    return found


def number(item: Json, key: str) -> int:
    """Return an integer; 0 if null or missing."""
    found = text(item, key) or "0"
    if not found.isascii() or not found.isdigit():
        raise MalformedError(f"{key} is no number")
    return int(found[:18])


def count(header: str) -> int | None:
    """Return the number in a header; None if it holds none, or one with too many digits."""
    digits = header.strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS else None


def part(item: Json, key: str) -> Json:
    """Return an object; an empty one if null or missing."""
    value = item.get(key)
    if value is None:
        return {}
    return as_object(value, key)


def as_object(value: Any, what: str) -> Json:
    """Return the value, which must be an object."""
    if not isinstance(value, dict):
        raise MalformedError(f"{what} is no object")
    return value


def items(item: Json, key: str) -> list[Any]:
    """Return a list; an empty one if null or missing."""
    value = item.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise MalformedError(f"{key} is no list")
    return value


def objects(value: Any, what: str) -> list[Json]:
    """Return the value, which must be a list of objects."""
    if not isinstance(value, list):
        raise MalformedError(f"{what} is no list")
    return [as_object(each, what) for each in value]


def names(item: Json, key: str, *inner: str) -> tuple[str, ...]:
    """Return the strings of a list, or of its objects the first field that is there; skip nulls."""
    found = []
    for each in items(item, key):
        if isinstance(each, dict):
            name = next((value for field in inner if (value := text(each, field))), "")
        else:
            name = text({key: each}, key)
        if name:
            found.append(name)
    return tuple(found)


def when(item: Json, key: str) -> str:
    """Return a time stamp in the form of `moment`; empty if null or missing."""
    try:
        return moment(text(item, key))
    except (ValueError, OverflowError) as error:
        raise MalformedError(f"{key} is no time stamp") from error
